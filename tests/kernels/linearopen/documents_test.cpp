// SPDX-License-Identifier: LGPL-2.1-or-later
// Openings by line segments on scanned documents and other pictures, compared with OpenCV. The
// images are not part of the project: CUDASCAN_TEST_DATA names their folder.
#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "tests/kernels/linearopen/oracle.h"
#include "tests/kernels/reference_images.h"

namespace cudascan {
namespace {

using test::for_each_image;
using test::kReference;
using test::samples_of;
using test::sha256;
using enum LinearOpenOperation;
constexpr auto kInvariant = LinearOpenLines::invariant;

/// The result on one backend.
template <typename T, typename Runner>
std::vector<T> result(Runner &runner, const cv::Mat &image, const LinearOpenParams &params) {
  const test::Image<T> in(samples_of<T>(image), image.cols, image.rows);
  return test::outcome<T>(runner, in, {}, std::numeric_limits<T>::max(), params, 0x5a).samples;
}

// ---- Reference values ---------------------------------------------------------------------------

template <typename Runner>
void compare_hashes() {
  Runner runner;
  int hashes = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &entry) {
    if (gray.depth() != CV_8U || !entry.contains("open_line31_sha256")) return;
    // JPEG decoders differ, so the gray values may differ, too.
    if (entry.at("gray").at("sha256") != sha256(samples_of<std::uint8_t>(gray))) return;
    for (const auto &[angle, wanted] : entry.at("open_line31_sha256").items())
      for (const auto lines : {LinearOpenLines::partition, kInvariant}) {
        const LinearOpenParams params{.length = 31, .angle = std::stod(angle), .lines = lines};
        const auto got = result<std::uint8_t>(runner, gray, params);
        ASSERT_EQ(nlohmann::json(sha256(got)), wanted) << params;
        ++hashes;
      }
  });
  EXPECT_GE(hashes, 20 * 4 * 2);
}

TEST(LinearOpenDocuments, HashesOf31Pixels) {
  NEED_DATA(kReference);
  compare_hashes<test::CpuRunner>();
}
#ifdef HAVE_CUDA
TEST(LinearOpenDocuments, CudaHashesOf31Pixels) {
  NEED_DATA(kReference);
  NEED_GPU();
  compare_hashes<test::CudaRunner>();
}
#endif

// ---- OpenCV -------------------------------------------------------------------------------------

/// A mask with a segment through its centre.
cv::Mat drawn_mask(int length, double angle) {
  const test::OracleLines lines(angle);
  const int r = length / 2;
  cv::Mat mask = cv::Mat::zeros(2 * r + 1, 2 * r + 1, CV_8U);
  for (int y = -r; y <= r; ++y)
    for (int x = -r; x <= r; ++x)
      if (lines.on_origin({x, y})) mask.at<std::uint8_t>(y + r, x + r) = 1;
  EXPECT_EQ(cv::countNonZero(mask), length);
  return mask;
}

struct Operation {
  LinearOpenOperation operation;
  int opencvs;
};
constexpr Operation kOperations[] = {{opening, cv::MORPH_OPEN},
                                     {closing, cv::MORPH_CLOSE},
                                     {top_hat, cv::MORPH_TOPHAT},
                                     {black_hat, cv::MORPH_BLACKHAT}};

/// Whether the result equals that of OpenCV with the segment, of odd length, as a mask.
template <typename T, typename Runner>
testing::AssertionResult is_opencvs(Runner &runner, const cv::Mat &image,
                                    const Operation &operation, int length, double angle) {
  cv::Mat expected;
  cv::morphologyEx(image, expected, operation.opencvs, drawn_mask(length, angle));
  const LinearOpenParams params{
      .operation = operation.operation, .length = length, .angle = angle, .lines = kInvariant};
  return test::same(samples_of<T>(expected), result<T>(runner, image, params), image.cols)
         << params;
}

template <typename Runner>
void compare_with_opencv() {
  constexpr double kAngles[] = {7, 22.5, 38, 52, 60, 81, 99.5, 114, 128, 147, 163, 178};
  constexpr int kLengths[] = {3, 15, 31, 41, 77};
  Runner runner;
  std::size_t turn = 0;
  int deep = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    for (int i = 0; i < 2; ++i, ++turn) {
      const Operation &operation = kOperations[turn % std::size(kOperations)];
      const int length = kLengths[turn % std::size(kLengths)];
      const double angle = kAngles[turn * 5 % std::size(kAngles)];
      if (gray.depth() == CV_8U)
        ASSERT_TRUE(is_opencvs<std::uint8_t>(runner, gray, operation, length, angle));
      else
        ASSERT_TRUE(is_opencvs<std::uint16_t>(runner, gray, operation, length, angle));
    }
    deep += gray.depth() == CV_16U;
  });
  EXPECT_GE(deep, 1);
}

TEST(LinearOpenDocuments, EqualToOpenCV) {
  NEED_DATA(kReference);
  compare_with_opencv<test::CpuRunner>();
}
#ifdef HAVE_CUDA
TEST(LinearOpenDocuments, CudaEqualToOpenCV) {
  NEED_DATA(kReference);
  NEED_GPU();
  compare_with_opencv<test::CudaRunner>();
}
#endif

/// Images of several sizes, some smaller than the segment.
template <typename T>
void compare_made_up_images(int type) {
  test::CpuRunner runner;
  std::size_t turn = 0;
  for (const auto [width, height] : {test::Size{1, 1}, test::Size{1, 60}, test::Size{60, 1},
                                     test::Size{13, 9}, test::Size{130, 71}, test::Size{71, 300}})
    for (const test::Content content : test::kContents)
      for (int i = 0; i < 36; ++i) {
        auto samples = test::make_content<T>(content, width, height, T(-1));
        const cv::Mat image(height, width, type, samples.data());
        ASSERT_TRUE(is_opencvs<T>(runner, image, kOperations[turn % 4],
                                  1 + 2 * static_cast<int>(turn * 7 % 40), i * 5))
            << width << "x" << height;
        ++turn;
      }
}
TEST(LinearOpen, EqualToOpenCVAtEightBit) {
  compare_made_up_images<std::uint8_t>(CV_8UC1);
}
TEST(LinearOpen, EqualToOpenCVAtSixteenBit) {
  compare_made_up_images<std::uint16_t>(CV_16UC1);
}

}  // namespace
}  // namespace cudascan
