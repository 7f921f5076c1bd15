// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces gpu.cpp in a build without CUDA.
#include <cstdio>

#include "bench/bench.h"

namespace cudascan::bench {

bool bench_cuda(const Options &, Report &) {
  std::printf("(no CUDA rows: built without CUDA)\n");
  return false;
}

std::vector<TransferTimes> time_transfers(const Options &, const std::vector<Size> &,
                                          const Runner &) {
  return {};
}

void describe_gpu(Machine &) {}

TimeCase cuda_timer(const Options &) {
  return {};
}

}  // namespace cudascan::bench
