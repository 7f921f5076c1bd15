// SPDX-License-Identifier: LGPL-2.1-or-later
// Means, standard deviations and the sums themselves from changes along rows; see sums.cuh.
#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/moments/lane_results.cuh"
#include "kernels/swofilter/moments/sums.cuh"

namespace cudascan::swo {
namespace {

/// Pixels of a warp at a time.
constexpr int kPixels = 32 * kColumns;

/// The number of a window's samples at each column of a row, with clip.
class RowCounts {
 public:
  /// Cells of columns that come before a column of the window, in the rows inside the image.
  struct Shared {
    unsigned before[256];
  };

  template <typename T>
  __device__ RowCounts(Shared &shared, const ShapeMomentJob<T> &job, int y)
      : shared_(shared),
        width_(job.out.width),
        rx_(job.cells.rx),
        clips_(job.in.image.border == SwoFilterBorder::clip),
        cut_(y < job.cells.ry || y + job.cells.ry >= job.out.height) {
    if (!clips_) return;
    for (int i = threadIdx.x; i < 256; i += 32) shared_.before[i] = 0;
    __syncwarp();
    for (int i = threadIdx.x; i < job.cells.n_runs; i += 32) {
      const Run run = job.cells.runs[i];
      if (y + run.y < 0 || y + run.y >= job.out.height) continue;
      atomicAdd(&shared.before[run.first + rx_], 1u);
      atomicAdd(&shared.before[run.last + rx_ + 1], ~0u);
    }
    __syncwarp();
    scan_columns<true>();   // cells of a column
    scan_columns<false>();  // cells of the columns before
  }

  /// Whether windows may have fewer samples than others in the columns from x to x + kPixels - 1.
  __device__ bool differ(int x) const {
    return clips_ && (cut_ || x < rx_ || x + kPixels + rx_ > width_);
  }
  __device__ unsigned operator()(int x) const {
    return shared_.before[min(2 * rx_, width_ - 1 - x + rx_) + 1] - shared_.before[max(0, rx_ - x)];
  }

 private:
  /// Replaces each number by the sum of it and those before, or only of those before.
  template <bool with_itself>
  __device__ void scan_columns() const {
    constexpr int kEach = 8;
    unsigned *const own = shared_.before + threadIdx.x * kEach;
    unsigned sum = 0;
    for (int i = 0; i < kEach; ++i) sum += own[i];
    unsigned up_to = warp_scan(sum) - sum;
    for (int i = 0; i < kEach; ++i) {
      const unsigned v = own[i];
      own[i] = with_itself ? up_to + v : up_to;
      up_to += v;
    }
    __syncwarp();
  }

  Shared &shared_;
  const int width_, rx_;
  const bool clips_, cut_;
};

/// Changes along a row for the pixels of a lane.
template <typename T, bool deviation>
struct LaneChanges {
  std::uint32_t sums[kColumns] = {};
  ShapeSquare<T> squares[kColumns] = {};

  /// @param at  from the beginning of a row of sums on
  __device__ LaneChanges(const ShapeMomentJob<T> &job, int at, int y) {
    if (at >= job.sums.stride) return;
    load(job.sums, at, y, sums);
    if constexpr (deviation) load(job.squares, at, y, squares);
  }

