// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Components of ones in packed bits, of 8 neighbours, by union of the runs in words (after Playne,
/// Hawick, "A new algorithm for parallel connected-component labelling on GPUs", IEEE Trans.
/// Parallel and Distributed Systems 29, 2018). A run inside a word is a node; its number comes from
/// its first pixel.
#pragma once
#include <cuda_runtime.h>

#include "kernels/binarize/numbers.cuh"

namespace cudascan::binarize {

using runlengths::DeviceBits;

/// The bits of the pixels of a word.
__device__ inline std::uint32_t pixels_of(const DeviceBits &bits, int i) {
  return i == bits.stride - 1 && bits.width % 32 ? (1u << bits.width % 32) - 1 : ~0u;
}

/// A word of the dilation by a square.
__device__ inline std::uint32_t dilated(const DeviceBits &bits, int i, int y, int radius) {
  std::uint32_t left = 0, own = 0, right = 0;
  for (int k = -radius; k <= radius; ++k) {
    left |= bits.at(i - 1, y + k);
    own |= bits.at(i, y + k);
    right |= bits.at(i + 1, y + k);
  }
  std::uint32_t result = own;
  for (int k = 1; k <= radius; ++k)
    result |= __funnelshift_r(own, right, k) | __funnelshift_r(left, own, 32 - k);
  return result & pixels_of(bits, i);
}

/// The first and the last bit of a run in a word, and its bits.
struct WordRun {
  int first, last;
  std::uint32_t bits;
};

/// Some threads share a word, because finding a root waits for memory several times: each has the
/// runs that begin in its part.
inline constexpr int kThreadsOfWord = 4;

/// The bits of the part of a word that this thread has.
__device__ inline std::uint32_t own_part() {
  constexpr int kBits = 32 / kThreadsOfWord;
  return ((1u << kBits) - 1) << kBits * (threadIdx.x % kThreadsOfWord);
}
/// All bits of the threads of a word.
__device__ inline std::uint32_t bits_of_all(std::uint32_t bits) {
#pragma unroll
  for (int mask = 1; mask < kThreadsOfWord; mask *= 2) bits |= __shfl_xor_sync(~0u, bits, mask);
  return bits;
}

/// Calls f(WordRun) for the runs of a word that begin in a part of it.
template <typename F>
__device__ void for_runs(std::uint32_t word, std::uint32_t part, const F &f) {
  std::uint32_t begins = word & ~(word << 1) & part;
  for (; begins; begins &= begins - 1) {
    const int first = __ffs(begins) - 1;
    const int zero = __ffs(~(word >> first));  // 0 if there is none
    const int n = zero ? zero - 1 : 32;
    f(WordRun{first, first + n - 1, (n == 32 ? ~0u : (1u << n) - 1) << first});
  }
}

/// Calls f(WordRun) for the runs of a word that begin in this thread's part.
template <typename F>
__device__ void for_own_runs(std::uint32_t word, const F &f) {
  for_runs(word, own_part(), f);
}

/// Trees of nodes, in shared or device memory. A node has a rank, a permutation of the numbers, and
/// its parent has a higher one. So unions of neighbours do not make long chains: expected ways to a
/// root grow with the logarithm of the component.
struct Forest {
  /// Set in the parent of a root: the component is kept.
  static constexpr std::uint32_t kKept = 0x80000000;

  std::uint32_t *parents;  ///< ranks
  int bits = 31;           ///< of ranks

  /// Odd factors have an inverse, and so has this shift. Nodes at equal distances get ranks in no
  /// order.
  __device__ std::uint32_t rank(std::uint32_t node) const {
    const std::uint32_t mixed = node * 0x9e3779b1u & mask();
    return (mixed ^ mixed >> (bits + 1) / 2) * 0x85ebca6bu & mask();
  }
  __device__ std::uint32_t node(std::uint32_t rank) const {
    const std::uint32_t mixed = rank * 0xa5cb9243u & mask();
    return (mixed ^ mixed >> (bits + 1) / 2) * 0x0e8b2f51u & mask();
  }
  __device__ std::uint32_t mask() const { return (1u << bits) - 1; }

