// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Wide dark things and margins, on the CPU.
#pragma once
#include <vector>

#include "kernels/binarize/components.h"
#include "kernels/binarize/page.h"

namespace cudascan::binarize {

/// Memory for planes of the size of the quarter.
struct WideMemory {
  AlignedMemory sixteenth, wide, widest, darkness, largest, smallest, bits[7];
  Components components;
};

/// What is found in the quarter.
template <typename T>
struct WideThings {
  Paper<T> paper;                ///< of wide things, in the sixteenth
  runlengths::BitPlane near;     ///< things that become ink, and what is next to them
  runlengths::BitPlane margins;  ///< what becomes paper
  bool any_near, any_margins;    ///< otherwise these have no meaning
};

/// @param ink_darkness  D
template <typename T>
WideThings<T> find_wide_things(Cpu &cpu, Plane<const T> quarter, const StrokeSizes &,
                               int ink_darkness, WideMemory &);

/// Makes the things of the image ink and margins paper.
template <typename T>
void paint_wide_things(Cpu &cpu, const PageImage<T> &, const WideThings<T> &, int ink_darkness,
                       const runlengths::BitPlane &ink);

}  // namespace cudascan::binarize
