// SPDX-License-Identifier: LGPL-2.1-or-later
// Medians and ranks on the GPU that are found bit by bit for 32 pixels at once. rank_test.cpp
// compares the CPU with an oracle.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

#ifdef HAVE_CUDA
constexpr Border kBorders[] = {Border::clip, Border::replicate, Border::reflect, Border::constant};

/// A mask with a share of its cells.
std::string random_mask(int width, int height, double share, std::mt19937 &random) {
  std::bernoulli_distribution is_on(share);
  std::string shape;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) shape += is_on(random) ? '1' : '0';
    if (row + 1 < height) shape += ';';
  }
  shape[(height / 2) * (width + 1) + (width - 1)] = '1';
  return shape;
}

void expect_equal(const SwoFilterParams &p, Size size, int turn) {
  const Layout layout = turn % 3 ? Layout{.unit = 256} : Layout{0, 1};
  expect_cuda_equals_cpu_of<std::uint8_t>(p, size, layout);
  expect_cuda_equals_cpu_of<std::uint16_t>(p, size, layout);
}

/// From few samples to all, in narrow and wide masks; images smaller than them, too.
TEST(SwoFilterBitPlanes, CudaEqualsCpuOfMasks) {
  NEED_GPU();
  std::mt19937 random(1);
  int turn = 0;
  for (const Size mask : {Size{31, 31}, Size{3, 29}, Size{27, 5}, Size{13, 11}, Size{1, 31}})
    for (const double share : {0.2, 0.5, 0.9})
      for (const Size size : {Size{1, 1}, Size{5, 17}, Size{33, 4}, Size{131, 45}}) {
        expect_equal({.op = turn % 3 ? Op::rank : Op::median,
                      .shape = random_mask(mask.width, mask.height, share, random),
                      .border = kBorders[turn % 4],
                      .border_value = 77,
                      .percentile = 10. * (turn % 11)},
                     size, turn);
        if (HasFailure()) return;
        ++turn;
      }
}

/// Windows without a sample inside the image keep the pixel.
TEST(SwoFilterBitPlanes, CudaEqualsCpuOfWindowsOutside) {
  NEED_GPU();
  std::string shape;
  for (int row = 0; row < 25; ++row) shape += (row ? ";" : "") + std::string(24, '0') + "1";
  for (int turn = 0; turn < 3; ++turn)
    expect_equal({.op = Op::rank, .shape = shape, .border = Border::clip, .percentile = 45. * turn},
                 {40 + turn, 30}, turn);
}

/// The widest windows, the next ones, and high ones.
TEST(SwoFilterBitPlanes, CudaEqualsCpuOfEllipsesAndRectangles) {
  NEED_GPU();
  int turn = 0;
  for (const auto shape : {"ellipse", "rectangle"})
    for (const Size window : {Size{63, 3}, Size{65, 3}, Size{61, 1}, Size{3, 51}, Size{1, 255},
                              Size{11, 13}, Size{5, 31}})
      for (const Border border : kBorders) {
        expect_equal({.op = turn % 2 ? Op::rank : Op::median,
                      .window_width = window.width,
                      .window_height = window.height,
                      .shape = shape,
                      .border = border,
                      .border_value = 200,
                      .percentile = 37},
                     {139, 37}, turn);
        if (HasFailure()) return;
        ++turn;
      }
}
#endif

}  // namespace
}  // namespace cudascan
