// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda_check.cuh"
#include "kernels/nick_baseline.h"

namespace cudascan {
namespace {
template <typename T, typename Out>
__global__ void nick_kernel(Plane<const T> in, Plane<Out> out, nick::Formula f, int rx, int ry,
                            NickOutput output, Out black, Out white) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= in.width || y >= in.height) return;
  out.row(y)[x] =
      nick::result(in.row(y)[x], nick::sum_window(in, x, y, rx, ry), f, output, black, white);
}
template <typename T, typename Out>
void run_all(Cuda &cuda, Plane<const T> in, Plane<Out> out, const NickParams &p, NickReport *) {
  nick::check_call(p, in.width, in.height, out.width, out.height, sizeof(T) == sizeof(Out));
  nick::Formula f = nick::make_formula(p, in.maximum);
  const Out white = p.invert ? 0 : out.maximum, black = p.invert ? out.maximum : 0;
  const dim3 block(32, 8);
  const dim3 grid((in.width + block.x - 1) / block.x, (in.height + block.y - 1) / block.y);
  nick_kernel<<<grid, block, 0, cuda.stream()>>>(
      in, out, f, nick::window_width(p) / 2, nick::window_height(p) / 2, p.output, black, white);
  CUDA_CHECK(cudaGetLastError());
}
}  // namespace
void run(Cuda &c, Plane<const std::uint8_t> in, Plane<std::uint8_t> out, const NickParams &p,
         NickReport *r) {
  run_all(c, in, out, p, r);
}
void run(Cuda &c, Plane<const std::uint16_t> in, Plane<std::uint16_t> out, const NickParams &p,
         NickReport *r) {
  run_all(c, in, out, p, r);
}
void run(Cuda &c, Plane<const std::uint16_t> in, Plane<std::uint8_t> out, const NickParams &p,
         NickReport *r) {
  run_all(c, in, out, p, r);
}
}  // namespace cudascan
