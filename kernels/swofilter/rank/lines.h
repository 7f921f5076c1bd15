// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians along rows, columns and diagonals of any length. On the CPU, neighbouring lines are in
/// the lanes of vectors. From one pixel to the next, one sample is replaced. A median stays or
/// becomes the next smaller or larger sample, which is searched among all samples of the line.
#pragma once
#include "kernels/swofilter/rank/rows.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// directional-median of a window with radii (rx, ry).
template <typename T>
void ask_lines(const Area<T> &, int rx, int ry);

/// directional-median on the GPU: by line_network.cuh or line_bits.cuh.
template <typename T>
void ask_lines(Cuda &, Plane<const T> in, Plane<T> out, const FilterJob &);

}  // namespace cudascan::swo
