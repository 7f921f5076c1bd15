// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/base/packed_samples.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/binarize/things.cuh"

namespace cudascan::binarize {

/// Samples of a word, white where a bit is 0.
template <typename Out>
__device__ unsigned white_word(unsigned ink, unsigned white) {
  if constexpr (sizeof(Out) == 1)
    return ((~ink & 15) * 0x00204081 & 0x01010101) * white;  // a bit in each byte
  else
    return ((~ink & 1) | (~ink & 2) << 15) * white;
}
/// Writes n samples of a row from column x on, one for each bit.
template <int n, typename Out>
__device__ void store_white(const Plane<Out> &out, int x, int y, unsigned ink) {
  const unsigned word = white_word<Out>(ink, out.maximum);
  Out *const row = out.row(y);
  if constexpr (n == Packed<Out>::kSamples) {
    store_word(row, out.width, x, word);
  } else {
#pragma unroll
    for (int k = 0; k < n; ++k)
      if (x + k < out.width) row[x + k] = static_cast<Out>(word >> 8 * sizeof(Out) * k);
  }
}
/// Adds pixels of ink to the numbers. All lanes of the warp call it.
__device__ inline void count_ink(const Page &page, int pixels) {
  const std::uint32_t sum = warp_sum(static_cast<std::uint32_t>(pixels));
  if (threadIdx.x % 32 == 0 && sum)
    atomicAdd(reinterpret_cast<unsigned long long *>(&page.numbers->ink),
              static_cast<unsigned long long>(sum));
}

template <typename T, typename Out>
struct PaintJob {
  Plane<const T> in;
  Plane<Out> out;
  DeviceBits ink;
  bool has_things;          ///< whether the following planes are filled
  DeviceBits near, margin;  ///< quarter
  SmallPlane widest_paper;
  Page page;
  bool count;  ///< pixels of ink, for the report
};

/// Queues writing black and white.
template <typename T, typename Out>
void queue_paint(Cuda &, const PaintJob<T, Out> &);
/// Queues counting the ink without writing anything.
template <typename T>
void queue_count_ink(Cuda &, const PaintJob<T, T> &);

/// Queues writing darkness, scaled to the range of the output.
template <typename T>
void queue_show_darkness(Cuda &, Plane<T> darkness, Plane<T> out);

}  // namespace cudascan::binarize
