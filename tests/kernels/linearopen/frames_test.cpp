// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA compared with the CPU, all algorithms, and reports of streams of frames.
#include "tests/kernels/linearopen/oracle.h"

namespace cudascan {
namespace {

using test::Content;
using test::Image;
using enum LinearOpenOperation;
using enum LinearOpenAlgorithm;
constexpr auto kOrientation = LinearOpenOutput::orientation;
constexpr auto kInvariant = LinearOpenLines::invariant;

CHECK_OPERATOR(LinearOpen, LinearOpenParams, {}, {.length = 1, .angle = 12},
               {.length = 2, .angle = 45}, {.length = 16, .angle = 90},
               {.operation = closing, .length = 41, .angle = 30},
               {.operation = top_hat, .length = 31, .angle = 70},
               {.operation = black_hat, .length = 4096, .angle = 117.3},
               {.length = 255, .angle = -20}, {.length = 1000, .angle = 101},
               {.length = 9, .directions = 4},
               {.operation = closing, .length = 65, .angle = -10, .directions = 5, .span = 20},
               {.operation = top_hat, .length = 12, .angle = 80, .directions = 2},
               {.length = 25, .directions = 6, .output = kOrientation},
               {.operation = black_hat,
                .length = 130,
                .angle = 40,
                .directions = 3,
                .span = 10,
                .output = kOrientation});
CHECK_OPERATOR(LinearOpenInvariant, LinearOpenParams, {.lines = kInvariant},
               {.length = 8, .angle = 33, .lines = kInvariant},
               {.operation = closing, .length = 61, .angle = 95, .lines = kInvariant},
               {.operation = top_hat, .length = 15, .directions = 5, .lines = kInvariant},
               {.operation = closing,
                .length = 22,
                .directions = 4,
                .output = kOrientation,
                .lines = kInvariant});
CHECK_OPERATOR(LinearOpenBaselines, LinearOpenParams,
               {.length = 15, .angle = 20, .algorithm = morard},
               {.operation = closing, .length = 64, .angle = 80, .algorithm = bartovsky},
               {.operation = top_hat, .length = 5, .angle = 130, .algorithm = bartovsky_zones},
               {.length = 33, .directions = 3, .algorithm = bartovsky_zones},
               {.operation = black_hat,
                .length = 10,
                .directions = 4,
                .output = kOrientation,
                .algorithm = morard});

void expect_same_report(const LinearOpenReport &wanted, const LinearOpenReport &got) {
  EXPECT_EQ(wanted.angles, got.angles);
  EXPECT_EQ(wanted.spectrum, got.spectrum);
  EXPECT_EQ(wanted.dominant_angle, got.dominant_angle);
  EXPECT_EQ(wanted.confidence, got.confidence);
  EXPECT_EQ(wanted.blank, got.blank);
}

/// Calls check(algorithm, parameters) for parameters and all algorithms that support them.
template <typename Check>
void for_each_algorithm(const Check &check) {
  std::mt19937 random(1);
  for (int i = 0; i < 24; ++i) {
    LinearOpenParams p;
    p.operation = static_cast<LinearOpenOperation>(i % 4);
    p.length = 1 + static_cast<int>(random() % (i % 3 ? 40 : 400));
    p.angle = static_cast<int>(random() % 180);
    p.directions = i % 2 ? 1 : 3;
    if (i % 5 == 0) p.output = kOrientation;
    for (const auto algorithm : {morard, bartovsky, bartovsky_zones}) {
      LinearOpenParams q = p;
      q.algorithm = algorithm;
      SCOPED_TRACE(testing::Message() << q);
      check(p, q);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <typename T>
void compare_algorithms(T maximum) {
  Cpu cpu;
  for_each_algorithm([&](const LinearOpenParams &p, const LinearOpenParams &q) {
    for (const Content content : {Content::random, Content::text, Content::clipped}) {
      const Image<T> in(test::make_content<T>(content, 151, 97, maximum), 151, 97, {}, maximum);
      Image<T> expected(151, 97, {}, maximum), got(151, 97, {}, maximum);
      LinearOpenReport wanted, report;
      run(cpu, in.plane(), expected.plane(), p, &wanted);
      run(cpu, in.plane(), got.plane(), q, &report);
      ASSERT_TRUE(test::same(expected.samples(), got.samples(), 151));
      expect_same_report(wanted, report);
    }
  });
}
TEST(LinearOpen, AlgorithmsAreIdentical) {
  compare_algorithms<std::uint8_t>(255);
  compare_algorithms<std::uint16_t>(1023);
  compare_algorithms<float>(1);
}

/// Memory that is kept between runs does not change results.
TEST(LinearOpen, FramesDoNotDependOnThoseBefore) {
  Cpu kept;
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    const int width = 1 + static_cast<int>(random() % 200);
    const int height = 1 + static_cast<int>(random() % 200);
    const LinearOpenParams params{
        .length = 1 + static_cast<int>(random() % 100),
        .angle = static_cast<int>(random() % 180) + 0.,
        .directions = 1 + static_cast<int>(random() % 3),
        .output = random() % 2 ? kOrientation : LinearOpenOutput::filtered,
        .lines = random() % 2 ? kInvariant : LinearOpenLines::partition};
    SCOPED_TRACE(testing::Message() << params << ", " << width << "x" << height);
    const auto check = [&]<typename T>(T maximum) {
      const Image<T> in(test::make_content<T>(Content::random, width, height, maximum, i), width,
                        height, {}, maximum);
      Image<T> out(width, height, {}, maximum);
      run(kept, in.plane(), out.plane(), params);
      ASSERT_TRUE(test::same(test::linear_opened(in, params), out.samples(), width));
    };
    if (i % 3 == 0) check(std::uint8_t{255});
    if (i % 3 == 1) check(std::uint16_t{0xffff});
    if (i % 3 == 2) check(1.f);
  }
}

#ifdef HAVE_CUDA

/// An emulated GPU runs one case of five.
bool has_time_for(int turn) {
  return turn % 5 == 0 || !test::gpu_is_emulated();
}

TEST(LinearOpen, CudaReportsEqualThoseOfTheCpu) {
  NEED_GPU();
  const auto content_of = [](int frame) { return test::kContents[frame % 9]; };
  for (const LinearOpenParams &params :
       {LinearOpenParams{.length = 11, .directions = 6},
        LinearOpenParams{.operation = closing, .angle = -5, .directions = 5, .span = 10},
        LinearOpenParams{.operation = top_hat, .length = 7, .directions = 4},
        LinearOpenParams{.operation = black_hat, .length = 30, .angle = 63},
        LinearOpenParams{.length = 9, .directions = 3, .output = kOrientation},
        LinearOpenParams{.length = 6, .directions = 3, .lines = kInvariant},
        LinearOpenParams{.length = 14, .directions = 2, .algorithm = morard},
        LinearOpenParams{.operation = top_hat, .directions = 2, .algorithm = bartovsky},
        LinearOpenParams{.length = 5, .directions = 3, .algorithm = bartovsky_zones}}) {
    SCOPED_TRACE(testing::Message() << params);
    const auto follow = [&]<typename T>(T maximum) {
      test::expect_cuda_follows_cpu<LinearOpenReport>(params, maximum, 9, 7, content_of,
                                                      expect_same_report);
    };
    follow(std::uint8_t{255});
    follow(std::uint16_t{0xffc0});
    follow(1.f);
  }
}

TEST(LinearOpen, CudaAlgorithmsAreIdentical) {
  NEED_GPU();
  test::CudaRunner runner;
  int turn = 0;
  for_each_algorithm([&](const LinearOpenParams &p, const LinearOpenParams &q) {
    if (!has_time_for(++turn)) return;
    const Image<std::uint8_t> in(test::make_content<std::uint8_t>(Content::text, 120, 131, 255),
                                 120, 131);
    const auto expected = test::linear_opened(in, p);
    for (const LinearOpenParams &params : {p, q}) {
      const auto got = test::outcome<std::uint8_t>(runner, in, {}, std::uint8_t{255}, params, 0x5a);
      ASSERT_TRUE(test::same(expected, got.samples, 120));
    }
  });
}

TEST(LinearOpen, CudaEqualsTheOracle) {
  NEED_GPU();
  test::CudaRunner runner;
  int turn = 0;
  for (const double angle : {0., 13., 45., 62.5, 90., 111., 135., 170.})
    for (const int length : {1, 2, 7, 32, 33, 50})
      for (const auto lines : {LinearOpenLines::partition, kInvariant}) {
        if (!has_time_for(++turn)) continue;
        const LinearOpenParams params{.length = length, .angle = angle, .lines = lines};
        SCOPED_TRACE(testing::Message() << params);
        const auto samples = test::make_content<std::uint16_t>(Content::random, 71, 45, 0xffff);
        const Image<std::uint16_t> in(samples, 71, 45);
        const auto got =
            test::outcome<std::uint16_t>(runner, in, {}, std::uint16_t{0xffff}, params, 0x5a);
        ASSERT_TRUE(
            test::same(test::linear_open_oracle(samples, 71, 45, params).samples, got.samples, 71));
      }
}

TEST(LinearOpen, CudaReportsAllOfManyDirections) {
  NEED_GPU();
  test::expect_cuda_follows_cpu<LinearOpenReport>(
      LinearOpenParams{.length = 5, .directions = 1024}, std::uint8_t{255}, 1, 1,
      [](int) { return Content::text; }, expect_same_report);
}

/// The first of equally strong directions is reported, also if the directions are opened in
/// different ways.
TEST(LinearOpen, CudaFindsTheFirstOfEqualDirections) {
  NEED_GPU();
  test::CpuRunner cpu;
  test::CudaRunner cuda;
  for (const double angle : {0., 22.5, 67.5, 90., 112.5})
    for (const auto lines : {LinearOpenLines::partition, kInvariant})
      for (const Content content : {Content::gray, Content::text}) {
        const LinearOpenParams params{
            .length = 7, .angle = angle, .directions = 8, .output = kOrientation, .lines = lines};
        SCOPED_TRACE(testing::Message() << params);
        const Image<std::uint8_t> in(test::make_content<std::uint8_t>(content, 51, 30, 255), 51,
                                     30);
        const auto expected =
            test::outcome<std::uint8_t>(cpu, in, {}, std::uint8_t{255}, params, 0x5a);
        const auto got = test::outcome<std::uint8_t>(cuda, in, {}, std::uint8_t{255}, params, 0xc3);
        ASSERT_TRUE(test::same(expected.samples, got.samples, 51));
      }
}

TEST(LinearOpen, CudaEqualsCpuOnManySamples) {
  NEED_GPU();
  test::expect_cuda_equals_cpu_on_many_samples(LinearOpenParams{.length = 41, .angle = 30});
  test::expect_cuda_equals_cpu_on_many_samples(
      LinearOpenParams{.operation = closing, .length = 250, .angle = 85, .directions = 2});
}

#endif

}  // namespace
}  // namespace cudascan
