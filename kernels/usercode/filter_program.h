// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Turns the user's input, a formula or one of the three kinds of files, into a filter.
#pragma once
#include <string>

#include "kernels/usercode/filter_unit.h"
#include "kernels/usercode/programs.h"

namespace cudascan::gswo {

/// The location of code.
CodeOptions code_options(const UserFilterParams &);

/// @param text   contents of the file; not used for formulas
/// @param asked  the `reads` that the user set, if the parameters have another one
/// @throws BadSetting for files of another kind, for everything that `strict` excludes, and for
///         numbers that a translated file does not accept; other errors are found when the program
///         is made
Program filter_program(const UserFilterParams &, const std::string &text, const FilterTarget &,
                       UserFilterReads asked);
inline Program filter_program(const UserFilterParams &p, const std::string &text,
                              const FilterTarget &target) {
  return filter_program(p, text, target, p.reads);
}

}  // namespace cudascan::gswo
