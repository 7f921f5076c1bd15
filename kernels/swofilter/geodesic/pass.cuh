// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A single geodesic pass from the input to the result, without memory in between.
#pragma once
#include "common/plane.h"
#include "kernels/swofilter/geodesic/cells.cuh"
#include "kernels/swofilter/geodesic/growth.h"

namespace cudascan::swo {

template <typename T>
struct SinglePass {
  static constexpr int kThreads = 256;
  static constexpr int kColumns = 64, kRows = 8;  ///< of the part of a warp

  Plane<const T> in;
  Plane<T> out;
  Growth growth;
  bool paired;  ///< rows are of pairs of samples that may be accessed at once

  /// Samples of columns x and x + 1 in the halves of a word; undefined outside the image.
  __device__ unsigned read(int x, int y) const {
    const T *const row = in.row(min(max(y, 0), in.height - 1));
    if (!paired) return row[min(x, in.width - 1)] | row[min(x + 1, in.width - 1)] << 16;
    const T *const samples = row + min(x, in.width - 2);
    if constexpr (sizeof(T) == 2)
      return *reinterpret_cast<const unsigned *>(samples);
    else
      return __byte_perm(*reinterpret_cast<const std::uint16_t *>(samples), 0, 0x4140);
  }
  __device__ void write(int x, int y, unsigned v) const {
    T *const samples = out.row(y) + x;
    if (!paired) {
      if (x < out.width) samples[0] = static_cast<T>(v);
      if (x + 1 < out.width) samples[1] = static_cast<T>(v >> 16);
    } else if (x < out.width) {
      if constexpr (sizeof(T) == 2)
        *reinterpret_cast<unsigned *>(samples) = v;
      else
        *reinterpret_cast<std::uint16_t *>(samples) =
            static_cast<std::uint16_t>(__byte_perm(v, 0, 0x4420));
    }
  }
  /// The masks of two samples.
  __device__ unsigned masks(unsigned samples) const {
    return growth.mask(static_cast<T>(samples)) |
           unsigned{growth.mask(static_cast<T>(samples >> 16))} << 16;
  }
  /// The marker of pixel (x, y), which has this mask; 0 outside the image.
  __device__ unsigned marker(unsigned mask, int x, int y) const {
    if (x < 0 || x >= in.width || y < 0 || y >= in.height) return 0;
    return growth.marker(static_cast<T>(mask),
                         x == 0 || x == in.width - 1 || y == 0 || y == in.height - 1);
  }
};

template <typename T, bool eight>
__global__ void __launch_bounds__(SinglePass<T>::kThreads)
    single_pass_kernel(const __grid_constant__ SinglePass<T> job) {
  constexpr int kRows = SinglePass<T>::kRows;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int x = static_cast<int>(blockIdx.x) * job.kColumns + 2 * lane;
  const int first = (static_cast<int>(blockIdx.y) * (job.kThreads / 32) + warp) * kRows;
  // Loads all rows before using one, from the row above this warp's part to the row below; the
  // outer lanes also load the neighbouring columns.
  const int beside_x = lane == 0 ? x - 1 : x + 2;
  unsigned samples[kRows + 2], beside[kRows + 2] = {};
#pragma unroll
  for (int i = 0; i < kRows + 2; ++i) samples[i] = job.read(x, first + i - 1);
  if (lane == 0 || lane == 31) {
#pragma unroll
    for (int i = 0; i < kRows + 2; ++i)
      beside[i] = job.in.row(
          min(max(first + i - 1, 0), job.in.height - 1))[min(max(beside_x, 0), job.in.width - 1)];
  }

  // Masks and markers of a row, and the markers combined with their left and right neighbours.
  struct Row {
    unsigned masks, markers, wide;
  };
  const auto row = [&](int i) {
    const int y = first + i - 1;
    Row r{};
    r.masks = job.masks(samples[i]);
    r.markers = job.marker(r.masks & 0xffff, x, y) | job.marker(r.masks >> 16, x + 1, y) << 16;
    unsigned outer = 0;
    if (lane == 0 || lane == 31)
      outer = job.marker(job.growth.mask(static_cast<T>(beside[i])), beside_x, y);
    r.wide = spread(r.markers, outer, outer);
    return r;
  };
  Row above = row(0), here = row(1);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const Row below = row(i + 2);
    const unsigned vertical =
        eight ? __vmaxu2(above.wide, below.wide) : __vmaxu2(above.markers, below.markers);
    const unsigned after = grow(here.markers, here.masks, __vmaxu2(here.wide, vertical));
    const auto result = [&](int shift) -> unsigned {
      return job.growth.result(static_cast<T>(here.masks >> shift), static_cast<T>(after >> shift));
    };
    if (first + i < job.out.height) job.write(x, first + i, result(0) | result(16) << 16);
    above = here;
    here = below;
  }
}

}  // namespace cudascan::swo
