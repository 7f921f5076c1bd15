// SPDX-License-Identifier: LGPL-2.1-or-later
// Means and standard deviations from changes along rows; see sums.cuh.
#include <cstdint>
#include <type_traits>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/moments/sums.cuh"
#include "kernels/windowsums/rounding.cuh"

namespace cudascan::swo {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
/// Pixels of a thread at a time.
constexpr int kPixels = 4;

__device__ std::uint64_t warp_scan(std::uint64_t v) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint64_t below = __shfl_up_sync(kWholeWarp, v, distance);
    if (static_cast<int>(threadIdx.x % 32) >= distance) v += below;
  }
  return v;
}
using cudascan::warp_scan;

/// Sums along a row of changes, for a block.
template <typename E>
class RunningSums {
 public:
  struct Shared {
    E of_warps[2][kWarps];
  };
  __device__ explicit RunningSums(Shared &shared) : shared_(shared) {}

  /// Changes become sums. A barrier is in it.
  __device__ void next(E (&v)[kPixels]) {
    for (int i = 1; i < kPixels; ++i) v[i] += v[i - 1];
    const E up_to = warp_scan(v[kPixels - 1]);
    const int warp = threadIdx.x / 32;
    E *const of_warps = shared_.of_warps[turn_];
    turn_ ^= 1;
    if (threadIdx.x % 32 == 31) of_warps[warp] = up_to;
    __syncthreads();
    E base = before_ + up_to - v[kPixels - 1];
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      if (i < warp) base += of_warps[i];
      before_ += of_warps[i];
    }
    for (E &sum : v) sum += base;
  }

 private:
  Shared &shared_;
  E before_ = 0;  // the sum at the end of what the block has done
  int turn_ = 0;
};

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
        all_(job.cells.count),
        clips_(job.in.image.border == SwoFilterBorder::clip),
        cut_(y < job.cells.ry || y + job.cells.ry >= job.out.height) {
    if (!clips_) return;
    shared.before[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < job.cells.n_runs; i += kThreads) {
      const Run run = job.cells.runs[i];
      if (y + run.y < 0 || y + run.y >= job.out.height) continue;
      atomicAdd(&shared.before[run.first + rx_], 1u);
      atomicAdd(&shared.before[run.last + rx_ + 1], ~0u);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      scan_columns<true>();   // cells of a column
      scan_columns<false>();  // cells of the columns before
    }
    __syncthreads();
  }

  __device__ unsigned operator()(int x) const {
    if (!clips_ || (!cut_ && x >= rx_ && x + rx_ < width_)) return all_;
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
  const unsigned all_;
  const bool clips_, cut_;
};

template <typename T, bool deviation>
__device__ unsigned moment(unsigned sum, ShapeSquare<T> squares, unsigned n) {
  if constexpr (deviation)
    return windowsums::rounded_deviation(n * std::uint64_t{squares} - std::uint64_t{sum} * sum, n);
  else
    return windowsums::rounded_mean(sum, n);
}

/// Neighbouring sums from a multiple of 16 bytes on.
template <typename E>
__device__ void load_sums(const E *from, E (&to)[kPixels]) {
  constexpr int kElements = SumQuad<E>::kElements;
#pragma unroll
  for (int i = 0; i < kPixels; i += kElements) {
    const SumQuad<E> quad(from + i);
#pragma unroll
    for (int k = 0; k < kElements; ++k) to[i + k] = quad.v[k];
  }
}

/// How the sums of a window's pixels change along a row.
template <typename T>
class RowChanges {
 public:
  __device__ RowChanges(const ShapeMomentJob<T> &job, int y) : job_(job), y_(y) {}

  /// Column of the first change, a multiple of kPixels.
  __device__ int begin() const { return -job_.sums.start; }
  __device__ void load(int x, std::uint32_t (&sums)[kPixels]) const { load(job_.sums, x, sums); }
  __device__ void load_squares(int x, ShapeSquare<T> (&squares)[kPixels]) const {
    load(job_.squares, x, squares);
  }
  /// Adds what is not part of the changes.
  __device__ void add_more(int, std::uint32_t (&)[kPixels]) const {}
  __device__ void add_more_squares(int, ShapeSquare<T> (&)[kPixels]) const {}

 private:
  template <typename E>
  __device__ void load(const SumPlane<E> &from, int x, E (&to)[kPixels]) const {
    if (x + from.start < from.stride) load_sums(from.row(y_) + x + from.start, to);
  }

  const ShapeMomentJob<T> &job_;
  const int y_;
};

/// The same of the row of a cross. More is its column, without the pixel itself.
template <typename T>
class CrossChanges {
 public:
  using Square = ShapeSquare<T>;

