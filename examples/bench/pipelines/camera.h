// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

#include "bench/pipelines/chains.h"
#include "bench/pipelines/rows.h"
#include "bench/pipelines/suite.h"

namespace cudascan::bench {

/// A camera whose frames come in system memory and whose results the CPU reads.
struct CameraTable {
  NamedSize size;
  int fps = 60;
  std::string backend;        ///< "cuda" or "cpu", which uses four cores or as many as there are
  std::vector<Chain> chains;  ///< measured one after another, after a pipeline without elements
  double seconds = 3;         ///< for each
  bool traced = false;        ///< start_latency_tracer() succeeded
};

/// Measures and prints how long frames take from the source's push to the sink by GStreamer's
/// latency tracer, how long from their timestamps, and what the elements add to the former.
/// @return the pipeline without elements, then the chains
std::vector<PipelineRow> print_camera_table(const CameraTable &table);

}  // namespace cudascan::bench
