// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "options.h"

namespace cudascan::scan {

/// Takes --cuda-device: "all", or numbers with commas between them; nullptr = not given.
/// @throws UsageError with a sentence: option, value and what is allowed
void take_gpus(const char *given, Options &options);

}  // namespace cudascan::scan
