// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "options.h"

namespace cudascan::scan {

/// What the options about kinds of output say; nullptr and 0 = not given.
struct OutputsGiven {
  const char *mode = nullptr;
  char **also = nullptr;  ///< lists with commas, up to a nullptr
  int jpeg_quality = 0;
};

/// Sets `o.outputs`; after take_output().
/// @throws UsageError when a value is wrong, or does not go with OUTPUT
void take_outputs(const OutputsGiven &given, Options &o);

/// @throws UsageError when libvips lacks what an output needs; once it has started
void check_writers(const Outputs &outputs);

}  // namespace cudascan::scan
