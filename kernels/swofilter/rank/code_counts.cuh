// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counts of the codes in a window, and the largest of them; see modes.cuh.
#pragma once
#include "kernels/base/warp_sums.cuh"

namespace cudascan::swo {

/// Codes of a bound, and four bounds for each lane of a warp.
constexpr int kBoundCodes = 32, kBoundsRead = 128;
/// None, instead of a code.
constexpr unsigned kNoCode = 1 << 16;

/// How often each code occurs in a window.
class CodeCounts {
 public:
  /// Two counts are in a word.
  __device__ CodeCounts(unsigned *words, unsigned *bounds, int n_codes)
      : words_(words),
        bounds_(bounds),
        groups_((n_codes + kBoundCodes - 1) / kBoundCodes),
        bounds_end_((groups_ + kBoundsRead - 1) / kBoundsRead * kBoundsRead) {}

  __device__ void clear() const {
    for (int i = threadIdx.x; i < groups_ * kBoundCodes / 2; i += blockDim.x) words_[i] = 0;
  }
  /// Adds the code of each lane that has one, or removes it with by = -1. All lanes call it: in
  /// flat parts of an image they have the same code.
  __device__ void change(unsigned code, unsigned by) const {
    const bool all_same = __all_sync(kWholeWarp, code == __shfl_sync(kWholeWarp, code, 0));
    if (code == kNoCode || (all_same && threadIdx.x % 32 != 0)) return;
    if (all_same) by *= 32;
    atomicAdd(words_ + code / 2, code % 2 ? by << 16 : by);
  }
  __device__ unsigned key(unsigned code) const {
    return key_of(word(code / 2) >> code % 2 * 16 & 0xffff, code);
  }
  __device__ static unsigned key_of(unsigned count, unsigned code) {
    return count << 16 | (0xffff - code);
  }
  __device__ static unsigned code_of(unsigned key) { return 0xffff - (key & 0xffff); }

  /// Makes all bounds the largest keys.
  __device__ void set_bounds() const {
    for (int group = threadIdx.x; group < bounds_end_; group += blockDim.x) {
      unsigned most = 0;
      for (int i = 0; group < groups_ && i < kBoundCodes / 2; ++i) {
        const unsigned both = word(group * kBoundCodes / 2 + i);
        const unsigned code = group * kBoundCodes + 2 * i;
        most = max(most, max(key_of(both & 0xffff, code), key_of(both >> 16, code + 1)));
      }
      bounds_[group] = most;
    }
  }
  /// After a code has entered.
  __device__ void raise_bound(unsigned key) const {
    unsigned &bound = bounds_[code_of(key) / kBoundCodes];
    if (bound < key) atomicMax(&bound, key);
  }
  /// The largest key; called by a warp. Each lane looks at the largest of its bounds.
  __device__ unsigned largest() const {
    const unsigned lane = threadIdx.x % 32;
    for (;;) {
      unsigned bound = 0;
      for (int i = lane * 4; i < bounds_end_; i += kBoundsRead) {
        const uint4 v = *reinterpret_cast<const uint4 *>(bounds_ + i);
        bound = max(bound, max(max(v.x, v.y), max(v.z, v.w)));
      }
      const unsigned group = code_of(bound) / kBoundCodes;
      const bool exact = bound == 0 || key(code_of(bound)) == bound;
      unsigned most = warp_max(exact ? bound : 0);
      unsigned wrong = __ballot_sync(kWholeWarp, bound > most);
      if (wrong == 0) return most;
      for (; wrong; wrong = __ballot_sync(kWholeWarp, (wrong >> lane & 1) && bound > most)) {
        const unsigned first = __ffs(wrong) - 1;
        const unsigned corrected = __shfl_sync(kWholeWarp, group, first);
        const unsigned now = warp_max(key(corrected * kBoundCodes + lane));
        if (lane == first) bounds_[corrected] = now;
        most = max(most, now);
        wrong &= wrong - 1;
      }
      __syncwarp();
    }
  }

 private:
  /// Atomic operations change counts in device memory behind the back of the L1 cache.
  __device__ unsigned word(unsigned i) const {
    return *const_cast<const volatile unsigned *>(words_ + i);
  }

  unsigned *words_, *bounds_;
  int groups_, bounds_end_;
};

}  // namespace cudascan::swo
