// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// CLAHE for tiles with far fewer pixels than bins. Instead of a mapping of all bins, a tile has a
/// bit for each bin that occurs, and the number of such bins below each word of bits: so a bin's
/// rank among them takes two reads (Jacobson, "Space-efficient static trees and graphs", FOCS
/// 1989), and the sum of their clipped counts up to there one more. A block makes those of the four
/// tiles around its pixels.
#pragma once
#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/equalize/deep_clahe_job.cuh"

namespace cudascan::equalize {

/// The bins of a tile with less than 2^16 pixels, in shared memory, made by a group of kGroup
/// threads.
class SparseTile {
 public:
  static constexpr int kGroup = 128, kWarps = kGroup / 32;

  /// Shared memory for one.
  static int bytes(const DeepClaheJob &job) {
    return 4 * (words(job) + word_pairs(job) + sum_pairs(job));
  }

  /// @param i  of the four tiles
  __device__ SparseTile(const DeepClaheJob &job, unsigned char *memory, int i)
      : job_(job), words_(words(job)) {
    bits_ =
        reinterpret_cast<std::uint32_t *>(memory) + i * (words_ + word_pairs(job) + sum_pairs(job));
    before_ = reinterpret_cast<std::uint16_t *>(bits_ + words_);
    pairs_ = bits_ + words_ + word_pairs(job);
    sums_ = reinterpret_cast<std::uint16_t *>(pairs_);
  }

  /// The steps to make it, with a barrier of the block after each. `totals` has a word for each
  /// warp of the group.
  __device__ void clear() {
    for (int i = member(); i < words_; i += kGroup) bits_[i] = 0;
    for (int i = member(); i < sum_pairs(job_); i += kGroup) pairs_[i] = 0;
  }
  __device__ void mark(int tile_x, int tile_y) {
    for_samples(tile_x, tile_y, [&](unsigned index) {
      const std::uint32_t bit = 1u << index % 32;
      if (!(bits_[index / 32] & bit)) atomicOr(bits_ + index / 32, bit);
    });
  }
  __device__ void add_up_bits(std::uint32_t *totals) {
    const std::uint32_t all = for_runs(
        words_, [&](int i) { return __popc(bits_[i]); }, [](int, std::uint32_t) {});
    if (lane() == 0) totals[warp()] = all;
  }
  __device__ void rank_bits(const std::uint32_t *totals) {
    std::uint32_t below = 0;
    for (int i = 0; i < kWarps; ++i) {
      if (i < warp()) below += totals[i];
      bins_ += totals[i];
    }
    for_runs(
        words_, [&](int i) { return __popc(bits_[i]); },
        [&](int i, std::uint32_t up_to) {
          before_[i] = static_cast<std::uint16_t>(below + up_to - __popc(bits_[i]));
        });
  }
  /// If no bin keeps more than one pixel, ranks are sums.
  __device__ bool has_sums() const { return job_.limit > 1; }
  __device__ void count(int tile_x, int tile_y) {
    for_samples(tile_x, tile_y, [&](unsigned index) {
      const unsigned i = rank(index) - 1;
      atomicAdd(pairs_ + i / 2, 1u << 16 * (i % 2));
    });
  }
  __device__ void add_up_counts(std::uint32_t *totals) {
    const std::uint32_t all = for_runs(
        static_cast<int>(bins_), [&](int i) { return kept(i); }, [](int, std::uint32_t) {});
    if (lane() == 0) totals[warp()] = all;
  }
  __device__ void sum_counts(const std::uint32_t *totals) {
    std::uint32_t below = 0;
    for (int i = 0; i < warp(); ++i) below += totals[i];
    for_runs(
        static_cast<int>(bins_), [&](int i) { return kept(i); },
        [&](int i, std::uint32_t up_to) { sums_[i] = static_cast<std::uint16_t>(below + up_to); });
  }

  /// @param totals  of add_up_counts()
  __device__ SharedSteps share(const std::uint32_t *totals) const {
    std::uint32_t kept = bins_;
    if (has_sums()) {
      kept = 0;
      for (int i = 0; i < kWarps; ++i) kept += totals[i];
    }
    return SharedSteps(share_out(job_.tiles.pixels() - static_cast<int>(kept), job_.range.count));
  }

  /// The new value of an index.
  __device__ float map(int index, const SharedSteps &share) const {
    const unsigned up_to = rank(static_cast<unsigned>(index));
    const unsigned sum = has_sums() && up_to > 0 ? sums_[up_to - 1] : up_to;
    return static_cast<float>(
        tile_map(static_cast<int>(sum) + share.up_to(index), job_.scale, job_.range.count));
  }

 private:
  static __host__ __device__ int words(const DeepClaheJob &job) {
    return (job.range.count + 31) / 32;
  }
  static __host__ __device__ int word_pairs(const DeepClaheJob &job) {
    return (words(job) + 1) / 2;
  }
  static __host__ __device__ int sum_pairs(const DeepClaheJob &job) {
    return job.limit > 1 ? (job.tiles.pixels() + 1) / 2 : 0;
  }
  static __device__ int member() { return threadIdx.x % kGroup; }
  static __device__ int warp() { return threadIdx.x % kGroup / 32; }
  static __device__ int lane() { return threadIdx.x % 32; }

