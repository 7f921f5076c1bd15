// SPDX-License-Identifier: LGPL-2.1-or-later
// Guarantees of the local thresholds other than their formulas, which oracle_test.cpp and
// ties_test.cpp check.
#include "kernels/nick.h"

#include <cmath>
#include <memory>

#include "tests/kernels/nick/oracle.h"

namespace cudascan {
namespace {

using test::Content;
using test::Gray16;
using test::Gray8;
using test::Image;
using test::kNickMethods;
using test::page;
using test::result;

// Windows are small for algorithms other than automatic, as these sum them pixel by pixel.
CHECK_OPERATOR(
    Nick, NickParams, {}, {.window = 3}, {.window = 31, .k = -0.2, .invert = true},
    {.window = 255, .k = 0.000001}, {.window = 1023, .k = -2},
    {.window_width = 5, .window_height = 41}, {.window_width = 301, .window_height = 3},
    {.method = NickMethod::niblack, .window = 15},
    {.method = NickMethod::niblack, .window = 257, .k = -0.000001},
    {.method = NickMethod::sauvola, .window = 15},
    {.method = NickMethod::sauvola, .window = 101, .k = -0.34, .r = 1},
    {.method = NickMethod::wolf, .window = 15}, {.method = NickMethod::wolf, .window = 255},
    {.method = NickMethod::bradley, .window = 15},
    {.method = NickMethod::bradley, .window = 511, .k = 0.000001},
    {.method = NickMethod::phansalkar, .window = 15},
    {.method = NickMethod::phansalkar, .window = 75, .k = -1.5, .r = 1024},
    {.window = 15, .output = NickOutput::threshold},
    {.method = NickMethod::niblack, .output = NickOutput::threshold},
    {.method = NickMethod::sauvola, .window = 31, .output = NickOutput::threshold},
    {.method = NickMethod::wolf, .window = 31, .output = NickOutput::threshold},
    {.method = NickMethod::bradley, .window = 3, .k = 0.5, .output = NickOutput::threshold},
    {.method = NickMethod::phansalkar, .window = 31, .output = NickOutput::threshold},
    {.window = 301, .k = 2, .output = NickOutput::threshold},
    {.method = NickMethod::niblack,
     .window_width = 3,
     .window_height = 1001,
     .output = NickOutput::threshold},
    {.method = NickMethod::sauvola,
     .window = 303,
     .k = -2,
     .r = 1,
     .output = NickOutput::threshold},
    {.method = NickMethod::wolf,
     .window_width = 999,
     .window_height = 71,
     .output = NickOutput::threshold},
    {.method = NickMethod::bradley, .window = 3, .output = NickOutput::threshold},
    {.method = NickMethod::phansalkar,
     .window = 303,
     .k = 2,
     .r = 3,
     .output = NickOutput::threshold},
    {.method = NickMethod::wolf, .window_width = 3, .window_height = 35},
    {.method = NickMethod::wolf, .window = 401, .k = -2},
    {.window = 7, .algorithm = NickAlgorithm::global},
    {.window = 9, .algorithm = NickAlgorithm::global_shared},
    {.window = 15, .algorithm = NickAlgorithm::shared},
    {.method = NickMethod::wolf, .window = 5, .algorithm = NickAlgorithm::global_shared});

// ---- Known values ----------------------------------------------------------------------------

/// 10 20 30 / 40 50 60 / 70 80 90 with window 3. In the centre N = 9, m = 50, sum p^2 = 28500,
/// s = sqrt(28500/9 - 2500) = 25.8199; at the left edge N = 6 (10 20 40 50 70 80), m = 45,
/// sum p^2 = 15900, s = sqrt(2650 - 2025) = 25; in the upper left corner N = 4 (10 20 40 50), m =
/// 30, sum p^2 = 4600, s = sqrt(1150 - 900) = 15.8114. The centre has the largest s of all nine.
class NickRamp : public testing::Test {
 protected:
  Gray8 surface(NickMethod method, double k) {
    return result(image_, {.method = method, .window = 3, .k = k, .output = NickOutput::threshold});
  }
  const Image<std::uint8_t> image_{{10, 20, 30, 40, 50, 60, 70, 80, 90}, 3, 3};
  static constexpr int kCorner = 0, kEdge = 3, kCentre = 4;
};

TEST_F(NickRamp, Nick) {
  const Gray8 t = surface(NickMethod::nick, -0.2);
  EXPECT_EQ(t[kCentre], 39);  // 50 - 0.2 sqrt((28500 - 2500) / 9) = 50 - 0.2 * 53.748 = 39.25
  EXPECT_EQ(t[kEdge], 35);    // 45 - 0.2 sqrt((15900 - 2025) / 6) = 45 - 0.2 * 48.088 = 35.38
  EXPECT_EQ(t[kCorner], 24);  // 30 - 0.2 sqrt((4600 - 900) / 4) = 30 - 0.2 * 30.414 = 23.92
}
TEST_F(NickRamp, Niblack) {
  const Gray8 t = surface(NickMethod::niblack, -0.2);
  EXPECT_EQ(t[kCentre], 45);  // 50 - 0.2 * 25.8199 = 44.84
  EXPECT_EQ(t[kEdge], 40);    // 45 - 0.2 * 25 = 40
  EXPECT_EQ(t[kCorner], 27);  // 30 - 0.2 * 15.8114 = 26.84
}
TEST_F(NickRamp, Sauvola) {
  const Gray8 t = surface(NickMethod::sauvola, 0.5);
  EXPECT_EQ(t[kCentre], 30);  // 50 (1 + 0.5 (25.8199 / 128 - 1)) = 30.04
  EXPECT_EQ(t[kEdge], 27);    // 45 (1 + 0.5 (25 / 128 - 1)) = 26.89
  EXPECT_EQ(t[kCorner], 17);  // 30 (1 + 0.5 (15.8114 / 128 - 1)) = 16.85
}
TEST_F(NickRamp, Wolf) {
  const Gray8 t = surface(NickMethod::wolf, 0.5);
  EXPECT_EQ(t[kCentre], 50);  // s = max s: T = m
  EXPECT_EQ(t[kEdge], 44);    // 45 - 0.5 (1 - 25 / 25.8199) (45 - 10) = 44.44
  EXPECT_EQ(t[kCorner], 26);  // 30 - 0.5 (1 - 15.8114 / 25.8199) (30 - 10) = 26.12
}
TEST_F(NickRamp, Bradley) {
  const Gray8 t = surface(NickMethod::bradley, 0.15);
  EXPECT_EQ(t[kCentre], 43);  // 50 * 0.85 = 42.5, a half
  EXPECT_EQ(t[kEdge], 38);    // 45 * 0.85 = 38.25
  EXPECT_EQ(t[kCorner], 26);  // 30 * 0.85 = 25.5, a half
}
TEST_F(NickRamp, Phansalkar) {
  const Gray8 t = surface(NickMethod::phansalkar, 0.25);
  // 50 (1 + 2 exp(-500 / 255) + 0.25 (25.8199 / 128 - 1)) = 50 (1 + 0.28150 - 0.19957) = 54.10
  EXPECT_EQ(t[kCentre], 54);
  // 45 (1 + 2 exp(-450 / 255) + 0.25 (25 / 128 - 1)) = 45 (1 + 0.34248 - 0.20117) = 51.36
  EXPECT_EQ(t[kEdge], 51);
  // 30 (1 + 2 exp(-300 / 255) + 0.25 (15.8114 / 128 - 1)) = 30 (1 + 0.61675 - 0.21912) = 41.93
  EXPECT_EQ(t[kCorner], 42);
}
TEST_F(NickRamp, BinaryIsWhiteAboveTheSurface) {
  // Niblack: T = 40 at the edge is exact, so the 40 there is black.
  const Gray8 binary = result(image_, {.method = NickMethod::niblack, .window = 3, .k = -0.2});
  EXPECT_EQ(binary[kCentre], 255);
  EXPECT_EQ(binary[kEdge], 0);
  EXPECT_EQ(binary[kCorner], 0);
}

// ---- The threshold surface -------------------------------------------------------------------

TEST(NickSurface, HalvesAreRoundedUp) {
  // bradley: T = m (1 - k) with m = 10
  const Image<std::uint8_t> in(Gray8(25, 10), 5, 5);
  const auto t = [&](double k) {
    return result(
        in,
        {.method = NickMethod::bradley, .window = 3, .k = k, .output = NickOutput::threshold})[12];
  };
  EXPECT_EQ(t(0.25), 8);  // 7.5
  EXPECT_EQ(t(0.250001), 7);
  EXPECT_EQ(t(0.15), 9);  // 8.5
  EXPECT_EQ(t(0.150001), 8);
  EXPECT_EQ(t(0), 10);
  EXPECT_EQ(t(-0.05), 11);  // 10.5
  EXPECT_EQ(t(-0.049999), 10);
}

TEST(NickSurface, IsLimitedToTheFormat) {
  const auto t = [](auto value, auto maximum, double k) {
    using T = decltype(maximum);
    const Image<T> in(std::vector<T>(25, static_cast<T>(value)), 5, 5, {}, maximum);
    return result(
        in, {.method = NickMethod::bradley, .window = 3, .k = k, .output = NickOutput::threshold},
        maximum)[12];
  };
  EXPECT_EQ(t(200, std::uint8_t{255}, -1), 255);  // 400
  EXPECT_EQ(t(200, std::uint8_t{255}, 2), 0);     // -200
  EXPECT_EQ(t(800, std::uint16_t{1023}, -1), 1023);
  EXPECT_EQ(t(500, std::uint16_t{1023}, -1), 1000);
  EXPECT_EQ(t(40000, std::uint16_t{0xffc0}, -1), 0xffc0);
  EXPECT_EQ(t(40000, std::uint16_t{0xffff}, -1), 0xffff);
  EXPECT_EQ(t(40000, std::uint16_t{0xffff}, 2), 0);
}

TEST(NickSurface, IgnoresInvert) {
  const Image<std::uint8_t> in(test::make_content<std::uint8_t>(Content::text, 50, 40, 255), 50,
                               40);
  NickParams params = {.window = 9, .output = NickOutput::threshold};
  const auto expected = result(in, params);
  params.invert = true;
  EXPECT_EQ(result(in, params), expected);
}

// ---- The other parameters --------------------------------------------------------------------

TEST(NickParameters, InvertSwapsBlackAndWhite) {
  const auto in = page<std::uint16_t>();
  auto expected = result(in, {.window = 15});
  for (auto &sample : expected) sample = 65535 - sample;
  EXPECT_EQ(result(in, {.window = 15, .invert = true}), expected);
}

TEST(NickParameters, UnsetWeightIsTheDefaultOfTheMethod) {
  EXPECT_EQ(nick_default_k(NickMethod::niblack), -0.2);
  EXPECT_EQ(nick_default_k(NickMethod::sauvola), 0.5);
  EXPECT_EQ(nick_default_k(NickMethod::wolf), 0.5);
  EXPECT_EQ(nick_default_k(NickMethod::bradley), 0.15);
  EXPECT_EQ(nick_default_k(NickMethod::phansalkar), 0.25);
  EXPECT_GE(nick_default_k(NickMethod::nick), -0.2);
  EXPECT_LE(nick_default_k(NickMethod::nick), -0.1);
  const auto in = page<std::uint8_t>();
  for (const NickMethod method : kNickMethods) {
    const NickParams unset = {.method = method, .window = 25};
    EXPECT_EQ(k_in_use(unset), nick_default_k(method));
    EXPECT_EQ(result(in, unset),
              result(in, {.method = method, .window = 25, .k = nick_default_k(method)}));
  }
}

TEST(NickParameters, WidthAndHeightOverrideTheSide) {
  const auto in = page<std::uint8_t>();
  for (const NickMethod method : kNickMethods) {
    const auto square = result(in, {.method = method, .window = 25});
    EXPECT_EQ(square,
              result(in, {.method = method, .window = 3, .window_width = 25, .window_height = 25}));
    EXPECT_EQ(square, result(in, {.method = method, .window = 25, .window_width = 25}));
    EXPECT_EQ(result(in, {.method = method, .window = 9, .window_height = 31}),
              result(in, {.method = method, .window = 31, .window_width = 9}));
  }
}

TEST(NickParameters, WindowsBeyondTheImageAreClipped) {
  const auto in = page<std::uint8_t>(40, 30);
  for (const NickMethod method : kNickMethods)
    EXPECT_EQ(result(in, {.method = method, .window_width = 79, .window_height = 59}),
              result(in, {.method = method, .window = 1023}));
}

TEST(NickParameters, WeightsCountWithSixDecimals) {
  // T = 10 (1 - k) = 7.5 is a half for k = 0.25.
  const Image<std::uint8_t> in(Gray8(25, 10), 5, 5);
  const auto t = [&](double k) {
    return result(
        in,
        {.method = NickMethod::bradley, .window = 3, .k = k, .output = NickOutput::threshold})[12];
  };
  EXPECT_EQ(t(0.2500004), 8);
  EXPECT_EQ(t(0.2500006), 7);
}

TEST(NickParameters, WhiteIsTheMaximumOfTheOutput) {
  const auto in = page<std::uint16_t>(160, 90, 1023);
  const NickParams params = {.window = 15};
  const Gray16 low = result(in, params, std::uint16_t{1023});
  const Gray16 high = result(in, params, std::uint16_t{0xffc0});
  const Gray8 narrow = result<std::uint8_t>(in, params);
  std::size_t whites = 0;
  for (std::size_t i = 0; i < low.size(); ++i) {
    ASSERT_TRUE(low[i] == 0 || low[i] == 1023);
    ASSERT_EQ(high[i], low[i] ? 0xffc0 : 0);
    ASSERT_EQ(narrow[i], low[i] ? 255 : 0);
    whites += low[i] != 0;
  }
  EXPECT_GT(whites, 0u);
  EXPECT_LT(whites, low.size());
}

TEST(NickParameters, DeviationsScaleWithTheDepth) {
  // For all methods but phansalkar, thresholds scale with the samples if r does. (The exponential
  // of phansalkar contains the maximum.) So 8-bit levels that are shifted left give the same
  // picture, including ties.
  const auto samples = test::make_content<std::uint8_t>(Content::text, 160, 90, 255);
  const Image<std::uint8_t> in(samples, 160, 90);
  for (const NickMethod method : kNickMethods) {
    if (method == NickMethod::phansalkar) continue;
    for (const double r : {1.0, 50.5, 128.0}) {
      const NickParams params = {.method = method, .window = 15, .r = r};
      const Gray8 expected = result(in, params);
      const auto shifted = [&](int shift, std::uint16_t maximum) {
        Gray16 shifted;
        for (const int p : samples) shifted.push_back(static_cast<std::uint16_t>(p << shift));
        return result<std::uint8_t>(Image<std::uint16_t>(shifted, 160, 90, {}, maximum), params);
      };
      EXPECT_TRUE(test::same(shifted(2, 1023), expected, 160)) << params;
      EXPECT_TRUE(test::same(shifted(4, 4095), expected, 160)) << params;
      EXPECT_TRUE(test::same(shifted(8, 65535), expected, 160)) << params;
      EXPECT_TRUE(test::same(shifted(8, 0xffc0), expected, 160)) << params;
      EXPECT_TRUE(test::same(shifted(0, 255), expected, 160)) << params;
    }
  }
}

TEST(NickParameters, AlgorithmsGiveTheSamePicture) {
  const auto in = page<std::uint8_t>(130, 70);
  for (const NickMethod method : kNickMethods)
    for (const int window : {3, 15, 31})
      for (const NickOutput output : {NickOutput::binary, NickOutput::threshold}) {
        NickParams params = {.method = method, .window = window, .output = output};
        const Gray8 expected = result(in, params);
        for (const NickAlgorithm algorithm :
             {NickAlgorithm::global, NickAlgorithm::global_shared, NickAlgorithm::shared}) {
          if (algorithm == NickAlgorithm::shared && window > 15) continue;
          params.algorithm = algorithm;
          EXPECT_TRUE(test::same(result(in, params), expected, 130)) << params;
        }
      }
}

// ---- The report ------------------------------------------------------------------------------

template <typename T>
double share_of_zeros(const std::vector<T> &samples) {
  return static_cast<double>(std::count(samples.begin(), samples.end(), 0)) / samples.size();
}

TEST(NickReport, BlackRatioIsTheShareOfBlackPixels) {
  const auto in = page<std::uint8_t>();
  const auto in16 = page<std::uint16_t>();
  for (const bool invert : {false, true})
    for (const NickAlgorithm algorithm : {NickAlgorithm::automatic, NickAlgorithm::global}) {
      const NickParams params = {.window = 15, .invert = invert, .algorithm = algorithm};
      NickReport report{-1};
      EXPECT_EQ(share_of_zeros(result(in, params, std::uint8_t{255}, &report)), report.black_ratio);
      EXPECT_EQ(share_of_zeros(result(in16, params, std::uint16_t{65535}, &report)),
                report.black_ratio);
      EXPECT_EQ(share_of_zeros(result<std::uint8_t>(in16, params, std::uint8_t{255}, &report)),
                report.black_ratio);
      EXPECT_GT(report.black_ratio, 0);
      EXPECT_LT(report.black_ratio, 1);
    }
}

TEST(NickReport, BlackRatioOfAllAndNothing) {
  NickReport report;
  const Image<std::uint8_t> in(Gray8(100, 80), 10, 10);
  result(in, {.method = NickMethod::bradley, .k = 0.5}, std::uint8_t{255}, &report);
  EXPECT_EQ(report.black_ratio, 0);
  result(in, {.method = NickMethod::bradley, .k = -0.5}, std::uint8_t{255}, &report);
  EXPECT_EQ(report.black_ratio, 1);
  result(in, {.output = NickOutput::threshold}, std::uint8_t{255}, &report);
  EXPECT_EQ(report.black_ratio, 0) << "a threshold surface does not count black";
}

#ifdef HAVE_CUDA

/// One queued run and its expected results.
template <typename T>
struct QueuedRun {
  QueuedRun(const NickParams &p, unsigned seed, CUstream_st *stream)
      : params(p),
        in(test::make_content<T>(Content::text, 640, 480, std::numeric_limits<T>::max(), seed), 640,
           480),
        out(640, 480),
        expected(result(in, params, std::numeric_limits<T>::max(), &expected_report)),
        device_in(stream),
        device_out(stream) {}

