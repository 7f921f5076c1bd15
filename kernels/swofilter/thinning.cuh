// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Thins a packed image in one launch. Blocks do tiles, with what is around them, so many steps at a time
/// that nothing from farther away can reach the tile; then they wait for one another.
#pragma once
#include "kernels/grid.cuh"
#include "kernels/swofilter/packed_bits.cuh"
#include "kernels/swofilter/thinning.h"

namespace cudascan::swo::thinning {

using packed::Bits;

/// What comes of it.
struct Result {
  std::int64_t passes;
  int buffer;  ///< that has the image
};

struct Tiling {
  int columns, rows;  ///< of words, of a tile; rows is a multiple of four
  int steps;          ///< at a time: a multiple of four, at most 32 and at most `rows`
  int tiles_across, tiles_down;
  int threads;

  /// Rows that a thread has.
  static constexpr int kRows = 4;
  static constexpr int kMostThreads = 1024, kMostSteps = 32;

  CUDASCAN_HD int tiles() const { return tiles_across * tiles_down; }
  /// Threads for a column of a tile and of what is above and below.
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

/// Shared memory of a block.
struct TileMemory {
  struct Flags {
    int last
        [2]
        [32];  ///< of each warp, the last of the steps that changed something, of two that take turns
    unsigned changed[32];
  };
  static int bytes(int threads) { return static_cast<int>(sizeof(Flags)) + 2 * threads * 16; }

  Flags *flags;
  unsigned *words[2];

  __device__ TileMemory(unsigned char *memory, int threads)
      : flags(reinterpret_cast<Flags *>(memory)) {
    words[0] = reinterpret_cast<unsigned *>(memory + sizeof(Flags));
    words[1] = words[0] + 4 * threads;
  }
};

/// Pixels that go in a step, if they are white.
template <SwoFilterThinning method>
struct Condition {
  bool second;

  __device__ Condition(const ThinJob &, int turn) : second(turn == 1) {}
  __device__ unsigned operator()(const Row<unsigned> &above, const Row<unsigned> &row,
                                 const Row<unsigned> &below) const {
    const auto p = neighbours(above, row, below);
    return method == SwoFilterThinning::zhang_suen ? zhang_suen(p, second) : guo_hall(p, second);
  }
};
template <>
struct Condition<SwoFilterThinning::templates> {
  WideTemplate<unsigned> pattern;

  __device__ Condition(const ThinJob &job, int turn)
      : pattern(WideTemplate<unsigned>::of(job.templates[turn])) {}
  __device__ unsigned operator()(const Row<unsigned> &above, const Row<unsigned> &row,
                                 const Row<unsigned> &below) const {
    return fits(above, row, below, pattern);
  }
};

/// A thread's place in a tile: four words above one another.
struct Place {
  int column, row;  ///< in the image, of the first word; may be outside
  int left, right;  ///< words of the columns beside it, in shared memory; at the sides its own
  int own, above,
      below;    ///< its first word; from there on to the ones above and below, or the nearest
  bool mine;    ///< it is in the tile, and not around it
  bool inside;  ///< it is in the image

  __device__ Place(const Tiling &t, const Bits &image, int tile) {
    const int groups = t.groups(), thread = static_cast<int>(threadIdx.x);
    const int i = thread / groups, group = thread % groups;
    column = tile % t.tiles_across * t.columns + i - 1;
    row = tile / t.tiles_across * t.rows - t.steps + group * Tiling::kRows;
    const bool exists = i < t.columns + 2;
    inside = exists && column >= 0 && column < image.columns && row >= 0 && row < image.rows;
    mine = inside && i >= 1 && i <= t.columns && group * Tiling::kRows >= t.steps &&
           group * Tiling::kRows < t.steps + t.rows;
    own = 4 * thread;
    left = i > 0 ? own - 4 * groups : own;
    right = i < t.columns + 1 && exists ? own + 4 * groups : own;
    above = group > 0 ? -1 : 0;
    below = group + 1 < groups && exists ? 4 : 3;
  }
};

/// Four words and those above and below them.
struct Column {
  unsigned word[6];