  __device__ CrossChanges(const ShapeMomentJob<T> &job, int y) : job_(job), y_(y) {}

  __device__ int begin() const {
    return -(job_.cells.rx + job_.in.beside + kPixels - 1) / kPixels * kPixels;
  }
  __device__ void load(int x, std::uint32_t (&sums)[kPixels]) {
    load_levels(x + job_.cells.rx, enters_);
    load_levels(x - job_.cells.rx - 1, leaves_);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) sums[i] = enters_[i] - leaves_[i];
  }
  /// Squares of what load() has found.
  __device__ void load_squares(int, Square (&squares)[kPixels]) const {
#pragma unroll
    for (int i = 0; i < kPixels; ++i)
      squares[i] = Square{enters_[i]} * enters_[i] - Square{leaves_[i]} * leaves_[i];
  }
  __device__ void add_more(int x, std::uint32_t (&sums)[kPixels]) {
    std::uint32_t of_column[kPixels];
    load_sums(job_.sums.row(y_) + x, of_column);
    load_levels(x, own_);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) sums[i] += of_column[i] - own_[i];
  }
  /// After add_more() of the same pixels.
  __device__ void add_more_squares(int x, Square (&squares)[kPixels]) const {
    Square of_column[kPixels];
    load_sums(job_.squares.row(y_) + x, of_column);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) squares[i] += of_column[i] - Square{own_[i]} * own_[i];
  }

 private:
  /// Levels from column x on.
  __device__ void load_levels(int x, unsigned (&levels)[kPixels]) const {
    constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
#pragma unroll
    for (int k = 0; k < kPixels; k += kSamples) {
      const unsigned word = job_.in.word(x + k, y_);
#pragma unroll
      for (int i = 0; i < kSamples; ++i)
        levels[k + i] = (word >> (kBits * i) & ((1u << kBits) - 1)) >> job_.shift;
    }
  }

  const ShapeMomentJob<T> &job_;
  const int y_;
  unsigned enters_[kPixels], leaves_[kPixels], own_[kPixels];
};

/// A block computes a row.
template <typename T, bool deviation, template <typename> typename Changes>
__global__ void __launch_bounds__(kThreads)
    row_sums_kernel(const __grid_constant__ ShapeMomentJob<T> job) {
  using Square = ShapeSquare<T>;
  constexpr int kBits = 8 * sizeof(T);
  __shared__ typename RunningSums<std::uint32_t>::Shared of_sums;
  __shared__ typename RunningSums<Square>::Shared of_squares;
  __shared__ RowCounts::Shared of_counts;
  const int y = blockIdx.x, width = job.out.width;
  const RowCounts counts(of_counts, job, y);
  RunningSums<std::uint32_t> sums(of_sums);
  RunningSums<Square> squares(of_squares);
  Changes<T> changes(job, y);
  for (int begin = changes.begin(); begin < width; begin += kThreads * kPixels) {
    const int first = begin + threadIdx.x * kPixels;
    std::uint32_t sum[kPixels] = {};
    Square square[kPixels] = {};
    changes.load(first, sum);
    sums.next(sum);
    if constexpr (deviation) {
      changes.load_squares(first, square);
      squares.next(square);
    }
    if (first < 0 || first >= width) continue;
    changes.add_more(first, sum);
    if constexpr (deviation) changes.add_more_squares(first, square);
    unsigned words[kPixels / Packed<T>::kSamples] = {};
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const int x = min(first + i, width - 1);
      const unsigned n = counts(x);
      const unsigned level = n > 0 ? moment<T, deviation>(sum[i], deviation ? square[i] : 0, n)
                                   : job.in.image.plane.row(y)[x] >> job.shift;
      words[i / Packed<T>::kSamples] |= level << job.shift << (i % Packed<T>::kSamples * kBits);
    }
#pragma unroll
    for (int k = 0; k < kPixels; k += Packed<T>::kSamples)
      store_word(job.out.row(y), width, first + k, words[k / Packed<T>::kSamples]);
  }
}

}  // namespace

template <typename T>
void queue_results(Cuda &cuda, const FilterJob &filter, const ShapeMomentJob<T> &job) {
  const auto queue = [&]<template <typename> typename Changes>() {
    launch(cuda,
           filter.op == SwoFilterOperator::mean ? row_sums_kernel<T, false, Changes>
                                                : row_sums_kernel<T, true, Changes>,
           {job.out.height, kThreads}, job);
  };
  filter.mask().is_cross() ? queue.template operator()<CrossChanges>()
                           : queue.template operator()<RowChanges>();
}

template void queue_results(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint8_t> &);
template void queue_results(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint16_t> &);

}  // namespace cudascan::swo
