// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/sliding.cuh"

#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {

void rank_by_sliding(Cuda &cuda, const SelectionJob<std::uint8_t> &job, const Mask &mask) {
  using Op = SwoFilterOperator;
  const RankBlocks blocks =
      sliding_blocks(cuda, job.out.width, job.out.height, SlidingCounts::kBytes);
  const auto kernel = job.op == Op::mode ? sliding_kernel<Op::mode, SlidingJob>
                      : job.op == Op::alpha_trimmed_mean
                          ? sliding_kernel<Op::alpha_trimmed_mean, SlidingJob>
                          : sliding_kernel<Op::rank, SlidingJob>;
  launch(cuda, kernel, {blocks.blocks, blocks.columns, blocks.columns * SlidingCounts::kBytes},
         SlidingJob{job, blocks.results.height}, WindowColumns(mask.transposed()));
}

}  // namespace cudascan::swo
