// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces equalize.cu and baseline.cu in a build without CUDA.
#include "kernels/equalize.h"

#include "kernels/base/absent.h"
#include "kernels/equalize/baseline.cuh"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const EqualizeParams &,
         EqualizeReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const EqualizeParams &,
         EqualizeReport *) {
  refuse_cuda();
}

void equalize::run_baseline(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                            const BaselineVariant &) {
  refuse_cuda();
}
void equalize::count_baseline(Cuda &, Plane<const std::uint8_t>, std::uint32_t *,
                              const BaselineVariant &) {
  refuse_cuda();
}

}  // namespace cudascan
