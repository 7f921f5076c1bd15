// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A warp lets the marker of a tile grow in shared memory until nothing changes in it. It walks down and
/// up at the same time, with a lane for two neighbouring columns, then to the right and to the left, with
/// a lane for two rows; diagonal neighbours count on the way down and up. What is around the tile is
/// looked at once, before: it stays as it is.
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
    Span rows, columns;  // that have changed
    look_around(rows, columns);
    // Those that have changed since they were last walked along.
    Span unseen_rows = settled ? rows : Span{0, kTile - 1};
    Span unseen_columns = settled ? columns : Span{0, kTile - 1};
    while (unseen_rows.any() || unseen_columns.any()) {
      Span rows_here, columns_here;
      if (unseen_rows.any()) {
        __syncwarp();
        go_vertically(unseen_rows, rows_here, columns_here);
        rows |= rows_here;
        columns |= columns_here;
        unseen_columns |= columns_here;
        // Who goes down has not seen all that who goes up has changed; without diagonals that is nothing new.
        unseen_rows = eight ? rows_here : Span{};
      }
      if (unseen_columns.any()) {
        __syncwarp();
        rows_here = columns_here = {};
        go_sideways(unseen_columns, rows_here, columns_here);
        rows |= rows_here;
        columns |= columns_here;
        unseen_rows |= rows_here;
        unseen_columns = {};
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
  __device__ Pair &at(int pair, int y) const { return pairs_[y * kPitch + pair]; }

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

  static constexpr int kStrip = 8;  ///< rows, or columns, that are walked through at a time

  /// Where both ways begin, and the last row, or column, that either of them has to look at, counted as
  /// it walks.
  struct Way {
    int first, last;
    __device__ explicit Way(const Span &where)
        : first(min(where.first, kTile - 1 - where.last) / kStrip * kStrip),
          last(max(where.last, kTile - 1 - where.first) + 1) {}
    /// Adds the strips at `i` to a span, if there was a change; returns whether to walk on.
    __device__ bool go_on(int i, bool change, Span &span) const {
      if (__any_sync(kWholeWarp, change)) {
        span |= {min(i, kTile - kStrip - i), max(i, kTile - kStrip - i) + kStrip - 1};
        return true;
      }
      return i + kStrip <= last;
    }
  };

  /// Lets a marker go through cells of this lane's columns; returns what changes.
  __device__ static unsigned go_through(Pair (&strip)[kStrip], unsigned &from) {
    unsigned change = 0;
#pragma unroll
    for (int k = 0; k < kStrip; ++k) {
      const unsigned before = Cells<T>::markers(strip[k]), mask = Cells<T>::masks(strip[k]);
      from = eight ? grow_inside(before, mask, from) : grow(before, mask, from);
      strip[k] = Cells<T>::pair(from, mask);
      change |= from ^ before;
    }
    return change;
  }

  /// Walks down and up through all rows that may change because those of `where` have; adds what changes.
  __device__ void go_vertically(const Span &where, Span &rows, Span &columns) const {
    const Way way(where);
    unsigned above = 0, below = 0, change = 0;
    if (way.first > 0) {
      above = Cells<T>::markers(at(lane_, way.first - 1));
      below = Cells<T>::markers(at(lane_, kTile - way.first));
    }
    for (int i = way.first; i < kTile; i += kStrip) {
      Pair *const upper = &at(lane_, i), *const lower = &at(lane_, kTile - 1 - i);
      Pair down[kStrip], up[kStrip];
#pragma unroll
      for (int k = 0; k < kStrip; ++k) {
        down[k] = upper[k * kPitch];
        up[k] = lower[-k * kPitch];
      }
      const unsigned down_change = go_through(down, above), up_change = go_through(up, below);
      if (down_change) {
#pragma unroll
        for (int k = 0; k < kStrip; ++k) upper[k * kPitch] = down[k];
      }
      if (up_change) {
#pragma unroll
        for (int k = 0; k < kStrip; ++k) lower[-k * kPitch] = up[k];
      }
      change |= down_change | up_change;
      if (!way.go_on(i, (down_change | up_change) != 0, rows)) break;
    }
    columns |= columns_of(change != 0);
  }

  static constexpr int kStripPairs = kStrip / 2;

  /// Of this lane's two rows a strip of columns, in the order of walking.
  template <int step>
  struct Columns {
    Pair *upper, *lower;
    unsigned even[kStripPairs], odd[kStripPairs];
    unsigned even_masks[kStripPairs], odd_masks[kStripPairs];

    __device__ Columns(const Tile &tile, int i) {
      const int pair = step > 0 ? i / 2 : kPairs - 1 - i / 2;
      upper = &tile.at(pair, tile.lane_);
      lower = &tile.at(pair, tile.lane_ + 32);
#pragma unroll
      for (int k = 0; k < kStripPairs; ++k) {
        const Pair a = upper[step * k], b = lower[step * k];
        even[k] = low_halves(Cells<T>::markers(a), Cells<T>::markers(b));
        odd[k] = high_halves(Cells<T>::markers(a), Cells<T>::markers(b));
        even_masks[k] = low_halves(Cells<T>::masks(a), Cells<T>::masks(b));
        odd_masks[k] = high_halves(Cells<T>::masks(a), Cells<T>::masks(b));
      }
    }
    /// Lets a marker go through; returns what changes.
    __device__ unsigned go_through(unsigned &from) {
      unsigned change = 0;
#pragma unroll
      for (int k = 0; k < kStripPairs; ++k) {
        const unsigned even_before = even[k], odd_before = odd[k];
        if (step > 0) {
          even[k] = grow(even[k], even_masks[k], from);
          from = odd[k] = grow(odd[k], odd_masks[k], even[k]);
        } else {
          odd[k] = grow(odd[k], odd_masks[k], from);
          from = even[k] = grow(even[k], even_masks[k], odd[k]);
        }
        change |= (even[k] ^ even_before) | (odd[k] ^ odd_before);
      }
      return change;
    }
    __device__ void put_back() const {
#pragma unroll
      for (int k = 0; k < kStripPairs; ++k) {
        upper[step * k] =
            Cells<T>::pair(low_halves(even[k], odd[k]), low_halves(even_masks[k], odd_masks[k]));
        lower[step * k] =
            Cells<T>::pair(high_halves(even[k], odd[k]), high_halves(even_masks[k], odd_masks[k]));
      }
    }
  };

  /// The same with columns; rows `lane` and `lane + 32` are in the halves of a word.
  __device__ void go_sideways(const Span &where, Span &rows, Span &columns) const {
    const Way way(where);
    unsigned left = 0, right = 0, change = 0;
    if (way.first > 0) {
      const int before = way.first / 2 - 1, behind = kPairs - way.first / 2;
      left = high_halves(Cells<T>::markers(at(before, lane_)),
                         Cells<T>::markers(at(before, lane_ + 32)));
      right = low_halves(Cells<T>::markers(at(behind, lane_)),
                         Cells<T>::markers(at(behind, lane_ + 32)));
    }
    for (int i = way.first; i < kTile; i += kStrip) {
      Columns<1> to_right(*this, i);
      Columns<-1> to_left(*this, i);
      const unsigned right_change = to_right.go_through(left);
      const unsigned left_change = to_left.go_through(right);
      if (right_change) to_right.put_back();
      if (left_change) to_left.put_back();
      change |= right_change | left_change;
      if (!way.go_on(i, (right_change | left_change) != 0, columns)) break;
    }
    rows |= rows_of((change & 0xffff) != 0, change >> 16 != 0);
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
