// SPDX-License-Identifier: LGPL-2.1-or-later
// Openings by long segments that are the same at every pixel.
#include <gtest/gtest.h>

#include <random>

#include "tests/kernels/linearopen/oracle.h"

namespace cudascan {
namespace {

using namespace test;
using enum LinearOpenOperation;

struct SegmentCase {
  int width, height, length;
  double angle;
  LinearOpenOperation operation = opening;
};
/// Parts of one to five lengths, several tiles or strips, segments longer than the image, and
/// slopes of small numbers, for which a segment is no Sturmian word at its centre.
constexpr SegmentCase kSegments[] = {{150, 110, 41, 27.3},
                                     {150, 110, 70, 63, closing},
                                     {90, 200, 130, 100.4},
                                     {60, 90, 333, 149},
                                     {300, 40, 41, 117},
                                     {270, 35, 29, 12, closing},
                                     {41, 260, 400, 81.7},
                                     {1, 100, 64, 80},
                                     {200, 90, 301, 26.565051177077989},
                                     {170, 12, 340, 178.9},
                                     {700, 40, 601, 118, closing},
                                     {90, 200, 700, 71.3},
                                     {160, 130, 4096, 124, closing}};

template <typename T>
Image<T> noise(const SegmentCase &c) {
  constexpr T kMost = std::is_floating_point_v<T> ? T(1) : std::numeric_limits<T>::max();
  return Image<T>(make_content(Content::random, c.width, c.height, kMost, c.length), c.width,
                  c.height, {1, 3});
}
LinearOpenParams params_of(const SegmentCase &c) {
  return {.operation = c.operation,
          .length = c.length,
          .angle = c.angle,
          .lines = LinearOpenLines::invariant};
}

template <typename T>
void expect_oracle_of_segments() {
  for (const SegmentCase &c : kSegments) {
    const Image<T> in = noise<T>(c);
    Image<T> out(c.width, c.height, {2, 1});
    CpuRunner(1 + c.length % 3)(in, out, params_of(c));
    ASSERT_TRUE(out.guards_intact());
    const auto expected = linear_open_oracle(in.samples(), c.width, c.height, params_of(c));
    ASSERT_TRUE(same(expected.samples, out.samples(), c.width)) << params_of(c);
  }
}

TEST(LinearOpenSegments, LongOnesEqualTheOracle) {
  expect_oracle_of_segments<std::uint8_t>();
  expect_oracle_of_segments<std::uint16_t>();
  expect_oracle_of_segments<float>();
}

/// Any direction, and images that are smaller or larger than the segment.
SegmentCase random_segment(std::mt19937 &random) {
  const auto any = [&](int most) { return 1 + static_cast<int>(random() % most); };
  return {any(any(280)), any(any(90)), any(any(400)),
          any(2) == 1 ? any(1800) / 10. : std::uniform_real_distribution<>(0, 180)(random),
          any(2) == 1 ? opening : closing};
}

template <typename T>
void expect_oracle_of_any_direction() {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const SegmentCase c = random_segment(random);
    const Image<T> in = noise<T>(c);
    const auto expected = linear_open_oracle(in.samples(), c.width, c.height, params_of(c));
    ASSERT_TRUE(same(expected.samples, linear_opened(in, params_of(c)), c.width))
        << params_of(c) << ", " << c.width << "x" << c.height;
  }
}

TEST(LinearOpenSegments, OfAnyDirectionEqualTheOracle) {
  expect_oracle_of_any_direction<std::uint8_t>();
  expect_oracle_of_any_direction<std::uint16_t>();
}

#ifdef HAVE_CUDA
template <typename T>
void expect_cuda_equals_cpu(const SegmentCase &c, int directions) {
  LinearOpenParams p = params_of(c);
  p.directions = directions;
  const Image<T> in = noise<T>(c);
  Image<T> wanted(c.width, c.height), got(c.width, c.height, {3, 1});
  CpuRunner()(in, wanted, p);
  CudaRunner()(in, got, p);
  ASSERT_TRUE(got.guards_intact());
  ASSERT_TRUE(same(wanted.samples(), got.samples(), c.width))
      << p << ", " << c.width << "x" << c.height << ", " << sizeof(T) << " bytes";
}
template <typename T>
void expect_cuda_equals_cpu() {
  for (const SegmentCase &c : kSegments)
    for (const int directions : {1, 3, 7})  // one, some, and more than a launch has
      if (!testing::Test::HasFatalFailure()) expect_cuda_equals_cpu<T>(c, directions);
  std::mt19937 random(2);
  for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); ++i)
    expect_cuda_equals_cpu<T>(random_segment(random), 1);
}
#endif

TEST(LinearOpenSegments, OnCudaEqualCpu) {
  NEED_GPU();
#ifdef HAVE_CUDA
  expect_cuda_equals_cpu<std::uint8_t>();
  expect_cuda_equals_cpu<std::uint16_t>();
  expect_cuda_equals_cpu<float>();
  // With more places than a launch visits.
  expect_cuda_equals_cpu<std::uint8_t>({60, 237, 434, 79}, 1);
#endif
}

}  // namespace
}  // namespace cudascan
