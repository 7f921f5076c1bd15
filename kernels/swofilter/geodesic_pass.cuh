// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A single geodesic pass, from the input to the result: nothing is kept in between.
#pragma once
#include "common/plane.h"
#include "kernels/swofilter/geodesic_cells.cuh"
#include "kernels/swofilter/geodesic_growth.h"

namespace cudascan::swo {

template <typename T>
struct SinglePass {
  static constexpr int kThreads = 256;
  static constexpr int kColumns = 64, kRows = 8;  ///< of the part of a warp

  Plane<const T> in;
  Plane<T> out;
  Growth growth;
  bool paired_in, paired_out;  ///< rows begin where two samples may be accessed at once

  /// Samples of columns x and x + 1, in the halves of a word.
  __device__ unsigned read(int x, int y) const {
    const T *const samples = in.row(y) + x;
    if (paired_in && x + 1 < in.width) {
      if constexpr (sizeof(T) == 2) return *reinterpret_cast<const unsigned *>(samples);
      const unsigned both = *reinterpret_cast<const std::uint16_t *>(samples);
      return __byte_perm(both, 0, 0x4140);
    }
    return (x < in.width ? samples[0] : 0) | (x + 1 < in.width ? samples[1] << 16 : 0);
  }
  __device__ void write(int x, int y, unsigned v) const {
    T *const samples = out.row(y) + x;
    if (paired_out && x + 1 < out.width) {
      if constexpr (sizeof(T) == 2)
        *reinterpret_cast<unsigned *>(samples) = v;
      else
        *reinterpret_cast<std::uint16_t *>(samples) =
            static_cast<std::uint16_t>(__byte_perm(v, 0, 0x4420));
      return;
    }
    if (x < out.width) samples[0] = static_cast<T>(v);
    if (x + 1 < out.width) samples[1] = static_cast<T>(v >> 16);
  }
  /// Of a mask at column x, row y; 0 outside of the image.
  __device__ unsigned marker(unsigned mask, int x, int y) const {
    if (x < 0 || x >= in.width || y < 0 || y >= in.height) return 0;
    return growth.marker(static_cast<T>(mask),
                         x == 0 || x == in.width - 1 || y == 0 || y == in.height - 1);
  }
  /// That of a pixel.
  __device__ unsigned marker(int x, int y) const {
    if (x < 0 || x >= in.width || y < 0 || y >= in.height) return 0;
    return marker(growth.mask(in.row(y)[x]), x, y);
  }
};

template <typename T, bool eight>
__global__ void __launch_bounds__(SinglePass<T>::kThreads)
    single_pass_kernel(const __grid_constant__ SinglePass<T> job) {
  using Pass = SinglePass<T>;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column = static_cast<int>(blockIdx.x) * Pass::kColumns, x = column + 2 * lane;
  const int first = (static_cast<int>(blockIdx.y) * (Pass::kThreads / 32) + warp) * Pass::kRows;
  // The masks and markers of this lane's columns in a row, and the latter with those beside them.
  struct Row {
    unsigned masks, markers, wide;
  };
  const auto read = [&](int y) {
    Row r{};
    unsigned before = 0, after = 0;
    if (y >= 0 && y < job.in.height) {
      const unsigned samples = job.read(x, y);
      r.masks = job.growth.mask(static_cast<T>(samples)) |
                unsigned{job.growth.mask(static_cast<T>(samples >> 16))} << 16;
      r.markers = job.marker(r.masks & 0xffff, x, y) | job.marker(r.masks >> 16, x + 1, y) << 16;
      if (lane == 0) before = job.marker(x - 1, y);
      if (lane == 31) after = job.marker(x + 2, y);
    }
    r.wide = spread(r.markers, before, after);
    return r;
  };
  Row above = read(first - 1), here = read(first);
#pragma unroll
  for (int i = 0; i < Pass::kRows; ++i) {
    const int y = first + i;
    const Row below = read(y + 1);
    const unsigned vertical =
        eight ? __vmaxu2(above.wide, below.wide) : __vmaxu2(above.markers, below.markers);
    const unsigned after = grow(here.markers, here.masks, __vmaxu2(here.wide, vertical));
    if (y < job.out.height) {
      const T low = job.growth.result(static_cast<T>(here.masks), static_cast<T>(after));
      const T high =
          job.growth.result(static_cast<T>(here.masks >> 16), static_cast<T>(after >> 16));
      job.write(x, y, low | unsigned{high} << 16);
    }
    above = here;
    here = below;
  }
}

}  // namespace cudascan::swo
