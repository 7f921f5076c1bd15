// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA kernels of Prahara, Pranolo, Anwar and Mao; see autothreshold_baseline.h.
#pragma once
#include "kernels/autothreshold.h"

namespace cudascan::threshold {

/// Queues Algorithm 1 of the paper, for any size and stride. Of the parameters it knows method,
/// offset, invert and apply; the statistics are those of the whole plane. Takes the executor's
/// scratch memory.
/// @param threshold  in device memory: what prahara_threshold() finds, plus params.offset
/// @param counts     in device memory: pixels of each of 256 levels
/// @throws BadSetting for other methods than otsu, isodata and mcet
CUDASCAN_API void run_prahara(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                              const AutothresholdParams &params, int *threshold,
                              std::uint32_t *counts);

}  // namespace cudascan::threshold
