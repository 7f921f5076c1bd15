// SPDX-License-Identifier: LGPL-2.1-or-later
// Modes of 16-bit samples in large windows and crosses on the GPU, against the CPU. rank_test.cpp
// compares the CPU with an oracle.
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

/// Pictures of all kinds: many values that are rare, few ones that are not, flat parts.
TEST(SwoFilterModes, CudaEqualsCpuOfLargeWindows) {
  NEED_GPU();
  int i = 0;
  for (const auto &[width, height, shape] :
       {std::tuple{41, 35, "rectangle"}, std::tuple{61, 45, "ellipse"},
        std::tuple{27, 75, "rectangle"}})
    for (const Content content : kContents) {
      const SwoFilterParams p{.op = Op::mode,
                              .window_width = width,
                              .window_height = height,
                              .shape = shape,
                              .border = static_cast<Border>(i % 4),
                              .border_value = 300};
      const Size images[] = {{70, 47}, {131, 66}, {3, 2}};
      const std::uint16_t maxima[] = {0xffff, 1023, 0xffc0};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, images[i % 3], {}, maxima[i / 3 % 3], content);
      ++i;
    }
}

/// A value that occurs more often in a tile with its margin than is counted: everywhere, and where
/// another one wins in the middle.
TEST(SwoFilterModes, CudaEqualsCpuOfFlatImages) {
  NEED_GPU();
  for (const Border border : {Border::replicate, Border::constant}) {
    const SwoFilterParams p{.op = Op::mode, .window = 255, .border = border, .border_value = 77};
    for (const Content content : {Content::gray, Content::random})
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {66, 5}, {}, 0xffff, content);
    expect_cuda_equals_cpu_of<std::uint16_t>(p, {200, 200}, {}, 0xffff, Content::gray);
  }
}

/// Each number of samples that a lane reads at once, in rows and in columns.
TEST(SwoFilterModes, CudaEqualsCpuOfCrosses) {
  NEED_GPU();
  int i = 0;
  for (const auto &[width, height] :
       {Size{3, 3}, {9, 33}, {65, 7}, {37, 67}, {131, 99}, {99, 129}, {5, 255}, {255, 193}})
    for (const Content content : kContents) {
      const SwoFilterParams p{.op = Op::mode,
                              .window_width = width,
                              .window_height = height,
                              .shape = "cross",
                              .border = static_cast<Border>(i % 4),
                              .border_value = 300};
      const Size images[] = {{70, 47}, {33, 18}, {16, 34}, {3, 2}, {1, 1}};
      const std::uint16_t maxima[] = {0xffff, 1023, 0xffc0};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, images[i % 5], kLayouts[i % std::size(kLayouts)],
                                               maxima[i % 3], content);
      ++i;
    }
}

/// Several tiles for a block.
TEST(SwoFilterModes, CudaEqualsCpuOfManyTiles) {
  NEED_REAL_GPU();
  int i = 0;
  for (const auto &[width, height, shape] :
       {std::tuple{255, 255, "rectangle"}, std::tuple{255, 101, "ellipse"},
        std::tuple{37, 255, "rectangle"}, std::tuple{255, 255, "cross"}})
    for (const Content content : {Content::random, Content::text, Content::clipped}) {
      const SwoFilterParams p{.op = Op::mode,
                              .window_width = width,
                              .window_height = height,
                              .shape = shape,
                              .border = static_cast<Border>(i++ % 4),
                              .border_value = 12345};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {1100, 700}, {}, 0xffff, content);
    }
}

}  // namespace
}  // namespace cudascan
#endif
