// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of binarization on the CPU, compiled for several instruction sets. Arrays of two
/// functions have minima first, maxima second.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/binarize/formula.h"
#include "kernels/runlengths/bits.h"

namespace cudascan::binarize {

using runlengths::Word;
inline constexpr int kWordBits = runlengths::kWordBits;

/// Samples before and after rows of darkness that repeat those at its ends.
inline constexpr int kPadding = kMostErosion / 2;
/// Samples before and after rows in memory of ours that loops may read, and after them write.
inline constexpr int kSlack = 64;

/// How to get extrema of longer segments: from overlapping parts that begin at these distances.
struct SegmentParts {
  int count = 1;  ///< 1..5
  int distance[5] = {};

  /// From one length to another one, at most five times as long.
  static SegmentParts of(int from, int to) {
    SegmentParts parts{(to + from - 1) / from};
    for (int i = 1; i < parts.count; ++i)
      parts.distance[i] = i + 1 < parts.count ? i * from : to - from;
    return parts;
  }
};

struct PaperSums {
  std::uint64_t sum, squares;
};

/// The levels of the pixels of a row, LocalLevels as they are compared.
struct LevelRow {
  std::int16_t *ink, *peak, *most;
};

/// The levels of a round as they are used: DarknessLevels, smoothed.
struct RoundLevels {
  int threshold, deviation;
  bool clear;
};

template <typename T>
struct BinarizeRows {
  // Means. They repeat the last sample of rows with an odd number.

  /// Means of 4x4 samples at every second sample, from four rows; writes (n + 1) / 2.
  void (*halve)(const T *const *rows, int n, T *out);
  /// Means of 2x2 samples, from two rows; writes (n + 1) / 2.
  void (*mean)(const T *a, const T *b, int n, T *out);
  /// Extrema of 2x2 samples, like mean.
  void (*pool[2])(const T *a, const T *b, int n, T *out);
  /// maximum - in, at least 0; `out` may be `in`.
  void (*invert)(const T *in, int n, T maximum, T *out);
  PaperSums (*sum)(const T *in, int n);

  // Extrema.

  /// to[x] becomes the extremum of the parts of from + x. `to` may be `from`.
  void (*widen[2])(const T *from, const SegmentParts &, int n, T *to);
  /// A row of ColumnWindows: kept becomes row; prefix becomes the extremum of prefix and row, or
  /// row if it is the first; out becomes the extremum of the new prefix and suffix. `out` may be
  /// row.
  void (*slide[2])(const T *row, int n, bool first, T *prefix, const T *suffix, T *kept, T *out);
  /// The extremum of two rows; b may be `out`.
  void (*combine[2])(const T *a, const T *b, int n, T *out);
  /// Raises samples to a level.
  void (*raise)(T *row, int n, T least);

  // Darkness.

  /// Repeats paper and darkness_factor() of each sample 4 or 16 times.
  void (*factors)(const T *paper, int n, int least_paper, int times, T *papers, float *factors);
  void (*darken)(const T *in, const T *papers, const float *factors, int n, T *out);
  /// Details, from the closing by kDetailClosing, the darkest samples and the paper.
  void (*details)(const T *closed, const T *low, const T *paper, int n, int least_paper,
                  std::uint16_t *out);

  // Decisions, 64 pixels a word. They read whole words of samples.

  /// LocalLevels of each sample, four times. There are as many samples of `mean`, and a fourth of
  /// M.
  void (*levels)(const T *darkest, const T *mean, int n, const RoundLevels &, const InkWeights &,
                 const LevelRow &out);
  /// is_ink()
  void (*ink)(const T *d, const T *least, const LevelRow &, const InkWeights &, int n, Word *out);
  /// is_core() of pixels of ink, from three rows of d with one more sample on both sides.
  /// @param cells  means of squares of 4x4 pixels, for weights that use them
  void (*cores)(const T *const *d, const T *least, const T *cells, const LevelRow &,
                const InkWeights &, const Word *ink, int n, Word *out);
  /// is_dark(), is_dark_margin() and belongs(); `ink` is D.
  void (*dark)(const T *d, int n, int ink, Word *out);
  void (*dark_margin)(const T *d, int n, int ink, Word *out);
  void (*belong)(const T *d, int n, int ink, Word *out);
  /// is_soft(), from the extrema of windows.
  void (*soft)(const T *high, const T *low, int n, int ink, Word *out);
};

/// The loops for this processor.
template <typename T>
const BinarizeRows<T> &rows();

/// Loops over words of bits.
struct BinarizeWords {
  /// The number of bits that are set.
  std::uint64_t (*count)(const Word *in, std::ptrdiff_t n);
  /// The number of runs of bits.
  std::uint32_t (*count_runs)(const Word *in, int n);
};
const BinarizeWords &words();

/// Writes black for ink, white for others.
template <typename Out>
using PaintInk = void (*)(const Word *ink, int n, Out white, Out *out);
template <typename Out>
PaintInk<Out> paint_ink();

}  // namespace cudascan::binarize
