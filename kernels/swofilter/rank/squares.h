// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics, trimmed means and modes of windows of any shape on the CPU, for squares of
/// 8 x 8 pixels at a time. A sample counts for the pixels that have it in their windows: these are
/// the bits of a word, and the pixels are lanes of vectors. How long this takes depends on the size
/// and the border of the window, but not on its runs or the image.
///
/// 8 bits: each value has a counter for each pixel. Samples that all windows of a square have are
/// counted once, in a histogram that slides from square to square. Then one pass through the values
/// answers for all pixels.
///
/// 16 bits: the samples of a tile are sorted, and listed in this order for each square that needs
/// them. One pass through its list answers for all pixels of a square. For modes, samples that all
/// windows have are counted in a histogram that slides, too, and are not in the list.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec.h"
#include "kernels/swofilter/rank/tiles.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

inline constexpr int kSquare = 8;         ///< rows and columns
inline constexpr int kSquarePixels = 64;  ///< a bit of a word for each, row by row

/// The samples of the windows of a square, and the pixels that have each of them.
struct SquareShape {
  explicit SquareShape(const Mask &);

  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  int columns, rows;
  std::vector<std::uint64_t> pixels;  ///< row by row
};

/// The samples that all windows of a square have, and how these change from a square to the next
/// one. Places are relative to its first pixel.
struct SquareSteps {
  SquareSteps(const SquareShape &, const Mask &, std::ptrdiff_t pitch);

  std::vector<std::int32_t> common;
  std::vector<WindowStep> right, left, down;
};

/// Neighbouring samples of 8 bits that are read at the same time.
inline constexpr int kTogether = 4;
inline constexpr std::uint16_t kAbsentByte = 256;  ///< instead of a sample outside of the image

/// The places of samples: the first of each group of kTogether, and others.
struct PlaceGroups {
  PlaceGroups() = default;
  explicit PlaceGroups(const std::vector<std::int32_t> &);

  std::vector<std::int32_t> groups, others;
};

struct ByteSquares {
  ByteSquares(const Mask &, std::ptrdiff_t pitch);

  /// Samples that all pixels have for one square but not for the next one, and the other way round.
  struct Step {
    explicit Step(const std::vector<WindowStep> &);
    PlaceGroups leaving, entering;
  };

  /// Samples that some pixels have, but not all, by kTogether.
  std::vector<std::int32_t> places;
  std::vector<std::array<std::uint64_t, kTogether>> pixels;
  std::vector<std::int32_t> common;  ///< samples that all pixels have
  Step right, left, down;            ///< to the next square
  std::ptrdiff_t pitch;              ///< samples from row to row of a tile

 private:
  ByteSquares(const SquareShape &, const SquareSteps &, const Mask &, std::ptrdiff_t pitch);
};

/// Pixels and all samples of their windows, which are words. There are as many as groups of samples
/// and whole squares need.
struct ByteSquareTile {
  const std::uint16_t *samples;  ///< of the first pixel
  void *memory;                  ///< of kByteSquareMemory bytes, aligned to 64
  int width, height;             ///< in pixels
  bool is_clipped;               ///< whether it has absent samples
  std::uint8_t *out;             ///< of the first pixel
  std::ptrdiff_t dy;             ///< from row to row of `out`
};
/// Counts of 257 values: in bytes and in words for each pixel, and in words for all.
inline constexpr std::size_t kByteSquareMemory = 257 * 3 * kSquarePixels + 640 + 320;

struct SortedSquares {
  SortedSquares(const Mask &, bool is_mode, std::ptrdiff_t pitch);

  static constexpr std::uint16_t kNone = 0xffff;
  int columns, rows;
  struct Reach {
    int first, last;  ///< columns
  };
  std::vector<Reach> reaches;          ///< of the samples of each row
  std::vector<std::uint16_t> numbers;  ///< of the samples of a square that are listed, row by row
  std::vector<std::uint64_t> pixels;   ///< of each number
  SquareSteps steps;                   ///< for modes
  std::ptrdiff_t pitch;                ///< samples from row to row of a tile

 private:
  SortedSquares(const SquareShape &, const Mask &, bool is_mode, std::ptrdiff_t pitch);
};

/// Pixels and the sorted samples of their windows.
struct SortedSquareTile {
  const std::uint16_t *samples;  ///< of the first pixel
  const std::uint32_t *order;    ///< row and column of each, from the first one of the tile
  int n;
  std::uint32_t *lists;   ///< memory for as many samples as a square has, for each square
  std::uint32_t *codes;   ///< memory for the codes of samples, of the first pixel; for modes
  std::uint16_t *values;  ///< memory for the values of codes; for modes
  void *memory;           ///< for a histogram, aligned to 64
  int width, height;      ///< in pixels
  bool is_clipped;        ///< whether it has absent samples
  std::uint16_t *out;     ///< of the first pixel
  std::ptrdiff_t dy;      ///< from row to row of `out`
};

struct SquareLoops {
  void (*bytes)(const ByteSquareTile &, const ByteSquares &, const FilterJob &);
  void (*sorted)(const SortedSquareTile &, const SortedSquares &, const FilterJob &);
};

/// Whether this is faster than other methods.
template <typename T>
bool has_squares(const FilterJob &);

/// Computes the pixels [x0, x1) x [y0, y1).
template <typename T>
void ask_squares(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &, int x0, int x1, int y0,
                 int y1);

}  // namespace cudascan::swo
