// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces swofilter.cu in a build without CUDA.
#include "kernels/swofilter.h"

#include "kernels/base/absent.h"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const SwoFilterParams &,
         SwoFilterReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const SwoFilterParams &,
         SwoFilterReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const SwoFilterParams &,
         SwoFilterReport *) {
  refuse_cuda();
}

}  // namespace cudascan
