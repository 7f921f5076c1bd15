// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Thins a packed image in one launch. Each block processes a tile with its surroundings for
/// several steps, as many as changes from outside need to reach the tile. Then the blocks wait for
/// one another.
#pragma once
#include "kernels/base/grid_barrier.cuh"
#include "kernels/swofilter/binary/packed_bits.cuh"
#include "kernels/swofilter/binary/thinning.h"

namespace cudascan::swo::thinning {

using packed::Bits;

/// The result.
struct Result {
  std::int64_t passes;
  int buffer;  ///< that has the image
};

struct Tiling {
  int columns, rows;  ///< of words, of a tile; rows is a multiple of four
  int steps;          ///< per round: a multiple of four, at most 32 and at most `rows`
  int tiles_across, tiles_down;
  int threads;

  /// Rows of a thread.
  static constexpr int kRows = 4;
  static constexpr int kMostThreads = 1024, kMostSteps = 32;

  CUDASCAN_HD int tiles() const { return tiles_across * tiles_down; }
  /// Threads for a column of a tile with its surroundings above and below.
  CUDASCAN_HD int groups() const { return (rows + 2 * steps) / kRows; }
};

struct ThinJob {
  Bits buffers[2];  ///< the image is in the first
  Tiling tiling;
  Schedule schedule;
  const Template *templates;
  std::int64_t *last[2];  ///< of each tile, the last step that changed it
  unsigned *barrier;
  Result *result;
};

/// Shared memory of a block, as addresses.
struct TileMemory {
  static constexpr int kFlags = 32 * sizeof(unsigned);  // one for each warp
  static constexpr int kGuard = 16, kBuffer = 16 * Tiling::kMostThreads + 2 * kGuard;
  static constexpr int kBytes = 3 * kFlags + 2 * kBuffer;

  unsigned last;     ///< of each warp, the last step that changed something; two, used in turn
  unsigned changed;  ///< the same for changes outside the block
  unsigned words;    ///< two buffers, used in turn

  __device__ explicit TileMemory(unsigned char *memory)
      : last(shared_address(memory)),
        changed(last + 2 * kFlags),
        words(last + 3 * kFlags + kGuard) {}
};

/// Pixels that a step removes if they are white.
template <SwoFilterThinning method>
struct Condition {
  bool second;

  __device__ Condition(const ThinJob &, int turn) : second(turn == 1) {}
  __device__ unsigned operator()(const BitRow<unsigned> &above, const BitRow<unsigned> &row,
                                 const BitRow<unsigned> &below) const {
    const auto p = neighbours(above, row, below);
    return method == SwoFilterThinning::zhang_suen ? zhang_suen(p, second) : guo_hall(p, second);
  }
};
template <>
struct Condition<SwoFilterThinning::templates> {
  WideTemplate<unsigned> pattern;

  __device__ Condition(const ThinJob &job, int turn)
      : pattern(WideTemplate<unsigned>::of(job.templates[turn])) {}
  __device__ unsigned operator()(const BitRow<unsigned> &above, const BitRow<unsigned> &row,
                                 const BitRow<unsigned> &below) const {
    return fits(above, row, below, pattern);
  }
};

/// A thread's position in a tile: four words of a column.
struct ThreadPlace {
  int column, row;  ///< in the image, of the first word; may be outside
  bool mine;        ///< it is in the tile, not in its surroundings
  bool inside;      ///< it is in the image
  /// Byte offsets of its words and of the neighbouring columns' words; at the sides, of its own.
  unsigned own, left, right;

