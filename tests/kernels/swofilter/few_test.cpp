// SPDX-License-Identifier: LGPL-2.1-or-later
// Order statistics on the GPU where the method depends on the size of the window: few samples, and
// modes and trimmed means of wide windows. rank_test.cpp compares the CPU with an oracle.
#include <gtest/gtest.h>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

#ifdef HAVE_CUDA
/// As many samples as a network has, fewer, and more; several tiles.
TEST(SwoFilterRankFew, CudaEqualsCpu) {
  NEED_GPU();
  constexpr const char *kShapes[] = {"010;111;010",
                                     "1;0;1;1;0;1;0",
                                     "000;000;001",
                                     "1000000000001;0000000000000;0100110010110",
                                     "1111111111111",
                                     "01110;11111;11111;11111;01110",
                                     "01111;11111;11111;11111;01111",
                                     "1;1;1"};
  int turn = 0;
  for (const char *shape : kShapes)
    for (const Size size : {Size{1, 1}, Size{3, 2}, Size{291, 140}}) {
      const SwoFilterParams p{.op = turn % 2 ? Op::median : Op::rank,
                              .shape = shape,
                              .border = static_cast<Border>(turn / 2 % 4),
                              .border_value = 77,
                              .percentile = 10. * (turn % 11)};
      const Layout layout = turn % 3 ? Layout{.unit = 256} : Layout{0, 1};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, size, layout);
      expect_cuda_equals_cpu_of<std::uint16_t>(p, size, layout);
      if (HasFailure()) return;
      ++turn;
    }
}

/// Squares up to the largest whose ranks come from a network that sorts them, and the next one.
TEST(SwoFilterRankFew, CudaEqualsCpuOfRanksOfSquares) {
  NEED_GPU();
  for (int turn = 0; const int window : {3, 5, 7, 9, 11})
    for (const auto border : {Border::clip, Border::replicate, Border::reflect, Border::constant})
      for (const Size size : {Size{window, window}, Size{window - 1, 37}, Size{139, 37}}) {
        const SwoFilterParams p{.op = Op::rank,
                                .window = window,
                                .border = border,
                                .border_value = 99,
                                .percentile = 12.5 * (turn % 9)};
        const Layout layout = turn % 3 ? Layout{.unit = 256} : Layout{0, 1};
        expect_cuda_equals_cpu_of<std::uint8_t>(p, size, layout);
        expect_cuda_equals_cpu_of<std::uint16_t>(p, size, layout);
        if (HasFailure()) return;
        ++turn;
      }
}

/// Around the widths at which the method changes.
TEST(SwoFilterRankFew, CudaEqualsCpuOfWideModesAndTrimmedMeans) {
  NEED_GPU();
  for (const int width : {7, 55, 57, 95, 97})
    for (const Op op : {Op::mode, Op::alpha_trimmed_mean}) {
      const SwoFilterParams p{.op = op,
                              .window_width = width,
                              .window_height = 3,
                              .border = width % 4 == 3 ? Border::clip : Border::constant,
                              .alpha = 0.2};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, {130, 9});
      if (HasFailure()) return;
    }
}
#endif

}  // namespace
}  // namespace cudascan
