// SPDX-License-Identifier: LGPL-2.1-or-later
// Operators that use histograms, on scanned documents and other pictures, compared with OpenCV and
// with results of other programs. The images are not part of the project: CUDASCAN_TEST_DATA names
// their folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "kernels/autothreshold.h"
#include "tests/kernels/equalize/oracle.h"
#include "tests/kernels/reference_images.h"

namespace cudascan {
namespace {

using test::for_each_image;
using test::kReference;
using test::samples_of;
using test::sha256;

template <typename T>
Plane<const T> plane_of(const cv::Mat &image) {
  return {image.ptr<T>(), image.cols, image.rows, static_cast<std::ptrdiff_t>(image.step)};
}

// ---- Equalization ------------------------------------------------------------------------------

TEST(EqualizeDocuments, EqualToOpenCV) {
  NEED_DATA(kReference);
  int hashes = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &entry) {
    if (gray.depth() != CV_8U) return;
    const auto got = test::equalized(plane_of<std::uint8_t>(gray), {});
    cv::Mat expected;
    cv::equalizeHist(gray, expected);
    ASSERT_TRUE(test::same(samples_of<std::uint8_t>(expected), got, gray.cols));
    // JPEG decoders differ, so the gray values may differ, too.
    const auto &wanted = entry.at("gray");
    if (!wanted.contains("equalizeHist_sha256") ||
        wanted.at("sha256") != sha256(samples_of<std::uint8_t>(gray)))
      return;
    ++hashes;
    ASSERT_EQ(sha256(got), wanted.at("equalizeHist_sha256").get<std::string>());
  });
  EXPECT_GE(hashes, 20);
}

struct ClaheSetting {
  double clip_limit;
  int tiles_x, tiles_y;
};
constexpr ClaheSetting kClaheSettings[] = {{40, 8, 8},  {2, 8, 8},      {1.3, 5, 7}, {0, 3, 2},
                                           {0.1, 4, 4}, {3, 1, 1},      {5, 64, 3},  {2.5, 2, 31},
                                           {100, 6, 9}, {1000000, 4, 4}};

/// Whether the result equals OpenCV's.
template <typename T>
testing::AssertionResult clahe_is_opencvs(const cv::Mat &image, const ClaheSetting &s) {
  cv::Mat expected;
  cv::createCLAHE(s.clip_limit, {s.tiles_x, s.tiles_y})->apply(image, expected);
  const EqualizeParams params{.method = EqualizeMethod::clahe,
                              .clip_limit = s.clip_limit,
                              .tiles_x = s.tiles_x,
                              .tiles_y = s.tiles_y};
  return test::same(samples_of<T>(expected), test::equalized(plane_of<T>(image), params),
                    image.cols)
         << params << ", " << image.cols << "x" << image.rows;
}

TEST(ClaheDocuments, EqualToOpenCV) {
  NEED_DATA(kReference);
  int deep = 0;
  std::size_t turn = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    for (const auto &setting : {kClaheSettings[turn % 9], kClaheSettings[(turn + 4) % 9]}) {
      if (gray.depth() == CV_8U) {
        ASSERT_TRUE(clahe_is_opencvs<std::uint8_t>(gray, setting));
      } else if (gray.depth() == CV_16U) {
        ASSERT_TRUE(clahe_is_opencvs<std::uint16_t>(gray, setting));
      }
    }
    deep += gray.depth() == CV_16U;
    ++turn;
  });
  EXPECT_GE(deep, 1);
}

