// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Histograms and mappings of tiles of 8-bit samples.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/warp_sums.cuh"
#include "kernels/equalize/clahe_job.cuh"
#include "kernels/histogram/counters/samples.cuh"
#include "kernels/histogram/share.cuh"

namespace cudascan::equalize {

/// Counts a slice of a tile.
template <typename Counters>
__device__ void count_slice(const ClaheJob &job, unsigned char *memory, int item) {
  const Tiles &tiles = job.tiles;
  const Plane<const std::uint8_t> &plane = job.in.plane;
  const int tile = item / job.slices, slice = item % job.slices;
  const int x0 = tile % tiles.nx * tiles.width, x1 = x0 + tiles.width;
  const int y0 = tile / tiles.nx * tiles.height + tiles.height * slice / job.slices;
  const int rows = tile / tiles.nx * tiles.height + tiles.height * (slice + 1) / job.slices - y0;
  Counters counters(memory, job.range.levels);
  const auto emit = [&](int level, unsigned n) {
    job.counts[item * kBins + ((level - job.range.first) & (kBins - 1))] = n;
  };

  // First vectors that lie in the tile completely, then the columns to their left and right and
  // beyond the plane.
  constexpr int kSamples = histogram::PlaneVectors<const std::uint8_t>::kSamples;
  const int first = (x0 + kSamples - 1) / kSamples;
  const int per_row = max(min(x1, job.in.rest()) / kSamples - first, 0), all = per_row * rows;
  const int left = per_row > 0 ? first * kSamples - x0 : 0;
  const int right_begin = per_row > 0 ? (first + per_row) * kSamples : x0;
  const int singles = (left + x1 - right_begin) * rows;
  constexpr int kThreads = Counters::kThreads;
  int i = threadIdx.x, row = per_row > 0 ? i / per_row : 0, column = i - row * per_row;
  // Address of the next vector of this thread; nullptr if there are no more.
  const auto next = [&]() -> const uint4 * {
    if (i >= all) return nullptr;
    const void *const from =
        plane.row(source_index(y0 + row, plane.height)) + (first + column) * kSamples;
    i += kThreads;
    row += kThreads / per_row;
    column += kThreads % per_row;
    if (column >= per_row) {
      column -= per_row;
      ++row;
    }
    return static_cast<const uint4 *>(from);
  };
  histogram::Adding adding(counters, emit);
  counters.clear();
  __syncthreads();
  if constexpr (Counters::kKept > 0) {
    using Kept = histogram::KeptVectors<Counters::kKept, kThreads>;
    const Kept kept(memory + Counters::kBytes);
    constexpr int kRound = Counters::kKept * kThreads;
    for (int begin = 0; begin < all; begin += kRound) {
      // Numbers for this thread, and for the thread that has most.
      const int mine = i < all ? min((all - i + kThreads - 1) / kThreads, Counters::kKept) : 0;
      const int most = min((all - begin + kThreads - 1) / kThreads, Counters::kKept);
      const int brought = (most + Kept::kGroup - 1) / Kept::kGroup * Kept::kGroup;
#pragma unroll 2
      for (int j = 0; j < brought; ++j) kept.bring(j, next());
#pragma unroll 1
      for (int j = 0; j < most; j += Kept::kGroup) {
        kept.wait_for(j, brought);
        adding.template add<Kept::kGroup>([&](int k) {
          return j + k < mine ? histogram::VectorSamples{kept[j + k], kSamples}
                              : histogram::VectorSamples{};
        });
      }
    }
  } else {
#pragma unroll 1
    for (int begin = 0; begin < all; begin += kThreads)
      adding.template add<1>([&](int) {
        const uint4 *const from = next();
        return from ? histogram::VectorSamples{*from, kSamples} : histogram::VectorSamples{};
      });
  }
  const int each = left + x1 - right_begin;
  constexpr int kPacks = Counters::kTogether;
#pragma unroll 1
  for (int begin = 0; begin < singles; begin += kPacks * kSamples * kThreads) {
    int next_single = begin + static_cast<int>(threadIdx.x);
    adding.template add<kPacks>([&](int) {
      return histogram::pack_samples<std::uint8_t>([&](std::uint8_t &sample) {
        if (next_single >= singles) return false;
        const int at = next_single % each, x = at < left ? x0 + at : right_begin + at - left;
        const int y = source_index(y0 + next_single / each, plane.height);
        sample = plane.row(y)[source_index(x, plane.width)];
        next_single += kThreads;
        return true;
      });
    });
  }
  adding.finish();
}

/// Computes the mapping of a tile, with the lanes of a warp.
/// @param map  the level for each index, kBins, at a multiple of 8 bytes
inline __device__ void map_tile(const ClaheJob &job, int tile, unsigned char *map) {
  const int bins = job.range.count, lane = static_cast<int>(threadIdx.x % 32);
  constexpr int kEach = kBins / 32;
  const int first = lane * kEach;
  int counts[kEach]{};
#pragma unroll 2
  for (int i = 0; i < job.slices; ++i) {
    const auto *const of_slice =
        reinterpret_cast<const uint4 *>(job.counts + (tile * job.slices + i) * kBins + first);
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      const uint4 four = of_slice[k / 4];
      counts[k] += four.x;
      counts[k + 1] += four.y;
      counts[k + 2] += four.z;
      counts[k + 3] += four.w;
    }
  }
  if (bins < kBins) {
    std::uint32_t white = 0, black = 0;  // pixels beyond
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (first + k < bins) continue;
      (first + k < kBins - job.range.first ? white : black) += counts[k];
      counts[k] = 0;
    }
    white = warp_sum(white);
    black = warp_sum(black);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (first + k == 0) counts[k] += black;
      if (first + k == bins - 1) counts[k] += white;
    }
  }
  std::uint32_t clipped = 0;
#pragma unroll
  for (int k = 0; k < kEach; ++k) clipped += max(counts[k] - job.limit, 0);
  const ClippedShare share = share_out(static_cast<int>(warp_sum(clipped)), bins);
  std::uint32_t mine = 0;
  int step = first % share.step, taken = first / share.step;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const bool takes_of_the_rest = step == 0 && taken < share.rest;
    counts[k] = first + k < bins ? min(counts[k], job.limit) + share.each + takes_of_the_rest : 0;
    mine += counts[k];
    if (++step == share.step) {
      step = 0;
      ++taken;
    }
  }
  std::uint32_t sum = warp_scan(mine) - mine;
  unsigned mapped[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    sum += counts[k];
    mapped[k] = tile_map(static_cast<int>(sum), job.scale, bins);
  }
  const auto word = [&](int k) {
    return mapped[k] | mapped[k + 1] << 8 | mapped[k + 2] << 16 | mapped[k + 3] << 24;
  };
  reinterpret_cast<uint2 *>(map)[lane] = {word(0), word(4)};
}

}  // namespace cudascan::equalize
