// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which lines are measured if RunLengthParams::sparse is set.
#pragma once
#include "common/api.h"
#include "kernels/histogram.h"

namespace cudascan::runlengths {

/// Every so many-th row, and group of columns.
inline constexpr int kSparse = 4;
inline constexpr int kGroup = 32;  ///< columns of a group

/// The first group of a part that is measured.
CUDASCAN_HD constexpr int first_sparse_group(const Rectangle &part) {
  const int first = part.x / kGroup, last = (part.x + part.width - 1) / kGroup;
  return first + (last - first) / 2 % kSparse;
}

}  // namespace cudascan::runlengths
