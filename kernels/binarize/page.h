// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The image that is binarized, its means, and its darkness, on the CPU.
#pragma once
#include <vector>

#include "kernels/binarize/memory.h"
#include "kernels/histogram.h"

namespace cudascan::binarize {

/// Planes of the size of the quarter.
struct QuarterMemory {
  AlignedMemory mean, top, low, paper, closed;  ///< of the image
  AlignedMemory means, darkest, cells, around;  ///< of darkness
};

/// An image and its quarter. Its half, means of 4x4 samples at every second one, is not kept.
template <typename T>
struct PageImage {
  Plane<const T> in;
  Plane<T> mean, top, low;  ///< means, maxima and minima of 2x2 samples of the half
  bool inverted = false;    ///< rows of `in` are still as they were

  /// Fills in the quarter.
  void shrink(Cpu &cpu) const;
  /// Whether the ink is lighter than the paper, from a part of the quarter.
  bool is_light_on_dark(Cpu &cpu, const Rectangle &part) const;
  /// Inverts the image with its quarter.
  void invert(Cpu &cpu);

  /// A row, in the buffer if it must be inverted.
  const T *row(int y, T *buffer) const {
    if (!inverted) return in.row(y);
    rows<T>().invert(in.row(y), in.width, in.maximum, buffer);
    return buffer;
  }
};

/// The largest of each 4x4 samples of the quarter.
template <typename T>
void pool_quarter(Cpu &cpu, Plane<const T> quarter, Plane<T> sixteenth);

/// Paper in the quarter of an image.
template <typename T>
struct Paper {
  Plane<T> level;
  int least;  ///< least_paper()

  /// Sets the level to a closing of an image of the same size.
  void close(Cpu &cpu, Plane<const T> image, int size);
  /// Raises the level to the least paper.
  void raise(Cpu &cpu);
};

/// Rows of the darkness of an image, several for each row of paper.
template <typename T>
class DarkRows {
 public:
  /// @param times  image pixels along a side of a pixel of paper
  DarkRows(const Paper<T> &paper, int times, RowMemory &memory)
      : paper_(paper),
        times_(times),
        papers_(memory.row<T>(times * paper.level.width)),
        factors_(memory.row<float>(times * paper.level.width)) {}

  /// Darkens row y of an image.
  void operator()(const T *in, int n, int y, T *out) {
    if (y / times_ != y_) {
      y_ = y / times_;
      rows<T>().factors(paper_.level.row(y_), paper_.level.width, paper_.least, times_, papers_,
                        factors_);
    }
    rows<T>().darken(in, papers_, factors_, n, out);
  }

 private:
  const Paper<T> &paper_;
  const int times_;
  T *const papers_;
  float *const factors_;
  int y_ = -1;
};

/// The histogram of the details in a part of the quarter.
template <typename T>
std::vector<std::uint32_t> count_details(Cpu &cpu, const PageImage<T> &image, const Paper<T> &paper,
                                         const Rectangle &part, QuarterMemory &);

/// Planes of the size of the quarter.
template <typename T>
struct DarknessMeans {
  Plane<T> largest;  ///< of the means of 2x2 darknesses
  Plane<T> cells;    ///< means of these
};

/// Means of the samples of windows around each, which repeat the edge of the plane.
/// @param size  odd
template <typename T>
void box_means(Cpu &cpu, Plane<const T> in, int size, Plane<T> out);

/// Writes the darkness of an image, with kPadding, and returns the histogram of the pixels in a
/// part that count, see counted_column().
/// @param means  if not null, the results of the second round
template <typename T>
std::vector<std::uint32_t> darken(Cpu &cpu, const PageImage<T> &image, const Paper<T> &paper,
                                  const Rectangle &part, Plane<T> out,
                                  const DarknessMeans<T> *means);

}  // namespace cudascan::binarize
