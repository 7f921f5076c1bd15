// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of linear openings on the CPU, compiled for several instruction sets. Samples are
/// unsigned integers of 1, 2 or 4 bytes (linearopen_samples.h).
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
  int begin, end;  ///< the rows in which at least one of the lines is in the plane
  int length;      ///< of segments
};

/// Where openings go.
template <typename T>
struct Sink {
  Plane<T> best;
  /// Whether this is the first direction; of the others, what is larger than `best` replaces it.
  bool first;
  T flip;  ///< xored to what is written to `best`; 0 if there are more directions than one
  bool orient;
  Plane<T> orientation;  ///< gets `degree` where `best` is replaced
  T degree;
  bool sum;  ///< whether to add openings up
};

template <typename T>
struct Rows {
  /// Opens, along its lines, the samples that are in[..] ^ flip.
  /// @param scratch  strip_scratch() samples for length, or 2 * in.height - 1 if that is less
  /// @return the sum of the openings, if the sink wants it
  std::uint64_t (*open_strip)(Plane<const T> in, T flip, const Strip &, const Sink<T> &,
                              T *scratch);

  /// Transposes columns [begin, end) of `in` to rows of `out`.
  void (*transpose)(Plane<const T> in, int begin, int end, Plane<T> out);

  /// Takes over what is larger, as a Sink has it.
  void (*accumulate)(const T *opening, int n, T *best, T *orientation, T degree);
  std::uint64_t (*sum)(const T *, int n);

  /// Writes smaller or larger of target and source.
  void (*lower)(const T *source, int n, T *target);
  void (*raise)(const T *source, int n, T *target);

  /// Writes in ^ flip.
  void (*flip)(const T *in, int n, T flip, T *out);
  /// Makes best what (in ^ flip) - best is: the difference of input and opening, of closing and input.
  void (*subtract)(const T *in, int n, T flip, T *best);
};

/// The loops for the processor that runs.
template <typename T>
const Rows<T> &rows();

}  // namespace cudascan::linearopen
