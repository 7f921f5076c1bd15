// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces runlengths.cu in a build without CUDA.
#include "kernels/runlengths.h"

#include "kernels/base/absent.h"

namespace cudascan {

void count_runs(Cuda &, Plane<const std::uint8_t>, const RunLengthParams &, RunLengths &) {
  refuse_cuda();
}
void count_runs(Cuda &, Plane<const std::uint16_t>, const RunLengthParams &, RunLengths &) {
  refuse_cuda();
}

}  // namespace cudascan
