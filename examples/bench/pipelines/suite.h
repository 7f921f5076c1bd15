// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The tables of cudascan-pipeline-bench.
#pragma once
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
  std::vector<int> rates, streams;
  std::string backend = "auto";
  std::string chain;   ///< instead of the elements and chains that are built in
  std::string filter;  ///< only chains whose text contains this
  double seconds = 0.3;
  bool quick = false;
};

inline constexpr const char *kTables[] = {"pipelines", "streams", "live", "peers"};

/// Sizes by name, of which --sizes picks.
const std::vector<NamedSize> &known_sizes();

/// Measures and prints; what cannot be measured is a row with its error.
std::vector<PipelineRow> run_suite(const SuiteSettings &settings);

}  // namespace cudascan::bench
