// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which shapes of tiles, and which way to the samples, are the fastest for a filter on the GPU at
/// hand.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kernels/usercode/filter_program.h"

namespace cudascan::gswo {

/// The programs that are worth a try with what the parameters leave open, the one without tuning
/// first.
/// @throws BadSetting as filter_program()
std::vector<Program> tuning_variants(const UserFilterParams &, const std::string &text,
                                     const FilterTarget &);

/// What was the fastest among the same programs on a GPU of this name before.
/// @return its place, or nothing if that is not known
std::optional<std::size_t> remembered_variant(const std::vector<Program> &,
                                              const std::string &cache_dir);
void remember_variant(const std::vector<Program> &, std::size_t fastest,
                      const std::string &cache_dir);

}  // namespace cudascan::gswo
