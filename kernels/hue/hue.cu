// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/base/launch.cuh"
#include "kernels/hue.h"
#include "kernels/hue/wheel.h"

namespace cudascan {
namespace {

template <typename T>
__global__ void hue_kernel(const __grid_constant__ hues::HueJob<T> job) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < job.out.u.width && y < job.out.u.height) job.paint(x, y);
}

template <typename T>
void paint(Cuda &cuda, Plane<const T> angles, const ChromaPlanes<T> &out) {
  const hues::HueJob<T> job = hues::make_job(angles, out);
  const dim3 block(32, 8);
  const dim3 grid((out.u.width + block.x - 1) / block.x, (out.u.height + block.y - 1) / block.y);
  launch(cuda, hue_kernel<T>, {grid, block}, job);
}

}  // namespace

void paint_hues(Cuda &cuda, Plane<const std::uint8_t> angles,
                const ChromaPlanes<std::uint8_t> &out) {
  paint(cuda, angles, out);
}
void paint_hues(Cuda &cuda, Plane<const std::uint16_t> angles,
                const ChromaPlanes<std::uint16_t> &out) {
  paint(cuda, angles, out);
}

}  // namespace cudascan
