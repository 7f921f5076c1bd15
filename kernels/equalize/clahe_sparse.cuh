// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// CLAHE for tiles with far fewer pixels than bins. Instead of a mapping of all bins, a tile has a
/// bit for each bin that occurs, and the number of such bins below each word of bits: so a bin's
/// rank among them takes one read (Jacobson, "Space-efficient static trees and graphs", FOCS 1989),
/// and the sum of their clipped counts up to there one more. One launch makes them, a tile a block;
/// in the other a block copies those of the four tiles around its pixels into shared memory.
#pragma once
#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/equalize/deep_clahe_job.cuh"

namespace cudascan::equalize {

/// The bins of a tile with less than 2^16 pixels, in shared memory.
class SparseTile {
 public:
  static constexpr int kThreads = 512, kWarps = kThreads / 32;  // of a block that makes one

  /// Memory for one, in vectors.
  static __host__ __device__ int vectors(const DeepClaheJob &job) {
    return (sizeof(SharedSteps) + 4 * (words(job) + sum_pairs(job)) + sizeof(uint4) - 1) /
           sizeof(uint4);
  }

  __device__ SparseTile(const DeepClaheJob &job, uint4 *memory)
      : job_(job),
        share_(reinterpret_cast<SharedSteps *>(memory)),
        words_(reinterpret_cast<std::uint32_t *>(share_ + 1)),
        pairs_(words_ + words(job)),
        sums_(reinterpret_cast<std::uint16_t *>(pairs_)) {}

