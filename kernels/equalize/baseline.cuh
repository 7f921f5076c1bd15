// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA kernels of Dobreanu and Chelaru; see baseline.h.
#pragma once
#include "kernels/equalize.h"

namespace cudascan::equalize {

/// Queues params.algorithm, naive or shared (automatic counts as shared), and ignores the other
/// parameters: statistics are over the whole plane, and the result has all levels, regardless of
/// Plane::black and Plane::white. Uses the executor's scratch memory. The kernels are as published,
/// except that they support any size and stride, while the published ones skip the rest beyond a
/// multiple of the block; and the shared histogram runs at least one block.
CUDASCAN_API void run_baseline(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                               const EqualizeParams &params);

}  // namespace cudascan::equalize
