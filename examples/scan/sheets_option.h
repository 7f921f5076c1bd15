// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "options.h"

namespace cudascan::scan {

/// The options for sheets in a scanner, as they were typed; "" = not given.
struct SheetsGiven {
  bool duplex;
  std::string backs, paper;
};

/// @throws UsageError with a sentence: option, value and what is allowed
void take_sheets(const SheetsGiven &given, Options &options);

}  // namespace cudascan::scan
