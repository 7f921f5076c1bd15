// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The images of reference.json and the results of other programs for them.
#pragma once
#include <glib.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "tests/kernels/documents.h"

namespace cudascan::test {

inline constexpr const char *kReference = "reference.json";

/// Calls check(gray image, its entry in reference.json) for every image there.
template <typename Check>
void for_each_image(const Check &check) {
  nlohmann::json reference;
  std::ifstream(data_folder() / kReference) >> reference;
  int n = 0;
  for (const auto &[file, entry] : reference.at("images").items()) {
    SCOPED_TRACE(file);
    const cv::Mat gray =
        cv::imread((data_folder() / file).string(), cv::IMREAD_GRAYSCALE | cv::IMREAD_ANYDEPTH);
    if (gray.empty()) continue;
    ++n;
    check(gray, entry);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(n, 50);
}

template <typename T>
std::vector<T> samples_of(const cv::Mat &image) {
  std::vector<T> samples;
  for (int y = 0; y < image.rows; ++y)
    samples.insert(samples.end(), image.ptr<T>(y), image.ptr<T>(y) + image.cols);
  return samples;
}

inline std::string sha256(const std::vector<std::uint8_t> &bytes) {
  char *const text = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes.data(), bytes.size());
  std::string result(text);
  g_free(text);
  return result;
}

}  // namespace cudascan::test
