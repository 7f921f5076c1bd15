// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/open_kernel.cuh"

namespace cudascan::linearopen {

template void queue_openings(Cuda &, const Cuts &, dim3, const OpenJob<std::uint16_t> &);

}  // namespace cudascan::linearopen
