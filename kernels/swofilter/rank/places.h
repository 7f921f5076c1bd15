// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics and trimmed means of large rectangles and ellipses on the CPU, in tiles.
///
/// The samples of a tile are sorted. A pixel's answer is a place in this order: the first with so
/// many samples of its window before it. Each pixel goes on from the answer of the pixel above:
///
///  1. Counting. Of the samples that leave and enter the window, those before the old place change
///     how many there are before it. Pixels of a row do so in the lanes of vectors, each with its
///     own place. It takes two comparisons for each column of the window.
///  2. Walking, from place to place until the number is right. Whether a sample is in the window is
///     told by its position.
///
/// Both steps are short for any image, because at most as many samples enter and leave as the
/// window has columns. A window slides by Huang, Yang and Tang, "A fast two-dimensional median
/// filtering algorithm", IEEE Trans. ASSP 27(1), 1979; here no histogram is kept. The tile is
/// transposed if the window has fewer rows than columns.
///
/// Places are counted in groups, which have so many that a vector compares all of them. Equal
/// samples are sorted by column: so where all are equal, as many enter as leave before any place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec.h"
#include "kernels/swofilter/rank/tiles.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

inline constexpr int kPlacesInGroup = 64;
/// The group of samples outside of the image, above all others.
inline constexpr std::int16_t kAbsentGroup = 0x7fff;

inline constexpr int kReaches = 128;

/// A window that has one run in each of its rows, as wide on the left as on the right.
struct FollowedWindow {
  std::vector<WindowStep> right, down;
  std::vector<std::int32_t> cells;  ///< from its middle
  /// Samples in the middle row and each of those below, from the middle to the right.
  std::uint16_t reaches[kReaches]{};
  int ry;  ///< rows below the middle
};

/// Pixels and the sorted samples of their windows.
template <typename T>
struct PlaceTile {
  const std::int16_t *groups;    ///< of the sample of the first pixel
  const std::uint16_t *samples;  ///< from the first pixel's on
  std::ptrdiff_t pitch;          ///< samples from row to row
  /// Of all places: the column and row, from the tile's upper left sample on, and the sample.
  const std::uint16_t *columns, *rows;
  const T *values;
  int left, top;          ///< of the first pixel
  int width, height;      ///< in pixels
  bool is_clipped;        ///< whether it has absent samples
  T *out;                 ///< of the first pixel
  std::ptrdiff_t dx, dy;  ///< from pixel to pixel of `out`
};

/// Whether windows have the shape of a FollowedWindow, and following is faster than squares
/// (squares.h) are: rectangles, ellipses, and polygons of more than 31 rows and columns.
bool has_followed_shape(const Mask &);

/// Whether answers can be followed, and that is faster than histograms are.
template <typename T>
bool can_follow(const FilterJob &);

/// Computes the pixels [x0, x1) x [y0, y1) by following.
template <typename T>
void follow_places(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &, int x0, int x1,
                   int y0, int y1);

}  // namespace cudascan::swo
