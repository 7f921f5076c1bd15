// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels of 16-bit samples, apart to be compiled at the same time as those of 8-bit ones.
#include "kernels/autothreshold/kernel.cuh"

template void cudascan::autothreshold::queue(Cuda &, const Job<std::uint16_t> &);
