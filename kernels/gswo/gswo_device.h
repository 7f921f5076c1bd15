// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Device memory of stand-alone programs that gswo-cc writes, and how errors end them.
#pragma once
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace gswo {

/// What the program has done up to now.
struct Counts {
  std::atomic<long long> allocations{0};           ///< cudaMalloc
  std::atomic<long long> uploads{0}, uploaded{0};  ///< copies to the device, and their bytes
  std::atomic<long long> downloads{0}, downloaded{0};
};
inline Counts &counts() {
  static Counts all;
  return all;
}

inline void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Device memory.
struct Block {
  char *data = nullptr;
  std::size_t bytes = 0;
  int device = 0;
};

/// Allocations of the process. What is given back is kept for the next one that fits.
class Pool {
 public:
  /// It is never destroyed: when a process ends, CUDA may end first.
  static Pool &get() {
    static Pool *const pool = new Pool;
    return *pool;
  }

  /// @param name  what the memory is for, if there is none
  Block take(std::size_t bytes, const char *name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Block wanted;
    wanted.bytes = rounded(bytes);
    check(cudaGetDevice(&wanted.device), "cudaGetDevice");
    std::size_t best = free_.size();
    for (std::size_t k = 0; k < free_.size(); k++) {
      const Block &b = free_[k];
      if (b.device == wanted.device && b.bytes >= wanted.bytes && b.bytes / 2 <= wanted.bytes &&
          (best == free_.size() || b.bytes < free_[best].bytes))
        best = k;
    }
    if (best < free_.size()) {
      const Block found = free_[best];
      free_.erase(free_.begin() + (std::ptrdiff_t)best);
      return found;
    }
    cudaError_t error = cudaMalloc((void **)&wanted.data, wanted.bytes);
    if (error == cudaErrorMemoryAllocation && !free_.empty()) {
      cudaGetLastError();
      free_all();
      error = cudaMalloc((void **)&wanted.data, wanted.bytes);
    }
    if (error != cudaSuccess) {
      std::fprintf(stderr, "'%s' needs %.1f MB of device memory: %s\n", name,
                   (double)wanted.bytes / 1e6, cudaGetErrorString(error));
      std::exit(1);
    }
    counts().allocations++;
    return wanted;
  }

  void give(const Block &block) {
    if (!block.data) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(block);
  }

  /// Frees what is not in use.
  void release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_all();
  }

 private:
  /// Images of nearly the same size can use one another's memory.
  static std::size_t rounded(std::size_t bytes) {
    std::size_t unit = 4096;
    while (unit * 16 < bytes) unit *= 2;
    return (bytes + unit - 1) / unit * unit;
  }
  void free_all() {
    for (const Block &b : free_) check(cudaFree(b.data), "cudaFree");
    free_.clear();
  }

  std::mutex mutex_;
  std::vector<Block> free_;
};

}  // namespace gswo
