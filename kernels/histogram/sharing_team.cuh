// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The team (team.h) of a block that shares work with the other blocks.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/histogram/block_team.cuh"

namespace cudascan {

/// A team for a decision that each block makes by itself. Expensive parts of the work are divided
/// among the blocks.
class SharingTeam : public BlockTeam {
 public:
  /// Messages between blocks: words of 32 bits, each with the number of its launch.
  struct Mail {
    static constexpr int kMostWords = 6;
    std::uint64_t words[kMostWords][kSmallLevels];
  };

  /// @param mail    in device memory, zero before the first launch ever
  /// @param launch  number of this launch among those that use this mail
  __device__ SharingTeam(const std::uint32_t *counts, int levels, BlockTeamMemory &memory,
                         Mail &mail, unsigned launch)
      : BlockTeam(counts, levels, memory), mail_(mail), tag_(launch + 1) {}

  /// Each block computes some i, and each part of the block one of these, if there are enough
  /// warps. Blocks wait only for the results, without a barrier. To be called at most once in a
  /// launch.
  template <typename T, typename Work>
  __device__ void share(int n, T *results, const Work &work) {
    constexpr int kWords = sizeof(T) / 4;
    static_assert(sizeof(T) % 4 == 0 && kWords <= Mail::kMostWords);
    struct Words {
      unsigned word[kWords];
    };
    const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int most = (n + blocks - 1) / blocks, parts = min(most, warps());
    sync();
    BlockTeam worker = part(parts);
    const int first = part_of(parts);
    // All parts do the same number of rounds; some repeat the last i.
#pragma unroll 1
    for (int round = 0; round < most; round += parts) {
      const int i = min(block + (round + first) * blocks, n - 1);
      const auto words = __builtin_bit_cast(Words, work(i, worker));
      if (worker.member() != 0) continue;
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        store_relaxed(&mail_.words[k][i], std::uint64_t{tag_} << 32 | words.word[k]);
    }
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
      Words words;
      for (bool there = false; !there;) {
        there = true;
#pragma unroll
        for (int k = 0; k < kWords; ++k) {
          const std::uint64_t word = load_relaxed(&mail_.words[k][i]);
          words.word[k] = static_cast<unsigned>(word);
          there &= word >> 32 == tag_;
        }
      }
      results[i] = __builtin_bit_cast(T, words);
    }
    sync();
  }

 private:
  Mail &mail_;
  unsigned tag_;
};

}  // namespace cudascan