  __device__ ThreadPlace(const Tiling &t, const Bits &image, int tile) {
    const int groups = t.groups(), thread = static_cast<int>(threadIdx.x);
    const int i = thread / groups, group = thread % groups;
    column = tile % t.tiles_across * t.columns + i - 1;
    row = tile / t.tiles_across * t.rows - t.steps + group * Tiling::kRows;
    const bool exists = i < t.columns + 2;
    inside = exists && column >= 0 && column < image.columns && row >= 0 && row < image.rows;
    mine = inside && i >= 1 && i <= t.columns && group * Tiling::kRows >= t.steps &&
           group * Tiling::kRows < t.steps + t.rows;
    own = 16 * thread;
    left = i > 0 ? own - 16 * groups : own;
    right = i < t.columns + 1 ? own + 16 * groups : own;
    if (!exists) left = right = own;
  }
};

/// Four words and the words above and below them. Above the first and below the last row these
/// belong to other columns, but values farthest from the tile do not matter.
struct Column {
  unsigned word[6];

  __device__ explicit Column(unsigned address) {
    unsigned middle[4];
    load_shared(address, middle);
    load_shared(address - 4, word[0]);
    load_shared(address + 16, word[5]);
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i + 1] = middle[i];
  }
};

/// Does a step for the thread's words. Returns whether a pixel was removed.
/// @param from, to  buffers
template <typename Condition>
__device__ bool thin_words(unsigned from, unsigned to, const ThreadPlace &place,
                           const Condition &condition) {
  const Column before(from + place.left), own(from + place.own), after(from + place.right);
  const auto row = [&](int i) {
    return BitRow<unsigned>::of(before.word[i], own.word[i], after.word[i]);
  };
  unsigned left[4], changed = 0;
  BitRow<unsigned> above = row(0), middle = row(1);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const BitRow<unsigned> below = row(i + 2);
    const unsigned gone = middle.middle & condition(above, middle, below);
    left[i] = middle.middle & ~gone;
    changed |= gone;
    above = middle;
    middle = below;
  }
  store_shared(to + place.own, left);
  return changed != 0;
}

/// A bit for each warp with words next to this warp's, and for this warp.
__device__ inline unsigned warps_around(const Tiling &t) {
  const int first = static_cast<int>(threadIdx.x) / 32 * 32, last = first + 31;
  unsigned warps = 0;
  for (int side = -1; side <= 1; ++side) {
    const int from = max(first + side * t.groups() - 1, 0) / 32;
    const int to = min(last + side * t.groups() + 1, static_cast<int>(blockDim.x) - 1) / 32;
    for (int warp = from; warp <= to; ++warp) warps |= 1u << warp;
  }
  return warps;
}

__device__ inline void swap(unsigned &a, unsigned &b) {
  const unsigned c = a;
  a = b;
  b = c;
}

/// Does `steps` steps from `next` on in a tile. The first warp gets the number of the last step
/// that changed the tile, counted from 1, or 0.
template <SwoFilterThinning method>
__device__ unsigned thin_tile(const ThinJob &job, const TileMemory &memory, const Bits &from,
                              const Bits &to, int tile, std::int64_t next, int steps) {
  const int period = job.schedule.period;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const ThreadPlace place(job.tiling, from, tile);
  const bool exists = 32 * lane < static_cast<int>(blockDim.x);
  const bool beside = warps_around(job.tiling) >> lane & 1;
  unsigned words[4]{};
  if (place.inside) {
    const uint4 v = *reinterpret_cast<const uint4 *>(from.at(place.column, place.row));
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  }
  __syncthreads();  // The previous tile is done.
  store_shared(memory.words + place.own, words);
  // Values of the step before the first.
  if (lane == 0) store_shared(memory.last + 4 * warp, ~0u);
  __syncthreads();

  int turn = static_cast<int>(next % period), last = -1;
  unsigned changed = 0;
  unsigned from_buffer = memory.words, to_buffer = memory.words + TileMemory::kBuffer;
  unsigned last_before = memory.last, last_now = memory.last + TileMemory::kFlags;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    // If nothing has changed around a warp for a pass, its steps change nothing, and both buffers
    // have its words. All warps read the same values, so they leave together.
    unsigned last_of_warp;
    load_shared(last_before + 4 * lane, last_of_warp);
    const bool awake = exists && static_cast<int>(last_of_warp) >= step - period;
    if (!__any_sync(kWholeWarp, awake)) break;
    const bool near = awake && beside;
    if (__any_sync(kWholeWarp, near)) {
      const bool gone = thin_words(from_buffer, to_buffer, place, Condition<method>(job, turn));
      if (gone && place.mine) changed = step + 1;
      if (__any_sync(kWholeWarp, gone)) last = step;
    }
    if (lane == 0) store_shared(last_now + 4 * warp, static_cast<unsigned>(last));
    if (++turn == period) turn = 0;
    __syncthreads();
    swap(from_buffer, to_buffer);
    swap(last_before, last_now);
  }
  if (place.mine) {
    load_shared(from_buffer + place.own, words);
    *reinterpret_cast<uint4 *>(to.at(place.column, place.row)) = {words[0], words[1], words[2],
                                                                  words[3]};
  }
  changed = warp_max(changed);
  if (lane == 0) store_shared(memory.changed + 4 * warp, changed);
  __syncthreads();
  if (warp > 0) return 0;
  load_shared(memory.changed + 4 * lane, changed);
  return warp_max(exists ? changed : 0);
}

