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

/// Rows, or columns, from the first to the last.
struct Span {
  int first = kTile, last = -1;

  __device__ bool any() const { return first <= last; }
  __device__ Span &operator|=(const Span &more) {
    first = min(first, more.first);
    last = max(last, more.last);
    return *this;
  }
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
  /// @param settled  nothing has changed in it since it was last put back
  __device__ void process(bool settled, const Work &tiles, const Lines &lines) {
    load();
    // Where the tile has changed since it was walked down, to the right, up and to the left, and at all.
    Span unseen[4], rows, columns;
    look_around(rows, columns);
#pragma unroll
    for (int walk = 0; walk < 4; ++walk)
      unseen[walk] = !settled ? Span{0, kTile - 1} : walk % 2 == 0 ? rows : columns;
    while (unseen[0].any() || unseen[1].any() || unseen[2].any() || unseen[3].any()) {
#pragma unroll
      for (int walk = 0; walk < 4; ++walk) {
        if (!unseen[walk].any()) continue;
        __syncwarp();
        Span rows_here, columns_here;
        if (walk == 0) go_down<1>(unseen[walk], rows_here, columns_here);
        if (walk == 1) go_right<1>(unseen[walk], rows_here, columns_here);
        if (walk == 2) go_down<-1>(unseen[walk], rows_here, columns_here);
        if (walk == 3) go_right<-1>(unseen[walk], rows_here, columns_here);
        unseen[0] |= rows_here;
        unseen[1] |= columns_here;
        unseen[2] |= rows_here;
        unseen[3] |= columns_here;
        unseen[walk] = {};  // the same walk again would change nothing
        rows |= rows_here;
        columns |= columns_here;
      }
    }
    __syncwarp();
    if (rows.any()) {
      store(rows);
      point_out(rows, columns, tiles, lines);
    }
    __syncwarp();
  }

 private:
  __device__ Pair &at(int pair, int y) const {
    return pairs_[y * kPitch + pair];
  }

  __device__ void load() {
#pragma unroll 16
    for (int y = 0; y < kTile; ++y) at(lane_, y) = image_.pair(x_ + 2 * lane_, y_ + y);
    __syncwarp();
  }
  __device__ void store(const Span &rows) const {
#pragma unroll 8
    for (int y = rows.first; y <= rows.last; ++y)
      image_.pair(x_ + 2 * lane_, y_ + y) = at(lane_, y);
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

  /// The first and the last one of those that lanes say they have changed.
  /// @param mine  true for each of two columns, or for the first one of two rows
  /// @param far   true for the row that is 32 rows further down
  __device__ static Span columns_of(bool mine) {
    const unsigned lanes = __ballot_sync(kWholeWarp, mine);
    if (lanes == 0) return {};
    return {2 * (__ffs(lanes) - 1), 63 - 2 * __clz(lanes)};
  }
  __device__ static Span rows_of(bool upper, bool lower) {
    const unsigned uppers = __ballot_sync(kWholeWarp, upper);
    const unsigned lowers = __ballot_sync(kWholeWarp, lower);
    if ((uppers | lowers) == 0) return {};
    return {uppers ? __ffs(uppers) - 1 : __ffs(lowers) + 31,
            lowers ? 63 - __clz(lowers) : 31 - __clz(uppers)};
  }

  /// Lets the edges of the tile meet what is around it; adds where they change.
  __device__ void look_around(Span &rows, Span &columns) {
    const bool top = meet(at(lane_, 0), beside(-1));
    const bool bottom = meet(at(lane_, kTile - 1), beside(kTile));
    columns |= columns_of(top || bottom);
    if (__any_sync(kWholeWarp, top)) rows |= Span{0, 0};
    if (__any_sync(kWholeWarp, bottom)) rows |= Span{kTile - 1, kTile - 1};
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      __syncwarp();
      const int pair = side ? kPairs - 1 : 0, x = side ? kTile : -1, shift = side ? 16 : 0;
      const bool upper = meet(at(pair, lane_), beside(x, lane_) << shift);
      const bool lower = meet(at(pair, lane_ + 32), beside(x, lane_ + 32) << shift);
      rows |= rows_of(upper, lower);
      if (__any_sync(kWholeWarp, upper || lower)) columns |= Span{2 * pair, 2 * pair + 1};
    }
  }

  static constexpr int kStrip = 8;  ///< rows, or columns, between which a walk may end

  /// Walks through all rows that may change because those of `where` have; says what changes.
  template <int step>
  __device__ void go_down(const Span &where, Span &rows, Span &columns) {
    const int first = step > 0 ? where.first : kTile - 1 - where.last;
    const int last = step > 0 ? where.last : kTile - 1 - where.first;
    const auto row = [](int i) { return step > 0 ? i : kTile - 1 - i; };
    unsigned change = 0;
    int i = first / kStrip * kStrip;
    unsigned above = i > 0 ? Cells<T>::markers(at(lane_, row(i - 1))) : 0;
    for (; i < kTile; i += kStrip) {
      unsigned here = 0;
#pragma unroll
      for (int k = 0; k < kStrip; ++k) {
        Pair &pair = at(lane_, row(i + k));
        const unsigned before = Cells<T>::markers(pair), mask = Cells<T>::masks(pair);
        above = grow(before, mask, eight ? spread(above) : above);
        if (above != before) pair = Cells<T>::pair(above, mask);
        here |= above ^ before;
      }
      change |= here;
      if (__any_sync(kWholeWarp, here != 0))
        rows |= Span{min(row(i), row(i + kStrip - 1)), max(row(i), row(i + kStrip - 1))};
      else if (i + kStrip > last + 1)
        break;
    }
    columns |= columns_of(change != 0);
  }

