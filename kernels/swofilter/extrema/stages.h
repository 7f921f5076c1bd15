// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Extrema of windows on the CPU as stages that pass on rows, from the top: each takes rows of a
/// range of columns from the one before it and keeps no more of them than its window is high.
#pragma once
#include <memory>

#include "common/plane.h"
#include "kernels/swofilter/scratch.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo::extremes {

/// Columns [begin, end) of an image.
struct Columns {
  int begin, end, width;

  int count() const { return end - begin; }
  /// Those that windows reach which reach so far.
  Columns reached(int radius) const {
    return {begin > radius ? begin - radius : 0, end < width - radius ? end + radius : width,
            width};
  }
};

/// What windows find outside of the image: with clip and constant `sample`, else what the image
/// has.
template <typename T>
struct Outside {
  SwoFilterBorder border;
  T sample;
};

/// Rows, one after the other.
template <typename T>
class Rows {
 public:
  virtual ~Rows() = default;
  /// @return whether it is a row of the image; otherwise it has nothing but the sample that is
  ///         outside
  virtual bool next(T *to) = 0;
};

/// Those columns of an image, from row y on, which may be outside.
template <typename T>
std::unique_ptr<Rows<T>> image_rows(Plane<const T> image, Columns, int y, Outside<T>);

/// What comes out of a stage from row 0 on, or y if that is more, and before and after the rows of
/// the image the sample that is outside; from row y on.
template <typename T>
std::unique_ptr<Rows<T>> between_stages(std::unique_ptr<Rows<T>> stage, int columns, int y,
                                        int height, T outside);

/// Extrema of those columns.
/// @param source  columns.reached(mask.rx()), from mask.ry() rows before the first one that is
///                wanted
template <typename T>
std::unique_ptr<Rows<T>> extrema_rows(bool largest, const Mask &mask, Columns columns, Outside<T>,
                                      std::unique_ptr<Rows<T>> source, Scratch &);

}  // namespace cudascan::swo::extremes