/// Whether something has changed in the tile or next to it since step `since`.
__device__ inline bool is_awake(const Tiling &t, const std::int64_t *last, int tile,
                                std::int64_t since) {
  const int i = static_cast<int>(threadIdx.x) % 32;
  const int x = tile % t.tiles_across + i % 3 - 1, y = tile / t.tiles_across + i / 3 - 1;
  const bool exists = i < 9 && x >= 0 && x < t.tiles_across && y >= 0 && y < t.tiles_down;
  return __any_sync(kWholeWarp, exists && last[y * t.tiles_across + x] >= since);
}

template <SwoFilterThinning method>
__global__ void __launch_bounds__(Tiling::kMostThreads, 1)
    thin_kernel(const __grid_constant__ ThinJob job) {
  const Tiling &tiling = job.tiling;
  const TileMemory memory(dynamic_shared_memory());
  GridBarrier barrier(job.barrier);
  wait_for_kernels_before();
  std::int64_t next = 0, latest = -1;
  int round = 0;
  for (bool stable = false; !stable && next < job.schedule.steps; ++round) {
    const auto steps = static_cast<int>(min(std::int64_t{tiling.steps}, job.schedule.steps - next));
    const Bits from = job.buffers[round % 2], to = job.buffers[(round + 1) % 2];
    const std::int64_t *const before = job.last[round % 2];
    std::int64_t *const after = job.last[(round + 1) % 2];
    // A tile is skipped if it did not change in the last round, so that both buffers have it, and
    // if nothing has changed around it for a pass. Neighbouring tiles may change in this round, but
    // not close to this one, because a change cannot travel further than the size of a tile.
    const std::int64_t since = next - max(job.schedule.period, tiling.steps);
    for (int tile = blockIdx.x; tile < tiling.tiles(); tile += gridDim.x) {
      unsigned changed = 0;
      if (round == 0 || is_awake(tiling, before, tile, since))
        changed = thin_tile<method>(job, memory, from, to, tile, next, steps);
      if (threadIdx.x == 0)
        after[tile] = changed > 0 ? next + changed - 1 : round == 0 ? -1 : before[tile];
    }
    next += steps;
    barrier.meet();
    for (int tile = threadIdx.x; tile < tiling.tiles(); tile += blockDim.x)
      latest = max(latest, after[tile]);
    stable = __syncthreads_count(!job.schedule.stable(latest, next)) == 0;
  }
  let_next_kernel_start();
  if (blockIdx.x != 0) return;
#pragma unroll
  for (int mask = 16; mask; mask /= 2)
    latest = max(latest, __shfl_xor_sync(kWholeWarp, latest, mask));
  auto *const of_warps = reinterpret_cast<std::int64_t *>(dynamic_shared_memory());
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = latest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 0; 32 * warp < static_cast<int>(blockDim.x); ++warp)
    latest = max(latest, of_warps[warp]);
  *job.result = {job.schedule.passes(latest), round % 2};
}

}  // namespace cudascan::swo::thinning
