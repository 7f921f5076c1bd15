// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of extrema of windows on the CPU, compiled for several instruction sets. Arrays
/// of two functions have minima first, maxima second.
#pragma once
#include <cstdint>

namespace cudascan::swo::extremes {

/// Samples after the last one that loops may read and write.
inline constexpr int kSlack = 64;

/// How to get extrema of longer segments: from overlapping parts that begin at these distances.
struct Widening {
  int count = 1;  ///< of parts, 1..4
  int distance[4] = {};

  /// From one length to another one, at most four times as long.
  static Widening of(int from, int to) {
    Widening w{(to + from - 1) / from};
    for (int i = 1; i < w.count; ++i) w.distance[i] = i + 1 < w.count ? i * from : to - from;
    return w;
  }
};

template <typename T>
struct ExtremaLoops {
  using Two = void (*[2])(const T *, const T *, int n, T *out);

  /// to[x] becomes the extremum of from[x + distance] for x < n and up to kSlack more. `to` may be
  /// `from`.
  void (*widen[2])(const T *from, const Widening &, int n, T *to);
  /// The same for x < n only; `to` does not overlap `from`.
  void (*widen_exactly[2])(const T *from, const Widening &, int n, T *to);

  /// row[x] is the result of widen(). kept becomes row; prefix becomes the extremum of prefix and
  /// row, or row if it is the first; out becomes the extremum of the new prefix and suffix. None
  /// overlap.
  void (*slide[2])(const T *from, const Widening &, int n, bool first, T *prefix, const T *suffix,
                   T *kept, T *out);

  /// The extremum of two rows, column by column; `out` may be one of them.
  Two combine;
  /// The same for one or more rows.
  void (*gather[2])(const T *const *rows, int count, int n, T *out);

  /// (a + b + 1) / 2 of levels; `out` does not overlap.
  void (*midpoint)(const T *a, const T *b, int n, int shift, T *out);
  /// a - b, at least 0; `out` does not overlap.
  void (*subtract)(const T *a, const T *b, int n, T *out);
};

/// The loops for this processor.
template <typename T>
const ExtremaLoops<T> &loops();

}  // namespace cudascan::swo::extremes