/// All contents, in sizes that are multiples of the number of tiles in both directions, in one, in
/// none, and smaller than it.
template <typename T>
void compare_clahe_of_sizes(int type) {
  constexpr test::Size kSizes[] = {{64, 64},   {640, 480}, {641, 480}, {640, 479}, {333, 257},
                                   {1283, 71}, {8, 8},     {5, 5},     {1, 1},     {1, 100},
                                   {100, 1},   {3, 2},     {64, 200}};
  for (const auto [width, height] : kSizes)
    for (const test::Content content : test::kContents)
      for (const ClaheSetting &setting : kClaheSettings) {
        // OpenCV's clip limit overflows there.
        if (setting.clip_limit > 1000 && width * height > 1000) continue;
        // 65536 levels per tile take time.
        if (sizeof(T) > 1 && setting.tiles_x * setting.tiles_y > 20 &&
            content != test::Content::text)
          continue;
        auto samples = test::make_content<T>(content, width, height, std::numeric_limits<T>::max());
        const cv::Mat image(height, width, type, samples.data());
        ASSERT_TRUE(clahe_is_opencvs<T>(image, setting)) << "content " << static_cast<int>(content);
      }
}
TEST(Clahe, EqualToOpenCVAtEightBit) {
  compare_clahe_of_sizes<std::uint8_t>(CV_8UC1);
}
TEST(Clahe, EqualToOpenCVAtSixteenBit) {
  compare_clahe_of_sizes<std::uint16_t>(CV_16UC1);
}
TEST(Equalize, EqualToOpenCVOnMadeUpImages) {
  for (const auto [width, height] : test::kSizes)
    for (const test::Content content : test::kContents) {
      auto samples = test::make_content<std::uint8_t>(content, width, height, 255);
      const cv::Mat image(height, width, CV_8UC1, samples.data());
      cv::Mat expected;
      cv::equalizeHist(image, expected);
      ASSERT_TRUE(test::same(samples_of<std::uint8_t>(expected),
                             test::equalized(plane_of<std::uint8_t>(image), {}), width));
    }
}

// ---- Thresholds --------------------------------------------------------------------------------

template <typename T>
int threshold_of(const cv::Mat &image, AutothresholdMethod method) {
  test::Image<T> out(image.cols, image.rows);
  Cpu cpu;
  AutothresholdReport report;
  run(cpu, plane_of<T>(image), out.plane(), {.method = method}, &report);
  return report.threshold;
}

/// Half the sum of two means: of the samples at or below a threshold, and of those above it.
double middle_of_means(const cv::Mat &image, int threshold) {
  return (cv::mean(image, image <= threshold)[0] + cv::mean(image, image > threshold)[0]) / 2;
}

/// Otsu and triangle equal OpenCV's. Compared with scikit-image for the same gray: otsu is equal.
/// Its isodata is the lowest fixpoint, ours is the first fixpoint from the mean on. Its li is ours
/// rounded down; on a page with only two levels it may be another threshold between them.
TEST(AutothresholdDocuments, ThresholdsAreThoseOfOthers) {
  NEED_DATA(kReference);
  int references = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &entry) {
    if (gray.depth() != CV_8U) return;
    using Method = AutothresholdMethod;
    const auto ours = [&](Method method) { return threshold_of<std::uint8_t>(gray, method); };
    cv::Mat ignored;
    EXPECT_EQ(ours(Method::otsu), cv::threshold(gray, ignored, 0, 255, cv::THRESH_OTSU));
    EXPECT_EQ(ours(Method::triangle), cv::threshold(gray, ignored, 0, 255, cv::THRESH_TRIANGLE));
    const auto &wanted = entry.at("gray");
    if (wanted.at("sha256") != sha256(samples_of<std::uint8_t>(gray))) return;
    ++references;
    EXPECT_EQ(ours(Method::otsu), wanted.at("otsu_skimage").get<double>());
    const int isodata = ours(Method::isodata), lowest = wanted.at("isodata_skimage").get<int>();
    EXPECT_GE(isodata, lowest);
    for (const int fixpoint : {isodata, lowest})
      EXPECT_EQ(std::floor(middle_of_means(gray, fixpoint) + 1e-9), fixpoint);
    const int li = ours(Method::li);
    const auto li_of_others = wanted.at("li_skimage").get<double>();
    const cv::Mat between =
        (gray > std::min<double>(li, li_of_others)) & (gray <= std::max<double>(li, li_of_others));
    EXPECT_TRUE(std::abs(li - li_of_others) <= 1 || cv::countNonZero(between) == 0)
        << li << " and " << li_of_others;
  });
  EXPECT_GE(references, 20);
}

TEST(AutothresholdDocuments, OtsuOfSixteenBitsIsOpenCVs) {
  NEED_DATA(kReference);
  int deep = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    if (gray.depth() != CV_16U) return;
    ++deep;
    cv::Mat ignored;
    EXPECT_EQ(threshold_of<std::uint16_t>(gray, AutothresholdMethod::otsu),
              cv::threshold(gray, ignored, 0, 65535, cv::THRESH_OTSU));
  });
  EXPECT_GE(deep, 1);
}

}  // namespace
}  // namespace cudascan
