// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/crosses.cuh"

#include <algorithm>

#include "kernels/swofilter/rank/launches.cuh"
#include "kernels/swofilter/rank/line_bands.cuh"

namespace cudascan::swo {
namespace {

template <typename T, int side_words>
void by_words(Cuda &cuda, const SelectionJob<T> &selection) {
  const LineReach reach{selection.rx, selection.ry, 0};
  for_line_bands(cuda, selection.in, selection.out, reach, side_words, 1,
                 [&](const LineBitsJob<T> &job) {
                   launch(cuda,
                          selection.op == SwoFilterOperator::alpha_trimmed_mean
                              ? cross_kernel<T, side_words, true>
                              : cross_kernel<T, side_words, false>,
                          {dim3(divide_up(selection.out.width, kLineTile),
                                divide_up(job.bits.row_count, kLineTile)),
                           kCrossThreads},
                          job, selection);
                 });
}

}  // namespace

template <typename T>
void rank_of_cross(Cuda &cuda, const SelectionJob<T> &selection) {
  switch (divide_up(std::max(selection.rx, selection.ry), kLineTile)) {
    case 0:
    case 1:
      return by_words<T, 1>(cuda, selection);
    case 2:
      return by_words<T, 2>(cuda, selection);
    case 3:
      return by_words<T, 3>(cuda, selection);
    default:
      return by_words<T, 4>(cuda, selection);
  }
}

template void rank_of_cross(Cuda &, const SelectionJob<std::uint8_t> &);
template void rank_of_cross(Cuda &, const SelectionJob<std::uint16_t> &);

}  // namespace cudascan::swo