  /// The steps to make it, with a barrier of the block after each. `totals` has a word for each
  /// warp.
  __device__ void clear() {
    for (int i = threadIdx.x; i < words(job_) + sum_pairs(job_); i += kThreads) words_[i] = 0;
  }
  __device__ void mark(int tile_x, int tile_y) {
    for_samples(tile_x, tile_y, [&](unsigned index) {
      const std::uint32_t bit = 1u << index % kBits;
      if (!(words_[index / kBits] & bit)) atomicOr(words_ + index / kBits, bit);
    });
  }
  __device__ void add_up_bits(std::uint32_t *totals) const {
    const std::uint32_t all = for_runs(
        words(job_), [&](int i) { return __popc(words_[i]); }, [](int, std::uint32_t) {});
    if (lane() == 0) totals[warp()] = all;
  }
  __device__ void rank_bits(const std::uint32_t *totals) {
    std::uint32_t below = 0;
    for (int i = 0; i < kWarps; ++i) {
      if (i < warp()) below += totals[i];
      bins_ += totals[i];
    }
    for_runs(
        words(job_), [&](int i) { return __popc(words_[i]); },
        [&](int i, std::uint32_t up_to) {
          words_[i] |= (below + up_to - __popc(words_[i])) << kBits;
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
  __device__ void add_up_counts(std::uint32_t *totals) const {
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
  __device__ void share_out_rest(const std::uint32_t *totals) {
    std::uint32_t kept = bins_;
    if (has_sums()) {
      kept = 0;
      for (int i = 0; i < kWarps; ++i) kept += totals[i];
    }
    *share_ =
        SharedSteps(share_out(job_.tiles.pixels() - static_cast<int>(kept), job_.range.count));
  }

  /// The new value of an index.
  __device__ float map(int index) const {
    const unsigned up_to = rank(static_cast<unsigned>(index));
    const unsigned sum = has_sums() && up_to > 0 ? sums_[up_to - 1] : up_to;
    return static_cast<float>(
        tile_map(static_cast<int>(sum) + share_->up_to(index), job_.scale, job_.range.count));
  }

 private:
  static constexpr int kBits = 16;  // of a word; the upper half has the number of bins below

  static __host__ __device__ int words(const DeepClaheJob &job) {
    return (job.range.count + kBits - 1) / kBits;
  }
  static __host__ __device__ int sum_pairs(const DeepClaheJob &job) {
    return job.limit > 1 ? (job.tiles.pixels() + 1) / 2 : 0;
  }
  static __device__ int warp() { return threadIdx.x / 32; }
  static __device__ int lane() { return threadIdx.x % 32; }

  template <typename F>
  __device__ void for_samples(int tile_x, int tile_y, const F &f) const {
    const Tiles &tiles = job_.tiles;
    constexpr int kBatch = 8;
    PixelSteps walk(threadIdx.x, kThreads, tiles.width);
    while (walk.y < tiles.height) {
      const SampleBatch<kBatch> batch(job_.in, tile_x * tiles.width, tile_y * tiles.height,
                                      tiles.height, walk);
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (batch.inside >> k & 1)
          f(static_cast<unsigned>(job_.range.index_of_sample(batch.samples[k])));
    }
  }
  /// Adds up values of 0..n - 1, a run of them for each warp. Calls set(i, sum from the warp's
  /// first value to this one). Returns the sum of the warp's values.
  template <typename Value, typename Set>
  static __device__ std::uint32_t for_runs(int n, const Value &value, const Set &set) {
    const int each = (n + kThreads - 1) / kThreads * 32, begin = warp() * each;
    std::uint32_t sum = 0;
    for (int first = begin; first < min(begin + each, n); first += 32) {
      const int i = first + lane();
      const std::uint32_t up_to = sum + warp_scan(i < n ? std::uint32_t(value(i)) : 0u);
      if (i < n) set(i, up_to);
      sum = __shfl_sync(kWholeWarp, up_to, 31);
    }
    return sum;
  }
  /// The number of occurring bins up to this one.
  __device__ unsigned rank(unsigned index) const {
    const std::uint32_t word = words_[index / kBits];
    return (word >> kBits) + __popc(word & ((2u << index % kBits) - 1));
  }
  __device__ std::uint32_t kept(int i) const {
    return min(static_cast<std::uint32_t>(sums_[i]), static_cast<std::uint32_t>(job_.limit));
  }

  const DeepClaheJob &job_;
  SharedSteps *share_;  // the clipped pixels
  std::uint32_t *words_, *pairs_;
  std::uint16_t *sums_;     // in the memory of pairs_; first the counts, of each rank
  std::uint32_t bins_ = 0;  // that occur
};

static __global__ void __launch_bounds__(SparseTile::kThreads)
    make_sparse_kernel(const __grid_constant__ DeepClaheJob job) {
  __shared__ std::uint32_t bit_totals[SparseTile::kWarps], count_totals[SparseTile::kWarps];
  auto *const memory = reinterpret_cast<uint4 *>(dynamic_shared_memory());
  const int x = blockIdx.x % job.tiles.nx, y = blockIdx.x / job.tiles.nx;
  SparseTile tile(job, memory);
  tile.clear();
  __syncthreads();
  tile.mark(x, y);
  __syncthreads();
  tile.add_up_bits(bit_totals);
  __syncthreads();
  tile.rank_bits(bit_totals);
  __syncthreads();
  if (tile.has_sums()) {
    tile.count(x, y);
    __syncthreads();
    tile.add_up_counts(count_totals);
    __syncthreads();
    tile.sum_counts(count_totals);
  }
  if (threadIdx.x == 0) tile.share_out_rest(count_totals);
  __syncthreads();
  const int n = SparseTile::vectors(job);
  uint4 *const to = job.sparse + static_cast<std::size_t>(blockIdx.x) * n;
  for (int i = threadIdx.x; i < n; i += SparseTile::kThreads) to[i] = memory[i];
}

inline constexpr int kMostSparseThreads = 1024;

static __global__ void __launch_bounds__(kMostSparseThreads)
    interpolate_sparse_kernel(const __grid_constant__ DeepClaheJob job) {
  const CellChunk cell(job);
  if (cell.width <= 0 || cell.height <= 0) return;
  auto *const memory = reinterpret_cast<uint4 *>(dynamic_shared_memory());
  const int threads = blockDim.x, n = SparseTile::vectors(job);
  for (int i = 0; i < 4; ++i) {
    const int tile = cell.tile_y(job, i) * job.tiles.nx + cell.tile_x(job, i);
    const uint4 *const from = job.sparse + static_cast<std::size_t>(tile) * n;
    for (int v = threadIdx.x; v < n; v += threads) memory[i * n + v] = from[v];
  }
  __syncthreads();
  constexpr int kBatch = 4;
  PixelSteps next(threadIdx.x, threads, cell.width), walk = next;
  while (walk.y < cell.height) {
    const SampleBatch<kBatch> batch(job.in, cell.x, cell.y, cell.height, next);
#pragma unroll
    for (const std::uint16_t sample : batch.samples) {
      if (walk.y >= cell.height) break;
      const int k = job.range.index_of_sample(sample);
      const int x = cell.x + walk.x, y = cell.y + walk.y;
      float mapped[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) mapped[j] = SparseTile(job, memory + j * n).map(k);
      job.out.row(y)[x] = result(job, k, neighbours(x, job.inverse_width, job.tiles.nx),
                                 neighbours(y, job.inverse_height, job.tiles.ny), mapped);
      walk.next();
    }
  }
}

/// Queues both.
/// @param memory  shared memory of a block
inline void run_sparse(Cuda &cuda, DeepClaheJob job, int memory) {
  const int tiles = job.tiles.nx * job.tiles.ny,
            bytes = SparseTile::vectors(job) * static_cast<int>(sizeof(uint4));
  job.sparse = static_cast<uint4 *>(cuda.scratch(static_cast<std::size_t>(tiles) * bytes));
  launch(cuda, make_sparse_kernel, {tiles, SparseTile::kThreads, bytes}, job);
  job.chunk_rows = job.tiles.height + 1;
  const int threads = 4 * bytes > memory / 2 ? kMostSparseThreads : kMostSparseThreads / 2;
  launch(cuda, interpolate_sparse_kernel,
         {dim3(job.tiles.nx + 1, job.tiles.ny + 1), threads, 4 * bytes}, job);
}

}  // namespace cudascan::equalize
