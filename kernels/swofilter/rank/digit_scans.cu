// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/digit_scans.cuh"

#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {

bool rank_by_digit_scans(Cuda &cuda, const SelectionJob<std::uint8_t> &job) {
  const auto blocks = scan_blocks(cuda, job.out.width, job.out.height, job.rx);
  if (!blocks) return false;
  launch(cuda, digit_scans_kernel<DigitsJob>, blocks->shape(blocks->ranks.blocks),
         DigitsJob{job, blocks->ranks.results}, blocks->memory);
  return true;
}

}  // namespace cudascan::swo
