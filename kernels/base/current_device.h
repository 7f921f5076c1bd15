// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA devices of this machine, for C++ that includes no CUDA header. In a build without CUDA
/// both functions throw Error.
#pragma once

namespace cudascan {

/// The number of devices. Throws Error if there is none.
int device_count();

/// Makes a device's primary context current in the calling thread. Only for threads of the library:
/// a context that the thread's owner has made current would be replaced.
void make_current(int device);

}  // namespace cudascan
