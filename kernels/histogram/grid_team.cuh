// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The team (team.h) of the threads of all blocks, which run at the same time
/// (LaunchShape::together).
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/grid_barrier.cuh"
#include "kernels/histogram/block_team.cuh"

namespace cudascan {

/// The threads of all blocks.
class GridTeam {
 public:
  /// Device memory in which the blocks exchange values.
  static std::size_t bytes(int blocks) { return std::size_t{2} * blocks * kTeamValue; }

  /// @param counts  in device memory
  /// @param values  bytes() of device memory
  __device__ GridTeam(const std::uint32_t *counts, int levels, BlockTeamMemory &memory,
                      GridBarrier &barrier, unsigned char *values)
      : block_(counts, 0, memory),
        counts_(counts),
        levels_(levels),
        barrier_(barrier),
        values_(values) {
    const int members = static_cast<int>(gridDim.x * blockDim.x);
    const int each = (levels + members - 1) / members;
    begin_ = min(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * each, levels);
    end_ = min(begin_ + each, levels);
  }

  __device__ int levels() const { return levels_; }
  __device__ std::uint32_t count(int level) const { return counts_[level]; }
  __device__ int begin() const { return begin_; }
  __device__ int end() const { return end_; }

  template <typename T>
  __device__ T before(const T &mine, T &all) {
    T of_block;
    T result = block_.before(mine, of_block);
    const unsigned char *const values = exchange(of_block);
    T lower{}, any{};
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      const T v = value<T>(values, b);
      any += v;
      if (b < blockIdx.x) lower += v;
    }
    T all_lower;
    block_.before(lower, all_lower);
    block_.before(any, all);
    all_lower += result;
    return all_lower;
  }

  template <typename T, typename Op>
  __device__ T reduce(const T &mine, const Op &op) {
    const unsigned char *const values = exchange(block_.reduce(mine, op));
    T result = value<T>(values, min(threadIdx.x, gridDim.x - 1));
    for (unsigned b = threadIdx.x + blockDim.x; b < gridDim.x; b += blockDim.x)
      result = op(result, value<T>(values, b));
    return block_.reduce_first(static_cast<int>(min(blockDim.x, gridDim.x)), result, op);
  }

 private:
  /// Passes the value of this block to the others; returns the address of the values of all blocks.
  template <typename T>
  __device__ const unsigned char *exchange(const T &v) {
    unsigned char *const values = values_ + turn_ * gridDim.x * kTeamValue;
    turn_ = 1 - turn_;
    if (threadIdx.x == 0) *reinterpret_cast<T *>(values + blockIdx.x * kTeamValue) = v;
    barrier_.meet();
    return values;
  }
  template <typename T>
  static __device__ T value(const unsigned char *values, unsigned block) {
    return *reinterpret_cast<const T *>(values + block * kTeamValue);
  }

  BlockTeam block_;
  const std::uint32_t *counts_;
  int levels_, begin_, end_;
  GridBarrier &barrier_;
  unsigned char *values_;
  unsigned turn_ = 0;
};

}  // namespace cudascan
