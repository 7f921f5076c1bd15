// SPDX-License-Identifier: LGPL-2.1-or-later
// Directional medians: each way of computing them on the GPU against the CPU, which rank_test.cpp
// compares with an oracle.
#include <gtest/gtest.h>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

/// Short lines of different lengths, clipped on one side or on both.
TEST(SwoFilterLines, ShortOnesOnCudaEqualCpu) {
  NEED_GPU();
#ifdef HAVE_CUDA
  std::vector<SwoFilterParams> all;
  for (const auto &[width, height] : {Size{3, 3}, {5, 5}, {9, 9}, {9, 3}, {1, 7}, {5, 1}, {1, 1}})
    for (const Border border : {Border::clip, Border::reflect, Border::constant})
      all.push_back({.op = Op::directional_median,
                     .window_width = width,
                     .window_height = height,
                     .border = border,
                     .border_value = 77});
  constexpr Size kImages[] = {{1, 1}, {2, 5}, {5, 2}, {67, 35}};
  expect_cuda_equals_cpu(all, kImages);
#endif
}

/// Lines of one to nine words, in images of several tiles and in images that are shorter.
TEST(SwoFilterLines, LongOnesOnCudaEqualCpu) {
  NEED_GPU();
#ifdef HAVE_CUDA
  std::vector<SwoFilterParams> all;
  for (const auto &[width, height] :
       {Size{11, 11}, {65, 65}, {67, 67}, {255, 255}, {15, 131}, {193, 1}, {1, 33}, {195, 13}}) {
    all.push_back({.op = Op::directional_median, .window_width = width, .window_height = height});
    all.push_back({.op = Op::directional_median,
                   .window_width = width,
                   .window_height = height,
                   .border = all.size() % 3 == 0   ? Border::replicate
                             : all.size() % 3 == 1 ? Border::reflect
                                                   : Border::constant,
                   .border_value = 77});
  }
  constexpr Size kFew[] = {{1, 1}, {3, 34}, {70, 37}};
  constexpr Size kMore[] = {{1, 1}, {3, 200}, {400, 7}, {301, 333}, {32, 32}, {640, 480}};
  expect_cuda_equals_cpu(all, gpu_is_emulated() ? std::span<const Size>(kFew) : kMore);
#endif
}

}  // namespace
}  // namespace cudascan