  void queue(Cuda &cuda) {
    const Plane<T> from = device_in.upload(in), to = device_out.upload(out);
    run(cuda, Plane<const T>(from), to, params, &report);
  }
  void check() {
    device_out.download(out.memory().begin(), out.memory().size());
    EXPECT_TRUE(test::same(out.samples(), expected, 640)) << params;
    EXPECT_EQ(report.black_ratio, expected_report.black_ratio) << params;
  }

  NickParams params;
  NickReport expected_report, report{-1};
  Image<T> in, out;
  std::vector<T> expected;
  test::DeviceCopy device_in, device_out;
};

const NickParams kQueued[] = {
    {.window = 15},
    {.method = NickMethod::wolf, .window = 31},
    {.method = NickMethod::wolf, .window = 5, .invert = true},
    {.method = NickMethod::sauvola, .window = 101, .output = NickOutput::threshold},
    {.window = 9, .algorithm = NickAlgorithm::global},
    {.window = 9, .algorithm = NickAlgorithm::shared}};

template <typename T>
void expect_queued_runs_keep_apart(Cuda &first, Cuda &second) {
  std::vector<std::unique_ptr<QueuedRun<T>>> runs;
  Cuda *const executors[] = {&first, &second};
  for (unsigned i = 0; i < 2 * std::size(kQueued); ++i)
    runs.push_back(std::make_unique<QueuedRun<T>>(kQueued[i / 2], i, executors[i % 2]->stream()));
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i]->queue(*executors[i % 2]);
  first.synchronize();
  second.synchronize();
  for (const auto &run : runs) run->check();
}

TEST(Nick, CudaRunsOfOneExecutorKeepApart) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  expect_queued_runs_keep_apart<std::uint8_t>(cuda, cuda);
  expect_queued_runs_keep_apart<std::uint16_t>(cuda, cuda);
}

TEST(Nick, CudaExecutorsOfTwoStreamsKeepApart) {
  NEED_GPU();
  cuda::Stream first, second;
  Cuda one(first.get()), two(second.get());
  expect_queued_runs_keep_apart<std::uint8_t>(one, two);
  expect_queued_runs_keep_apart<std::uint16_t>(one, two);
}

#endif

}  // namespace
}  // namespace cudascan
