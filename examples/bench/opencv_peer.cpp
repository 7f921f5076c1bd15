// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCV's local thresholds, built into a module of its own that cudascan-bench loads at run time:
// the program itself then runs where OpenCV is not installed.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/ximgproc.hpp>

/// One run of niBlackThreshold in the calling thread. `method` is a LocalBinarizationMethods.
/// Returns false when OpenCV refuses.
extern "C" __attribute__((visibility("default"))) bool cudascan_bench_opencv_niblack(
    void *in, void *out, int width, int height, std::size_t stride, int window, double k,
    int method) {
  try {
    cv::setNumThreads(1);
    const cv::Mat source(height, width, CV_8UC1, in, stride);
    cv::Mat result(height, width, CV_8UC1, out, stride);
    cv::ximgproc::niBlackThreshold(source, result, 255, cv::THRESH_BINARY, window, k, method, 128);
    return true;
  } catch (const cv::Exception &) {
    return false;
  }
}
