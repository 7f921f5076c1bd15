// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Copies from the memory of one GPU to that of another. In a build without CUDA both functions
/// throw Error.
#pragma once
#include <cstddef>

struct CUstream_st;

namespace cudascan::bench {

/// Lets copies between the devices go directly, in both directions, for the rest of the process.
/// Until then the driver takes them through host memory. The current device changes.
/// @return whether the hardware can do it
bool let_peers_reach(int one, int other);

/// Queues a copy on a stream of either device.
void copy_to_peer(void *to, int to_device, const void *from, int from_device, std::size_t bytes,
                  CUstream_st *stream);

}  // namespace cudascan::bench
