// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA kernels of Dobreanu and Chelaru; see baseline.h.
#pragma once
#include "kernels/equalize.h"
#include "kernels/equalize/baseline.h"

namespace cudascan::equalize {

/// Queues the kernels of a variant. Statistics are over the whole plane, and the result has all
/// levels, regardless of Plane::black and Plane::white. Uses the executor's scratch memory. The
/// kernels are as published, except that they support any size and stride, while the published ones
/// skip the rest beyond a multiple of the block; and there is at least one block.
CUDASCAN_API void run_baseline(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                               const BaselineVariant &variant);

/// Queues only the histogram of a variant.
/// @param counts  256 counts in device memory
CUDASCAN_API void count_baseline(Cuda &, Plane<const std::uint8_t> in, std::uint32_t *counts,
                                 const BaselineVariant &variant);

}  // namespace cudascan::equalize
