// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/sliding.cuh"

#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

/// The samples of an image with a margin, or kNoLevel.
__global__ void __launch_bounds__(256)
    margin_kernel(const __grid_constant__ Source<std::uint8_t> in, int rx, int ry,
                  std::uint16_t *samples, int stride) {
  const int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
  if (x >= in.plane.width + 2 * rx) return;
  unsigned level = kNoLevel;
  in.visit(x - rx, y - ry, [&](unsigned sample) { level = sample; });
  samples[std::size_t(y) * stride + x] = static_cast<std::uint16_t>(level);
}

}  // namespace

void rank_by_sliding(Cuda &cuda, const SelectionJob<std::uint8_t> &job, const Mask &mask) {
  using Op = SwoFilterOperator;
  const int width = job.out.width + 2 * job.rx, height = job.out.height + 2 * job.ry;
  const int stride = divide_up(width, 128) * 128;
  auto *const samples = static_cast<std::uint16_t *>(
      cuda.scratch(std::size_t(stride) * height * sizeof(std::uint16_t)));
  launch(cuda, margin_kernel, {dim3(divide_up(width, 256), height), 256}, job.in, job.rx, job.ry,
         samples, stride);
  const WindowColumns columns(mask.transposed());
  const auto kernel_of = [&]<bool is_filled>() {
    return job.op == Op::mode ? sliding_kernel<Op::mode, SlidingJob, is_filled>
           : job.op == Op::alpha_trimmed_mean
               ? sliding_kernel<Op::alpha_trimmed_mean, SlidingJob, is_filled>
               : sliding_kernel<Op::rank, SlidingJob, is_filled>;
  };
  const bool of_rank = job.op == Op::median || job.op == Op::rank;
  const auto kernel = has_column_runs(columns) && (of_rank || columns.count >= kFewestToFill)
                          ? kernel_of.template operator()<true>()
                          : kernel_of.template operator()<false>();
  const int bytes = sliding_bytes<SlidingJob>(columns);
  const RankBlocks blocks = sliding_blocks(cuda, job.out.width, job.out.height, bytes);
  launch(cuda, kernel, {blocks.blocks, kSlidingThreads, bytes},
         SlidingJob{job, samples, stride, blocks.results.height}, columns);
}

}  // namespace cudascan::swo
