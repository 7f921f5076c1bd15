// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/pipelines/latency.h"

namespace cudascan::bench {

/// One measurement of a pipeline or of its kernels; missing values are NaN or empty.
struct PipelineRow {
  std::string table;    ///< "pipelines", "streams", "live", "peers"
  std::string name;     ///< launch fragment, or what peers do
  std::string where;    ///< "kernel", "cudamemory", "system"
  std::string backend;  ///< "cuda", "cpu"; empty: neither
  Size size;
  int streams = 1;
  bool queues = false;         ///< between the elements: a thread for each
  std::string peer;            ///< launch fragment of another element that was measured
  double us = kUnknown;        ///< per frame of all streams together
  double floor_us = kUnknown;  ///< lower limit: the time of the kernels or the link
  double kernels_us = kUnknown, chained_us = kUnknown, link_us = kUnknown;
  double cpu_us = kUnknown, syncs = kUnknown, throttled = kUnknown;
  double peer_us = kUnknown;  ///< of another row of the table
  double goal_us = kUnknown;
  double fps_in = kUnknown;
  std::uint64_t frames = 0, dropped = 0;  ///< of "live"
  Latency latency;
  std::string error;
};

/// {"machine": {...}, "rows": [{...}, ...]}
/// @throws Error when the file cannot be written
void write_json(const std::string &path, const Machine &machine,
                const std::vector<PipelineRow> &rows);

}  // namespace cudascan::bench
