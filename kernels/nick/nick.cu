// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/nick/queue.cuh"

namespace cudascan {

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const NickParams &params, NickReport *report) {
  nick::queue(cuda, in, out, params, report);
}

}  // namespace cudascan
