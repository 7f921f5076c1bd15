// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels for 16-bit samples, in a separate file so that both depths compile at the same time.
#include "kernels/autothreshold/kernel.cuh"

template void cudascan::autothreshold::queue(Cuda &, const ThresholdJob<std::uint16_t> &);