  __device__ Column(const unsigned *words, int at, const Place &p) {
    const uint4 v = *reinterpret_cast<const uint4 *>(words + at);
    word[0] = words[at + p.above];
    word[1] = v.x;
    word[2] = v.y;
    word[3] = v.z;
    word[4] = v.w;
    word[5] = words[at + p.below];
  }
};

/// Does a step for the thread's words. Returns whether a pixel went.
template <typename Condition>
__device__ bool thin_words(const unsigned *from, unsigned *to, const Place &place,
                           const Condition &condition) {
  const Column before(from, place.left, place), own(from, place.own, place),
      after(from, place.right, place);
  const auto row = [&](int i) {
    return Row<unsigned>::of(before.word[i], own.word[i], after.word[i]);
  };
  unsigned left[4], changed = 0;
  Row<unsigned> above = row(0), middle = row(1);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const Row<unsigned> below = row(i + 2);
    const unsigned gone = middle.middle & condition(above, middle, below);
    left[i] = middle.middle & ~gone;
    changed |= gone;
    above = middle;
    middle = below;
  }
  *reinterpret_cast<uint4 *>(to + place.own) = {left[0], left[1], left[2], left[3]};
  return changed != 0;
}

/// Warps that have words beside those of this one, itself among them, as bits.
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

/// Does `steps` steps from `next` on in a tile. Returns the number of the last of them that changed it,
/// counted from 1, or 0; to the first warp.
template <SwoFilterThinning method>
__device__ unsigned thin_tile(const ThinJob &job, const TileMemory &memory, const Bits &from,
                              const Bits &to, int tile, std::int64_t next, int steps) {
  const int period = job.schedule.period;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const Place place(job.tiling, from, tile);
  const bool beside = warps_around(job.tiling) >> lane & 1;
  uint4 words{};
  if (place.inside) words = *reinterpret_cast<const uint4 *>(from.at(place.column, place.row));
  __syncthreads();  // The tile before is done.
  *reinterpret_cast<uint4 *>(memory.words[0] + place.own) = words;
  if (lane == 0) memory.flags->last[1][warp] = -1;
  __syncthreads();

  int turn = static_cast<int>(next % period), last = -1;
  unsigned changed = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    // Steps of a warp around which nothing has changed for a pass change nothing, and both buffers have
    // its words.
    const bool near = beside && memory.flags->last[(step + 1) % 2][lane] >= step - period;
    if (__any_sync(kWholeWarp, near)) {
      const bool gone = thin_words(memory.words[step % 2], memory.words[(step + 1) % 2], place,
                                   Condition<method>(job, turn));
      if (gone && place.mine) changed = step + 1;
      if (__any_sync(kWholeWarp, gone)) last = step;
    }
    if (lane == 0) memory.flags->last[step % 2][warp] = last;
    if (++turn == period) turn = 0;
    __syncthreads();
  }
  if (place.mine)
    *reinterpret_cast<uint4 *>(to.at(place.column, place.row)) =
        *reinterpret_cast<const uint4 *>(memory.words[steps % 2] + place.own);
  changed = warp_max(changed);
  if (lane == 0) memory.flags->changed[warp] = changed;
  __syncthreads();
  if (warp > 0) return 0;
  return warp_max(32 * lane < static_cast<int>(blockDim.x) ? memory.flags->changed[lane] : 0);
}

/// Whether something has changed in or beside the tile since step `since`.
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
  const TileMemory memory(dynamic_shared_memory(), static_cast<int>(blockDim.x));
  GridBarrier barrier(job.barrier);
  wait_for_kernels_before();
  std::int64_t next = 0, latest = -1;
  int round = 0;
  for (bool stable = false; !stable && next < job.schedule.steps; ++round) {
    const auto steps = static_cast<int>(min(std::int64_t{tiling.steps}, job.schedule.steps - next));
    const Bits from = job.buffers[round % 2], to = job.buffers[(round + 1) % 2];
    const std::int64_t *const before = job.last[round % 2];
    std::int64_t *const after = job.last[(round + 1) % 2];
    // A tile rests if it did not change in the last round, so that both buffers have it, and nothing has
    // changed around it for a pass. Others may change at its side in this round, but not next to it: a
    // tile is as large as a change can get far.
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
  auto *const of_warps = reinterpret_cast<std::int64_t *>(memory.words[0]);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = latest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 0; 32 * warp < static_cast<int>(blockDim.x); ++warp)
    latest = max(latest, of_warps[warp]);
  *job.result = {job.schedule.passes(latest), round % 2};
}

}  // namespace cudascan::swo::thinning
