// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces hue.cu in a build without CUDA.
#include "kernels/hue.h"

#include "kernels/base/absent.h"

namespace cudascan {

void paint_hues(Cuda &, Plane<const std::uint8_t>, const ChromaPlanes<std::uint8_t> &) {
  refuse_cuda();
}
void paint_hues(Cuda &, Plane<const std::uint16_t>, const ChromaPlanes<std::uint16_t> &) {
  refuse_cuda();
}

}  // namespace cudascan
