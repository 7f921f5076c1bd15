// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a run tells while it goes on and when it ends. Any thread may report.
#pragma once
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "steps.h"

namespace cudascan::scan {

/// How the pages of a run went.
struct Totals {
  int pages = 0, failed = 0, skipped = 0;
  double seconds = 0, gpu_ms = 0;
  bool interrupted = false;
};

/// A page as the statistics have it.
struct PageRecord {
  std::string input, output, problem;
  Findings found;
};

enum class Talk { quiet, normal, verbose };

/// Progress on standard error: a bar with rate and time left on a terminal, a line for each page
/// elsewhere.
class Progress {
 public:
  /// @param expected  pages, or 0 where nobody knows
  /// @param keep      whether records() are wanted
  Progress(Talk talk, int expected, bool keep);

  void done(const PageRecord &page);
  void failed(const PageRecord &page);
  void skipped(int pages);
  /// A line that stands alone, also when quiet.
  void say(const std::string &text);
  /// Takes the bar away and says the sum.
  Totals finish(bool cuda, bool interrupted);
  const std::vector<PageRecord> &records() const { return records_; }

 private:
  void clear_bar();
  void draw_bar(bool force);
  double seconds() const;

  Talk talk_;
  int expected_;
  bool keep_, terminal_, bar_ = false;
  Totals totals_;
  std::vector<PageRecord> records_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begin_, drawn_;
};

/// Writes totals and pages as JSON.
/// @throws Error when the file cannot be written
void write_stats(const std::string &path, const Totals &totals, const std::string &backend,
                 int jobs, const std::vector<PageRecord> &pages);

}  // namespace cudascan::scan
