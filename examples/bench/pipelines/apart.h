// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Measures in a separate process, so that a crashing element does not lose other measurements.
/// Elements of GStreamer's opencv plugin crash occasionally: GstOpencvVideoFilter puts the frame's
/// address into a cv::Mat but keeps the old end of the memory, from which OpenCV derives what it
/// may read around a pixel.
#pragma once
#include "bench/pipelines/measure.h"

namespace cudascan::bench {

/// The option that starts such a process; --element and other options select the measurement.
inline constexpr char kApart[] = "apart";

/// Like measure_throughput() with one stream and read_behind_queue(). A crashed process is
/// restarted.
/// @param launch  only chain, format, width and height are used
/// @throws Error with the pipeline's error, or with how the process ended
Throughput measure_apart(const Launch &launch, double seconds);

/// Runs in the other process: measures, and prints the result for measure_apart().
/// @return the exit status
int answer_apart(const Launch &launch, double seconds);

}  // namespace cudascan::bench
