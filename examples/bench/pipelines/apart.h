// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Measuring in a process of its own: an element that crashes takes no other measurement with it. Those of
/// GStreamer's opencv plugin do now and then: GstOpencvVideoFilter puts the frame's address into a cv::Mat and
/// leaves the end of the memory that was there before, by which OpenCV finds out what it may read around.
#pragma once
#include "bench/pipelines/measure.h"

namespace cudascan::bench {

/// The option by which this program is told that it is such a process; --element and others say for what.
inline constexpr char kApart[] = "apart";

/// As measure_throughput() with one stream, read_behind_queue(). A process that crashes is begun again.
/// @param launch  chain, format, width and height count
/// @throws Error with what the pipeline reports, or with how the process ended
Throughput measure_apart(const Launch &launch, double seconds);

/// What the other process does: measures, and prints that for measure_apart().
/// @return the exit status
int answer_apart(const Launch &launch, double seconds);

}  // namespace cudascan::bench