  __device__ std::uint32_t parent(std::uint32_t node) const {
    return this->node(*const_cast<volatile std::uint32_t *>(parents + node) & ~kKept);
  }
  __device__ void make_root(std::uint32_t node) const { parents[node] = rank(node); }
  /// The root of a node. Shortens the way to it: only nodes that are no roots change.
  __device__ std::uint32_t root(std::uint32_t node) const {
    std::uint32_t next = parent(node);
    while (next != node) {
      const std::uint32_t after = parent(next);
      if (after != next) *const_cast<volatile std::uint32_t *>(parents + node) = rank(after);
      node = next;
      next = after;
    }
    return node;
  }
  __device__ void unite(std::uint32_t a, std::uint32_t b) const {
    for (;;) {
      a = root(a);
      b = root(b);
      if (a == b) return;
      const std::uint32_t low = min(rank(a), rank(b)), high = max(rank(a), rank(b));
      const std::uint32_t before = atomicMax(&parents[node(low)], high);
      if (before == low) return;  // it was a root
      a = node(before);
      b = node(high);
    }
  }
};

/// A word of bits, and those before it and above it.
struct WordNeighbours {
  std::uint32_t own, left, above_left, above, above_right;

  /// Unites this thread's runs of the word with those of the others.
  /// @param node  node(columns of words to the right, rows down, first bit) of a run
  template <typename Node>
  __device__ void join(const Forest &forest, const Node &node) const {
    for_own_runs(own, [&](const WordRun &run) {
      const std::uint32_t self = node(0, 0, run.first);
      // Runs that meet through one another are united only once.
      const bool meets_left = run.first == 0 && left >> 31;
      const bool met_above = meets_left && above_left >> 31;  // by the word on the left
      if (meets_left) forest.unite(self, node(-1, 0, begin_of(left, 31)));
      if (run.first == 0 && above_left >> 31 && !meets_left && !(above & 1))
        forest.unite(self, node(-1, -1, begin_of(above_left, 31)));
      if (run.last == 31 && above_right & 1 && !(above >> 31)) forest.unite(self, node(1, -1, 0));
      const std::uint32_t reach = run.bits | run.bits << 1 | run.bits >> 1;
      if ((above & reach) == 0) return;
      for (std::uint32_t met = above & reach; met;) {
        const int bit = __ffs(met) - 1, begin = begin_of(above, bit);
        if (!(met_above && begin == 0)) forest.unite(self, node(0, -1, begin));
        // The run goes on to the next 0.
        const int zero = __ffs(~(above >> bit));
        met &= zero && bit + zero < 32 ? ~0u << (bit + zero) : 0;
      }
    });
  }

 private:
  /// Where the run begins that has a bit.
  static __device__ int begin_of(std::uint32_t word, int bit) {
    return bit + 1 - min(__clz(~word << (31 - bit)), bit + 1);
  }
};

struct DeviceComponents {
  DeviceBits bits;
  Forest forest;  ///< a node for every other pixel, as no two runs begin side by side

  static std::size_t nodes(int width, int height) {
    return std::size_t{16} * DeviceBits::stride_of(width) * height;
  }
  __device__ std::uint32_t node(int i, int y, int first) const {
    return (static_cast<std::uint32_t>(y) * bits.stride + i) * 16 + first / 2;
  }
  /// Keeps the components of the runs that begin in a part of a word, with one of these bits.
  __device__ void keep(std::uint32_t word, std::uint32_t part, std::uint32_t wanted, int i,
                       int y) const {
    if ((word & wanted) == 0) return;
    for_runs(word, part, [&](const WordRun &run) {
      if ((run.bits & wanted) == 0) return;
      const std::uint32_t root = forest.root(node(i, y, run.first));
      if (!is_kept(root)) atomicOr(&forest.parents[root], Forest::kKept);
    });
  }
  __device__ bool is_kept(std::uint32_t root) const {
    return *const_cast<volatile std::uint32_t *>(forest.parents + root) & Forest::kKept;
  }
  /// This thread's runs that are in kept components.
  __device__ std::uint32_t kept(std::uint32_t word, int i, int y) const {
    std::uint32_t result = 0;
    for_own_runs(word, [&](const WordRun &run) {
      if (is_kept(forest.root(node(i, y, run.first)))) result |= run.bits;
    });
    return result;
  }
};

/// Queues finding the components of ink that is not decided, if there may be some.
void queue_join(Cuda &, const Page &, const DeviceComponents &ink);
/// Queues finding the components of dark pixels and of their opening, planes of one size, if there
/// may be wide things or margins.
void queue_join(Cuda &, const Page &, const DeviceComponents &thing,
                const DeviceComponents &opened);

}  // namespace cudascan::binarize
