// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces gpu_peers.cpp in a build without CUDA.
#include "bench/gpu_peers.h"
#include "common/error.h"

namespace cudascan::bench {

bool let_peers_reach(int, int) {
  throw Error("built without CUDA");
}

void copy_to_peer(void *, int, const void *, int, std::size_t, CUstream_st *) {
  throw Error("built without CUDA");
}

}  // namespace cudascan::bench
