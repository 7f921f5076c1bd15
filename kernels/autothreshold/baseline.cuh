// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA kernels of Prahara, Pranolo, Anwar and Mao; see baseline.h.
#pragma once
#include "kernels/autothreshold/decision.h"

namespace cudascan::threshold {

/// What goes from frame to frame, in device memory, the same for all algorithms.
struct BaselineHistory {
  autothreshold::History *turns;  ///< two; that of the next frame is number `launches` % 2
  const unsigned *launches;
};

/// Queues Algorithm 1 of the paper, for any size and stride. roi, ignore_black and ignore_white
/// leave out what is counted; smoothing, hysteresis and offset change T before it is applied, as in
/// every algorithm. Its tables are in a history of its own: the scratch memory stays the caller's.
/// @param threshold  in device memory: T as it is applied
/// @param counts     in device memory: what was counted of each of 256 levels
/// @throws BadSetting for other methods than otsu, isodata and mcet
CUDASCAN_API void run_prahara(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                              const AutothresholdParams &params, const BaselineHistory &history,
                              int *threshold, std::uint32_t *counts);

}  // namespace cudascan::threshold
