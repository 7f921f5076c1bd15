// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Extrema of windows on the CPU as stages that pass on rows from top to bottom. Each stage reads
/// rows of a range of columns from the previous stage and keeps only as many as its window is high.
#pragma once
#include <memory>

#include "common/plane.h"
#include "kernels/swofilter/scratch.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo::extremes {

/// Columns [begin, end) of an image.
struct ColumnRange {
  int begin, end, width;

  int count() const { return end - begin; }
  /// The columns that windows of this radius cover.
  ColumnRange reached(int radius) const {
    return {begin > radius ? begin - radius : 0, end < width - radius ? end + radius : width,
            width};
  }
};

/// The samples outside the image: with clip and constant `sample`, else those of the image.
template <typename T>
struct OutsideSamples {
  SwoFilterBorder border;
  T sample;
};

/// A source of rows, one after another.
template <typename T>
class ExtremaRows {
 public:
  virtual ~ExtremaRows() = default;
  /// @return whether it is a row of the image; otherwise all of it is the outside sample
  virtual bool next(T *to) = 0;
};

/// These columns of an image, from row y on, which may be outside.
template <typename T>
std::unique_ptr<ExtremaRows<T>> image_rows(Plane<const T> image, ColumnRange, int y,
                                           OutsideSamples<T>);

/// The output of a stage from row y on; before and after the rows of the image, the outside sample.
template <typename T>
std::unique_ptr<ExtremaRows<T>> between_stages(std::unique_ptr<ExtremaRows<T>> stage, int columns,
                                               int y, int height, T outside);

/// Extrema of these columns.
/// @param source  columns.reached(mask.rx()), from mask.ry() rows before the first wanted one
template <typename T>
std::unique_ptr<ExtremaRows<T>> extrema_rows(bool largest, const Mask &mask, ColumnRange columns,
                                             OutsideSamples<T>,
                                             std::unique_ptr<ExtremaRows<T>> source,
                                             ThreadScratch &);

}  // namespace cudascan::swo::extremes
