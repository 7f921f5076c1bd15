// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

#include "inputs.h"
#include "place.h"
#include "plan.h"

namespace cudascan::scan {

/// "PAGE, or LEFT and RIGHT": what becomes of an image, for --dry-run.
std::string outputs_of(const Item &item, const Place &place);

/// Prints what a run would read and write.
/// @param also  ends of the names of further files
void say_plan(const std::vector<Item> &plan, const Inputs &inputs, const Place &place,
              const std::vector<std::string> &also);

}  // namespace cudascan::scan
