// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A barrier for blocks that run at the same time (LaunchShape::together).
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/ptx.cuh"

namespace cudascan {

/// A barrier for all threads of all blocks.
class GridBarrier {
 public:
  /// @param word  in device memory, 0 before the first launch ever; it needs no care between
  ///              launches
  __device__ explicit GridBarrier(unsigned *word) : word_(word) {
    // Until this block arrives the top bit stays what it is. So it can be read early, and without
    // order: an ordered load would wait for the copies that are under way.
    if (threadIdx.x == 0) before_ = *const_cast<volatile unsigned *>(word);
  }

  /// Returns when all have called it; each then sees what the others have written.
  __device__ void meet() {
    arrive();
    wait();
  }
  /// The two halves of meet(), for work of this block's own between them.
  __device__ void arrive() {
    __syncthreads();
    // All blocks together add kTurn: the top bit turns over with the last of them.
    if (threadIdx.x == 0) add_release(word_, blockIdx.x == 0 ? kTurn - (gridDim.x - 1) : 1);
  }
  __device__ void wait() {
    if (threadIdx.x == 0) {
      unsigned now;
      do {
        now = load_acquire(word_);
      } while (((before_ ^ now) & kTurn) == 0);
      before_ = now;
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned kTurn = 0x80000000;

  unsigned *word_;
  unsigned before_ = 0;
};

}  // namespace cudascan
