// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The team (team.h) of the threads of a block.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/histogram/team_reductions.h"

namespace cudascan {

/// The value of another lane.
template <typename T>
__device__ T from_lane(const T &v, int lane) {
  static_assert(sizeof(T) % 4 == 0);
  struct Words {
    unsigned word[sizeof(T) / 4];
  };
  // Not memcpy(), which may use local memory.
  auto words = __builtin_bit_cast(Words, v);
#pragma unroll
  for (unsigned &word : words.word) word = __shfl_sync(kWholeWarp, word, lane);
  return __builtin_bit_cast(T, words);
}

/// Space for a value that members of a team exchange. Its size is not a power of two, so that lanes
/// that read neighbours use different banks.
inline constexpr int kTeamValue = 80;

/// Shared memory of a BlockTeam. Values of one exchange may still be read while those of the next
/// are written. Therefore two sets are used in turn, and an exchange needs only one barrier.
struct alignas(16) BlockTeamMemory {
  unsigned char values[2][32][kTeamValue];
  unsigned char own[kTeamMemory];
};

/// Replaces each word of v by f(word).
template <typename F, Wordwise T>
__device__ T for_words(const T &v, const F &f) {
  auto words = __builtin_bit_cast(WordsOf<T>, v);
#pragma unroll
  for (auto &word : words.word) word = f(word);
  return __builtin_bit_cast(T, words);
}

/// The threads of a block, or of some of its warps.
class BlockTeam {
 public:
  /// @param counts  in shared or device memory
  __device__ BlockTeam(const std::uint32_t *counts, int levels, BlockTeamMemory &memory)
      : BlockTeam(counts, levels, memory, 0, blockDim.x / 32) {}

  /// Divides this team into n teams, n <= warps(), and returns the team of the calling thread. All
  /// n teams must call the same functions in the same order, with a barrier of this team before and
  /// after.
  __device__ BlockTeam part(int n) const {
    const int i = part_of(n), first = warps() * i / n;
    return {counts_, levels_, memory_, first_warp_ + first, warps() * (i + 1) / n - first};
  }
  /// Number of the part, of n, that the calling thread is in.
  __device__ int part_of(int n) const { return ((warp() + 1) * n - 1) / warps(); }

  __device__ int levels() const { return levels_; }
  __device__ std::uint32_t count(int level) const { return counts_[level]; }
  __device__ int begin() const { return begin_; }
  __device__ int end() const { return end_; }

  /// Members without levels contribute nothing.
  template <typename T>
  __device__ T before(const T &mine, T &all) {
    T inclusive = mine;
    const int turn = next_turn();
    if (warp() < owner_warps_) {
      scan<32>(inclusive);
      if (lane() == 31) value<T>(turn, warp()) = inclusive;
    }
    T result = from_lane(inclusive, max(lane() - 1, 0));
    if (lane() == 0) result = T{};
    __syncthreads();
    // Each warp scans the sums of all warps.
    T sums{};
    if (lane() < owner_warps_) sums = value<T>(turn, lane());
    if (owner_warps_ <= 8)
      scan<8>(sums);
    else
      scan<32>(sums);
    all = from_lane(sums, owner_warps_ - 1);
    T lower = from_lane(sums, max(warp() - 1, 0));
    if (warp() > 0) {
      lower += result;
      result = lower;
    }
    return result;
  }

