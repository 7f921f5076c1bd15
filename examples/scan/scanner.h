// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reads pages from a scanner through SANE.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "image.h"
#include "scanner_setup.h"

namespace cudascan::scan {

/// Starts and stops the SANE library; one object at a time.
class Sane {
 public:
  /// @throws Error when SANE does not start
  Sane();
  ~Sane();
  Sane(const Sane &) = delete;
  Sane &operator=(const Sane &) = delete;
  /// Name and description of each device: "test:0", "Noname frontend-tester virtual device".
  std::vector<std::pair<std::string, std::string>> devices();
  /// What a device offers, a line each; see describe().
  /// @throws Error when it cannot be opened
  std::vector<std::string> describe(const std::string &device);
};

class Scanner {
 public:
  /// @param go_on  called between pages and between parts of a page; on false, next() gives up
  /// @throws Error when the device does not exist or refuses an option
  Scanner(Sane &, const ScannerSettings &settings, std::function<bool()> go_on);
  ~Scanner();
  Scanner(const Scanner &) = delete;
  Scanner &operator=(const Scanner &) = delete;

  /// Scans a page. @return false when there are no more or go_on() returned false
  /// @throws Error when the device fails; only the current page is lost
  bool next(Image &page);
  const std::string &device() const { return device_; }
  const Resolution &resolution() const { return resolution_; }
  /// What is different from what was asked for, sentences.
  const std::vector<std::string> &notes() const { return notes_; }

 private:
  bool read_frame(Image &page);

  std::string device_;
  std::function<bool()> go_on_;
  void *handle_ = nullptr;
  Resolution resolution_;
  std::vector<std::string> notes_;
  double timeout_ = 0;
  bool backs_upside_down_ = false;
  int most_ = 0, pages_ = 0;
};

}  // namespace cudascan::scan
