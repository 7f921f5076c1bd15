// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA devices of this machine, for C++ that includes no CUDA header.
#pragma once

namespace cudascan {

/// The number of devices. Throws Error if there is none, and in a build without CUDA.
int device_count();

}  // namespace cudascan
