// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The tables of cudascan-pipeline-bench.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bench/pipelines/rows.h"

namespace cudascan::bench {

struct NamedSize {
  std::string name;
  int width, height;
};

struct SuiteSettings {
  std::vector<std::string> tables;  ///< of kTables
  std::vector<NamedSize> sizes;
  std::vector<int> rates, camera_rates, streams;
  std::string backend = "auto";
  std::string chain;   ///< instead of the built-in elements and chains
  std::string filter;  ///< only chains whose text contains this
  double seconds = 0.3;
  bool quick = false;
};

inline constexpr const char *kTables[] = {"pipelines", "streams", "gpus",
                                          "live",      "camera",  "peers"};

/// Sizes by name, for --sizes.
const std::vector<NamedSize> &known_sizes();

/// Gets all rows so far.
using OnRows = std::function<void(const std::vector<PipelineRow> &)>;

/// Measures and prints; if something cannot be measured, its row has the error.
/// @param on_rows  called after each long part
std::vector<PipelineRow> run_suite(const SuiteSettings &settings, const OnRows &on_rows);

}  // namespace cudascan::bench
