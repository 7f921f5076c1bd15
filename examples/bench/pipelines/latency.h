// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times of frames from source to sink by GStreamer's tracer `latency`.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

/// Percentiles in microseconds, NaN if there are none.
struct Latency {
  double p50 = kUnknown, p95 = kUnknown, p99 = kUnknown, max = kUnknown;
  std::size_t frames = 0;  ///< number of frames measured
};

/// Nearest ranks; needs at least one time.
Latency latency_of(std::vector<double> us);

/// Turns the tracer on for the rest of the process: it cannot be turned off. From then on every
/// buffer that a source pushes costs some microseconds more.
/// @return empty, or why there are no latencies
std::string start_latency_tracer();

/// Forgets what was measured so far.
void clear_latencies();
/// Microseconds of all frames since then, in all pipelines: from the source's push until the sink
/// is done with the frame.
std::vector<double> take_latencies();

}  // namespace cudascan::bench
