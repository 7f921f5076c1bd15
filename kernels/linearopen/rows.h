// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of linear openings on the CPU, compiled for several instruction sets. T is an
/// unsigned integer of 1, 2 or 4 bytes; samples of 4 bytes are the bits of floats. Openings are of
/// ordered integers, of the complement for closings (samples.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/plane.h"

namespace cudascan::linearopen {

/// Neighbouring lines that are opened at a time, next to each other in vectors. So many that of each
/// page that a row is in, more than a few bytes are used; so few that what is kept of them for segments
/// of moderate length stays in the fastest cache.
template <typename T>
inline constexpr int kLanes = sizeof(T) > 2 ? 64 : 128;

/// Rows that are handled at a time.
template <typename T>
inline constexpr int kChunk = 4096 / (kLanes<T> * static_cast<int>(sizeof(T)));

/// The longest segments that are compared sample by sample.
inline constexpr int kShort = 16;

/// Side of the blocks of samples that are transposed at a time, in vectors of 16 bytes.
template <typename T>
inline constexpr int kSide = 16 / static_cast<int>(sizeof(T));

/// Samples in a line of the cache.
template <typename T>
inline constexpr int kLine = 64 / static_cast<int>(sizeof(T));

/// Samples in the memory of a column of a block of kLine<T>: lines that begin at up to as many places,
/// with what there is to a multiple of kSide<T>.
template <typename T>
inline constexpr int kColumn = kLanes<T> + kLine<T> + kSide<T>;

/// Blocks of columns that are read and written at a time.
inline constexpr int kFlatBlocks = 4;

/// Samples that are kept to read and write flat lines.
template <typename T>
inline constexpr int kLinesMemory = 2 * kFlatBlocks *kLine<T> *kColumn<T>;

/// Samples that opening a strip needs as scratch memory, aligned to 64 bytes.
template <typename T>
constexpr std::size_t strip_scratch(int length) {
  const std::size_t segments = 2 * (std::size_t(length) + 1), short_ones = kChunk<T> + kShort + 2;
  return kLinesMemory<T> +
         (2 * kChunk<T> + (segments > short_ones ? segments : short_ones)) * kLanes<T>;
}

/// Lines `line` to line + kLanes<T> - 1 of a direction; by columns for flat ones, where it says rows.
struct Strip {
  const int *shift;  ///< of the rows
  int line;
  int begin, end;              ///< the rows in which at least one of the lines is in the plane
  int whole_begin, whole_end;  ///< those of them in which all lines are
  int length;                  ///< of segments
};

/// Rows of a tile that are worked on together, and times that extrema of one pixel have to be lengthened
/// to be those of a segment, at most.
inline constexpr int kTileRows = 4, kTileSteps = 12;

/// A part of the plane to open along flat lines that go downwards, or with rows counted from the last one
/// on.
struct Tile {
  const int *shift;     ///< of columns, from -length to width + 2 * length; not falling
  int slope, fraction;  ///< as in lines::Direction
  bool upwards;         ///< whether rows are counted from the last one
  int length;           ///< of segments, at least 2
  int x0, x1, y0, y1;
};

/// Samples of memory for a row of so many.
template <typename T>
constexpr std::size_t tile_stride(int columns) {
  return ((std::size_t(columns) / kLine<T> + 3) | 1) * kLine<T>;
}
/// Samples that opening a tile of so many columns needs as scratch memory, aligned to 64 bytes.
/// @param slope  of the lines, 0..1
template <typename T>
std::size_t tile_scratch(int columns, int length, double slope) {
  // Those in use, and what is known of the columns for each step.
  const std::size_t rows = 2 * (std::size_t(length * slope) + kTileSteps) + kTileRows + 1,
                    steps = kTileSteps + 2;
  return (rows + steps) * tile_stride<T>(columns + 2 * (length - 1));
}

/// Where openings go.
template <typename T>
struct Sink {
  Plane<T> best;
  bool first;  ///< otherwise what is larger than `best` replaces it
  bool last;   ///< `best` gets samples, not ordered integers; only where `first` is set, too
  bool orient;
  Plane<T> orientation;  ///< gets `degree` where `best` is replaced
  T degree;
  bool sum;  ///< whether to add openings up
};

template <typename T>
struct Rows {
  /// Opens samples along lines.
  /// @param scratch  strip_scratch() of the length, or of twice the rows - 1 if that is less
  /// @return the sum of the openings, if the sink wants it
  std::uint64_t (*open_steep)(Plane<const T> in, T flip, const Strip &, const Sink<T> &,
                              T *scratch);
  /// The same along flat lines, for a sink of which this is the only direction, without orientation.
  std::uint64_t (*open_flat)(Plane<const T> in, T flip, const Strip &, const Sink<T> &, T *scratch);

  /// The same without transposing, for segments of moderate length.
  std::uint64_t (*open_skewed)(Plane<const T> in, T flip, const Tile &, const Sink<T> &,
                               T *scratch);

  /// Transposes columns [begin, end) of `in` to rows of `out`.
  void (*transpose)(Plane<const T> in, int begin, int end, Plane<T> out);

  /// Takes over what is larger, as a Sink has it. Without orientation, that is nullptr.
  void (*accumulate)(const T *opening, int n, T *best, T *orientation, T degree);

  /// The minimum, or maximum, of each place of `count` rows.
  void (*smallest)(const T *const *rows, int count, int n, T *out);
  void (*largest)(const T *const *rows, int count, int n, T *out);

  /// Makes ordered integers of samples.
  void (*order)(const T *samples, int n, T flip, T *ordered);
  /// Makes samples of ordered integers.
  void (*restore)(T *row, int n, T flip);
  /// Turns openings to the differences of their samples and the input's.
  void (*subtract)(const T *samples, int n, T flip, T *openings);

  std::uint64_t (*sum)(const T *, int n);
  /// What a row of openings of floats adds to the spectrum.
  std::int64_t (*spectrum)(const T *samples, const T *openings, int n, T flip, bool difference);
};

/// The loops for the processor that runs.
template <typename T>
const Rows<T> &rows();

}  // namespace cudascan::linearopen
