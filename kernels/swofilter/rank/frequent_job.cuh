// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What frequent.cuh needs to know, and how it divides images and memory.
#pragma once
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/rank/row_counts.cuh"

namespace cudascan::swo {

constexpr int kFrequentThreads = 512, kFrequentWarps = kFrequentThreads / 32;
/// Results of a tile, along and across; it has four parts.
constexpr int kFrequentTile = 64, kTileParts = 4;
/// Warps that count in the same part.
constexpr int kPartWarps = kFrequentWarps / kTileParts;
/// Values whose places are listed at the same time.
constexpr int kMostFrequent = 512;
/// Of how many values the most frequent ones are chosen, at first and later.
constexpr unsigned kFirstFrequent = 64, kMoreFrequent = 384;
/// Counts of values from here on are numbers of lists.
constexpr unsigned kListed = 65536 - kMostFrequent;
/// Counts of values do not become much larger.
constexpr unsigned kMostCounted = 60000;
/// Levels of counts of values: higher ones count as the last.
constexpr int kCountLevels = 1024;
/// Of values with at most these, the places in reach of each part are counted.
constexpr unsigned kMostInReach = 255;
/// The places of a value with more than these are divided among the warps.
constexpr unsigned kLongList = 512;

/// Shared memory of a block.
struct FrequentBytes {
  int counts, columns;  ///< of values; of bits of the shape

  __host__ __device__ int keys() const { return counts + columns; }
  __host__ __device__ int values() const { return keys() + 4 * kFrequentTile * kFrequentTile; }
  __host__ __device__ int levels() const { return values() + 5 * 4 * kMostFrequent; }
  __host__ __device__ int partial() const { return levels() + 4 * kCountLevels; }
  __host__ __device__ int spans() const {
    return partial() + 4 * kTileParts * (kPartWarps - 1) * kCountBits * 32;
  }
  /// @param rows  of a tile with its margin
  __host__ __device__ int all(int rows) const { return spans() + 4 * 4 * rows; }
};

struct FrequentJob {
  Source<std::uint16_t> in;
  Plane<std::uint16_t> out;
  int tiles_along = 0, tiles = 0;
  int words = 0;       // of the bits of a column of the shape
  int value_bits = 0;  // values that differ in higher bits are counted one after another
  FrequentBytes shared = {};
  int *next = nullptr;        // the first tile that no block has taken
  unsigned *lists = nullptr;  // of the blocks
  int list_words = 0;         // of a block
};

}  // namespace cudascan::swo
