// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

#include "image.h"
#include "input.h"

namespace cudascan::scan {

/// What libjpeg says of a JPEG that libvips refuses. libvips knows only that there was a warning.
struct JpegDecoded {
  bool decoded = false;               ///< false if it has four colours, or not even a header
  bool damaged = false;               ///< not only bytes between the segments that mean nothing
  int rows = 0;                       ///< rows before the damage; all if there are several scans
  std::vector<std::string> messages;  ///< of libjpeg, the damage first
};

/// Decodes a JPEG as far as possible, in luma. The pixels are those that libvips gives.
JpegDecoded salvage_jpeg(const Input &input, Image &image);

}  // namespace cudascan::scan
