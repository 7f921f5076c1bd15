// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/naive/naive.h"

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/naive/window.h"

namespace cudascan::swo {
namespace {

constexpr int kBlock = 16;  // the paper's tile(16, 16)

template <SwoFilterOperator op, typename T>
__global__ void __launch_bounds__(kBlock *kBlock)
    naive_kernel(const __grid_constant__ NaiveJob<T> job) {
  const int x = blockIdx.x * kBlock + threadIdx.x, y = blockIdx.y * kBlock + threadIdx.y;
  if (x >= job.in.width || y >= job.in.height) return;
  const unsigned level = NaiveWindow<T>(job, x, y).template result<op>();
  job.out.row(y)[x] = static_cast<T>(level << job.shift);
}

}  // namespace

template <typename T>
void naive(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  const dim3 blocks((in.width + kBlock - 1) / kBlock, (in.height + kBlock - 1) / kBlock);
  const dim3 threads(kBlock, kBlock);
  const NaiveJob<T> naive = make_naive(in, out, job);
  with_naive(job.op, [&](auto op) {
    launch(cuda, naive_kernel<decltype(op)::value, T>, {blocks, threads}, naive);
  });
}
template void naive(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void naive(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
