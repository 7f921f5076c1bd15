// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/gpu_peers.h"

#include "bench/gpu_timer.h"

namespace cudascan::bench {

bool let_peers_reach(int one, int other) {
  for (const auto &[device, peer] : {std::pair{one, other}, std::pair{other, one}}) {
    int can = 0;
    BENCH_CUDA(cudaDeviceCanAccessPeer(&can, device, peer));
    if (!can) return false;
    cuda::use_device(device);
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();  // so that a later check does not report it
    else
      BENCH_CUDA(error);
  }
  return true;
}

void copy_to_peer(void *to, int to_device, const void *from, int from_device, std::size_t bytes,
                  CUstream_st *stream) {
  BENCH_CUDA(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream));
}

}  // namespace cudascan::bench
