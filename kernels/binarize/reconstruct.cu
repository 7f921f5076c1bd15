// SPDX-License-Identifier: LGPL-2.1-or-later
// Drops ink without a core, and finds the median darkness of what remains.
#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/binarize/block_scan.cuh"
#include "kernels/binarize/things.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 256;

/// The word of a thread.
struct WordPlace {
  int i, y;

  __device__ WordPlace(const DeviceBits &bits)
      : i((blockIdx.x * kThreads + threadIdx.x) / kThreadsOfWord), y(i / bits.stride) {
    i -= y * bits.stride;
  }
};

__global__ void __launch_bounds__(kThreads)
    keep_ink_kernel(const Page page, const DeviceComponents ink, const DeviceBits cores) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (page.numbers->blank) return;
  const WordPlace at(ink.bits);
  if (at.y < ink.bits.height) ink.keep(ink.bits.row(at.y)[at.i], cores.row(at.y)[at.i], at.i, at.y);
}

/// Leaves only ink that is kept, and counts its darkness.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    drop_ink_kernel(const Page page, const DeviceComponents ink, const Plane<T> darkness) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (page.numbers->blank) return;
  __shared__ std::uint32_t counts[kDarkest<T> + 1];
  for (int i = threadIdx.x; i <= kDarkest<T>; i += kThreads) counts[i] = 0;
  __syncthreads();
  const int words = ink.bits.stride * ink.bits.height, part = threadIdx.x % kThreadsOfWord;
  constexpr int kAtOnce = kThreads / kThreadsOfWord;  // words
  for (int first = blockIdx.x * kAtOnce; first < words; first += kAtOnce * gridDim.x) {
    const int k = first + static_cast<int>(threadIdx.x) / kThreadsOfWord;
    const int y = k / ink.bits.stride, i = k % ink.bits.stride;
    const std::uint32_t word = k < words ? ink.bits.row(y)[i] : 0;
    const std::uint32_t kept = bits_of_all(ink.kept(word, i, y));
    if (word && part == 0) ink.bits.row(y)[i] = kept;
    if (y % kInkRows != 0) continue;
    for (std::uint32_t own = kept & own_part(); own; own &= own - 1)
      atomicAdd(&counts[darkness.row(y)[32 * i + __ffs(own) - 1]], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i <= kDarkest<T>; i += kThreads)
    if (counts[i]) atomicAdd(&page.numbers->ink_counts[i], counts[i]);
}

__global__ void __launch_bounds__(kThreads) ink_darkness_kernel(const Page page, int darkest) {
  let_next_kernel_start();
  wait_for_kernels_before();
  Numbers &numbers = *page.numbers;
  if (numbers.blank) return;
  __shared__ std::uint64_t last;
  const int each = (darkest + 1) / kThreads, first = threadIdx.x * each;
  std::uint64_t own = 0;
  for (int i = first; i < first + each; ++i) own += numbers.ink_counts[i];
  std::uint64_t up_to = scan_block<kThreads>(own);
  if (threadIdx.x == kThreads - 1) last = up_to;
  __syncthreads();
  up_to -= own;
  for (int i = first; i < first + each; ++i) {
    const std::uint64_t before = up_to;
    up_to += numbers.ink_counts[i];
    if (2 * before < last && 2 * up_to >= last) numbers.ink_darkness = i;
  }
}

}  // namespace

template <typename T>
void queue_reconstruct(Cuda &cuda, const Page &page, const DeviceComponents &ink,
                       const DeviceBits &cores, Plane<T> darkness) {
  const std::int64_t words = std::int64_t{ink.bits.stride} * ink.bits.height;
  const int blocks = divide_up(kThreadsOfWord * words, kThreads);
  LaunchShape shape{blocks, kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  queue_join(cuda, page, ink, nullptr, false);
  launch(cuda, keep_ink_kernel, shape, page, ink, cores);
  shape.blocks = std::min(blocks, 8 * cuda.multiprocessors());
  launch(cuda, drop_ink_kernel<T>, shape, page, ink, darkness);
  shape.blocks = 1;
  launch(cuda, ink_darkness_kernel, shape, page, kDarkest<T>);
}
template void queue_reconstruct(Cuda &, const Page &, const DeviceComponents &, const DeviceBits &,
                                Plane<std::uint8_t>);
template void queue_reconstruct(Cuda &, const Page &, const DeviceComponents &, const DeviceBits &,
                                Plane<std::uint16_t>);

}  // namespace cudascan::binarize
