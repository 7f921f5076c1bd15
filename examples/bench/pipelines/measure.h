// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "bench/bench.h"
#include "bench/pipelines/latency.h"
#include "bench/pipelines/pipeline.h"

namespace cudascan::bench {

struct Throughput {
  double us = kUnknown;      ///< median time between two frames of all streams together
  double cpu_us = kUnknown;  ///< CPU time of the whole process per frame
  double syncs = kUnknown;   ///< waits of the host for a result, per frame
  double throttled =
      kUnknown;  ///< waits of the host because enough frames are in flight, per frame
  double peer_copies = kUnknown;  ///< copies from GPU to GPU, per frame
  std::uint64_t frames = 0;
  std::string backend, memory;
  std::string stats;  ///< the `stats` of each element of the first pipeline, one line each
};

/// Runs `streams` pipelines at once for about so many seconds, after they have warmed up.
/// @param gpus  share the pipelines in turn: that many of the first GPUs; 0 = as `launch` says
/// @throws Error with what a pipeline reports
Throughput measure_throughput(const Launch &launch, int streams, double seconds, int gpus = 0);

/// The same, waiting for each frame; call start_latency_tracer() first.
Latency measure_latency(Launch launch, int streams, double seconds, int gpus = 0);

struct Live {
  std::uint64_t sent = 0, dropped = 0;  ///< frames after the warm-up
  Latency latency;  ///< by the tracer: from the source's push to the end of the sink's work
  Latency sensor;   ///< from the frames' timestamps until the sink can read their results
  double cpu_us = kUnknown;  ///< per frame sent
  std::string backend;
};

/// Feeds the chain launch.fps frames a second through a queue that drops frames instead of waiting.
/// @param traced  start_latency_tracer() succeeded
Live measure_live(Launch launch, double seconds, bool traced);

}  // namespace cudascan::bench