  template <typename T, typename Op>
  __device__ T reduce(const T &mine, const Op &op) {
    return reduce_first(owners_, mine, op);
  }
  /// Combines the values of the first n members.
  template <typename T, typename Op>
  __device__ T reduce_first(int n, const T &mine, const Op &op) {
    T result = mine;
    const int turn = next_turn();
    const int lanes = min(n - 32 * warp(), 32);  // of this warp
    if (lanes > 0) {
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2) {
        const T other = from_lane(result, min(lane() + distance, 31));
        if (lane() + distance < lanes) result = op(result, other);
      }
      if (lane() == 0) value<T>(turn, warp()) = result;
    }
    __syncthreads();
    // Each warp combines the results of all warps.
    const int some = (n + 31) / 32;
    result = value<T>(turn, min(lane(), some - 1));
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      if (distance >= some) continue;
      const T other = from_lane(result, min(lane() + distance, 31));
      if (lane() + distance < some) result = op(result, other);
    }
    return from_lane(result, 0);
  }

  /// sum_of(). Members without levels contribute zero.
  template <Wordwise T>
  __device__ T sum(const T &mine) {
    return by_warps(mine, [](auto word) { return warp_total(word); });
  }
  /// highest_of(). Members without levels contribute zero.
  template <Wordwise T>
  __device__ T highest(const T &mine) {
    return by_warps(mine, [](auto word) { return warp_max(word); });
  }

  /// best_of() for several values at a time. It compares integers that have the same order as the
  /// scores.
  template <int n>
  __device__ void best(Scored (&scored)[n]) {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    struct Keys {
      struct Key {
        unsigned high, low, level;
      } key[n];

      __device__ void reduce() {
        unsigned highest[n], next[n];
#pragma unroll
        for (int i = 0; i < n; ++i) highest[i] = warp_max(key[i].high);
#pragma unroll
        for (int i = 0; i < n; ++i) next[i] = warp_max(key[i].high == highest[i] ? key[i].low : 0);
#pragma unroll
        for (int i = 0; i < n; ++i) {
          const bool best = key[i].high == highest[i] && key[i].low == next[i];
          key[i] = {highest[i], next[i], warp_min(best ? key[i].level : 0xffffffff)};
        }
      }
    };
    Keys keys, none;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const double score = scored[i].score + 0.0;  // not -0
      const auto bits = __builtin_bit_cast(std::uint64_t, score);
      const std::uint64_t ordered = bits & kSign ? ~bits : bits | kSign;
      keys.key[i] = {static_cast<unsigned>(ordered >> 32), static_cast<unsigned>(ordered),
                     static_cast<unsigned>(scored[i].level)};
      none.key[i] = {0, 0, 0xffffffff};
    }
    const int turn = next_turn();
    if (warp() < owner_warps_) {
      if (member() >= owners_) keys = none;
      keys.reduce();
      if (lane() == 0) value<Keys>(turn, warp()) = keys;
    }
    __syncthreads();
    keys = none;
    if (lane() < owner_warps_) keys = value<Keys>(turn, lane());
    keys.reduce();
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const std::uint64_t best = std::uint64_t{keys.key[i].high} << 32 | keys.key[i].low;
      scored[i] = {__builtin_bit_cast(double, best &kSign ? best ^ kSign : ~best),
                   static_cast<int>(keys.key[i].level)};
    }
  }
  /// any_of() for the whole block.
  __device__ bool any(bool mine) {
    return __syncthreads_count(mine) > 0;
  }

  __device__ int member() const {
    return static_cast<int>(threadIdx.x) - 32 * first_warp_;
  }
  __device__ int members() const {
    return 32 * warps_;
  }
  __device__ int warps() const {
    return warps_;
  }
  __device__ void *memory() {
    return memory_.own;
  }
  static constexpr int kNear = 32, kMostLevels = 1;
  __device__ int near_member() const {
    return lane();
  }
  __device__ int near_begin() const {
    return min(32 * warp(), levels_);
  }
  __device__ int near_end() const {
    return min(32 * warp() + 32, levels_);
  }
  __device__ double value_before(double v) const {
    return from_lane(v, max(lane() - 1, 0));
  }
  __device__ double value_after(double v) const {
    return from_lane(v, min(lane() + 1, 31));
  }
  __device__ void sync() {
    __syncthreads();
  }

 private:
  __device__ BlockTeam(const std::uint32_t *counts, int levels, BlockTeamMemory &memory,
                       int first_warp, int warps)
      : counts_(counts), levels_(levels), first_warp_(first_warp), warps_(warps), memory_(memory) {
    const int each = (levels + members() - 1) / members();
    begin_ = min(member() * each, levels);
    end_ = min(begin_ + each, levels);
    owners_ = each > 0 ? (levels + each - 1) / each : members();
    owner_warps_ = (owners_ + 31) / 32;
  }

  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  __device__ int warp() const {
    return threadIdx.x / 32 - first_warp_;
  }
  __device__ int next_turn() {
    turn_ = 1 - turn_;
    return turn_;
  }
  template <typename T>
  __device__ T &value(int turn, int warp) {
    static_assert(sizeof(T) <= kTeamValue);
    return *reinterpret_cast<T *>(memory_.values[turn][first_warp_ + warp]);
  }

  /// Combines, word by word, the values of the members with levels.
  /// @param combine  returns to each lane of a warp the combination of the values of all lanes; 0
  ///                 is neutral
  template <Wordwise T, typename Combine>
  __device__ T by_warps(const T &mine, const Combine &combine) {
    const int turn = next_turn();
    if (warp() < owner_warps_) {
      const T of_warp = for_words(mine, combine);
      if (lane() == 0) value<T>(turn, warp()) = of_warp;
    }
    __syncthreads();
    T of_warps{};  // Not a conditional expression: it would choose between addresses.
    if (lane() < owner_warps_) of_warps = value<T>(turn, lane());
    return for_words(of_warps, combine);
  }
  static __device__ std::uint32_t warp_total(std::uint32_t v) {
    return warp_sum(v);
  }
  /// In parts so small that the sum over 32 lanes fits into 32 bits.
  static __device__ std::uint64_t warp_total(std::uint64_t v) {
    constexpr unsigned kPart = (1u << 22) - 1;
    const std::uint64_t low = warp_sum(static_cast<unsigned>(v) & kPart);
    const std::uint64_t middle = warp_sum(static_cast<unsigned>(v >> 22) & kPart);
    const std::uint64_t high = warp_sum(static_cast<unsigned>(v >> 44));
    return low + (middle << 22) + (high << 44);
  }
  static __device__ std::uint32_t warp_max(std::uint32_t v) {
    return cudascan::warp_max(v);
  }
  static __device__ std::uint64_t warp_max(std::uint64_t v) {
    const auto high = static_cast<unsigned>(v >> 32);
    const unsigned highest = cudascan::warp_max(high);
    const unsigned low = cudascan::warp_max(high == highest ? static_cast<unsigned>(v) : 0);
    return std::uint64_t{highest} << 32 | low;
  }

  /// An inclusive scan over the first lanes.
  template <int lanes, typename T>
  static __device__ void scan(T &v) {
    scan_from<1, lanes>(v);
  }
  template <int distance, int lanes, typename T>
  static __device__ void scan_from(T &v) {
    if constexpr (distance < lanes) {
      if constexpr (Wordwise<T>) {
        v = for_words(v, [](auto word) {
          scan_step<distance>(word);
          return word;
        });
      } else {
        T sum = from_lane(v, max(lane() - distance, 0));
        if (lane() >= distance) {
          sum += v;
          v = sum;
        }
      }
      scan_from<2 * distance, lanes>(v);
    }
  }

  const std::uint32_t *counts_;
  int levels_, begin_, end_;
  int first_warp_, warps_;
  int owners_, owner_warps_;  // members, and warps, that own levels
  int turn_ = 0;              // set of values that the next exchange uses
  BlockTeamMemory &memory_;
};

}  // namespace cudascan
