// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces histogram.cu in a build without CUDA.
#include "kernels/histogram.h"

#include "kernels/base/absent.h"

namespace cudascan {

void count(Cuda &, Plane<const std::uint8_t>, const HistogramParams &, Histogram &) {
  refuse_cuda();
}
void count(Cuda &, Plane<const std::uint16_t>, const HistogramParams &, Histogram &) {
  refuse_cuda();
}

}  // namespace cudascan
