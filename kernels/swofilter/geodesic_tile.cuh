// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A warp lets the marker of a tile grow in shared memory until nothing changes in it. It walks down and
/// up, with a lane for two neighbouring columns, and to the right and to the left, with a lane for two
/// rows; diagonal neighbours count on the way down and up. What is around the tile is looked at once,
/// before: it stays as it is.
#pragma once
#include "kernels/swofilter/geodesic_cells.cuh"
#include "kernels/swofilter/geodesic_work.cuh"

namespace cudascan::swo {

/// Rows and columns of an image that runs of changes leave a tile along, see geodesic_line.cuh.
struct Lines {
  Work rows, columns;
  bool wanted;
};

template <typename T, bool eight>
class Tile {
 public:
  using Pair = typename Cells<T>::Pair;
  static constexpr int kPairs = kTile / 2;
  static constexpr int kPitch =
      kPairs + 1;  ///< so that lanes that read a column use different banks
  static constexpr int kBytes = kTile * kPitch * sizeof(Pair);

  /// @param memory  kBytes of shared memory for this warp
  __device__ Tile(const CellImage<T> &image, unsigned number, void *memory)
      : image_(image),
        x_(static_cast<int>(number % image.columns) * kTile),
        y_(static_cast<int>(number / image.columns) * kTile),
        lane_(threadIdx.x % 32),
        pairs_(static_cast<Pair *>(memory)) {}

  /// Takes the tile, lets it grow, puts it back, and adds what may go on growing around it.
  __device__ void process(const Work &tiles, const Lines &lines) {
    load();
    bool changes = __any_sync(kWholeWarp, look_around());
    // A walk that was just made would change nothing; four of these are the end.
    for (int quiet = 0, walk = 0; quiet < 4; walk = (walk + 1) % 4) {
      __syncwarp();
      const bool change = __any_sync(kWholeWarp, walk == 0   ? go_down<1>()
                                                 : walk == 1 ? go_right<1>()
                                                 : walk == 2 ? go_down<-1>()
                                                             : go_right<-1>());
      changes |= change;
      quiet = change ? 1 : quiet + 1;
    }
    __syncwarp();
    if (changes) {
      store();
      point_out(tiles, lines);
    }
    __syncwarp();
  }

 private:
  __device__ Pair &at(int pair, int y) const { return pairs_[y * kPitch + pair]; }

  __device__ void load() {
#pragma unroll 16
    for (int y = 0; y < kTile; ++y) at(lane_, y) = image_.pair(x_ + 2 * lane_, y_ + y);
    __syncwarp();
  }
  __device__ void store() const {
#pragma unroll 16
    for (int y = 0; y < kTile; ++y) image_.pair(x_ + 2 * lane_, y_ + y) = at(lane_, y);
  }

  /// The markers of a row beside the tile that this lane's columns meet.
  __device__ unsigned beside(int y) const {
    const unsigned v = Cells<T>::markers(image_.pair(x_ + 2 * lane_, y_ + y));
    if (!eight) return v;
    return spread(v, image_.marker(x_ - 1, y_ + y), image_.marker(x_ + kTile, y_ + y));
  }
  /// The marker of a column beside the tile that a row meets.
  __device__ unsigned beside(int x, int y) const {
    unsigned v = image_.marker(x_ + x, y_ + y);
    if (eight)
      v = max(v, max(image_.marker(x_ + x, y_ + y - 1), image_.marker(x_ + x, y_ + y + 1)));
    return v;
  }
  /// Lets a pair of cells meet neighbours; returns whether it changes.
  __device__ static bool meet(Pair &pair, unsigned neighbours) {
    const unsigned before = Cells<T>::markers(pair), mask = Cells<T>::masks(pair);
    const unsigned after = grow(before, mask, neighbours);
    if (after == before) return false;
    pair = Cells<T>::pair(after, mask);
    return true;
  }

  /// Lets the edges of the tile meet what is around it.
  __device__ bool look_around() {
    bool change = meet(at(lane_, 0), beside(-1));
    change |= meet(at(lane_, kTile - 1), beside(kTile));
    __syncwarp();
#pragma unroll
    for (int y = lane_; y < kTile; y += 32) {
      change |= meet(at(0, y), beside(-1, y));
      change |= meet(at(kPairs - 1, y), beside(kTile, y) << 16);
    }
    return change;
  }

  template <int step>
  __device__ bool go_down() {
    unsigned change = 0, above = 0;
    int y = step > 0 ? 0 : kTile - 1;
#pragma unroll 8
    for (int i = 0; i < kTile; ++i, y += step) {
      Pair &pair = at(lane_, y);
      const unsigned before = Cells<T>::markers(pair), mask = Cells<T>::masks(pair);
      above = grow(before, mask, eight ? spread(above) : above);
      if (above != before) pair = Cells<T>::pair(above, mask);
      change |= above ^ before;
    }
    return change != 0;
  }

