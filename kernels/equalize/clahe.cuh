// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Contrast limited adaptive histogram equalization on the GPU; equalize.h defines it.
#pragma once
#include "kernels/equalize.h"

namespace cudascan::equalize {

/// Queues it; uses the executor's scratch memory.
void run_clahe(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
               const EqualizeParams &);
void run_clahe(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
               const EqualizeParams &);

}  // namespace cudascan::equalize
