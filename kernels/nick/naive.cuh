// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Three CUDA kernels that add up each window by itself; see naive.h.
#pragma once
#include "kernels/nick.h"
#include "kernels/nick/formula.h"

namespace cudascan::nick {

/// Statistics of the image for wolf.
struct WolfStatistics {
  Spread busiest;
  std::uint32_t minimum;
};

/// Queues params.algorithm, one of the three (NickAlgorithm::automatic counts as global).
/// @param wolf         statistics of the image in device memory, or nullptr unless the method is
///                     wolf
/// @param black_count  in device memory; the count is added to it; or nullptr
template <typename T, typename Out>
void run_naive(Cuda &, Plane<const T> in, Plane<Out> out, const NickParams &params,
               const WolfStatistics *wolf, unsigned long long *black_count);

}  // namespace cudascan::nick
