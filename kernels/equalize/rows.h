// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of equalization on the CPU, compiled for several instruction sets. Each
/// processes one row or one histogram.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/equalize/mapping.h"

namespace cudascan::equalize {

/// The new values of an index in the four tiles around a pixel, in the order of interpolate(), the
/// first in the lowest bits.
template <typename T>
using Four = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;

/// The pixels of a row: their mappings, and the weights of the tiles before and after.
template <typename T>
struct FoursOfRow {
  const Four<T> *fours;
  const float *weight_before, *weight_after;
  int n;
};

template <typename T>
struct EqualizeRows {
  /// Writes table[sample] for 8-bit samples, table[level] for others.
  void (*look_up)(const T *in, int n, const Levels &, const T *table, T *out);

  // Mappings of tiles; `bins` counts are below 2^31.

  /// Sum of the counts' excess above the limit.
  std::uint32_t (*count_above)(const std::uint32_t *counts, int bins, std::uint32_t limit);
  /// Clips the counts at the limit and adds `each` to all.
  void (*clip)(std::uint32_t *counts, int bins, std::uint32_t limit, std::uint32_t each);
  /// Writes tile_map() of sums.
  void (*map_tile)(const std::uint32_t *sums, int bins, float scale, T *mapping);

  // Pixels.

  /// Writes the samples that interpolate() gives.
  void (*interpolate)(const FoursOfRow<T> &, const TileNeighbours &y, const Range &, T *out);
  /// Blends the samples of `out` with those of `in`; amount is a weight_of().
  void (*blend)(const T *in, int n, const Range &, std::uint32_t amount, T *out);
};

/// The loops for this processor.
template <typename T>
const EqualizeRows<T> &rows();

}  // namespace cudascan::equalize