 private:
  template <typename E>
  static __device__ void load(const SumPlane<T, E> &from, int at, int y, E (&to)[kColumns]) {
    constexpr int kElements = SumQuad<E>::kElements;
#pragma unroll
    for (int k = 0; k < kColumns / kElements; ++k) {
      const SumQuad<E> quad(from.quad(y, at, k));
#pragma unroll
      for (int i = 0; i < kElements; ++i) to[k * kElements + i] = quad.v[i];
    }
  }
};

/// Goes along a row, with a warp.
/// @param use  use(begin, x, sums, squares) takes those of the windows of a lane's pixels, from
///             column x on; the warp's pixels are those from column `begin` on
template <typename T, bool squared, typename Use>
__device__ void for_sums(const ShapeMomentJob<T> &job, int y, const Use &use) {
  using Changes = LaneChanges<T, squared>;
  const int width = job.out.width, lane = kColumns * threadIdx.x;
  Changes changes(job, lane, y);
  std::uint32_t sum = 0;  // at the end of what the warp has done
  ShapeSquare<T> square = 0;
#pragma unroll 1
  for (int begin = -job.sums.start; begin < width; begin += kPixels) {
    const int x = begin + lane;
    const Changes next(job, x + job.sums.start + kPixels, y);
    std::uint32_t sums[kColumns];
    ShapeSquare<T> squares[kColumns] = {};
    add_up(changes.sums, sum, sums);
    sum = __shfl_sync(kWholeWarp, sums[kColumns - 1], 31);
    if constexpr (squared) {
      add_up(changes.squares, square, squares);
      square = __shfl_sync(kWholeWarp, squares[kColumns - 1], 31);
    }
    changes = next;
    if (x >= 0 && x < width) use(begin, x, sums, squares);
  }
}

/// A block, which is a warp, computes a row.
template <typename T, bool deviation>
__global__ void __launch_bounds__(32)
    row_sums_kernel(const __grid_constant__ ShapeMomentJob<T> job) {
  __shared__ RowCounts::Shared of_counts;
  const int y = blockIdx.x, width = job.out.width;
  const RowCounts counts(of_counts, job, y);
  for_sums<T, deviation>(job, y, [&](int begin, int x, const auto &sums, const auto &squares) {
    unsigned levels[kColumns];
    const auto decide = [&](const auto &count) {
      lane_levels<T, deviation>(sums, squares, 0, count, levels);
    };
    if (counts.differ(begin)) {
      decide([&](int j) { return max(counts(min(x + j, width - 1)), 1u); });
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (const int column = min(x + j, width - 1); counts(column) == 0)
          levels[j] = job.in.image.plane.row(y)[column] >> job.shift;
    } else {
      decide([&](int) -> unsigned { return job.cells.count; });
    }
    store_levels(job.out, x, y, job.shift, levels);
  });
}

template <typename T>
struct SumsJob {
  ShapeMomentJob<T> shape;
  Plane<std::uint32_t> sums;
  Plane<sums::Square<T>> squares;
};

/// Stores sums of a lane from column x on, as far as they are in the image.
template <typename E, typename Sum>
__device__ void store_sums(const Plane<E> &out, int x, int y, const Sum (&sums)[kColumns]) {
  constexpr int kEach = 16 / sizeof(E);
  struct alignas(16) Piece {
    E at[kEach];
  };
  E *const to = out.row(y) + x;
#pragma unroll
  for (int j = 0; j < kColumns; j += kEach) {
    Piece piece;
#pragma unroll
    for (int i = 0; i < kEach; ++i) piece.at[i] = static_cast<E>(sums[j + i]);
    if (x + kColumns <= out.width)
      *reinterpret_cast<Piece *>(to + j) = piece;
    else
      for (int i = 0; i < kEach && x + j + i < out.width; ++i) to[j + i] = piece.at[i];
  }
}

template <typename T, bool squared>
__global__ void __launch_bounds__(32) sums_kernel(const __grid_constant__ SumsJob<T> job) {
  const int y = blockIdx.x;
  for_sums<T, squared>(job.shape, y, [&](int, int x, const auto &sums, const auto &squares) {
    store_sums(job.sums, x, y, sums);
    if constexpr (squared) store_sums(job.squares, x, y, squares);
  });
}

}  // namespace

template <typename T>
void queue_results(Cuda &cuda, const FilterJob &filter, const ShapeMomentJob<T> &job) {
  launch(
      cuda,
      filter.op == SwoFilterOperator::mean ? row_sums_kernel<T, false> : row_sums_kernel<T, true>,
      {job.out.height, 32}, job);
}

template <typename T>
void queue_sums(Cuda &cuda, const ShapeMomentJob<T> &job, Plane<std::uint32_t> sums,
                Plane<sums::Square<T>> squares) {
  launch(cuda, squares.data ? sums_kernel<T, true> : sums_kernel<T, false>, {job.out.height, 32},
         SumsJob<T>{job, sums, squares});
}

template void queue_results(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint8_t> &);
template void queue_results(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint16_t> &);
template void queue_sums(Cuda &, const ShapeMomentJob<std::uint8_t> &, Plane<std::uint32_t>,
                         Plane<std::uint32_t>);
template void queue_sums(Cuda &, const ShapeMomentJob<std::uint16_t> &, Plane<std::uint32_t>,
                         Plane<double>);

}  // namespace cudascan::swo
