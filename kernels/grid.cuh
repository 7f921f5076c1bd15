// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Blocks that run at the same time (LaunchShape::together) and wait for one another, and the teams
/// (team.h) of a block and of all blocks.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/ptx.cuh"
#include "kernels/split.h"
#include "kernels/team.h"
#include "kernels/warp_sums.cuh"

namespace cudascan {

/// A barrier for all threads of all blocks.
class GridBarrier {
 public:
  /// @param word  in device memory, 0 before the first launch ever; it needs no care between launches
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

/// The value that another lane has.
template <typename T>
__device__ T from_lane(const T &v, int lane) {
  static_assert(sizeof(T) % 4 == 0);
  struct Words {
    unsigned word[sizeof(T) / 4];
  };
  // Not memcpy(): that may go through local memory.
  auto words = __builtin_bit_cast(Words, v);
#pragma unroll
  for (unsigned &word : words.word) word = __shfl_sync(kWholeWarp, word, lane);
  return __builtin_bit_cast(T, words);
}

/// Room for a value that members of a team exchange; no power of two, so that lanes that read
/// neighbours use different banks.
inline constexpr int kTeamValue = 144;

/// Shared memory of a BlockTeam.
struct alignas(16) BlockTeamMemory {
  unsigned char values[32][kTeamValue];
  unsigned char own[kTeamMemory];
};

/// The threads of a block.
class BlockTeam {
 public:
  /// @param counts  in shared or device memory
  __device__ BlockTeam(const std::uint32_t *counts, int levels, BlockTeamMemory &memory)
      : counts_(counts), levels_(levels), memory_(memory) {
    const int each = (levels + members() - 1) / members();
    begin_ = min(member() * each, levels);
    end_ = min(begin_ + each, levels);
    owners_ = each > 0 ? (levels + each - 1) / each : members();
    owner_warps_ = (owners_ + 31) / 32;
  }

  __device__ int levels() const { return levels_; }
  __device__ std::uint32_t count(int level) const { return counts_[level]; }
  __device__ int begin() const { return begin_; }
  __device__ int end() const { return end_; }

  /// Members without levels have nothing to give.
  template <typename T>
  __device__ T before(const T &mine, T &all) {
    T inclusive = mine;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      T sum = from_lane(inclusive, max(lane() - distance, 0));
      if (lane() < distance) continue;
      sum += inclusive;
      inclusive = sum;
    }
    if (lane() == 31) value<T>(warp()) = inclusive;
    T result = from_lane(inclusive, max(lane() - 1, 0));
    if (lane() == 0) result = T{};
    __syncthreads();
    // Each warp scans the sums of all warps.
    T sums = lane() < owner_warps_ ? value<T>(lane()) : T{};
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance >= owner_warps_) break;
      T sum = from_lane(sums, max(lane() - distance, 0));
      if (lane() < distance) continue;
      sum += sums;
      sums = sum;
    }
    all = from_lane(sums, owner_warps_ - 1);
    T lower = from_lane(sums, max(warp() - 1, 0));
    if (warp() > 0) {
      lower += result;
      result = lower;
    }
    __syncthreads();
    return result;
  }

  template <typename T, typename Op>
  __device__ T reduce(const T &mine, const Op &op) {
    return reduce_first(owners_, mine, op);
  }
  /// Combines what the first n members give.
  template <typename T, typename Op>
  __device__ T reduce_first(int n, const T &mine, const Op &op) {
    T result = mine;
    const int lanes = min(n - 32 * warp(), 32);  // of this warp
    if (lanes > 0) {
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2) {
        const T other = from_lane(result, min(lane() + distance, 31));
        if (lane() + distance < lanes) result = op(result, other);
      }
      if (lane() == 0) value<T>(warp()) = result;
    }
    __syncthreads();
    // Each warp combines what the warps have found.
    const int some = (n + 31) / 32;
    result = value<T>(min(lane(), some - 1));
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      if (distance >= some) continue;
      const T other = from_lane(result, min(lane() + distance, 31));
      if (lane() + distance < some) result = op(result, other);
    }
    result = from_lane(result, 0);
    __syncthreads();
    return result;
  }

  /// best_of(), by integers in the order of the scores.
  __device__ threshold::Scored best(const threshold::Scored &mine) {
    struct Key {
      unsigned high, low, level;

      __device__ void reduce() {
        const unsigned highest = warp_max(high);
        const unsigned next = warp_max(high == highest ? low : 0);
        level = warp_min(high == highest && low == next ? level : 0xffffffff);
        high = highest;
        low = next;
      }
    };
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    const auto bits = __builtin_bit_cast(std::uint64_t, mine.score + 0.0);  // there is no -0 then
    const std::uint64_t ordered = bits & kSign ? ~bits : bits | kSign;
    Key key{static_cast<unsigned>(ordered >> 32), static_cast<unsigned>(ordered),
            static_cast<unsigned>(mine.level)};
    if (warp() < owner_warps_) {
      if (member() >= owners_) key = {0, 0, 0xffffffff};
      key.reduce();
      if (lane() == 0) value<Key>(warp()) = key;
    }
    __syncthreads();
    key = lane() < owner_warps_ ? value<Key>(lane()) : Key{0, 0, 0xffffffff};
    key.reduce();
    __syncthreads();
    const std::uint64_t best = std::uint64_t{key.high} << 32 | key.low;
    return {__builtin_bit_cast(double, best &kSign ? best ^ kSign : ~best),
            static_cast<int>(key.level)};
  }
  __device__ bool any(bool mine) {
    return __syncthreads_count(mine) > 0;
  }

  __device__ int member() const {
    return threadIdx.x;
  }
  __device__ int members() const {
    return blockDim.x;
  }
  __device__ void *memory() {
    return memory_.own;
  }
  __device__ void sync() {
    __syncthreads();
  }

 private:
  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  static __device__ int warp() {
    return threadIdx.x / 32;
  }
  static __device__ int warps() {
    return blockDim.x / 32;
  }
  template <typename T>
  __device__ T &value(int i) {
    static_assert(sizeof(T) <= kTeamValue);
    return *reinterpret_cast<T *>(memory_.values[i]);
  }

  const std::uint32_t *counts_;
  int levels_, begin_, end_;
  int owners_, owner_warps_;  // members, and warps, that own levels
  BlockTeamMemory &memory_;
};

/// The threads of all blocks.
class GridTeam {
 public:
  /// Device memory that the blocks exchange values in.
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
  /// Gives the value of this block to the others; returns where those of all are.
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
