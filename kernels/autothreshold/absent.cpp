// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces autothreshold.cu and autothreshold_16.cu in a build without CUDA.
#include "kernels/autothreshold.h"

#include "kernels/base/absent.h"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const AutothresholdParams &,
         AutothresholdReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const AutothresholdParams &,
         AutothresholdReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const AutothresholdParams &,
         AutothresholdReport *) {
  refuse_cuda();
}

}  // namespace cudascan
