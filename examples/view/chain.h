// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Elements in a row and their settings.
#pragma once
#include <string>
#include <vector>

#include "settings.h"

namespace cudascan::view {

struct Stage {
  std::string element;     ///< its name, such as cudanick
  Settings settings = {};  ///< those that differ from the defaults, in the order they were set
  bool operator==(const Stage &) const = default;
};
using Chain = std::vector<Stage>;

/// The elements as a part of a launch line, quoted for a shell.
std::string launch_of(const Chain &chain);

/// Reads what write_chain() has written.
/// @throws std::runtime_error with a sentence that names the file
Chain read_chain(const std::string &path);
/// Writes a key file with a group for each element.
/// @param comment  one line at the top
/// @throws std::runtime_error with a sentence that names the file
void write_chain(const std::string &path, const Chain &chain, const std::string &comment);
inline constexpr const char *kChainEnding = ".cudascan";
/// Whether the name is that of a file of settings.
bool is_chain_file(const std::string &path);

}  // namespace cudascan::view
