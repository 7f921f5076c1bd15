// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCV's equivalents of our operators. They are in a module that cudascan-bench loads at run
// time, so the program also runs without OpenCV.
#include "bench/opencv_peer.h"

#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/ximgproc.hpp>
#include <string_view>

namespace {

using Function = void (*)(const cv::Mat &source, cv::Mat &result, const double *settings);

double white(const cv::Mat &image) {
  return image.depth() == CV_8U ? 255 : 65535;
}

void histogram(const cv::Mat &source, cv::Mat & /*result*/, const double * /*settings*/) {
  const int channel = 0, levels = static_cast<int>(white(source)) + 1;
  const float range[] = {0, static_cast<float>(levels)};
  const float *ranges[] = {range};
  cv::Mat counts;
  cv::calcHist(&source, 1, &channel, cv::noArray(), counts, 1, &levels, ranges);
}

void equalize(const cv::Mat &source, cv::Mat &result, const double * /*settings*/) {
  cv::equalizeHist(source, result);
}

void clahe(const cv::Mat &source, cv::Mat &result, const double *settings) {
  const cv::Size tiles(static_cast<int>(settings[1]), static_cast<int>(settings[2]));
  cv::createCLAHE(settings[0], tiles)->apply(source, result);
}

void threshold(const cv::Mat &source, cv::Mat &result, const double *settings) {
  cv::threshold(source, result, 0, white(source),
                cv::THRESH_BINARY | static_cast<int>(settings[0]));
}

void adaptive(const cv::Mat &source, cv::Mat &result, const double *settings) {
  cv::adaptiveThreshold(source, result, 255, static_cast<int>(settings[0]), cv::THRESH_BINARY,
                        static_cast<int>(settings[1]), settings[2]);
}

void niblack(const cv::Mat &source, cv::Mat &result, const double *settings) {
  cv::ximgproc::niBlackThreshold(source, result, 255, cv::THRESH_BINARY,
                                 static_cast<int>(settings[0]), settings[1],
                                 static_cast<int>(settings[2]), 128);
}

/// Reads a mask and moves past it.
cv::Mat read_mask(const double *&settings, cv::Point &anchor) {
  const int width = static_cast<int>(settings[0]), height = static_cast<int>(settings[1]);
  anchor = cv::Point(static_cast<int>(settings[2]), static_cast<int>(settings[3]));
  settings += 4;
  cv::Mat mask(height, width, CV_8UC1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) mask.at<unsigned char>(y, x) = *settings++ != 0;
  return mask;
}

void openings(const cv::Mat &source, cv::Mat &result, const double *settings) {
  const int n = static_cast<int>(*settings++);
  cv::Mat one;
  for (int i = 0; i < n; ++i) {
    cv::Point anchor;
    const cv::Mat mask = read_mask(settings, anchor);
    cv::morphologyEx(source, i == 0 ? result : one, cv::MORPH_OPEN, mask, anchor);
    if (i > 0) cv::max(result, one, result);
  }
}

void morphology(const cv::Mat &source, cv::Mat &result, const double *settings) {
  const int side = static_cast<int>(settings[1]);
  const cv::Mat mask = cv::getStructuringElement(cv::MORPH_RECT, {side, side});
  cv::morphologyEx(source, result, static_cast<int>(settings[0]), mask);
}

void hit_or_miss(const cv::Mat &source, cv::Mat &result, const double *settings) {
  const int width = static_cast<int>(settings[0]), height = static_cast<int>(settings[1]);
  cv::Mat mask(height, width, CV_32S);
  for (int i = 0; i < width * height; ++i)
    mask.at<int>(i / width, i % width) = static_cast<int>(settings[2 + i]);
  cv::morphologyEx(source, result, cv::MORPH_HITMISS, mask);
}

void median(const cv::Mat &source, cv::Mat &result, const double *settings) {
  cv::medianBlur(source, result, static_cast<int>(settings[0]));
}

void mean(const cv::Mat &source, cv::Mat &result, const double *settings) {
  const int side = static_cast<int>(settings[0]);
  cv::blur(source, result, {side, side});
}

void thinning(const cv::Mat &source, cv::Mat &result, const double *settings) {
  cv::ximgproc::thinning(source, result, static_cast<int>(settings[0]));
}

void rotate(const cv::Mat &source, cv::Mat &result, const double *settings) {
  const cv::Point2f centre((source.cols - 1) / 2.f, (source.rows - 1) / 2.f);
  cv::warpAffine(source, result, cv::getRotationMatrix2D(centre, settings[0], 1), source.size(),
                 static_cast<int>(settings[1]), cv::BORDER_REPLICATE);
}

const std::map<std::string_view, Function> kFunctions{
    {"histogram", histogram},
    {"equalize", equalize},
    {"clahe", clahe},          // clip limit, tiles side by side, tiles over each other
    {"threshold", threshold},  // one of ThresholdTypes that finds the threshold
    {"adaptive", adaptive},    // one of AdaptiveThresholdTypes, window, levels below its mean
    {"niblack", niblack},      // window, k, one of LocalBinarizationMethods
    // Number of masks, then width, height, anchor and cells of each; the largest of their openings.
    {"openings", openings},
    {"morphology", morphology},    // one of MorphTypes, side of the square
    {"hit-or-miss", hit_or_miss},  // width and height of the mask, its cells: 1 on, -1 off, 0 any
    {"median", median},            // side of the window
    {"mean", mean},                // side of the window
    {"rotate", rotate},            // degrees, one of InterpolationFlags
    {"thinning", thinning},        // one of ThinningTypes
};

}  // namespace

extern "C" __attribute__((visibility("default")))
cudascan::bench::OpenCvEntry cudascan_bench_opencv;

bool cudascan_bench_opencv(const char *function, const double *settings, void *in, void *out,
                           int width, int height, int depth, std::size_t stride) {
  const auto found = kFunctions.find(function);
  if (found == kFunctions.end()) return false;
  try {
    cv::setNumThreads(1);
    const int type = depth == 8 ? CV_8UC1 : depth == 16 ? CV_16UC1 : CV_32FC1;
    const cv::Mat source(height, width, type, in, stride);
    cv::Mat result(height, width, type, out, stride);
    found->second(source, result, settings);
    return true;
  } catch (const cv::Exception &) {
    return false;
  }
}
