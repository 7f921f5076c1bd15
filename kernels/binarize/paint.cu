// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/paint.cuh"

#include "kernels/base/launch.cuh"
#include "kernels/binarize/planes.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 128;
constexpr int kPixels = 16;  // of a thread

/// Whether a pixel near a thing is as dark as the thing.
/// @param least  the least paper
template <typename T, typename Out>
__device__ bool belongs_to_thing(const PaintJob<T, Out> &job, int least, int x, int y) {
  const Numbers &numbers = *job.page.numbers;
  const int paper = max(int{job.widest_paper.row(y / 16)[x / 16]}, least);
  const auto sample =
      static_cast<int>(upright(job.in.row(y)[x], job.page.inverted(), job.page.maximum));
  const float factor = darkness_factor(kDarkest<T>, paper, least);
  return belongs(darkness(sample, paper, factor), numbers.ink_darkness);
}

/// Four bits for each of four.
__device__ unsigned four_times(unsigned bits) {
  return ((bits & 1) | (bits & 2) << 3 | (bits & 4) << 6 | (bits & 8) << 9) * 15;
}

/// The final ink of the pixels of a thread, one bit each.
template <typename T, typename Out>
__device__ unsigned ink_of(const PaintJob<T, Out> &job, int x, int y) {
  unsigned ink = job.ink.row(y)[x / 32] >> x % 32 & 0xffff;
  if (!job.has_things) return ink;
  const Numbers &numbers = *job.page.numbers;
  const int word = x / 128, bit = x / 4 % 32;
  const unsigned margin = numbers.any_opened ? job.margin.row(y / 4)[word] >> bit & 15 : 0;
  const unsigned near = numbers.any_thick ? job.near.row(y / 4)[word] >> bit & 15 : 0;
  unsigned open = four_times(near & ~margin) & ~ink;
  const int least = open ? numbers.least_paper(kWidestPaper) : 0;
  for (; open; open &= open - 1) {
    const int k = __ffs(open) - 1;
    if (x + k < job.in.width && belongs_to_thing(job, least, x + k, y)) ink |= 1u << k;
  }
  return ink & ~four_times(margin);
}

/// @tparam write  whether there is an output
template <bool write, typename T, typename Out>
__global__ void __launch_bounds__(kThreads) paint_kernel(const PaintJob<T, Out> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int x = (blockIdx.x * kThreads + threadIdx.x) * kPixels, y = blockIdx.y;
  unsigned ink = 0;
  if (x < job.in.width) {
    ink = ink_of(job, x, y);
    if constexpr (write) {
      constexpr int kSamples = Packed<Out>::kSamples, kWords = kPixels / kSamples;
      unsigned words[kWords];
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        words[k] = white_word<Out>(ink >> k * kSamples, job.out.maximum);
      Out *const row = job.out.row(y);
      if (x + kPixels <= job.in.width && reinterpret_cast<std::uintptr_t>(row) % 16 == 0) {
        auto *const to = reinterpret_cast<uint4 *>(row + x);
#pragma unroll
        for (int k = 0; k < kWords; k += 4)
          to[k / 4] = {words[k], words[k + 1], words[k + 2], words[k + 3]};
      } else {
#pragma unroll
        for (int k = 0; k < kWords; ++k) store_word(row, job.in.width, x + k * kSamples, words[k]);
      }
    }
  }
  if (job.count) count_ink(job.page, __popc(ink));
}

/// Samples of a thread that shows darkness.
template <typename T>
constexpr int kShown = 16 / sizeof(T);

template <typename T>
__global__ void __launch_bounds__(kThreads)
    show_darkness_kernel(const Plane<T> darkness, const Plane<T> out) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  let_next_kernel_start();
  wait_for_kernels_before();
  const int x = (blockIdx.x * kThreads + threadIdx.x) * kShown<T>, y = blockIdx.y;
  if (x >= out.width) return;
  const uint4 four = *reinterpret_cast<const uint4 *>(darkness.row(y) + x);
  unsigned words[] = {four.x, four.y, four.z, four.w};
#pragma unroll
  for (unsigned &word : words) {
    unsigned shown = 0;
#pragma unroll
    for (int i = 0; i < kSamples; ++i)
      shown |= shown_darkness(static_cast<T>(word >> kBits * i), kDarkest<T>, out.maximum)
               << kBits * i;
    word = shown;
  }
  T *const row = out.row(y);
  if (x + kShown<T> <= out.width && reinterpret_cast<std::uintptr_t>(row + x) % 16 == 0) {
    *reinterpret_cast<uint4 *>(row + x) = {words[0], words[1], words[2], words[3]};
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) store_word(row, out.width, x + k * kSamples, words[k]);
}

template <typename T, typename Out>
LaunchShape shape_of(Cuda &cuda, const PaintJob<T, Out> &job) {
  LaunchShape shape{dim3(divide_up(job.in.width, kThreads * kPixels), job.in.height), kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  return shape;
}

}  // namespace

template <typename T, typename Out>
void queue_paint(Cuda &cuda, const PaintJob<T, Out> &job) {
  launch(cuda, paint_kernel<true, T, Out>, shape_of(cuda, job), job);
}
template void queue_paint(Cuda &, const PaintJob<std::uint8_t, std::uint8_t> &);
template void queue_paint(Cuda &, const PaintJob<std::uint16_t, std::uint16_t> &);
template void queue_paint(Cuda &, const PaintJob<std::uint16_t, std::uint8_t> &);

template <typename T>
void queue_count_ink(Cuda &cuda, const PaintJob<T, T> &job) {
  launch(cuda, paint_kernel<false, T, T>, shape_of(cuda, job), job);
}
template void queue_count_ink(Cuda &, const PaintJob<std::uint8_t, std::uint8_t> &);
template void queue_count_ink(Cuda &, const PaintJob<std::uint16_t, std::uint16_t> &);

template <typename T>
void queue_show_darkness(Cuda &cuda, Plane<T> darkness, Plane<T> out) {
  LaunchShape shape{dim3(divide_up(out.width, kThreads * kShown<T>), out.height), kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, show_darkness_kernel<T>, shape, darkness, out);
}
template void queue_show_darkness(Cuda &, Plane<std::uint8_t>, Plane<std::uint8_t>);
template void queue_show_darkness(Cuda &, Plane<std::uint16_t>, Plane<std::uint16_t>);

}  // namespace cudascan::binarize
