// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a run prints while it works and when it ends. Any thread may report.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "inputs.h"
#include "reading.h"
#include "spread.h"
#include "steps.h"

namespace cudascan::scan {

/// Milliseconds in which workers did something, of all pages together.
struct Spent {
  double read = 0;     ///< the file, and its SHA-256
  double decode = 0;   ///< the pixels, and turning them by EXIF
  double measure = 0;  ///< angle, border, size and so on
  double compute = 0;  ///< on the CPU, or waiting for the GPU
  double text = 0;     ///< recognising it
  double encode = 0;   ///< compression
  double write = 0;    ///< files, and their SHA-256
  static constexpr const char *kNames[] = {"read", "decode", "measure", "compute",
                                           "text", "encode", "write"};
  double of(int i) const {
    const double values[] = {read, decode, measure, compute, text, encode, write};
    return values[i];
  }
};

/// How the pages of a run went.
struct Totals {
  int pages = 0, failed = 0, skipped = 0, salvaged = 0, blank = 0, unread = 0;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all threads of the run and of the programs that it has started
  Spent spent;
  bool interrupted = false;
  struct Device {
    int pages = 0;
    double busy_seconds = 0;  ///< in which the GPU had work
  };
  std::map<int, Device> devices;  ///< of a run on GPUs: by number, and kCpu

  /// The share of the time in which a GPU had work, 0..1.
  double busy(const Device &gpu) const { return gpu.busy_seconds / std::max(seconds, 1e-3); }
  /// The mean of all GPUs.
  double busy() const;
  /// Milliseconds in which the GPUs had work, for a page.
  double gpu_ms() const;
};

/// A page in the statistics.
struct PageRecord {
  std::string input, output, problem;
  Findings found = {};
  Reading reading = {};
  std::string input_digest = {}, output_digest = {};  ///< SHA-256
  /// Further files of the page, and their SHA-256.
  std::vector<std::pair<std::string, std::string>> also = {};
  std::vector<std::string> others = {};  ///< made before with other settings
  bool has_text = false;                 ///< whether its text was recognised
  std::string text_problem = {};         ///< why not, if that failed
  double text_ms = 0;
  SplitNote split = {};
  /// The input, and the part of it.
  std::string name() const;
};

enum class Talk { quiet, normal, verbose };

/// Seconds of processor time that the process has used, and the programs that it has started and
/// that have ended.
double cpu_seconds();

/// Progress on standard error: on a terminal, a bar with rate and time left; elsewhere, a line for
/// each page.
class Progress {
 public:
  /// @param expected  number of pages, or 0 if unknown
  /// @param keep      whether to keep records()
  /// @param cpu_seconds_before  processor time of earlier runs
  Progress(Talk talk, int expected, bool keep, double cpu_seconds_before);

  /// There are so many pages more than was known.
  void expect(int more);
  void done(const PageRecord &page);
  void failed(const PageRecord &page);
  void skipped(int pages);
  /// Files that are no pages.
  void ignored(const std::vector<Inputs::Ignored> &files);
  /// Prints a line of its own, even with --quiet.
  void say(const std::string &text);
  /// Removes the bar and prints the totals.
  /// @param gpus  that the run has used, and the seconds in which each had work; empty = the CPU
  Totals finish(const std::map<int, double> &gpus, bool interrupted);
  const std::vector<PageRecord> &records() const { return records_; }
  const std::vector<Inputs::Ignored> &ignored() const { return ignored_; }

 private:
  /// Prints what happened while the page was read.
  void report(const PageRecord &page);
  void say_ignored() const;
  void clear_bar();
  void draw_bar(bool force);
  double seconds() const;

  Talk talk_;
  int expected_;
  bool keep_, terminal_, bar_ = false;
  double cpu_seconds_before_;
  Totals totals_;
  std::vector<Inputs::Ignored> ignored_;
  std::vector<PageRecord> records_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begin_, drawn_;
};

/// What the statistics say of a run in addition to its pages.
struct RunFacts {
  std::string backend;
  int jobs = 0;
  std::string version, settings;
  bool find_blank = false;  ///< whether blank pages were looked for
  bool find_text = false;   ///< whether text was looked for
};

/// Writes totals and pages as JSON.
/// @throws Error when the file cannot be written
void write_stats(const std::string &path, const Totals &totals, const RunFacts &run,
                 const Progress &progress);

}  // namespace cudascan::scan
