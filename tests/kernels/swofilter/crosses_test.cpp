// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks and trimmed means of crosses and lines on the GPU, against the CPU.
#include <gtest/gtest.h>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

#ifdef HAVE_CUDA
namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

template <typename T>
void expect_cuda_equals_cpu_of_each_width(Op op, Border border, Size image) {
  // Each number of words on the sides of the middle, with the longer line across or down.
  int i = 0;
  for (const auto &[width, height] :
       {Size{23, 17}, {65, 3}, {67, 129}, {61, 191}, {255, 193}, {255, 1}, {1, 39}}) {
    const SwoFilterParams p{.op = op,
                            .window_width = width,
                            .window_height = height,
                            .shape = "cross",
                            .border = border,
                            .border_value = 90,
                            .percentile = 30. * i,
                            .alpha = 0.11 * i};
    expect_cuda_equals_cpu_of<T>(p, image, kLayouts[i % std::size(kLayouts)],
                                 std::numeric_limits<T>::max(),
                                 kContents[i % std::size(kContents)]);
    i = (i + 1) % 4;
  }
}

TEST(SwoFilterCrosses, CudaEqualsCpuOfEachWidth) {
  NEED_GPU();
  int i = 0;
  for (const Border border : {Border::clip, Border::replicate, Border::reflect, Border::constant})
    for (const Op op : {Op::median, Op::rank, Op::alpha_trimmed_mean}) {
      const Size images[] = {{75, 37}, {33, 70}, {5, 3}, {1, 1}};
      const Size image = images[i++ % 4];
      expect_cuda_equals_cpu_of_each_width<std::uint8_t>(op, border, image);
      expect_cuda_equals_cpu_of_each_width<std::uint16_t>(op, border, image);
    }
}

/// Samples without their lowest bits, next to samples outside of the image that have these.
TEST(SwoFilterCrosses, CudaEqualsCpuOfUnusedBits) {
  NEED_GPU();
  for (const int border_value : {0, 517, 1023}) {
    const SwoFilterParams p{.op = Op::alpha_trimmed_mean,
                            .window = 21,
                            .shape = "cross",
                            .border = Border::constant,
                            .border_value = border_value,
                            .alpha = 0.2};
    for (const std::uint16_t maximum : {1023, 0xffc0})
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {40, 20}, {}, maximum);
  }
}

/// Words that need more memory than there is for a band.
TEST(SwoFilterCrosses, InSeveralBandsOnCudaEqualsCpu) {
  NEED_REAL_GPU();
  for (const Op op : {Op::median, Op::alpha_trimmed_mean}) {
    const SwoFilterParams p{.op = op, .window = 255, .shape = "cross", .alpha = 0.3};
    expect_cuda_equals_cpu_of<std::uint16_t>(p, {5000, 3400});
  }
}

}  // namespace
}  // namespace cudascan
#endif
