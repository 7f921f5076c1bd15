// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loop of rotate on the CPU, compiled for several instruction sets.
#pragma once
#include "kernels/rotate/formula.h"

namespace cudascan::rotation {

template <typename T>
struct RotateLoops {
  /// Computes a row of the result.
  void (*row)(const RotateJob<T> &job, int y);
};

/// The loops for this processor.
template <typename T>
const RotateLoops<T> &loops();

}  // namespace cudascan::rotation
