// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loop of packing samples to bits, compiled for several instruction sets.
#pragma once
#include "kernels/runlengths/bits.h"

namespace cudascan::runlengths {

template <typename T>
struct PackLoops {
  /// Packs whether samples are at or below a level; bits after the last one become 0.
  void (*pack)(const T *in, int n, T level, Word *out);
};

/// The loops for this processor.
template <typename T>
const PackLoops<T> &pack_loops();

}  // namespace cudascan::runlengths
