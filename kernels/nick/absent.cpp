// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces nick.cu, nick_16.cu and baseline.cu in a build without CUDA.
#include "kernels/nick.h"

#include "kernels/base/absent.h"
#include "kernels/nick/baseline.h"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const NickParams &, NickReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const NickParams &,
         NickReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const NickParams &,
         NickReport *) {
  refuse_cuda();
}

void nick::run_published(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, PublishedKernel,
                         int, int, float) {
  refuse_cuda();
}

}  // namespace cudascan
