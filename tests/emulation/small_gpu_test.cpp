// SPDX-License-Identifier: LGPL-2.1-or-later
// GPUs before sm_80 have 64 KiB of shared memory per block, for which there are other kernels.
#include <cuda_runtime.h>

#include "kernels/autothreshold.h"
#include "kernels/equalize.h"
#include "kernels/nick.h"
#include "kernels/swofilter.h"
#include "tests/kernels/linearopen/oracle.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

class CudaOnASmallGpu : public testing::Test {
 protected:
  CudaOnASmallGpu() { emulation::limit_shared_memory(64 << 10); }
  ~CudaOnASmallGpu() override { emulation::limit_shared_memory(emulation::kSharedPerBlock); }

  template <typename T, typename Params>
  void expect_equal(int width, int height, T maximum, const Params &params,
                    test::Content content = test::Content::text) {
    // Rows that begin at multiples of a vector, then rows that begin anywhere.
    for (const test::Layout layout : {test::Layout{.padding = (16 - width % 16) % 16},
                                      test::Layout{.padding = 3, .offset = 5}}) {
      const test::Image<T> in(test::make_content<T>(content, width, height, maximum), width, height,
                              layout, maximum);
      const auto expected = test::outcome<T>(cpu_, in, layout, maximum, params, 0x5a);
      const auto got = test::outcome<T>(cuda_, in, layout, maximum, params, 0xc3);
      EXPECT_TRUE(test::same(expected.samples, got.samples, width)) << "padding " << layout.padding;
      EXPECT_EQ(expected.refused, got.refused);
    }
  }

 private:
  test::CpuRunner cpu_;
  test::CudaRunner cuda_;
};

TEST_F(CudaOnASmallGpu, EqualizesAndFindsThresholdsOfEightBits) {
  expect_equal<std::uint8_t>(304, 70, 255, EqualizeParams{});
  expect_equal<std::uint8_t>(304, 70, 255, AutothresholdParams{});
  expect_equal<std::uint8_t>(1283, 331, 255, AutothresholdParams{});  // too many for bytes
}
/// The methods for which blocks work together, and those that read neighbouring levels.
const AutothresholdParams kSmallMethods[] = {{.method = AutothresholdMethod::huang},
                                             {.method = AutothresholdMethod::shanbhag},
                                             {.method = AutothresholdMethod::intermodes},
                                             {.method = AutothresholdMethod::minimum},
                                             {.classes = 3},
                                             {.classes = 4}};

TEST_F(CudaOnASmallGpu, SmallMethods) {
  for (const AutothresholdParams &params : kSmallMethods) {
    SCOPED_TRACE(static_cast<int>(params.method));
    expect_equal<std::uint8_t>(304, 70, 255, params);
    expect_equal<std::uint16_t>(101, 70, 0xffff, params);
  }
}
TEST_F(CudaOnASmallGpu, LargeShapes) {
  for (const SwoFilterOperator op :
       {SwoFilterOperator::erode, SwoFilterOperator::standard_deviation}) {
    const SwoFilterParams params{.op = op, .window = 255, .shape = "ellipse"};
    expect_equal<std::uint8_t>(40, 70, 255, params);
    expect_equal<std::uint16_t>(40, 70, 0xffff, params);
  }
}
TEST_F(CudaOnASmallGpu, LargeExtrema) {
  const SwoFilterParams params{.op = SwoFilterOperator::open, .window = 255};
  expect_equal<std::uint8_t>(40, 290, 255, params);
  expect_equal<std::uint16_t>(130, 20, 0xffff, params);
}
/// With 99 KiB, values are counted in several passes; with 64, there is another method.
TEST_F(CudaOnASmallGpu, LargeModes) {
  const SwoFilterParams params{.op = SwoFilterOperator::mode, .window = 41};
  expect_equal<std::uint16_t>(70, 40, 0xffff, params);
  emulation::limit_shared_memory(99 << 10);
  expect_equal<std::uint16_t>(70, 40, 0xffff, params);
}
/// A GPU without room for the counters of all warps.
TEST_F(CudaOnASmallGpu, ModesOfLargeCrosses) {
  const SwoFilterParams params{.op = SwoFilterOperator::mode, .window = 255, .shape = "cross"};
  expect_equal<std::uint16_t>(70, 40, 0xffff, params);
}
/// Windows whose columns of bins fit into a block, and windows whose columns do not.
TEST_F(CudaOnASmallGpu, LargeTrimmedMeans) {
  for (const int width : {65, 83}) {
    const SwoFilterParams params{
        .op = SwoFilterOperator::alpha_trimmed_mean, .window = width, .alpha = 0.2};
    expect_equal<std::uint16_t>(110, 70, 0xffff, params);
  }
}
/// Windows whose columns fit into a block, and windows whose columns do not.
TEST_F(CudaOnASmallGpu, LargeMedians) {
  for (const int width : {151, 255}) {
    const SwoFilterParams params{
        .op = SwoFilterOperator::median, .window_width = width, .window_height = 3};
    expect_equal<std::uint8_t>(70, 5, 255, params);
  }
}
/// Tiles with more values than several blocks have room for, then than one block has, whose counts
/// are in device memory.
const SwoFilterParams kManyValues{
    .op = SwoFilterOperator::mode, .window_width = 201, .window_height = 61};
