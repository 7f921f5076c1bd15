// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces used_bits.cu in a build without CUDA.
#include "kernels/base/absent.h"
#include "kernels/used_bits.h"

namespace cudascan {

void find_used_bits(Cuda &, Plane<const std::uint16_t>) {
  refuse_cuda();
}
unsigned used_bits(Cuda &) {
  refuse_cuda();
}

}  // namespace cudascan
