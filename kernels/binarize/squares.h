// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Extrema of squares of bits on the CPU, 64 pixels at once.
#pragma once
#include "kernels/exec.h"
#include "kernels/runlengths/bits.h"

namespace cudascan::binarize {

/// Extrema of squares, clipped at the border of the plane.
/// @param size  odd, from 3 to 127
/// @param out   another plane than `in`
void square_extrema(Cpu &cpu, bool largest, int size, const runlengths::BitPlane &in,
                    const runlengths::BitPlane &out);

}  // namespace cudascan::binarize