TEST_F(CudaOnASmallGpu, ModesOfManyValues) {
  expect_equal<std::uint16_t>(200, 97, 0xffff, kManyValues, test::Content::random);
}
TEST_F(CudaOnASmallGpu, ModesOfTooManyValues) {
  emulation::limit_shared_memory(32 << 10);
  expect_equal<std::uint16_t>(200, 97, 0xffff, kManyValues, test::Content::random);
}
/// Less shared memory, and more bands of rows than blocks.
TEST_F(CudaOnASmallGpu, RecursiveMasks) {
  for (const char *const shape :
       {"10001;00000;00100", "1000001;0000000;0000001;1100000;0000000;0001000;0000000"}) {
    const SwoFilterParams params{.op = SwoFilterOperator::recursive_dilate, .shape = shape};
    expect_equal<std::uint8_t>(301, 70, 255, params);
    expect_equal<std::uint16_t>(20, 90, 0x3ff, params);
  }
}
TEST_F(CudaOnASmallGpu, Clahe) {
  expect_equal<std::uint8_t>(301, 70, 255, EqualizeParams{.method = EqualizeMethod::clahe});
  expect_equal<std::uint8_t>(301, 70, 255,
                             EqualizeParams{.method = EqualizeMethod::clahe, .tiles_x = 1});
  // More tiles in a row than are looked up at once, with more and with less than four columns each.
  for (const int width : {640, 200})
    expect_equal<std::uint8_t>(width, 20, 255,
                               EqualizeParams{.method = EqualizeMethod::clahe, .tiles_x = 64});
}
TEST_F(CudaOnASmallGpu, EqualizesAndFindsThresholdsOfSixteenBits) {
  for (const std::uint16_t maximum : {0x3ff, 0xffff}) {
    expect_equal<std::uint16_t>(101, 70, maximum, EqualizeParams{});
    expect_equal<std::uint16_t>(101, 70, maximum, AutothresholdParams{});
  }
}

/// One block processes all levels (1), or several blocks share them.
class CudaOnMultiprocessors : public CudaOnASmallGpu, public testing::WithParamInterface<int> {
 protected:
  CudaOnMultiprocessors() {
    emulation::limit_shared_memory(emulation::kSharedPerBlock);
    emulation::set_multiprocessors(GetParam());
  }
  ~CudaOnMultiprocessors() override { emulation::set_multiprocessors(emulation::kMultiprocessors); }
};

TEST_P(CudaOnMultiprocessors, SmallMethods) {
  for (const AutothresholdParams &params : kSmallMethods) {
    SCOPED_TRACE(static_cast<int>(params.method));
    expect_equal<std::uint8_t>(301, 70, 255, params);
    expect_equal<std::uint16_t>(101, 7, 0x3ff, params);
  }
}
/// 20 tiles, with 16 warps, with 20, and with more.
TEST_P(CudaOnMultiprocessors, Reconstructs) {
  for (const SwoFilterParams &params :
       {SwoFilterParams{.op = SwoFilterOperator::fill_holes, .connectivity = 8},
        SwoFilterParams{.op = SwoFilterOperator::h_dome, .height = 90, .connectivity = 4}}) {
    SCOPED_TRACE(static_cast<int>(params.op));
    expect_equal<std::uint8_t>(301, 203, 255, params);
    expect_equal<std::uint16_t>(301, 203, 0x3ff, params);
  }
}
/// Five tiles, for fewer blocks than can run at the same time, and for more.
TEST_P(CudaOnMultiprocessors, FindsTheStatisticsOfWolf) {
  for (const int window : {5, 301})
    for (const NickOutput output : {NickOutput::binary, NickOutput::threshold}) {
      const NickParams params{.method = NickMethod::wolf, .window = window, .output = output};
      SCOPED_TRACE(window);
      expect_equal<std::uint8_t>(1200, 21, 255, params);
      expect_equal<std::uint16_t>(1200, 13, 0xffff, params);
    }
}
INSTANTIATE_TEST_SUITE_P(Few, CudaOnMultiprocessors, testing::Values(1, 2, 17));
TEST_F(CudaOnASmallGpu, OpensAlongLines) {
  for (const LinearOpenParams &params :
       {LinearOpenParams{.length = 41, .angle = 30}, LinearOpenParams{.length = 900, .angle = 80},
        LinearOpenParams{.length = 60, .directions = 3},
        LinearOpenParams{.length = 70, .angle = 100, .lines = LinearOpenLines::invariant},
        LinearOpenParams{
            .length = 25, .angle = 85, .algorithm = LinearOpenAlgorithm::bartovsky_zones}}) {
    SCOPED_TRACE(testing::Message() << params);
    expect_equal<std::uint8_t>(104, 270, 255, params);
    expect_equal<std::uint16_t>(104, 270, 0xffff, params);
    expect_equal<float>(104, 270, 1, params);
  }
}

}  // namespace
}  // namespace cudascan
