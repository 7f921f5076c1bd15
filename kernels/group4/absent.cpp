// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces group4.cu in a build without CUDA.
#include "kernels/group4.h"

#include "kernels/base/absent.h"

namespace cudascan {

std::vector<std::uint8_t> encode_group4(Cuda &, Plane<const std::uint8_t>) {
  refuse_cuda();
}

}  // namespace cudascan
