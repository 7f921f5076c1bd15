// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds the tile shapes and the way to read samples that are fastest for a filter on this GPU.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kernels/usercode/filter_program.h"

namespace cudascan::gswo {

/// The programs to try for the parameters that are left open; the default one comes first.
/// @throws BadSetting as filter_program()
std::vector<Program> tuning_variants(const UserFilterParams &, const std::string &text,
                                     const FilterTarget &);

/// The earlier result: which of the same programs was the fastest on a GPU of this name.
/// @return its index, or nothing if unknown
std::optional<std::size_t> remembered_variant(const std::vector<Program> &,
                                              const std::string &cache_dir);
void remember_variant(const std::vector<Program> &, std::size_t fastest,
                      const std::string &cache_dir);

}  // namespace cudascan::gswo
