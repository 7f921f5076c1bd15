// SPDX-License-Identifier: LGPL-2.1-or-later
// A warp sums up the columns of a band of a tile, and each row. A block adds up the bands of a part
// of a tile. Then a block for each tile adds up its parts, and the rows of the window before it.
#include "kernels/windowsums/prefix.cuh"

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/windowsums/sums.cuh"

namespace cudascan::windowsums {
namespace {

constexpr int kPartWarps = 16;
constexpr int kFrontThreads = 1024, kFrontRows = 3;  // of a thread at a time

/// Eight samples of a row from column x on. They are 0 outside the plane.
template <typename T>
__device__ StageSamples<T> read_samples(const Plane<const T> &plane, bool aligned, int x, int y) {
  StageSamples<T> samples{};
  if (y >= plane.height) return samples;
  const T *const from = plane.row(y) + x;
  if (aligned && x + kColumns <= plane.width) {
    constexpr int kPairs = StageSamples<T>::kWords / 2;
#pragma unroll
    for (int k = 0; k < kPairs; ++k) {
      const uint2 pair = reinterpret_cast<const uint2 *>(from)[k];
      samples.word[2 * k] = pair.x;
      samples.word[2 * k + 1] = pair.y;
    }
  } else {
    for (int j = 0; j < kColumns && x + j < plane.width; ++j)
      samples.word[j * sizeof(T) / 4] |= unsigned{from[j]} << j * sizeof(T) * 8 % 32;
  }
  return samples;
}

/// The sums of some samples of a row.
template <typename T>
struct RowSums {
  std::uint32_t sum;
  typename PrefixSums<T>::Squares squares;
};
template <typename T>
__device__ RowSums<T> row_sums(const StageSamples<T> &samples, const StageSamples<T> &mask) {
  LaneSums<T> lane;
  lane.add_front(samples, mask);
  if constexpr (sizeof(T) == 1) {
    return {warp_sum(lane.front_sum), warp_sum(lane.front_squares)};
  } else {
    constexpr int kLow = 26;  // bits; 32 lanes have eight squares each
    const auto low = static_cast<unsigned>(lane.front_squares) & ((1u << kLow) - 1);
    const auto high = static_cast<unsigned>(lane.front_squares >> kLow);
    return {warp_sum(lane.front_sum), warp_sum(low) + (std::uint64_t{warp_sum(high)} << kLow)};
  }
}

template <typename T>
__global__ void __launch_bounds__(32 * kPartWarps, 2)
    part_kernel(const __grid_constant__ StripJob<T> job) {
  using Prefix = PrefixSums<T>;
  constexpr int kBand = Prefix::kBandRows;
  static_assert(kPartWarps == Prefix::kPartBands && 32 * kPartWarps == 2 * kStageColumns);
  __shared__ std::uint32_t sums[kPartWarps][kStageColumns];
  __shared__ typename Prefix::Squares squares[kPartWarps][kStageColumns];
  let_next_kernel_start();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tile = blockIdx.x, part = blockIdx.y, x = tile * kStageColumns + kColumns * lane;
  const int top = part * Prefix::kPartRows + warp * kBand;
  const Plane<const T> &in = job.in.plane;
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(in.data) | in.stride) % (kColumns * sizeof(T)) == 0;
  const auto all = first_columns<T>(kStageColumns);
  const auto to_begin =
      first_columns<T>((kStageColumns - (job.rx + 1) % kStageColumns) % kStageColumns);
  const auto to_end = first_columns<T>(job.rx % kStageColumns);
  wait_for_kernels_before();

  ColumnSums<T, true> band;
  RowSums<T> mine[Prefix::kPieces];                // of row `lane`
  constexpr int kAtOnce = sizeof(T) == 1 ? 4 : 2;  // rows
#pragma unroll 1
  for (int first = 0; first < kBand; first += kAtOnce) {
    StageSamples<T> rows[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) rows[i] = read_samples(in, aligned, x, top + first + i);
#pragma unroll
    for (int i = 0; i < kAtOnce; i += kStageRows<T>) {
      StageSamples<T> some[kStageRows<T>];
#pragma unroll
      for (int k = 0; k < kStageRows<T>; ++k) some[k] = rows[i + k];
      band.add(some);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const RowSums<T> of_row[] = {row_sums(rows[i], all), row_sums(rows[i], to_begin),
                                   row_sums(rows[i], to_end)};
      if (lane != first + i) continue;
#pragma unroll
      for (int k = 0; k < Prefix::kPieces; ++k) mine[k] = of_row[k];
    }
  }
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    sums[warp][32 * j + lane] = band.sum[j];
    squares[warp][32 * j + lane] = band.squares[j];
  }
  if (lane < kBand && top + lane < in.height) {
#pragma unroll
    for (int k = 0; k < Prefix::kPieces; ++k)
      job.prefix.piece(static_cast<typename Prefix::Piece>(k), tile, top + lane) = {
          mine[k].sum, mine[k].squares};
  }

