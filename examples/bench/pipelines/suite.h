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

/// Gets all rows so far.
using OnRows = std::function<void(const std::vector<PipelineRow> &)>;

/// Measures and prints; what cannot be measured is a row with its error.
/// @param on_rows  called after each of the parts that take long
std::vector<PipelineRow> run_suite(const SuiteSettings &settings, const OnRows &on_rows);

}  // namespace cudascan::bench
