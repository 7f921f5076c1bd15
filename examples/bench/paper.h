// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Tables and figures of publications: what was published, the published algorithm on this machine,
/// and ours, side by side.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

/// Prints the lines of a table or figure as they come, and keeps them for the files.
class PaperTable {
 public:
  /// @param table  "paper 001 table 1", as the rows of the files say it
  /// @param title  "TABLE 1 of Dobreanu and Chelaru: ..."
  PaperTable(Report &report, std::string table, const std::string &title);

  /// @param row  us: ours; baseline_us, published_us, published_speedup, speedup where there are such
  void add(Row row);

 private:
  Report *report_;
  std::string table_;
};

/// Puts the time of the published algorithm beside ours; an error of it is one of the row.
void set_baseline(Row &row, const Row &published);

/// What measures on one backend.
struct Backend {
  std::string name;  ///< as it is printed
  bool cuda;
  TimeCase time;
};
/// CUDA where it is wanted and there, then one core of the CPU.
std::vector<Backend> table_backends(const Options &options, bool with_cuda);

/// Measures published algorithms along growing work, and leaves out what the last time lets expect
/// to take longer than the options' patience.
class Patience {
 public:
  Patience(const Options &options, const Backend &backend)
      : backend_(&backend), patience_us_(options.patience_us(backend.cuda)) {}
  /// @param work  what the time is proportional to, at most: that of the peer where there is one
  /// @returns a row without a time where it was left out
  Row measure(const Case &c, double work);

 private:
  const Backend *backend_;
  double patience_us_, us_of_work_ = 0;
};

}  // namespace cudascan::bench
