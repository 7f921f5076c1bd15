// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians along rows, columns and diagonals of any length on the CPU. The samples of each line are
/// kept in order; from one pixel of it to the next one sample goes and one comes.
#pragma once
#include "kernels/swofilter/rank/rows.h"

namespace cudascan::swo {

/// directional-median of a window that reaches (rx, ry) pixels from its middle.
template <typename T>
void ask_lines(const Area<T> &, int rx, int ry);

}  // namespace cudascan::swo
