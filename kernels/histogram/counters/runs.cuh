// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs of samples that have the same level.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/histogram.h"
#include "kernels/histogram/counters/samples.cuh"

namespace cudascan::histogram {

/// Calls add_run(level, n) for samples of 16 bits. Equal neighbours are counted together, because
/// threads that count the same level wait for one another.
template <typename AddRun>
__device__ void for_runs(const VectorSamples &samples, const Levels &levels,
                         const AddRun &add_run) {
  int level = -1;
  unsigned run = 0;
  for_samples<std::uint16_t>(samples, [&](unsigned sample) {
    const int next = levels.level(sample);
    if (next != level && run > 0) add_run(level, run);
    run = next == level ? run + 1 : 1;
    level = next;
  });
  if (run > 0) add_run(level, run);
}

}  // namespace cudascan::histogram
