// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The work of blocks that run at the same time: lists in device memory whose items are on a list
/// only once, and notes on tiles.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "common/api.h"
#include "kernels/swofilter/geodesic/cells.cuh"

namespace cudascan::swo {

/// Lists of items of one kind: the open list, which is read, and the next one, to which items are
/// added. All threads call next() at the same points. Before that, all blocks synchronise, after
/// the last item was added and the open list was read.
class Work {
 public:
  /// Words of device memory.
  static CUDASCAN_HD std::size_t words(int items) {
    return std::size_t{1 + kLists} * items + kLists;
  }

  __device__ Work(unsigned *words, int items)
      : counts_(words), stamps_(words + kLists), lists_(stamps_ + items), items_(items) {}

  /// Empties all lists; the threads of all blocks call it before they synchronise.
  __device__ void reset(unsigned thread, unsigned threads) const {
    for (unsigned i = thread; i < kLists + static_cast<unsigned>(items_); i += threads)
      counts_[i] = 0;
  }

  /// An item of the open list.
  __device__ unsigned count() const { return counts_[open_ % kLists]; }
  __device__ unsigned item(unsigned i) const { return list(open_)[i]; }

  /// Adds an item to the next list unless it is already there.
  __device__ void add(unsigned item) const {
    // A stamp is the number of the list. A thread that reads an old stamp checks again atomically.
    const unsigned number = open_ + 1;
    if (stamps_[item] == number || atomicExch(&stamps_[item], number) == number) return;
    list(number)[atomicAdd(&counts_[number % kLists], 1u)] = item;
  }

  /// Opens the next list.
  __device__ void next() {
    ++open_;
    // The old open list becomes the one after the next: nobody reads it now, and nobody adds to it
    // before the blocks synchronise again.
    if (blockIdx.x == 0 && threadIdx.x == 0) counts_[(open_ + 2) % kLists] = 0;
  }

 private:
  static constexpr int kLists = 3;

  __device__ unsigned *list(unsigned number) const {
    return lists_ + std::size_t{number % kLists} * items_;
  }

  unsigned *counts_, *stamps_, *lists_;
  int items_;
  unsigned open_ = 0;
};

/// A range of rows or columns of a tile, from the first to the last.
struct Span {
  int first = kTile, last = -1;

  static CUDASCAN_HD Span whole() { return {0, kTile - 1}; }
  __device__ bool any() const { return first <= last; }
  __device__ Span &operator|=(const Span &more) {
    first = min(first, more.first);
    last = max(last, more.last);
    return *this;
  }

  /// As 16 bits.
  CUDASCAN_HD unsigned packed() const {
    return static_cast<unsigned>(first) | static_cast<unsigned>(last + 1) << 8;
  }
  static __device__ Span unpacked(unsigned bits) {
    return {static_cast<int>(bits & 0xff), static_cast<int>(bits >> 8 & 0xff) - 1};
  }
};

/// A note on each tile. Steps 1 and 2, the first ones, process all tiles.
class TileNotes {
 public:
  struct Note {
    Span rows, columns;  ///< changed since they were last processed
    Span held;           ///< rows changed since the tile was written back to the image
    bool news;           ///< something around the tile may have changed
  };

  /// Words of device memory.
  static CUDASCAN_HD std::size_t words(int tiles) { return std::size_t{4} * tiles; }

  /// @param words  aligned to 16 bytes
  __device__ explicit TileNotes(unsigned *words) : notes_(reinterpret_cast<uint4 *>(words)) {}

  /// The threads of all blocks call it before they synchronise.
  /// @param held  rows that are not yet in the image
  __device__ void reset(unsigned tiles, const Span &held, unsigned thread, unsigned threads) const {
    const unsigned none = Span{}.packed();
    for (unsigned i = thread; i < tiles; i += threads)
      notes_[i] = {2, 1, none | none << 16, held.packed()};
  }

