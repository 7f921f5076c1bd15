// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Mappings of CLAHE for tiles with far fewer pixels than bins, on the CPU. A bit for each bin that
/// occurs, and the number of such bins below each word of bits, give the rank of a bin (Jacobson,
/// "Space-efficient static trees and graphs", FOCS 1989); the pixels up to a rank are in a table.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/equalize/mapping.h"

namespace cudascan::equalize {

/// The mappings of all tiles, each with less than 2^16 pixels.
class SparseMappings {
 public:
  /// @param limit  a clip_limit()
  SparseMappings(const Range &range, const Tiles &tiles, int limit)
      : bins_(range.count),
        pixels_(tiles.pixels()),
        limit_(limit),
        words_((range.count + 63) / 64),
        scale_(tile_scale(range.count, pixels_)),
        bits_(std::size_t(tiles.nx) * tiles.ny * words_),
        below_(bits_.size()),
        sums_(std::size_t(tiles.nx) * tiles.ny * (pixels_ + 1)),
        shares_(std::size_t(tiles.nx) * tiles.ny) {}

  /// Makes the mapping of a tile; several threads may make some at once.
  /// @param indices  of its pixels
  void make(int tile, const std::vector<std::uint16_t> &indices) {
    std::uint64_t *const bits = &bits_[std::size_t(tile) * words_];
    std::uint16_t *const below = &below_[std::size_t(tile) * words_];
    std::uint16_t *const sums = &sums_[std::size_t(tile) * (pixels_ + 1)];
    for (const std::uint16_t i : indices) bits[i / 64] |= std::uint64_t{1} << i % 64;
    int ranks = 0;
    for (int i = 0; i < words_; ++i) {
      below[i] = static_cast<std::uint16_t>(ranks);
      ranks += std::popcount(bits[i]);
    }
    const Mapping mapping = (*this)[tile];
    for (const std::uint16_t i : indices) ++sums[mapping.rank(i)];
    int kept = 0;
    for (int i = 1; i <= ranks; ++i)
      sums[i] = static_cast<std::uint16_t>(kept += std::min<int>(sums[i], limit_));
    shares_[tile] = SharedSteps(share_out(pixels_ - kept, bins_));
  }

  class Mapping {
   public:
    /// The new value of an index.
    std::uint16_t operator[](int i) const {
      return static_cast<std::uint16_t>(
          tile_map(sums_[rank(i)] + share_.up_to(i), all_.scale_, all_.bins_));
    }

   private:
    friend SparseMappings;
    Mapping(const SparseMappings &all, int tile)
        : all_(all),
          bits_(&all.bits_[std::size_t(tile) * all.words_]),
          below_(&all.below_[std::size_t(tile) * all.words_]),
          sums_(&all.sums_[std::size_t(tile) * (all.pixels_ + 1)]),
          share_(all.shares_[tile]) {}
    /// The number of bins up to i that occur.
    int rank(int i) const {
      const std::uint64_t up_to = bits_[i / 64] << (63 - i % 64);
      return below_[i / 64] + std::popcount(up_to);
    }

    const SparseMappings &all_;
    const std::uint64_t *bits_;
    const std::uint16_t *below_, *sums_;
    SharedSteps share_;
  };
  Mapping operator[](int tile) const { return {*this, tile}; }

 private:
  int bins_, pixels_, limit_, words_;
  float scale_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint16_t> below_;
  std::vector<std::uint16_t> sums_;  // of clipped counts, by rank; 0 for rank 0
  std::vector<SharedSteps> shares_;
};

}  // namespace cudascan::equalize
