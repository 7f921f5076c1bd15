// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Changes to the user's text.
#pragma once
#include <set>
#include <string>
#include <tuple>

#include "gswo/unit.h"

namespace cudascan::gswo {

/// Bytes [begin, end) of the file become `text`.
struct Edit {
  unsigned begin, end;
  std::string text;
  friend bool operator<(const Edit &a, const Edit &b) {
    return std::tie(a.begin, a.end, a.text) < std::tie(b.begin, b.end, b.text);
  }
};

using Edits = std::set<Edit>;

/// The text of a range with its edits applied. Of nested edits, the outer one counts.
std::string apply(const Source &, Range, const Edits &);

}  // namespace cudascan::gswo
