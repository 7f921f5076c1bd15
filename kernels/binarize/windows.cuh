// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Extrema of windows whose size only the GPU knows, on planes of quarter size. These hold 16-bit
/// samples whatever the image has; their rows begin at multiples of 4 bytes and have an even number
/// of samples, so that pairs can be read and written.
#pragma once
#include "kernels/binarize/numbers.cuh"
#include "kernels/exec.h"

namespace cudascan::binarize {

using SmallPlane = Plane<std::uint16_t>;

/// Extrema along the rows of a plane.
struct RowWindow {
  const int *size = nullptr;  ///< in device memory, odd; or null for one sample
  bool largest = false;

  __device__ int samples() const { return size ? *size : 1; }
};

struct WindowJob {
  SmallPlane in, out;
  SmallPlane inverted_in;  ///< what is read instead if the page is inverted, and turned upright
  bool raw;                ///< whether the input depends on the polarity
  RowWindow window, next;  ///< one after the other; the second one may have one sample
  SampleSums *sums;        ///< of the result, or null
  int above;               ///< windows of this size or a smaller one are left out
};
inline constexpr int kMostWindowJobs = 4;
struct WindowJobs {
  WindowJob job[kMostWindowJobs];
  int n;
  bool transposed;  ///< the results are
  Page page;

  void add(SmallPlane in, SmallPlane out, RowWindow window, RowWindow next = {},
           SampleSums *sums = nullptr, int above = 0) {
    job[n++] = {in, out, in, false, window, next, sums, above};
  }
  /// A first step, on planes of the page as it is.
  void add_raw(SmallPlane in, SmallPlane inverted_in, SmallPlane out, RowWindow window, int above) {
    job[n++] = {in, out, inverted_in, true, window, {}, nullptr, above};
  }
};

/// Queues up to four jobs at once. Their planes may differ in size.
/// @param most, most_next  bounds of the windows of any job
void queue_windows(Cuda &, const WindowJobs &, int most, int most_next);

}  // namespace cudascan::binarize