  /// With rows `lane` and `lane + 32` in the halves of a word.
  template <int step>
  __device__ bool go_right() {
    unsigned change = 0, left = 0;
    int x = step > 0 ? 0 : kPairs - 1;
#pragma unroll 4
    for (int i = 0; i < kPairs; ++i, x += step) {
      Pair &upper = at(x, lane_), &lower = at(x, lane_ + 32);
      const unsigned upper_before = Cells<T>::markers(upper),
                     lower_before = Cells<T>::markers(lower);
      const unsigned upper_mask = Cells<T>::masks(upper), lower_mask = Cells<T>::masks(lower);
      unsigned even = low_halves(upper_before, lower_before);
      unsigned odd = high_halves(upper_before, lower_before);
      const unsigned even_mask = low_halves(upper_mask, lower_mask);
      const unsigned odd_mask = high_halves(upper_mask, lower_mask);
      if (step > 0) {
        even = grow(even, even_mask, left);
        left = odd = grow(odd, odd_mask, even);
      } else {
        odd = grow(odd, odd_mask, left);
        left = even = grow(even, even_mask, odd);
      }
      const unsigned upper_after = low_halves(even, odd), lower_after = high_halves(even, odd);
      const unsigned here = (upper_after ^ upper_before) | (lower_after ^ lower_before);
      if (here) {
        upper = Cells<T>::pair(upper_after, upper_mask);
        lower = Cells<T>::pair(lower_after, lower_mask);
      }
      change |= here;
    }
    return change != 0;
  }

  __device__ unsigned marker(int x, int y) const {
    const unsigned both = Cells<T>::markers(at(x / 2, y));
    return x % 2 ? both >> 16 : both & 0xffff;
  }
  /// Whether a cell outside of the tile would grow if it met this marker.
  __device__ bool would_grow(int x, int y, unsigned neighbour) const {
    const auto cell = image_.row(y_ + y)[x_ + x];
    return min(Cells<T>::mask(cell), neighbour) > Cells<T>::marker(cell);
  }
  __device__ void add(const Work &tiles, int column, int row) const {
    tiles.add(image_.tile_at(x_, y_) + row * image_.columns + column);
  }

  /// Adds the tiles in which something would grow now. What grows there meanwhile does no harm: then it
  /// is looked at twice.
  __device__ void point_out(const Work &tiles, const Lines &lines) const {
#pragma unroll
    for (int side = -1; side <= 1; side += 2) {
      const int inner = side < 0 ? 0 : kTile - 1, outer = side < 0 ? -1 : kTile;
      // Above or below.
      const unsigned edge = Cells<T>::markers(at(lane_, inner));
      const unsigned meets = eight ? spread(edge) : edge;
      const Pair there = image_.pair(x_ + 2 * lane_, y_ + outer);
      const unsigned would = __vminu2(Cells<T>::masks(there), meets), is = Cells<T>::markers(there);
      const bool first = (would & 0xffff) > (is & 0xffff), second = would >> 16 > is >> 16;
      if (__any_sync(kWholeWarp, first || second)) {
        if (lane_ == 0) add(tiles, 0, side);
        if (lines.wanted && first) lines.columns.add(x_ + 2 * lane_);
        if (lines.wanted && second) lines.columns.add(x_ + 2 * lane_ + 1);
      }
      // Left or right.
      bool any = false;
#pragma unroll
      for (int y = lane_; y < kTile; y += 32) {
        unsigned v = marker(inner, y);
        if (eight && y > 0) v = max(v, marker(inner, y - 1));
        if (eight && y < kTile - 1) v = max(v, marker(inner, y + 1));
        const bool grows = would_grow(outer, y, v);
        if (lines.wanted && grows) lines.rows.add(y_ + y);
        any |= grows;
      }
      if (__any_sync(kWholeWarp, any) && lane_ == 0) add(tiles, side, 0);
    }
    if (eight && lane_ < 4) {
      const bool right = lane_ & 1, low = lane_ & 2;
      const int x = right ? kTile - 1 : 0, y = low ? kTile - 1 : 0;
      if (would_grow(right ? kTile : -1, low ? kTile : -1, marker(x, y)))
        add(tiles, right ? 1 : -1, low ? 1 : -1);
    }
  }

  const CellImage<T> &image_;
  const int x_, y_, lane_;
  Pair *const pairs_;
};

}  // namespace cudascan::swo
