// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Tables and figures of publications, side by side: the published numbers, the published algorithm
/// on this machine, and ours.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

/// Prints the lines of a table or figure as they come, and keeps them for the files.
class PaperTable {
 public:
  /// @param table  "paper 001 table 1", as in the rows of the files
  /// @param title  "TABLE 1 of Dobreanu and Chelaru: ..."
  PaperTable(Report &report, std::string table, const std::string &title);

  /// @param row  us: ours; baseline_us, published_us, published_speedup, speedup if known
  void add(Row row);

 private:
  Report *report_;
  std::string table_, printed_note_;  // a note of several lines is printed once
};

/// Adds the time of the published algorithm to our row; its error becomes an error of the row.
void set_baseline(Row &row, const Row &published);

/// The measuring functions of one backend.
struct Backend {
  std::string name;  ///< the name as it is printed
  bool cuda;
  TimeCase time;
};
/// CUDA if wanted and available, then one core of the CPU.
std::vector<Backend> table_backends(const Options &options, bool with_cuda);

/// Measures published algorithms with growing work. Stops when the last time predicts that the next
/// one would exceed the options' patience.
class Patience {
 public:
  Patience(const Options &options, const Backend &backend)
      : backend_(&backend), patience_us_(options.patience_us(backend.cuda)) {}
  /// @param work  upper bound of what the time is proportional to; for the peer, if there is one
  /// @returns a row without a time if it was left out
  Row measure(const Case &c, double work);

 private:
  const Backend *backend_;
  double patience_us_, us_of_work_ = 0;
};

}  // namespace cudascan::bench
