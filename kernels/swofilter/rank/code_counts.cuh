// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counts of the codes in a window, and which of them occur often; see modes.cuh.
#pragma once
#include "kernels/base/warp_sums.cuh"

namespace cudascan::swo {

/// Codes of a group. A thread looks at one group at a time.
constexpr int kGroupCodes = 32;
/// None, instead of a code.
constexpr unsigned kNoCode = 1 << 16;

/// Which codes of a group occur at least so often, for a few counts.
struct alignas(16) CodeLevels {
  static constexpr unsigned kLevels = 4;
  unsigned words[kLevels];

  __device__ unsigned operator[](int level) const { return words[level]; }
};

/// How often each code occurs in a window: two counts in a word. For a few counts from `least` on,
/// each code has a bit that says whether it occurs at least so often; the caller has chosen
/// `least` so that this sets few bits.
/// @tparam kShared  whether counts are in shared memory
template <bool kShared>
class CodeCounts {
 public:
  using Bits = CodeLevels;
  static constexpr unsigned kLevels = Bits::kLevels;

  __device__ CodeCounts(unsigned *words, Bits *levels, int n_codes)
      : words_(words), levels_(levels), groups_((n_codes + kGroupCodes - 1) / kGroupCodes) {}

  __device__ void clear() const {
    for (int i = threadIdx.x; i < groups_ * kQuads; i += blockDim.x) quads(words_)[i] = {};
  }
  /// Adds the code of each lane that has one, without its bits. All lanes call it: in flat parts of
  /// an image they have the same code.
  __device__ void fill(unsigned code) const {
    const bool all = __all_sync(kWholeWarp, code == __shfl_sync(kWholeWarp, code, 0));
    if (code == kNoCode || (all && threadIdx.x % 32 != 0)) return;
    atomicAdd(words_ + code / 2, (all ? 32u : 1u) << code % 2 * 16);
  }
  /// Adds a code, or removes it with by = -1.
  __device__ void change(unsigned code, int by, unsigned least) const {
    if (code == kNoCode) return;
    const unsigned shift = code % 2 * 16;
    const unsigned before =
        atomicAdd(words_ + code / 2, static_cast<unsigned>(by) << shift) >> shift & 0xffff;
    const unsigned level = (by > 0 ? before + 1 : before) - least;
    // Threads may get here in another order than that of their changes.
    if (level < kLevels)
      atomicXor(&levels_[code / kGroupCodes].words[level], 1u << code % kGroupCodes);
  }

  /// The order of codes by their counts; of equal ones the lowest code is the largest key.
  __device__ unsigned key(unsigned code) const {
    return key_of(word(code / 2) >> code % 2 * 16 & 0xffff, code);
  }
  __device__ static unsigned key_of(unsigned count, unsigned code) {
    return count << 16 | (0xffff - code);
  }
  __device__ static unsigned code_of(unsigned key) { return 0xffff - (key & 0xffff); }
  __device__ static unsigned count_of(unsigned key) { return key >> 16; }

  /// Of this thread's groups.
  struct Largest {
    unsigned key, second;  ///< the latter is the largest count of another group
  };
  __device__ Largest largest() const {
    unsigned most = 0, second = 0;
    int best = 0;
    for (int group = threadIdx.x; group < groups_; group += blockDim.x) {
      const unsigned count = largest_count(group);
      second = max(second, min(count, most));
      if (count > most) most = count, best = group;
    }
    if (most == 0) return {0, 0};
    return {key_of(most, best * kGroupCodes + lowest(at_least(best, most)[0])), second};
  }
  /// Sets the bits of this thread's groups.
  __device__ void set_bits(unsigned least) const {
    for (int group = threadIdx.x; group < groups_; group += blockDim.x)
      levels_[group] = largest_count(group) < least ? Bits{} : at_least(group, least);
  }
  /// The largest key of this thread's groups; 0 if no code occurs `least` times.
  /// @param [out] crowded  whether there are codes of the highest level. Their counts may differ:
  ///                       all are read.
  __device__ unsigned largest_by_bits(unsigned least, bool &crowded) const {
    unsigned most = 0;
    crowded = false;
    for (int group = threadIdx.x; group < groups_; group += blockDim.x) {
      const Bits bits = levels_[group];
      if (bits[0] == 0) continue;
      const unsigned first = group * kGroupCodes, level = bits[2] ? 2 : bits[1] ? 1 : 0;
      const unsigned codes = bits[2] ? bits[2] : bits[1] ? bits[1] : bits[0];
      unsigned key = key_of(least + level, first + lowest(codes));
      if (bits[3]) {
        crowded = true, key = 0;
        for (unsigned rest = bits[3]; rest; rest &= rest - 1)
          key = max(key, this->key(first + lowest(rest)));
      }
      most = max(most, key);
    }
    return most;
  }

 private:
  static constexpr int kQuads = kGroupCodes / 8;  ///< four words each

  __device__ static unsigned lowest(unsigned bits) { return __ffs(bits) - 1; }
  __device__ static uint4 *quads(unsigned *words) { return reinterpret_cast<uint4 *>(words); }
  /// Threads that read at the same time begin in different banks.
  __device__ unsigned largest_count(int group) const {
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      const uint4 *const quad = quads(words_) + group * kQuads + (i + group / 2) % kQuads;
      const uint4 v = kShared ? *quad : __ldcg(quad);
      most = __vmaxu2(most, __vmaxu2(__vmaxu2(v.x, v.y), __vmaxu2(v.z, v.w)));
    }
    return max(most & 0xffff, most >> 16);
  }
  /// The codes of a group that occur at least `least` times, and those of the levels above.
  __device__ Bits at_least(int group, unsigned least) const {
    Bits bits{};
    for (int k = 0; k < kGroupCodes / 2; ++k) {
      const int i = (k + group) % (kGroupCodes / 2);
      const unsigned both = word(group * kGroupCodes / 2 + i);
      const unsigned low = both & 0xffff, high = both >> 16;
      if (max(low, high) < least) continue;
#pragma unroll
      for (unsigned level = 0; level < kLevels; ++level) {
        bits.words[level] |= (low >= least + level ? 1u : 0) << 2 * i;
        bits.words[level] |= (high >= least + level ? 2u : 0) << 2 * i;
      }
    }
    return bits;
  }
  /// Atomic operations change counts in device memory behind the back of the L1 cache.
  __device__ unsigned word(unsigned i) const {
    return kShared ? words_[i] : __ldcg(words_ + i);
  }

  unsigned *words_;
  Bits *levels_;
  int groups_;
};

}  // namespace cudascan::swo
