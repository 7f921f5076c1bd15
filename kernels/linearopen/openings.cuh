// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings along many lines, in one launch. Each size of samples has its own file of kernels.
#pragma once
#include <cuda_runtime.h>

#include "kernels/exec.h"
#include "kernels/linearopen/cuts.cuh"
#include "kernels/linearopen/line_strips.cuh"

namespace cudascan::linearopen {

/// Queues the openings.
/// @param blocks  number of strips, parts and directions
template <typename T>
void queue_openings(Cuda &, const Cuts &, dim3 blocks, const OpenJob<T> &);

}  // namespace cudascan::linearopen
