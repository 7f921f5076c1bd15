// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Prepares a scanner for a run: source, both sides, mode, resolution and paper.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sane_options.h"
#include "steps.h"

namespace cudascan::scan {

struct ScannerSettings {
  std::string device;              ///< SANE's name for it, "" = the first one
  std::string source;              ///< such as "Flatbed" or "ADF", "" = the device's default
  bool duplex = false;             ///< scan both sides of each sheet
  bool backs_upside_down = false;  ///< with duplex: turn every second page by 180 degrees
  std::string paper_name;          ///< as it was typed
  Paper paper;                     ///< what is scanned, 0 = what the device scans by default
  double resolution = 300;
  double timeout = 30;  ///< seconds without data in the middle of a page before giving up
  int pages = -1;       ///< at most; 0 = until the feeder is empty; -1 = 0 with a feeder, else 1
  std::vector<std::pair<std::string, std::string>> options;  ///< other options by their SANE names
};

/// Whether this source takes sheets by itself.
bool is_feeder(const std::string &source);

/// @param device  its name, for messages
/// @return what is different from what was asked for, sentences
/// @throws Error when the device refuses something, with what it offers instead
std::vector<std::string> set_up(const SaneOptions &options, const std::string &device,
                                const ScannerSettings &settings);

/// The resolution that is set, 0 where the device does not say.
Resolution resolution_of(const SaneOptions &options);

/// What the device offers, a line each: sources with the paper and the resolutions that they
/// allow, whether it scans both sides, modes. Changes the source that is set.
std::vector<std::string> describe(const SaneOptions &options);

}  // namespace cudascan::scan
