// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of linear openings on the CPU, compiled for several instruction sets. T is an
/// unsigned integer of 1, 2 or 4 bytes; samples of 4 bytes are the bits of floats. Openings use
/// ordered integers; for closings, of the complement (samples.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/plane.h"

namespace cudascan::linearopen {

/// Number of neighbouring lines opened at a time, adjacent in vectors. Large enough to use more
/// than a few bytes of each memory page; small enough that the data for segments of moderate length
/// stays in the fastest cache.
template <typename T>
inline constexpr int kLanes = sizeof(T) > 2 ? 64 : 128;

/// Rows processed at a time.
template <typename T>
inline constexpr int kChunk = 4096 / (kLanes<T> * static_cast<int>(sizeof(T)));

/// Longest segments that are compared sample by sample.
inline constexpr int kShort = 16;

/// Side of the blocks of samples transposed at a time, in vectors of 16 bytes.
template <typename T>
inline constexpr int kSide = 16 / static_cast<int>(sizeof(T));

/// Samples in a cache line.
template <typename T>
inline constexpr int kLine = 64 / static_cast<int>(sizeof(T));

/// Samples of memory for a column of a block of kLine<T>: for lines that begin in as many different
/// rows, rounded up to a multiple of kSide<T>.
template <typename T>
inline constexpr int kColumn = kLanes<T> + kLine<T> + kSide<T>;

/// Blocks of columns read and written at a time.
inline constexpr int kFlatBlocks = 4;

/// Samples of memory for reading and writing flat lines.
template <typename T>
inline constexpr int kLinesMemory = 2 * kFlatBlocks *kLine<T> *kColumn<T>;

/// Scratch memory for opening a strip, in samples, aligned to 64 bytes.
template <typename T>
constexpr std::size_t strip_scratch(int length) {
  const std::size_t segments = 2 * (std::size_t(length) + 1), short_ones = kChunk<T> + kShort + 2;
  return kLinesMemory<T> +
         (2 * kChunk<T> + (segments > short_ones ? segments : short_ones)) * kLanes<T>;
}

/// Lines `line` to line + kLanes<T> - 1 of a direction; for flat lines, "rows" are columns.
struct LaneStrip {
  const int *shift;  ///< of the rows
  int line;
  int begin, end;              ///< rows in which at least one line is in the plane
  int whole_begin, whole_end;  ///< rows in which all lines are
  int length;                  ///< of segments
};

/// Rows of a tile processed together, and the largest number of steps from extrema of one pixel to
/// those of a segment.
inline constexpr int kTileRows = 4, kTileSteps = 12;

/// A part of the plane to open along flat lines that go downwards; for lines that go upwards, rows
/// are counted from the last one.
struct SkewedTile {
  const int *shift;     ///< of columns, from -length to width + 2 * length; ascending
  int slope, fraction;  ///< as in lines::Direction
  bool upwards;         ///< whether rows are counted from the last one
  int length;           ///< of segments, at least 2
  int x0, x1, y0, y1;
};

/// Samples of memory for a row of so many samples.
template <typename T>
constexpr std::size_t tile_stride(int columns) {
  return ((std::size_t(columns) / kLine<T> + 3) | 1) * kLine<T>;
}
/// Scratch memory for opening a tile of so many columns, in samples, aligned to 64 bytes.
/// @param slope  of the lines, 0..1
template <typename T>
std::size_t tile_scratch(int columns, int length, double slope) {
  // The rows in use, and data of the columns for each step.
  const std::size_t rows = 2 * (std::size_t(length * slope) + kTileSteps) + kTileRows + 1,
                    steps = kTileSteps + 2;
  return (rows + steps) * tile_stride<T>(columns + 2 * (length - 1));
}

/// Where openings go.
template <typename T>
struct Sink {
  Plane<T> best;
  bool first;  ///< if false, larger values replace those in `best`
  bool last;   ///< `best` gets samples, not ordered integers; needs `first`
  bool orient;
  Plane<T> orientation;  ///< gets `degree` where `best` is replaced
  T degree;
  bool sum;  ///< whether to sum up the openings
};

template <typename T>
struct OpeningRows {
  /// Opens samples along lines.
  /// @param scratch  strip_scratch() of the length, or of twice the rows - 1 if that is less
  /// @return the sum of the openings, if the sink wants it
  std::uint64_t (*open_steep)(Plane<const T> in, T flip, const LaneStrip &, const Sink<T> &,
                              T *scratch);
  /// The same along flat lines, for a sink with only this direction and without orientation.
  std::uint64_t (*open_flat)(Plane<const T> in, T flip, const LaneStrip &, const Sink<T> &,
                             T *scratch);

  /// The same without transposing, for segments of moderate length.
  std::uint64_t (*open_skewed)(Plane<const T> in, T flip, const SkewedTile &, const Sink<T> &,
                               T *scratch);

  /// Transposes columns [begin, end) of `in` to rows of `out`.
  void (*transpose)(Plane<const T> in, int begin, int end, Plane<T> out);

  /// Takes larger values, as a Sink does. `orientation` is nullptr if it is not wanted.
  void (*accumulate)(const T *opening, int n, T *best, T *orientation, T degree);

  /// The minimum or maximum of `count` rows, column by column.
  void (*smallest)(const T *const *rows, int count, int n, T *out);
  void (*largest)(const T *const *rows, int count, int n, T *out);

  /// Converts samples to ordered integers.
  void (*order)(const T *samples, int n, T flip, T *ordered);
  /// Converts ordered integers to samples.
  void (*restore)(T *row, int n, T flip);
  /// Replaces openings by their differences from the input.
  void (*subtract)(const T *samples, int n, T flip, T *openings);

  std::uint64_t (*sum)(const T *, int n);
  /// The contribution of a row of float openings to the spectrum.
  std::int64_t (*spectrum)(const T *samples, const T *openings, int n, T flip, bool difference);
};

/// The loops for this processor.
template <typename T>
const OpeningRows<T> &rows();

}  // namespace cudascan::linearopen
