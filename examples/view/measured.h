// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The drawn parts of the elements' reports.
#pragma once
#include <gst/gst.h>

#include <string>
#include <vector>

namespace cudascan::view {

struct Measured {
  std::vector<double> thresholds;  ///< levels of 8 bits
  std::vector<double> angles;      ///< degrees
  std::vector<double> spectrum;    ///< the response of each angle
  double dominant_angle = 0, confidence = 0;
  bool blank = true;
  std::string words;  ///< the report in a line
};

/// @param levels  of the format for one level of 8 bits: 1, or 256 for 16 bits
Measured measured_of(const GstStructure &report, int levels);

}  // namespace cudascan::view
