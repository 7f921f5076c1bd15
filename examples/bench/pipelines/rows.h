// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/pipelines/latency.h"

namespace cudascan::bench {

/// What the elements of a chain add to the time from a camera to the sink.
struct Added {
  double p50 = kUnknown, p99 = kUnknown;  ///< microseconds more than without elements
};

/// One measurement of a pipeline or of its kernels; missing values are NaN or empty.
struct PipelineRow {
  std::string table;    ///< "pipelines", "streams", "gpus", "live", "camera", "peers"
  std::string name;     ///< launch fragment, or what peers do
  std::string where;    ///< "kernel", "cudamemory", "system"
  std::string backend;  ///< "cuda", "cpu"; empty: neither
  Size size;
  int streams = 1;
  int gpus = 0;                ///< of "gpus": that share the streams; 0 = the chain names them
  bool queues = false;         ///< between the elements: a thread for each
  std::string peer;            ///< launch fragment of another element that was measured
  double us = kUnknown;        ///< per frame of all streams together
  double floor_us = kUnknown;  ///< lower limit: the time of the kernels or the link
  double kernels_us = kUnknown, chained_us = kUnknown, link_us = kUnknown;
  double cpu_us = kUnknown, syncs = kUnknown, throttled = kUnknown;
  double peer_copies = kUnknown;  ///< from GPU to GPU, per frame
  double peer_us = kUnknown;      ///< of another row of the table
  double goal_us = kUnknown;
  double fps_in = kUnknown;
  std::uint64_t frames = 0, dropped = 0;  ///< of "live" and "camera"
  Latency latency;
  Latency sensor;   ///< of "camera": from the frames' timestamps on
  Added added;      ///< of "camera", to `latency`
  int threads = 0;  ///< of "camera": threads of the CPU; 0: not limited
  std::string error;
};

/// {"machine": {...}, "rows": [{...}, ...]}
/// @throws Error when the file cannot be written
void write_json(const std::string &path, const Machine &machine,
                const std::vector<PipelineRow> &rows);

}  // namespace cudascan::bench
