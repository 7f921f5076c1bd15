// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks, trimmed means and modes of 16-bit samples on the GPU, by ordinals, against the CPU.
#include <gtest/gtest.h>

#include <tuple>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

#ifdef HAVE_CUDA
namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

/// Tiles of 16-bit samples next to and below one another.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfSeveralTiles) {
  NEED_GPU();
  for (const Op op : {Op::median, Op::alpha_trimmed_mean, Op::mode})
    for (const char *shape : {"rectangle", "ellipse"}) {
      const SwoFilterParams p{.op = op, .window_width = 13, .window_height = 5, .shape = shape};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {290, 37});
    }
}

/// Sorted tiles that need more memory than there is for a part.
TEST(SwoFilterOrdinals, InSeveralPartsOnCudaEqualsCpu) {
  NEED_REAL_GPU();
  for (const Op op : {Op::alpha_trimmed_mean, Op::mode}) {
    const SwoFilterParams p{.op = op, .window = 255, .shape = "ellipse"};
    expect_cuda_equals_cpu_of<std::uint16_t>(p, {5000, 2600});
  }
}

/// Wide rectangles whose tiles are transposed.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfWideRectangles) {
  NEED_GPU();
  for (const Border border : {Border::clip, Border::replicate, Border::reflect, Border::constant}) {
    const SwoFilterParams p{.op = Op::rank,
                            .window_width = 33,
                            .window_height = 3,
                            .border = border,
                            .border_value = 100,
                            .percentile = 70};
    for (const Size size : {Size{1, 1}, {2, 3}, {151, 40}, {40, 301}})
      expect_cuda_equals_cpu_of<std::uint16_t>(p, size);
  }
}

/// Both ends of trimmed means in one bin, in neighbouring ones, and far apart.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfTrimmedMeans) {
  NEED_GPU();
  for (const double alpha : {0., 0.001, 0.02, 0.3, 0.49, 0.5})
    for (const auto &[width, height, shape] :
         {std::tuple{31, 1, "rectangle"}, std::tuple{43, 15, "ellipse"},
          std::tuple{17, 17, "cross"}}) {
      const SwoFilterParams p{.op = Op::alpha_trimmed_mean,
                              .window_width = width,
                              .window_height = height,
                              .shape = shape,
                              .border = Border::clip,
                              .alpha = alpha};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {130, 9});
    }
}

}  // namespace
}  // namespace cudascan
#endif
