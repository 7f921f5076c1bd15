// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians of 3x3: sorts the columns, then takes the median of the largest of their lowest, the
/// middle one of their middle and the smallest of their highest samples (Smith, "Implementing
/// median filters in XC4000E FPGAs", Xcell 23, 1996). Two rows share the order of their two common
/// samples in a column.
///
/// A register has two samples of 16 bits: those of columns 0 and 2, or 1 and 3, of a lane's four.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/swofilter/rank/band.cuh"

namespace cudascan::swo {

/// Result columns of a warp: the first and the last lane lack a neighbour.
constexpr int kMedian3Columns = 4 * 30;

/// Columns 0 and 2, and 1 and 3, of four neighbouring samples.
struct EvenAndOdd {
  unsigned even, odd;

  template <int n>
  __device__ __forceinline__ static EvenAndOdd of(const unsigned (&words)[n]) {
    if constexpr (n == 1)
      return {words[0] & 0x00ff00ff, words[0] >> 8 & 0x00ff00ff};
    else
      return {__byte_perm(words[0], words[1], 0x5410), __byte_perm(words[0], words[1], 0x7632)};
  }
  template <int n>
  __device__ __forceinline__ void to(unsigned (&words)[n]) const {
    if constexpr (n == 1) {
      words[0] = even | odd << 8;
    } else {
      words[0] = __byte_perm(even, odd, 0x5410);
      words[1] = __byte_perm(even, odd, 0x7632);
    }
  }
  /// Columns -1 and 1.
  __device__ __forceinline__ unsigned left() const {
    return __funnelshift_r(__shfl_up_sync(kWholeWarp, odd, 1), odd, 16);
  }
  /// Columns 2 and 4.
  __device__ __forceinline__ unsigned right() const {
    return __funnelshift_r(even, __shfl_down_sync(kWholeWarp, even, 1), 16);
  }
};

__device__ __forceinline__ EvenAndOdd smaller(EvenAndOdd a, EvenAndOdd b) {
  return {__vminu2(a.even, b.even), __vminu2(a.odd, b.odd)};
}
__device__ __forceinline__ EvenAndOdd larger(EvenAndOdd a, EvenAndOdd b) {
  return {__vmaxu2(a.even, b.even), __vmaxu2(a.odd, b.odd)};
}
__device__ __forceinline__ EvenAndOdd middle(EvenAndOdd a, EvenAndOdd b, EvenAndOdd c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

/// The medians of four windows, from their columns' two sorted samples, low and high, and the
/// third.
__device__ __forceinline__ EvenAndOdd median_of_nine(EvenAndOdd low, EvenAndOdd high,
                                                     EvenAndOdd third) {
  const EvenAndOdd lowest = smaller(low, third), highest = larger(high, third),
                   between = larger(low, smaller(high, third));
  // For columns 0 and 2 the neighbours are on the left and `odd`, for 1 and 3 `even` and on the
  // right.
  const EvenAndOdd of_lowest = {__vimax3_u16x2(lowest.left(), lowest.even, lowest.odd),
                                __vimax3_u16x2(lowest.even, lowest.odd, lowest.right())},
                   of_highest = {__vimin3_u16x2(highest.left(), highest.even, highest.odd),
                                 __vimin3_u16x2(highest.even, highest.odd, highest.right())};
  const unsigned smaller_one = __vminu2(between.even, between.odd),
                 larger_one = __vmaxu2(between.even, between.odd);
  const EvenAndOdd of_between = {__vmaxu2(smaller_one, __vminu2(larger_one, between.left())),
                                 __vmaxu2(smaller_one, __vminu2(larger_one, between.right()))};
  return middle(of_lowest, of_highest, of_between);
}

template <typename T>
__global__ void __launch_bounds__(32 * kNetworkWarps, 8)
    median3_kernel(const __grid_constant__ NetworkJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int x = blockIdx.x * kMedian3Columns + (lane - 1) * 4;
  const int begin = (network_row_of_blocks() * kNetworkWarps + warp) * kNetworkRows;
  if (begin >= job.out.height) return;
  const bool writes = lane > 0 && lane < 31 && x < job.out.width;
  Writer<T> writer(job.out, x, begin, writes ? job.out.height - begin : 0);
  Band<T, 3, 0> band(job, x);
  __shared__ __align__(16) typename Band<T, 3, 0>::Stage stages[kNetworkWarps];
  band.read(begin - 1, stages[warp]);
#pragma unroll
  for (int i = 0; i < kNetworkRows; i += 2) {
    const EvenAndOdd a = EvenAndOdd::of(band.word[i + 1]), b = EvenAndOdd::of(band.word[i + 2]);
    const EvenAndOdd low = smaller(a, b), high = larger(a, b);
    unsigned upper[sizeof(T)], lower[sizeof(T)];
    median_of_nine(low, high, EvenAndOdd::of(band.word[i])).to(upper);
    median_of_nine(low, high, EvenAndOdd::of(band.word[i + 3])).to(lower);
    writer.next_row(upper);
    writer.next_row(lower);
  }
}

}  // namespace cudascan::swo
