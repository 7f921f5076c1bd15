// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudascan::scan {

/// A part of a page in pixels; right and bottom are the first ones outside.
struct Box {
  int left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const Box &) const = default;
};

}  // namespace cudascan::scan
