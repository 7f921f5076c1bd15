// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics of windows of any shape on the CPU, by a histogram that slides through the
/// image in tiles: right through the first row of a tile, down, left through the next one. At each
/// step it changes by the two ends of the window's runs (Huang, Yang, Tang, "A fast two-dimensional
/// median filtering algorithm", IEEE Trans. ASSP 27(1), 1979). The tile is transposed if the window
/// has fewer runs down than across.
///
/// Samples of 16 bits are replaced by codes first, which are dense within the tile. For order
/// statistics the code of a sample is its place among all of the tile, sorted; as no two are equal
/// the histogram is one bit for each of them. For modes, codes are numbers of the values that
/// occur. Codes of 8-bit samples are the samples. For modes of rectangles and crosses of 16 bits a
/// tile has few rows, whose windows slide together. Modes of large windows of other shapes come
/// from the values that are frequent, if these are few; see frequent.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/exec.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

template <typename T>
using RankCode = std::conditional_t<sizeof(T) == 1, std::uint16_t, std::uint32_t>;

/// The samples that leave and enter the window, relative to its middle before the step.
struct WindowStep {
  std::int32_t leaving, entering;
};

/// A window as it slides through tiles.
struct SlidingWindow {
  std::vector<Run> runs;
  std::vector<WindowStep> right, left, down;
  std::ptrdiff_t pitch;  ///< samples from row to row of a tile
  unsigned absent;       ///< the code of samples outside of the image, above all others
};

/// Pixels and all samples of their windows.
template <typename T>
struct RankTile {
  const RankCode<T> *codes;  ///< of the first pixel, in the middle of its window
  const T *samples;          ///< of the first pixel; 16 bits
  const T *values;           ///< of codes; 16 bits
  int n_codes;               ///< codes are below it, except for absent samples
  void *memory;              ///< for the histogram, aligned to 64 bytes
  int width, height;         ///< in pixels
  bool is_clipped;           ///< whether it has absent samples
  T *out;                    ///< of the first pixel
  std::ptrdiff_t dx, dy;     ///< from pixel to pixel of `out`
};

/// Computes the pixels [x0, x1) x [y0, y1).
template <typename T>
void ask_tiles(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &, int x0, int x1, int y0,
               int y1);

}  // namespace cudascan::swo
