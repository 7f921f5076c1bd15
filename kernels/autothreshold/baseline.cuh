// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA kernels of Prahara, Pranolo, Anwar and Mao; see baseline.h.
#pragma once
#include "kernels/autothreshold/decision.h"

namespace cudascan::threshold {

/// State kept from frame to frame, in device memory, the same for all algorithms.
struct BaselineHistory {
  autothreshold::ThresholdHistory *turns;  ///< two; the next frame's is number `launches` % 2
  const unsigned *launches;
};

/// Queues Algorithm 1 of the paper, for any size and stride. As in every algorithm, roi,
/// ignore_black and ignore_white restrict what is counted, and smoothing, hysteresis and offset
/// change T before it is applied. Its tables are in its own history memory; the scratch memory is
/// left to the caller.
/// @param threshold  in device memory: the applied T
/// @param counts     in device memory: the histogram of 256 levels
/// @throws BadSetting for methods other than otsu, isodata and mcet
CUDASCAN_API void run_prahara(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                              const AutothresholdParams &params, const BaselineHistory &history,
                              int *threshold, std::uint32_t *counts);

}  // namespace cudascan::threshold
