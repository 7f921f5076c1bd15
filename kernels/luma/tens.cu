// SPDX-License-Identifier: LGPL-2.1-or-later
// The luma of samples of 10 bits in words.
#include "kernels/luma/tens.h"
#include "kernels/luma/units.cuh"

namespace cudascan {
namespace lumas {
namespace {

__global__ void get_tens_kernel(const __grid_constant__ TensJob job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int y = row_of_thread();
  if (y >= job.result.height) return;
  for (int i = 0; i < kUnits; ++i)
    if (const int x = unit_of_thread(i); x < job.result.width) job.get(x, y);
}

__global__ void set_tens_kernel(const __grid_constant__ TensJob job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int y = row_of_thread();
  if (y >= job.luma.height) return;
  for (int i = 0; i < kUnits; ++i)
    if (const int word = unit_of_thread(i); word < job.in.words.width) job.set(word, y);
}

}  // namespace
}  // namespace lumas

void get_luma(Cuda &cuda, const PackedTens<const std::uint32_t> &in, const LumaWeights &weights,
              Plane<std::uint16_t> out) {
  const lumas::TensJob job = lumas::job_to_get(in, weights, out);
  launch(cuda, lumas::get_tens_kernel, lumas::shape_for(cuda, out.width, out.height), job);
}

void set_luma(Cuda &cuda, const PackedTens<const std::uint32_t> &in, const LumaWeights &weights,
              Plane<const std::uint16_t> luma, Colors colors,
              const PackedTens<std::uint32_t> &out) {
  const lumas::TensJob job = lumas::job_to_set(in, weights, luma, colors, out);
  launch(cuda, lumas::set_tens_kernel, lumas::shape_for(cuda, in.words.width, luma.height), job);
}

}  // namespace cudascan