  /// The same with columns; rows `lane` and `lane + 32` are in the halves of a word.
  template <int step>
  __device__ void go_right(const Span &where, Span &rows, Span &columns) {
    constexpr int kStripPairs = kStrip / 2;
    const int first = step > 0 ? where.first / 2 : kPairs - 1 - where.last / 2;
    const int last = step > 0 ? where.last / 2 : kPairs - 1 - where.first / 2;
    const auto column = [](int i) { return step > 0 ? i : kPairs - 1 - i; };
    unsigned upper_change = 0, lower_change = 0;
    int i = first / kStripPairs * kStripPairs;
    unsigned left = 0;
    if (i > 0) {
      const unsigned upper = Cells<T>::markers(at(column(i - 1), lane_));
      const unsigned lower = Cells<T>::markers(at(column(i - 1), lane_ + 32));
      left = step > 0 ? high_halves(upper, lower) : low_halves(upper, lower);
    }
    for (; i < kPairs; i += kStripPairs) {
      unsigned upper_here = 0, lower_here = 0;
#pragma unroll
      for (int k = 0; k < kStripPairs; ++k) {
        Pair &upper = at(column(i + k), lane_), &lower = at(column(i + k), lane_ + 32);
        const unsigned upper_before = Cells<T>::markers(upper);
        const unsigned lower_before = Cells<T>::markers(lower);
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
        if (upper_after != upper_before) upper = Cells<T>::pair(upper_after, upper_mask);
        if (lower_after != lower_before) lower = Cells<T>::pair(lower_after, lower_mask);
        upper_here |= upper_after ^ upper_before;
        lower_here |= lower_after ^ lower_before;
      }
      upper_change |= upper_here;
      lower_change |= lower_here;
      if (__any_sync(kWholeWarp, (upper_here | lower_here) != 0)) {
        const int a = column(i), b = column(i + kStripPairs - 1);
        columns |= Span{2 * min(a, b), 2 * max(a, b) + 1};
      } else if (i + kStripPairs > last + 1) {
        break;
      }
    }
    rows |= rows_of(upper_change != 0, lower_change != 0);
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

  /// Adds the tiles in which something would grow now, beside edges that have changed. What grows there
  /// meanwhile does no harm: then it is looked at twice.
  __device__ void point_out(const Span &rows, const Span &columns, const Work &tiles,
                            const Lines &lines) const {
    const bool edges[] = {rows.first == 0, rows.last == kTile - 1, columns.first == 0,
                          columns.last == kTile - 1};
#pragma unroll
    for (int low = 0; low < 2; ++low)
      if (edges[low]) point_out_vertically(low, tiles, lines);
#pragma unroll
    for (int right = 0; right < 2; ++right)
      if (edges[2 + right]) point_out_sideways(right, tiles, lines);
    if (!eight || lane_ >= 4) return;
    const bool low = lane_ & 2, right = lane_ & 1;
    if (would_grow(right ? kTile : -1, low ? kTile : -1,
                   marker(right ? kTile - 1 : 0, low ? kTile - 1 : 0)))
      add(tiles, right ? 1 : -1, low ? 1 : -1);
  }
  /// What is above, or what is below.
  __device__ void point_out_vertically(bool below, const Work &tiles, const Lines &lines) const {
    const unsigned edge = Cells<T>::markers(at(lane_, below ? kTile - 1 : 0));
    const unsigned meets = eight ? spread(edge) : edge;
    const Pair there = image_.pair(x_ + 2 * lane_, y_ + (below ? kTile : -1));
    const unsigned would = __vminu2(Cells<T>::masks(there), meets), is = Cells<T>::markers(there);
    const bool first = (would & 0xffff) > (is & 0xffff), second = would >> 16 > is >> 16;
    if (!__any_sync(kWholeWarp, first || second)) return;
    if (lane_ == 0) add(tiles, 0, below ? 1 : -1);
    if (lines.wanted && first) lines.columns.add(x_ + 2 * lane_);
    if (lines.wanted && second) lines.columns.add(x_ + 2 * lane_ + 1);
  }
  /// What is to the left, or to the right.
  __device__ void point_out_sideways(bool right, const Work &tiles, const Lines &lines) const {
    const int inner = right ? kTile - 1 : 0, outer = right ? kTile : -1;
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
    if (__any_sync(kWholeWarp, any) && lane_ == 0) add(tiles, right ? 1 : -1, 0);
  }

  const CellImage<T> &image_;
  const int x_, y_, lane_;
  Pair *const pairs_;
};

}  // namespace cudascan::swo
