// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From what the user gives, a formula or one of the three kinds of files, to a filter that can be
/// run.
#pragma once
#include <string>

#include "kernels/usercode/filter_unit.h"
#include "kernels/usercode/programs.h"

namespace cudascan::gswo {

/// Where code is kept.
CodeOptions code_options(const UserFilterParams &);

/// @param text   what is in the file; not used for formulas
/// @param asked  the `reads` that the user set, where that of the parameters is another
/// @throws BadSetting for files that are none of the three kinds, what `strict` excludes, and
///         numbers that a translated file does not take; what else is wrong is found when the
///         program is made
Program filter_program(const UserFilterParams &, const std::string &text, const FilterTarget &,
                       UserFilterReads asked);
inline Program filter_program(const UserFilterParams &p, const std::string &text,
                              const FilterTarget &target) {
  return filter_program(p, text, target, p.reads);
}

}  // namespace cudascan::gswo
