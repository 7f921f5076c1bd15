// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA kernels of Dobreanu and Chelaru; see baseline.h.
#pragma once
#include "kernels/equalize.h"

namespace cudascan::equalize {

/// Queues params.algorithm, naive or shared (automatic counts as shared); of the other parameters
/// it knows none: the statistics are those of the whole plane, and the result has all levels,
/// whatever Plane::black and Plane::white. Takes the executor's scratch memory. The kernels are as
/// published but for what follows from sizes: they serve any size and stride, where the published
/// ones leave out what is over beyond a multiple of the block, and the shared histogram runs at
/// least one block.
CUDASCAN_API void run_baseline(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                               const EqualizeParams &params);

}  // namespace cudascan::equalize