  __syncthreads();
  // A thread for each column, and for its squares.
  const int column = threadIdx.x % kStageColumns;
  const auto add_up = [&](const auto &bands, const auto &to) {
    auto sum = bands[0][column];
#pragma unroll
    for (int k = 0; k < kPartWarps; ++k) {
      if (k > 0) sum += bands[k][column];
      to(job.prefix.index(part, k + 1, 32 * tile + column % 32, column / 32)) = sum;
    }
  };
  if (threadIdx.x < kStageColumns)
    add_up(
        sums, [&](std::size_t i) -> auto & { return job.prefix.sum(i); });
  else
    add_up(
        squares, [&](std::size_t i) -> auto & { return job.prefix.squares(i); });
}

/// The sum of row y over the columns of the window before a tile.
template <typename T>
__device__ SumPair front_of_row(const StripJob<T> &job, int tiles, int tile, int y) {
  using Prefix = PrefixSums<T>;
  constexpr int kMostWhole = 2 * (1023 / 2 / kStageColumns) + 1;  // of the widest windows
  const int begin = tile - 1 - job.rx / kStageColumns, end = tile + job.rx / kStageColumns;
  SumPair sum{};
#pragma unroll
  for (int i = 0; i < kMostWhole; ++i)
    if (begin + i >= 0 && begin + i < min(end, tiles))
      sum = sum + job.prefix.piece(Prefix::whole, begin + i, y);
  if (begin >= 0) sum = sum - job.prefix.piece(Prefix::before_begin, begin, y);
  if (end < tiles) sum = sum + job.prefix.piece(Prefix::before_end, end, y);
  return sum;
}

/// Writes the sums over the parts above each part.
template <typename T, typename Sum>
__device__ void add_up_parts(const PrefixSums<T> &prefix, int parts, int i, int j, const Sum &sum) {
  auto above = sum(prefix.index(0, PrefixSums<T>::kPartBands, i, j));
  above = 0;
#pragma unroll 16
  for (int part = 0; part <= parts; ++part) {
    const auto next = part < parts ? sum(prefix.index(part, PrefixSums<T>::kPartBands, i, j)) : 0;
    sum(prefix.index(part, 0, i, j)) = above;
    above += next;
  }
}

template <typename T>
__global__ void __launch_bounds__(kFrontThreads)
    front_kernel(const __grid_constant__ StripJob<T> job, int parts) {
  __shared__ SumPair warps[32];
  static_assert(kFrontThreads == 32 * 32);
  let_next_kernel_start();
  wait_for_kernels_before();
  const int tile = blockIdx.x, tiles = gridDim.x, height = job.in.plane.height;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column = threadIdx.x % kStageColumns, i = 32 * tile + column % 32, j = column / 32;
  if (threadIdx.x / kStageColumns == 2)
    add_up_parts(
        job.prefix, parts, i, j, [&](std::size_t at) -> auto & { return job.prefix.sum(at); });
  if (threadIdx.x / kStageColumns == 3)
    add_up_parts(
        job.prefix, parts, i, j, [&](std::size_t at) -> auto & { return job.prefix.squares(at); });
  SumPair above{};
  for (int top = 0; top < height; top += kFrontThreads * kFrontRows) {
    SumPair rows[kFrontRows]{};
#pragma unroll
    for (int i = 0; i < kFrontRows; ++i) {
      const int y = top + i * kFrontThreads + static_cast<int>(threadIdx.x);
      if (y < height) rows[i] = front_of_row(job, tiles, tile, y);
    }
#pragma unroll 1
    for (int i = 0; i < kFrontRows && top + i * kFrontThreads < height; ++i) {
      SumPair row = rows[0];
#pragma unroll
      for (int k = 1; k < kFrontRows; ++k)
        if (i == k) row = rows[k];
      const SumPair to_here{warp_scan(row.sum), warp_scan(row.squares)};
      __syncthreads();
      if (lane == 31) warps[warp] = to_here;
      __syncthreads();
      const SumPair mine = warps[lane];
      const SumPair up_to{warp_scan(mine.sum), warp_scan(mine.squares)};
      const auto of = [&](std::uint64_t sum, int from) {
        return __shfl_sync(kWholeWarp, sum, from);
      };
      const SumPair before{of(up_to.sum - mine.sum, warp), of(up_to.squares - mine.squares, warp)};
      const int y = top + i * kFrontThreads + static_cast<int>(threadIdx.x);
      if (y < height) job.prefix.front(tile, y + 1) = above + before + to_here;
      above = above + SumPair{of(up_to.sum, 31), of(up_to.squares, 31)};
    }
  }
  if (threadIdx.x == 0) job.prefix.front(tile, 0) = {};
}

}  // namespace

template <typename T>
void queue_prefix(Cuda &cuda, const StripJob<T> &job) {
  const bool overlap = cuda.code_architecture() >= 90;
  const int tiles = job.prefix.tiles(), parts = job.prefix.parts();
  launch(cuda, part_kernel<T>, {dim3(tiles, parts), 32 * kPartWarps, 0, overlap}, job);
  launch(cuda, front_kernel<T>, {tiles, kFrontThreads, 0, overlap}, job, parts);
}

template void queue_prefix(Cuda &, const StripJob<std::uint8_t> &);
template void queue_prefix(Cuda &, const StripJob<std::uint16_t> &);

}  // namespace cudascan::windowsums
