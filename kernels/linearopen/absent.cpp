// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces linearopen.cu in a build without CUDA.
#include "kernels/linearopen.h"

#include "kernels/base/absent.h"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const LinearOpenParams &,
         LinearOpenReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const LinearOpenParams &,
         LinearOpenReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const float>, Plane<float>, const LinearOpenParams &, LinearOpenReport *) {
  refuse_cuda();
}

}  // namespace cudascan