  /// The warp of the tile reads it.
  __device__ Note at(unsigned tile, unsigned step) const {
    const uint4 words = notes_[tile];
    // Others may be writing at the same time, so all lanes use the value that the first one reads.
    const unsigned told =
        __shfl_sync(kWholeWarp, (words.x >= step ? 1u : 0u) | (words.y >= step ? 2u : 0u), 0);
    Note note{Span::unpacked(words.z), Span::unpacked(words.z >> 16), Span::unpacked(words.w),
              (told & 1) != 0};
    if (told & 2) note.rows = note.columns = Span::whole();
    return note;
  }
  /// One thread calls it for its warp's tile.
  __device__ void put(unsigned tile, const Note &note) const {
    notes_[tile].z = note.rows.packed() | note.columns.packed() << 16;
    notes_[tile].w = note.held.packed();
  }

  /// Makes the next step check around a tile; the current step may already do so.
  __device__ void tell(unsigned tile, unsigned step) const { notes_[tile].x = step + 1; }
  /// Makes the next step process all of a tile.
  __device__ void tell_whole(unsigned tile, unsigned step) const {
    notes_[tile].x = notes_[tile].y = step + 1;
  }

 private:
  uint4 *notes_;  ///< steps that check around and that process all; rows and columns; held rows
};

/// The markers at the edges of tiles, in device memory: the surroundings of a tile for its warp.
class TileEdges {
 public:
  enum Edge { top, bottom, left, right };
  static constexpr unsigned kAll = 15;  ///< a set of edges has a bit for each

  /// Words of device memory.
  static CUDASCAN_HD std::size_t words(int tiles) { return std::size_t{4} * 32 * tiles; }

  __device__ explicit TileEdges(unsigned *words) : words_(words) {}

  /// Levels of two columns, as GrowthCells::fold() assigns them to lane i, or of rows i and i + 32.
  __device__ unsigned &levels(unsigned tile, Edge edge, int i) const {
    return words_[(tile * 4 + edge) * 32 + i];
  }
  /// Writes the level of a pixel to all edges that contain it.
  __device__ void put(unsigned tile, int x, int y, unsigned level) const {
    const int column = x % kTile, row = y % kTile;
    const int folded = column / 4 * 4 + column % 2 * 2 + column % 4 / 2;
    if (row == 0) half(tile, top, folded) = level;
    if (row == kTile - 1) half(tile, bottom, folded) = level;
    if (column == 0) half(tile, left, row % 32 * 2 + row / 32) = level;
    if (column == kTile - 1) half(tile, right, row % 32 * 2 + row / 32) = level;
  }

 private:
  __device__ std::uint16_t &half(unsigned tile, Edge edge, int i) const {
    return reinterpret_cast<std::uint16_t *>(&levels(tile, edge, 0))[i];
  }

  unsigned *words_;
};

/// Counts the remaining work after a step.
class Tally {
 public:
  static constexpr int kWords = 3;

  __device__ explicit Tally(unsigned *counts) : counts_(counts) {}

  /// Call it before the blocks synchronise.
  __device__ void reset() const {
    if (blockIdx.x == 0 && threadIdx.x < kWords) counts_[threadIdx.x] = 0;
  }
  /// Adds up to 32 for each warp; all threads of a block call it in each step.
  __device__ void add(unsigned of_warp) const {
    const int sum = __syncthreads_count(threadIdx.x % 32 < of_warp);
    if (threadIdx.x == 0 && sum > 0) atomicAdd(&counts_[step_ % kWords], sum);
  }
  /// The sum of a step, after the blocks have synchronised.
  __device__ unsigned next() {
    const unsigned sum = counts_[step_ % kWords];
    ++step_;
    // It was read before the blocks synchronised.
    if (blockIdx.x == 0 && threadIdx.x == 0) counts_[(step_ + 1) % kWords] = 0;
    return sum;
  }

 private:
  unsigned *counts_;
  unsigned step_ = 0;
};

}  // namespace cudascan::swo
