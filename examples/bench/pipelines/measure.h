// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "bench/bench.h"
#include "bench/pipelines/latency.h"
#include "bench/pipelines/pipeline.h"

namespace cudascan::bench {

struct Throughput {
  double us = kUnknown;      ///< between two frames of all streams together: a median
  double cpu_us = kUnknown;  ///< of the whole process, for a frame
  double syncs = kUnknown;   ///< waits of the host for a result, for a frame
  double throttled =
      kUnknown;  ///< waits of the host because enough frames are under way, for a frame
  std::uint64_t frames = 0;
  std::string backend, memory;
  std::string stats;  ///< a line for each element of the first pipeline: what its `stats` say
};

/// Runs `streams` pipelines at once for about so many seconds, after they have warmed up.
/// @throws Error with what a pipeline reports
Throughput measure_throughput(const Launch &launch, int streams, double seconds);

/// The same with frames that are waited for; start_latency_tracer() before.
Latency measure_latency(Launch launch, int streams, double seconds);

struct Live {
  std::uint64_t sent = 0, dropped = 0;  ///< frames after the warm-up
  Latency latency;
  double cpu_us = kUnknown;  ///< for a frame that was sent
  std::string backend;
};

/// Feeds the chain by the clock with launch.fps frames a second through a queue that drops frames rather
/// than wait.
/// @param traced  start_latency_tracer() was successful
Live measure_live(Launch launch, double seconds, bool traced);

}  // namespace cudascan::bench
