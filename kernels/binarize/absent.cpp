// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces the CUDA files of binarize in a build without CUDA.
#include "kernels/base/absent.h"
#include "kernels/binarize.h"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const BinarizeParams &,
         BinarizeReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const BinarizeParams &,
         BinarizeReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const BinarizeParams &,
         BinarizeReport *) {
  refuse_cuda();
}

}  // namespace cudascan
