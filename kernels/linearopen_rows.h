// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of linear openings on the CPU, compiled for several instruction sets. T is an
/// unsigned integer of 1, 2 or 4 bytes; samples of 4 bytes are the bits of floats. Openings are of
/// ordered integers, of the complement for closings (linearopen_samples.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/plane.h"

namespace cudascan::linearopen {

/// Neighbouring lines that are opened at a time, next to each other in vectors.
inline constexpr int kStripBytes = 128;
template <typename T>
inline constexpr int kLanes = kStripBytes / static_cast<int>(sizeof(T));

/// Rows that are handled at a time.
inline constexpr int kChunk = 32;

/// Samples that opening a strip needs as scratch memory, aligned to kStripBytes.
template <typename T>
constexpr std::size_t strip_scratch(int length) {
  return (2 * (std::size_t(length) + 1) + 3 * kChunk) * kLanes<T>;
}

/// Lines `line` to line + kLanes<T> - 1 of a direction that is steep in this plane.
struct Strip {
  const int *shift;  ///< of the rows
  int line;
  int begin, end;              ///< the rows in which at least one of the lines is in the plane
  int whole_begin, whole_end;  ///< those of them in which all lines are
  int length;                  ///< of segments
};

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
  /// @param scratch  strip_scratch() of the length, or of 2 * in.height - 1 if that is less
  /// @return the sum of the openings, if the sink wants it
  std::uint64_t (*open_strip)(Plane<const T> in, T flip, const Strip &, const Sink<T> &,
                              T *scratch);

  /// Transposes columns [begin, end) of `in` to rows of `out`.
  void (*transpose)(Plane<const T> in, int begin, int end, Plane<T> out);

  /// Takes over what is larger, as a Sink has it. Without orientation, that is nullptr.
  void (*accumulate)(const T *opening, int n, T *best, T *orientation, T degree);
  void (*lower)(const T *source, int n, T *target);  ///< the same with what is smaller

  /// Makes ordered integers of samples.
  void (*order)(const T *samples, int n, T flip, T *ordered);
  /// Makes samples of ordered integers.
  void (*restore)(T *row, int n, T flip);
  /// Makes differences from the samples of openings.
  void (*subtract)(const T *samples, int n, T flip, T *openings);

  std::uint64_t (*sum)(const T *, int n);
  /// What a row of openings of floats adds to the spectrum.
  std::int64_t (*spectrum)(const T *samples, const T *openings, int n, T flip, bool difference);
};

/// The loops for the processor that runs.
template <typename T>
const Rows<T> &rows();

}  // namespace cudascan::linearopen
