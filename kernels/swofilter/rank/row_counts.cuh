// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counts for 32 rows at once: bit j of word k is bit k of the count of row j. A lane has a column.
/// Adders of whole words instead of numbers: Harley and Seal, see Warren, "Hacker's Delight", 2nd
/// edition, 2012, 5-1; transposition of bits: the same, 7-3.
#pragma once
#include "kernels/base/warp_sums.cuh"

namespace cudascan::swo {

/// Bits of a count.
constexpr int kCountBits = 16;

struct RowCounts {
  unsigned words[kCountBits];

  /// Adds the counts of a part; at(k) is word k of these.
  template <typename At>
  __device__ void add(const At &at) {
    unsigned carry = 0;
#pragma unroll
    for (int k = 0; k < kCountBits; ++k) {
      const unsigned a = words[k], b = at(k);
      words[k] = a ^ b ^ carry;
      carry = (a & b) | (a & carry) | (b & carry);
    }
  }
};

/// Adds a bit for each row to `sum`.
/// @return the carries
__device__ inline unsigned add_rows(unsigned &sum, unsigned a, unsigned b) {
  const unsigned s = sum;
  sum = s ^ a ^ b;
  return (s & a) | (s & b) | (a & b);
}

/// Counts the bits that are set.
/// @tparam kBits  of the counts, more than 3
/// @param n       words, a multiple of 8
/// @param read    read(i, words) reads words i to i + 7
template <int kBits, typename Read>
__device__ RowCounts count_rows(unsigned n, const Read &read) {
  RowCounts counts{};
  unsigned &ones = counts.words[0], &twos = counts.words[1], &fours = counts.words[2];
  for (unsigned i = 0; i < n; i += 8) {
    unsigned rows[8];
    read(i, rows);
    unsigned by_two[2], by_four[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      by_two[0] = add_rows(ones, rows[4 * k], rows[4 * k + 1]);
      by_two[1] = add_rows(ones, rows[4 * k + 2], rows[4 * k + 3]);
      by_four[k] = add_rows(twos, by_two[0], by_two[1]);
    }
    unsigned carry = add_rows(fours, by_four[0], by_four[1]);
#pragma unroll
    for (int k = 3; k < kBits; ++k) {
      const unsigned both = counts.words[k] & carry;
      counts.words[k] ^= carry;
      carry = both;
    }
  }
  return counts;
}

/// The values that occur most often so far, and how often.
class RowModes {
 public:
  /// Replaces values that occur less often than this one, or as often and are larger. All lanes
  /// call it.
  /// @tparam kBits  of the counts, which have no bits above
  template <int kBits>
  __device__ void compare(const RowCounts &counts, unsigned value) {
    unsigned more = 0, same = ~0u;
#pragma unroll
    for (int k = kCountBits - 1; k >= kBits; --k) same &= ~counts_.words[k];
#pragma unroll
    for (int k = kBits - 1; k >= 0; --k) {
      more |= same & counts.words[k] & ~counts_.words[k];
      same &= ~(counts.words[k] ^ counts_.words[k]);
    }
    if (!__any_sync(kWholeWarp, (more | same) != 0)) return;
    const auto inverted = [&](int k) { return value >> k & 1 ? 0u : ~0u; };
#pragma unroll
    for (int k = 15; k >= 0; --k) {
      more |= same & inverted(k) & ~inverted_[k];
      same &= ~(inverted(k) ^ inverted_[k]);
    }
    if (!__any_sync(kWholeWarp, more != 0)) return;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const unsigned count = k < kBits ? counts.words[k] : 0;
      counts_.words[k] = (counts_.words[k] & ~more) | (count & more);
      inverted_[k] = (inverted_[k] & ~more) | (inverted(k) & more);
    }
  }

  /// The keys of the rows: the larger one wins.
  __device__ void keys(unsigned (&keys)[32]) const {
#pragma unroll
    for (int k = 0; k < 16; ++k) keys[k] = inverted_[k], keys[16 + k] = counts_.words[k];
    unsigned low = 0x0000ffff;
#pragma unroll
    for (int distance = 16; distance; distance /= 2, low ^= low << distance) {
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        if (i & distance) continue;
        const unsigned swapped = (keys[i] >> distance ^ keys[i + distance]) & low;
        keys[i] ^= swapped << distance;
        keys[i + distance] ^= swapped;
      }
    }
  }
  __device__ static unsigned count_of(unsigned key) {
    return key >> 16;
  }
  __device__ static unsigned value_of(unsigned key) {
    return 0xffff - (key & 0xffff);
  }

 private:
  RowCounts counts_{};
  unsigned inverted_[16] = {};  ///< the bits of the values, inverted
};

}  // namespace cudascan::swo
