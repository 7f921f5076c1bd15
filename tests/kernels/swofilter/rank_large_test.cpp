// SPDX-License-Identifier: LGPL-2.1-or-later
// Order statistics of large windows and of all kinds of windows of 16-bit samples: CUDA equals the
// CPU.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

namespace cudascan {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

const std::vector<SwoFilterParams> kLarge = {
    {.op = Op::median, .window = 11},
    {.op = Op::median, .window_width = 5, .window_height = 63, .border = Border::reflect},
    {.op = Op::rank, .window_width = 47, .window_height = 19, .percentile = 30},
    {.op = Op::rank,
     .window_width = 9,
     .window_height = 101,
     .border = Border::constant,
     .border_value = 200,
     .percentile = 100},
    {.op = Op::median, .window_width = 3, .window_height = 1},
    {.op = Op::median, .window = 31, .shape = "ellipse"},
    {.op = Op::median, .window = 11, .shape = "cross", .border = Border::constant},
    {.op = Op::median,
     .window_width = 7,
     .window_height = 89,
     .shape = "ellipse",
     .border = Border::reflect},
    {.op = Op::rank, .window = 45, .shape = "cross", .border = Border::replicate, .percentile = 5},
    {.op = Op::rank,
     .shape = "1101011;0010000;1111111;0000000;1010101;1111111;0110110",
     .percentile = 70},
    {.op = Op::median, .shape = "100;000;000"},
    {.op = Op::alpha_trimmed_mean,
     .window = 19,
     .shape = "ellipse",
     .border = Border::constant,
     .border_value = 7,
     .alpha = 0.1},
    {.op = Op::alpha_trimmed_mean, .window_width = 39, .window_height = 5, .alpha = 0},
    {.op = Op::alpha_trimmed_mean, .window = 29, .shape = "cross", .alpha = 0.5},
    {.op = Op::mode, .window = 25, .shape = "ellipse", .border = Border::reflect},
    {.op = Op::mode, .window = 37, .shape = "cross", .border = Border::constant},
    {.op = Op::alpha_trimmed_mean, .window = 21, .border = Border::reflect},
    {.op = Op::mode, .window = 17},
    {.op = Op::alpha_trimmed_mean, .window_width = 153, .window_height = 3, .alpha = 0.2},
    {.op = Op::mode, .window_width = 97, .window_height = 5, .border = Border::constant},
    {.op = Op::alpha_trimmed_mean, .window = 39, .shape = "ellipse", .alpha = 0.3},
    {.op = Op::mode, .window_width = 37, .window_height = 47, .shape = "ellipse"},
    {.op = Op::median, .window = 255, .border = Border::replicate},
    {.op = Op::directional_median, .window_width = 41, .window_height = 5}};

#ifdef HAVE_CUDA
/// Windows that move along rows or columns, with runs for a part of a warp, for several warps, and
/// as many as there can be; clipped to nothing; and in flat parts, where all lanes have one value.
TEST(SwoFilterRankLarge, CudaEqualsCpuOfModes) {
  NEED_GPU();
  std::string checkerboard;
  for (int i = 0; i < 31; ++i)
    for (int k = 0; k < 32; ++k) checkerboard += k == 31 ? ';' : "01"[(i + k) % 2 == 0];
  checkerboard.pop_back();
  const SwoFilterParams kWindows[] = {
      {.window_width = 113, .window_height = 1},
      {.window_width = 1, .window_height = 51},
      {.window_width = 5, .window_height = 37, .shape = "ellipse"},
      {.window_width = 61, .window_height = 7, .shape = "cross"},
      {.window_width = 35, .window_height = 67},
      {.shape = checkerboard},
      {.shape = "1111111;0000000;0000000;0000000;0000000;0000000;1111110"}};
  constexpr Content kFew[] = {Content::random, Content::near_white, Content::text, Content::clipped,
                              Content::checkerboard};
  int i = 0;
  for (SwoFilterParams p : kWindows)
    for (const Size size : {Size{131, 19}, Size{18, 67}, Size{1, 2}}) {
      p.op = Op::mode, p.border = static_cast<Border>(i % 4), p.border_value = 200;
      expect_cuda_equals_cpu_of<std::uint16_t>(p, size, {i % 3, i % 2}, 65535,
                                               kFew[i % std::size(kFew)]);
      ++i;
    }
}

/// Windows of bytes whose columns have one run each, so that warps fill the first ones together:
/// whole warps, a part of one, and one column.
TEST(SwoFilterRankLarge, CudaEqualsCpuOfColumnsOfOneRun) {
  NEED_GPU();
  int i = 0;
  for (const Op op : {Op::rank, Op::mode, Op::alpha_trimmed_mean})
    for (const auto &[width, height, shape] :
         {std::tuple{39, 39, "ellipse"}, std::tuple{21, 69, "ellipse"}, std::tuple{7, 89, "cross"},
          std::tuple{37, 33, "rectangle"}, std::tuple{25, 47, "octagon"}})
      for (const Size size : {Size{70, 5}, Size{33, 12}, Size{1, 40}}) {
        const SwoFilterParams p{.op = op,
                                .window_width = width,
                                .window_height = height,
                                .shape = shape,
                                .border = static_cast<Border>(i % 4),
                                .border_value = 77,
                                .percentile = 23. * (i % 5),
                                .alpha = 0.1 * (i % 6)};
        expect_cuda_equals_cpu_of<std::uint8_t>(p, size, {i % 3, i % 2}, 255,
                                                i % 2 ? Content::random : Content::text);
        ++i;
      }
}

/// A window of one sample gives that sample, whatever is asked of it.
TEST(SwoFilterRankLarge, CudaCopiesWindowsOfOneSample) {
  NEED_GPU();
  const auto expect_copy = []<typename T>(T maximum) {
    const Image<T> in(make_content<T>(Content::random, 37, 11, maximum), 37, 11, {2, 3});
    CudaRunner cuda;
    for (const Op op :
         {Op::median, Op::rank, Op::alpha_trimmed_mean, Op::mode, Op::directional_median})
      for (const Border border : {Border::clip, Border::constant}) {
        const SwoFilterParams p{.op = op, .window = 1, .border = border, .percentile = 90};
        SCOPED_TRACE(testing::Message() << p);
        EXPECT_TRUE(same(outcome<T>(cuda, in, {1, 2}, maximum, p, 0xc3).samples, in.samples(), 37));
      }
  };
  expect_copy(std::uint8_t{255});
  expect_copy(std::uint16_t{65535});
}

#endif

TEST(SwoFilterRankLarge, CudaEqualsCpu) {
  NEED_GPU();
#ifdef HAVE_CUDA
  constexpr Size kFew[] = {{1, 1}, {33, 7}, {7, 33}};
  constexpr Size kSome[] = {{1, 1}, {3, 200}, {33, 7}, {257, 130}, {700, 90}};
  expect_cuda_equals_cpu(kLarge, gpu_is_emulated() ? std::span<const Size>(kFew) : kSome);
#endif
}

}  // namespace cudascan
