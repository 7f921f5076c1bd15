// SPDX-License-Identifier: LGPL-2.1-or-later
// NICK and its relatives compared with thresholds in long double. A sample within 1e-13 of T
// (relative to the largest sample) counts as equal to T, and is black. Exact ties are this near to
// T in long double. Samples without a tie that are this near do not occur in these images.
#include "tests/kernels/nick/oracle.h"

namespace cudascan {
namespace {

using test::Content;
using test::Image;
using test::ImageExtremes;
using test::kNickMethods;
using test::Moments;

/// Compares a binary picture with the oracle.
template <typename T>
testing::AssertionResult binary_agrees(const Image<T> &in, const std::vector<Moments> &moments,
                                       const ImageExtremes &image, const NickParams &params,
                                       const Image<T> &out) {
  const unsigned maximum = in.plane().maximum;
  for (int y = 0, i = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x, ++i) {
      const long double t = test::threshold(moments[i], image, params, maximum);
      const bool white = in.at(x, y) > t + test::tolerance(maximum);
      if (out.at(x, y) != (white != params.invert ? out.plane().maximum : 0))
        return testing::AssertionFailure()
               << "(" << x << ", " << y << ") is " << out.at(x, y) << ", sample " << in.at(x, y)
               << ", T - sample " << t - in.at(x, y) << " (" << params << ")";
    }
  return testing::AssertionSuccess();
}

/// Compares a threshold surface with the oracle.
template <typename T>
testing::AssertionResult surface_agrees(const Image<T> &in, const std::vector<Moments> &moments,
                                        const ImageExtremes &image, const NickParams &params,
                                        const Image<T> &out) {
  const unsigned maximum = in.plane().maximum;
  for (int y = 0, i = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x, ++i) {
      const long double t = test::threshold(moments[i], image, params, maximum);
      const long double rounded = std::floor(t + 0.5L + test::tolerance(maximum));
      if (out.at(x, y) != std::clamp(rounded, 0.0L, static_cast<long double>(maximum)))
        return testing::AssertionFailure() << "(" << x << ", " << y << ") is " << out.at(x, y)
                                           << ", T is " << t << " (" << params << ")";
    }
  return testing::AssertionSuccess();
}

template <typename T>
void expect_agreement(const Image<T> &in, const std::vector<Moments> &moments,
                      const std::vector<NickParams> &all_params) {
  const ImageExtremes image = test::extremes(in.plane(), moments);
  Cpu cpu;
  for (NickParams params : all_params) {
    Image<T> out(in.width(), in.height(), {.padding = 2}, in.plane().maximum);
    run(cpu, in.plane(), out.plane(), params);
    ASSERT_TRUE(binary_agrees(in, moments, image, params, out));
    params.output = NickOutput::threshold;
    run(cpu, in.plane(), out.plane(), params);
    ASSERT_TRUE(surface_agrees(in, moments, image, params, out));
  }
}

/// Every method with this window, and weights over the whole range.
std::vector<NickParams> every_method(int width, int height) {
  std::vector<NickParams> all;
  for (const NickMethod method : kNickMethods) {
    // +-1e-6 are the smallest weights, with which T is nearest to the mean.
    for (const double k : {-2.0, -0.2, -0.000001, 0.0, 0.000001, 0.15, 0.34, 2.0})
      for (const double r : {1.0, 128.0, 1024.0}) {
        if (r != 128 && method != NickMethod::sauvola && method != NickMethod::phansalkar) continue;
        all.push_back(
            {.method = method, .window_width = width, .window_height = height, .k = k, .r = r});
      }
    all.push_back({.method = method, .window_width = width, .window_height = height});
    all.push_back(
        {.method = method, .window_width = width, .window_height = height, .invert = true});
  }
  return all;
}

struct Window {
  int width, height;
  friend std::ostream &operator<<(std::ostream &s, const Window &w) {
    return s << w.width << "x" << w.height;
  }
};

/// The windows of the thorough test: square, rectangular, and larger than the image in one
/// direction or both.
class NickOracle : public testing::TestWithParam<Window> {};

template <typename T>
void expect_agreement_on_all_contents(Window window, T maximum) {
  for (const Content content : test::kContents) {
    SCOPED_TRACE(testing::Message()
                 << "maximum " << maximum << ", content " << static_cast<int>(content));
    const Image<T> in(test::make_content(content, 45, 37, maximum), 45, 37, {}, maximum);
    const auto moments = test::moments_by_loops(in.plane(), window.width, window.height);
    expect_agreement(in, moments, every_method(window.width, window.height));
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(NickOracle, Gray8) {
  expect_agreement_on_all_contents<std::uint8_t>(GetParam(), 255);
}
TEST_P(NickOracle, Gray16) {
  expect_agreement_on_all_contents<std::uint16_t>(GetParam(), 65535);
}
TEST_P(NickOracle, TenBitsInTheLowBits) {
  expect_agreement_on_all_contents<std::uint16_t>(GetParam(), 1023);
}
TEST_P(NickOracle, TenBitsInTheHighBits) {
  expect_agreement_on_all_contents<std::uint16_t>(GetParam(), 0xffc0);
}

INSTANTIATE_TEST_SUITE_P(Windows, NickOracle,
                         testing::Values(Window{3, 3}, Window{15, 15}, Window{31, 31},
                                         Window{3, 21}, Window{25, 5}, Window{1023, 3},
                                         Window{3, 75}, Window{1023, 1023}),
                         [](const auto &info) {
                           return std::to_string(info.param.width) + "x" +
                                  std::to_string(info.param.height);
                         });

TEST(NickOracleItself, TablesEqualLoops) {
  const Image<std::uint16_t> in(test::make_content<std::uint16_t>(Content::random, 45, 37, 65535),
                                45, 37);
  const auto loops = test::moments_by_loops(in.plane(), 15, 9);
  const auto tables = test::moments_by_tables(in.plane(), 15, 9);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    ASSERT_EQ(loops[i].n, tables[i].n);
    ASSERT_NEAR(loops[i].mean, tables[i].mean, 1e-9);
    ASSERT_NEAR(loops[i].deviation, tables[i].deviation, 1e-9);
    ASSERT_NEAR(loops[i].power / tables[i].power, 1, 1e-15);
  }
}

/// Images that have many bands and tiles, and windows that reach over several of them.
class NickOracleOnLargeImages : public testing::TestWithParam<Window> {};

template <typename T>
void expect_agreement_on_a_large_image(Window window, T maximum) {
  const Window size = {1283, 211};
  for (const Content content : {Content::text, Content::clipped}) {
    SCOPED_TRACE(testing::Message()
                 << "maximum " << maximum << ", content " << static_cast<int>(content));
    const Image<T> in(test::make_content(content, size.width, size.height, maximum), size.width,
                      size.height, {.padding = 6}, maximum);
    const auto moments = test::moments_by_tables(in.plane(), window.width, window.height);
    std::vector<NickParams> all;
    for (const NickMethod method : kNickMethods)
      all.push_back(
          {.method = method, .window_width = window.width, .window_height = window.height});
    expect_agreement(in, moments, all);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(NickOracleOnLargeImages, Gray8) {
  expect_agreement_on_a_large_image<std::uint8_t>(GetParam(), 255);
}
TEST_P(NickOracleOnLargeImages, Gray16) {
  expect_agreement_on_a_large_image<std::uint16_t>(GetParam(), 65535);
}

INSTANTIATE_TEST_SUITE_P(Windows, NickOracleOnLargeImages,
                         testing::Values(Window{3, 3}, Window{75, 75}, Window{255, 255},
                                         Window{257, 31}, Window{1023, 1023}),
                         [](const auto &info) {
                           return std::to_string(info.param.width) + "x" +
                                  std::to_string(info.param.height);
                         });

/// The largest sums: 16 bits, window 1023, samples 0 and 65535. The tables check every window in
/// the image, to detect an integer overflow in the library.
class NickOracleOnExtremeSums : public testing::TestWithParam<Content> {};

TEST_P(NickOracleOnExtremeSums, Gray16) {
  constexpr int side = 1100;
  const Image<std::uint16_t> in(test::make_content<std::uint16_t>(GetParam(), side, side, 65535),
                                side, side);
  const auto moments = test::moments_by_tables(in.plane(), 1023, 1023);
  std::vector<NickParams> all;
  for (const NickMethod method : kNickMethods)
    for (const double k : {-2.0, 0.000001})
      all.push_back({.method = method, .window = 1023, .k = k, .r = 1024});
  expect_agreement(in, moments, all);
}

INSTANTIATE_TEST_SUITE_P(Contents, NickOracleOnExtremeSums,
                         testing::Values(Content::white, Content::checkerboard),
                         [](const auto &info) {
                           return std::string(info.param == Content::white ? "White"
                                                                           : "Checkerboard");
                         });

}  // namespace
}  // namespace cudascan
