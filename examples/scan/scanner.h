// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reads pages from a scanner through SANE.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "image.h"

namespace cudascan::scan {

struct ScannerSettings {
  std::string device;  ///< SANE's name for it, "" = the first one
  std::string source;  ///< such as "Flatbed" or "ADF", "" = the device's default
  double resolution = 300;
  double timeout = 30;  ///< seconds without data in the middle of a page before giving up
  int pages = -1;       ///< at most; 0 = until the feeder is empty; -1 = 0 with a feeder, else 1
  std::vector<std::pair<std::string, std::string>> options;  ///< other options by their SANE names
};

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

 private:
  void set(const std::string &name, const std::string &value, bool needed);
  bool read_frame(Image &page);

  std::string device_;
  std::function<bool()> go_on_;
  void *handle_ = nullptr;
  Resolution resolution_;
  double timeout_ = 0;
  int most_ = 0, pages_ = 0;
};

}  // namespace cudascan::scan