  template <typename F>
  __device__ void for_samples(int tile_x, int tile_y, const F &f) const {
    const Tiles &tiles = job_.tiles;
    const Plane<const std::uint16_t> &in = job_.in;
    constexpr int kBatch = 8;  // samples that are loaded at once
    PixelSteps walk(member(), kGroup, tiles.width);
    while (walk.y < tiles.height) {
      int index[kBatch];
#pragma unroll
      for (int &i : index) {
        const int x = source_index(tile_x * tiles.width + walk.x, in.width);
        const int y = source_index(tile_y * tiles.height + walk.y, in.height);
        i = walk.y < tiles.height ? job_.range.index_of_sample(in.row(y)[x]) : -1;
        walk.next();
      }
#pragma unroll
      for (const int i : index)
        if (i >= 0) f(static_cast<unsigned>(i));
    }
  }
  /// Adds up values of 0..n - 1, a run of them for each warp of the group. Calls set(i, sum from
  /// the warp's first value to this one). Returns the sum of the warp's values.
  template <typename Value, typename Set>
  static __device__ std::uint32_t for_runs(int n, const Value &value, const Set &set) {
    const int each = (n + kGroup - 1) / kGroup * 32, begin = warp() * each;
    std::uint32_t sum = 0;
    for (int first = begin; first < min(begin + each, n); first += 32) {
      const int i = first + lane();
      const std::uint32_t up_to = sum + warp_scan(i < n ? value(i) : 0);
      if (i < n) set(i, up_to);
      sum = __shfl_sync(kWholeWarp, up_to, 31);
    }
    return sum;
  }
  /// The number of occurring bins up to this one.
  __device__ unsigned rank(unsigned index) const {
    return before_[index / 32] + __popc(bits_[index / 32] & ((2u << index % 32) - 1));
  }
  __device__ std::uint32_t kept(int i) const {
    return min(static_cast<std::uint32_t>(sums_[i]), static_cast<std::uint32_t>(job_.limit));
  }

  const DeepClaheJob &job_;
  int words_;
  std::uint32_t bins_ = 0;  // that occur
  std::uint32_t *bits_, *pairs_;
  std::uint16_t *before_, *sums_;  // sums_ in the memory of pairs_; first the counts, of each rank
};

inline constexpr int kSparseThreads = 4 * SparseTile::kGroup;

static __global__ void __launch_bounds__(kSparseThreads)
    sparse_kernel(const __grid_constant__ DeepClaheJob job) {
  __shared__ std::uint32_t bit_totals[4][SparseTile::kWarps], count_totals[4][SparseTile::kWarps];
  __shared__ SharedSteps shares[4];
  const CellChunk cell(job);
  if (cell.width <= 0 || cell.height <= 0) return;
  unsigned char *const memory = dynamic_shared_memory();
  const int i = threadIdx.x / SparseTile::kGroup;
  const int tile_x = cell.tile_x(job, i), tile_y = cell.tile_y(job, i);
  SparseTile mine(job, memory, i);
  mine.clear();
  __syncthreads();
  mine.mark(tile_x, tile_y);
  __syncthreads();
  mine.add_up_bits(bit_totals[i]);
  __syncthreads();
  mine.rank_bits(bit_totals[i]);
  __syncthreads();
  if (mine.has_sums()) {
    mine.count(tile_x, tile_y);
    __syncthreads();
    mine.add_up_counts(count_totals[i]);
    __syncthreads();
    mine.sum_counts(count_totals[i]);
  }
  if (threadIdx.x % SparseTile::kGroup == 0) shares[i] = mine.share(count_totals[i]);
  __syncthreads();
  constexpr int kBatch = 4;
  PixelSteps next(threadIdx.x, kSparseThreads, cell.width), walk = next;
  while (walk.y < cell.height) {
    int index[kBatch];
#pragma unroll
    for (int &k : index) {
      if (next.y < cell.height)
        k = job.range.index_of_sample(job.in.row(cell.y + next.y)[cell.x + next.x]);
      next.next();
    }
#pragma unroll
    for (const int k : index) {
      if (walk.y >= cell.height) break;
      const int x = cell.x + walk.x, y = cell.y + walk.y;
      float mapped[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) mapped[j] = SparseTile(job, memory, j).map(k, shares[j]);
      job.out.row(y)[x] = result(job, k, neighbours(x, job.inverse_width, job.tiles.nx),
                                 neighbours(y, job.inverse_height, job.tiles.ny), mapped);
      walk.next();
    }
  }
}

/// Queues it.
inline void run_sparse(Cuda &cuda, DeepClaheJob job) {
  job.chunk_rows = job.tiles.height + 1;
  launch(cuda, sparse_kernel,
         {dim3(job.tiles.nx + 1, job.tiles.ny + 1), kSparseThreads, 4 * SparseTile::bytes(job)},
         job);
}

}  // namespace cudascan::equalize
