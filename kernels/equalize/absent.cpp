// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces equalize.cu in a build without CUDA.
#include "kernels/equalize.h"

#include "kernels/base/absent.h"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const EqualizeParams &,
         EqualizeReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const EqualizeParams &,
         EqualizeReport *) {
  refuse_cuda();
}

}  // namespace cudascan
