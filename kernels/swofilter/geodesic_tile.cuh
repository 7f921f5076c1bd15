// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A warp lets the marker of a tile grow in shared memory. It walks down and up at the same time, with a lane for two neighbouring columns, then to the right and to the left, with
/// a lane for two rows; diagonal neighbours count on the way down and up. What is around the tile is
/// looked at once, before: it stays as it is.
#pragma once
#include "kernels/swofilter/geodesic_cells.cuh"
#include "kernels/swofilter/geodesic_work.cuh"

namespace cudascan::swo {

/// Rows and columns of an image along which something comes into tiles, see geodesic_line.cuh.
struct Lines {
  Work rows, columns;
  bool wanted;
};

template <typename T, bool eight>
class Tile {
 public:
  using Pair = typename Cells<T>::Pair;
  static constexpr int kPairs = kTile / 2;
  /// So that lanes that read four cells of a column use different banks.
  static constexpr int kPitch = kPairs + 2;
  static constexpr int kBytes = kTile * kPitch * sizeof(Pair);

  /// @param memory  kBytes of shared memory for this warp
  __device__ Tile(const CellImage<T> &image, unsigned number, void *memory)
      : image_(image),
        number_(number),
        x_(static_cast<int>(number % image.columns) * kTile),
        y_(static_cast<int>(number / image.columns) * kTile),
        lane_(threadIdx.x % 32),
        pairs_(static_cast<Pair *>(memory)) {}

  /// Lets the tile grow; returns whether something is left to do in it or around it.
  /// @param here  whether the tile is in shared memory; it may be after that
  /// @param keep  leave it there; its edges are put back into the image all the same
  __device__ bool grow_once(const TileNotes &notes, unsigned step, bool &here, bool keep,
                            const Lines &lines) {
    TileNotes::Note note = notes.at(number_, step);
    const bool work = note.news || note.rows.any() || note.columns.any();
    Span rows, columns;  // that change
    if (work) {
      if (!here) load();
      here = true;
      if (note.news) look_around(rows, columns, lines);
      note.rows |= rows;
      note.columns |= columns;
      walk(note, rows, columns);
      note.held |= rows;
    }
    if (!keep && note.held.any()) {
      store(note.held);
      note.held = {};
    } else if (rows.any()) {
      store_edges(rows, columns);
    }
    if (rows.any()) tell_neighbours(notes, step, rows, columns);
    __syncwarp();
    if (lane_ == 0 && (work || !keep)) notes.put(number_, note);
    return rows.any() || note.rows.any() || note.columns.any();
  }
  /// Puts the tile back.
  __device__ void put_back(const TileNotes &notes) const { store(notes.at(number_, 0).held); }

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

  /// Puts those edges back that have changed.
  __device__ void store_edges(const Span &rows, const Span &columns) const {
    if (rows.first == 0) store({0, 0});
    if (rows.last == kTile - 1) store({kTile - 1, kTile - 1});
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side ? columns.last < kTile - 1 : columns.first > 0) continue;
      const int pair = side ? kPairs - 1 : 0;
#pragma unroll
      for (int y = lane_; y < kTile; y += 32) image_.pair(x_ + 2 * pair, y_ + y) = at(pair, y);
    }
  }

  /// Markers around the tile.
  struct Around {
    unsigned above, below;                ///< of this lane's columns
    unsigned above_corner, below_corner;  ///< of the first lane, and the last
    unsigned left, right;                 ///< of rows `lane` and `lane + 32`
  };
  __device__ Around around() const {
    Around a;
    a.above = Cells<T>::markers(image_.pair(x_ + 2 * lane_, y_ - 1));
    a.below = Cells<T>::markers(image_.pair(x_ + 2 * lane_, y_ + kTile));
    const auto beside = [&](int x) {
      return image_.level(x_ + x, y_ + lane_) | image_.level(x_ + x, y_ + lane_ + 32) << 16;
    };
    a.left = beside(-1);
    a.right = beside(kTile);
    a.above_corner = a.below_corner = 0;
    if (eight && (lane_ == 0 || lane_ == 31)) {
      const int x = x_ + (lane_ == 0 ? -1 : kTile);
      a.above_corner = image_.level(x, y_ - 1);
      a.below_corner = image_.level(x, y_ + kTile);
    }
    return a;
  }
  /// The largest of each marker of rows `lane` and `lane + 32` and those above and below.
  __device__ static unsigned spread_down(unsigned v) {
    const int lane = threadIdx.x % 32;
    unsigned above = __shfl_sync(kWholeWarp, v, (lane + 31) % 32);
    unsigned below = __shfl_sync(kWholeWarp, v, (lane + 1) % 32);
    if (lane == 0) above <<= 16;
    if (lane == 31) below >>= 16;
    return __vmaxu2(v, __vmaxu2(above, below));
  }
  /// Lets a pair of cells meet neighbours; returns what changes.
  __device__ static unsigned meet(Pair &pair, unsigned neighbours) {
    const unsigned before = Cells<T>::markers(pair);
    const unsigned after = grow(before, Cells<T>::masks(pair), neighbours);
    const unsigned change = (after ^ before) & Cells<T>::kBits;
    if (change) pair = Cells<T>::with(pair, after);
    return change;
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
  __device__ void look_around(Span &rows, Span &columns, const Lines &lines) {
    Around a = around();
    if (eight) {
      a.above = spread(a.above, a.above_corner, a.above_corner);
      a.below = spread(a.below, a.below_corner, a.below_corner);
      a.left = spread_down(a.left);
      a.right = spread_down(a.right);
    }
    const unsigned top = meet(at(lane_, 0), a.above), bottom = meet(at(lane_, kTile - 1), a.below);
    columns |= columns_of((top | bottom) != 0);
    if (__any_sync(kWholeWarp, top != 0)) rows |= Span{0, 0};
    if (__any_sync(kWholeWarp, bottom != 0)) rows |= Span{kTile - 1, kTile - 1};
    unsigned sides = 0;
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      __syncwarp();
      const int pair = side ? kPairs - 1 : 0;
      const unsigned beside = side ? a.right : a.left;
      const unsigned upper = meet(at(pair, lane_), side ? beside << 16 : beside & 0xffff);
      const unsigned lower = meet(at(pair, lane_ + 32), side ? beside & 0xffff0000 : beside >> 16);
      rows |= rows_of(upper != 0, lower != 0);
      if (__any_sync(kWholeWarp, (upper | lower) != 0)) columns |= Span{2 * pair, 2 * pair + 1};
      sides |= (upper ? 1 : 0) | (lower ? 2 : 0);
    }
    if (!lines.wanted) return;
    if ((top | bottom) & 0xffff) lines.columns.add(x_ + 2 * lane_);
    if ((top | bottom) >> 16) lines.columns.add(x_ + 2 * lane_ + 1);
    if (sides & 1) lines.rows.add(y_ + lane_);
    if (sides & 2) lines.rows.add(y_ + lane_ + 32);
  }

  /// Walks once along the rows and columns that the note has, and notes those that change; adds them.
  __device__ void walk(TileNotes::Note &note, Span &rows, Span &columns) const {
    if (note.rows.any()) {
      Span rows_here, columns_here;
      __syncwarp();
      go_vertically(note.rows, rows_here, columns_here);
      rows |= rows_here;
      columns |= columns_here;
      note.columns |= columns_here;
      // Who goes down has not seen all that who goes up has changed; without diagonals that is nothing new.
      note.rows = eight ? rows_here : Span{};
    }
    if (note.columns.any()) {
      Span rows_here, columns_here;
      __syncwarp();
      go_sideways(note.columns, rows_here, columns_here);
      rows |= rows_here;
      columns |= columns_here;
      note.rows |= rows_here;
      note.columns = {};
    }
    __syncwarp();
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

  /// Four cells of a row.
  struct alignas(2 * sizeof(Pair)) Quad {
    Pair first, second;
  };
  static constexpr int kQuads = kPairs / 2, kQuadPitch = kPitch / 2;
  __device__ Quad &quad(int i, int y) const {
    return reinterpret_cast<Quad &>(at(2 * i, y));
  }

  /// Lets markers go through cells one after another; returns what changes, among other bits.
  __device__ static unsigned go_on_to(Pair &cells, unsigned &from) {
    const unsigned before = Cells<T>::markers(cells);
    from = grow(before, Cells<T>::masks(cells), from);
    cells = Cells<T>::with(cells, from);
    return from ^ before;
  }
  __device__ static unsigned go_on_to(Quad &cells, unsigned (&from)[2]) {
    if constexpr (!eight) {
      return go_on_to(cells.first, from[0]) | go_on_to(cells.second, from[1]);
    } else {
      const unsigned first = Cells<T>::markers(cells.first),
                     second = Cells<T>::markers(cells.second);
      grow_inside(first, Cells<T>::masks(cells.first), second, Cells<T>::masks(cells.second),
                  from[0], from[1]);
      cells = {Cells<T>::with(cells.first, from[0]), Cells<T>::with(cells.second, from[1])};
      return (first ^ from[0]) | (second ^ from[1]);
    }
  }

  /// Walks down and up through all rows that may change because those of `where` have; adds what changes.
  /// One half of the warp walks down, the other one up, with four columns for a lane.
  __device__ void go_vertically(const Span &where, Span &rows, Span &columns) const {
    const Way way(where);
    const bool up = lane_ >= 16;
    const int column = lane_ % 16, step = up ? -kQuadPitch : kQuadPitch;
    const auto row = [&](int i) { return up ? kTile - 1 - i : i; };
    unsigned from[2] = {}, change = 0;
    if (way.first > 0) {
      const Quad before = quad(column, row(way.first - 1));
      from[0] = Cells<T>::markers(before.first);
      from[1] = Cells<T>::markers(before.second);
    }
    for (int i = way.first; i < kTile; i += kStrip) {
      Quad *const cells = &quad(column, row(i));
      Quad strip[kStrip];
#pragma unroll
      for (int k = 0; k < kStrip; ++k) strip[k] = cells[step * k];
      unsigned here = 0;
#pragma unroll
      for (int k = 0; k < kStrip; ++k) here |= go_on_to(strip[k], from);
      here &= Cells<T>::kBits;
      if (here) {
#pragma unroll
        for (int k = 0; k < kStrip; ++k) cells[step * k] = strip[k];
      }
      change |= here;
      __syncwarp();  // beyond the middle each half meets what the other one has left
      if (!way.go_on(i, here != 0, rows)) break;
    }
    const unsigned lanes = __ballot_sync(kWholeWarp, change != 0),
                   both = (lanes | lanes >> 16) & 0xffff;
    if (both) columns |= Span{4 * (__ffs(both) - 1), 4 * (31 - __clz(both)) + 3};
  }

  /// Of this lane's two rows a strip of columns, in the order of walking.
  template <int step>
  struct Columns {
    Quad *upper, *lower;
    Pair cells[kStrip];  ///< of both rows each

    __device__ Columns(const Tile &tile, int i) {
      const int first = step > 0 ? i / 4 : kQuads - 1 - i / 4;
      upper = &tile.quad(first, tile.lane_);
      lower = &tile.quad(first, tile.lane_ + 32);
#pragma unroll
      for (int k = 0; k < kStrip; k += 4) {
        Quad a = upper[step * k / 4], b = lower[step * k / 4];
        Cells<T>::transpose(a.first, b.first);
        Cells<T>::transpose(a.second, b.second);
        cell(k, 0) = a.first;
        cell(k, 1) = b.first;
        cell(k, 2) = a.second;
        cell(k, 3) = b.second;
      }
    }
    __device__ Pair &cell(int k, int column) {
      return cells[k + (step > 0 ? column : 3 - column)];
    }
    /// Lets a marker go through; returns what changes.
    __device__ unsigned go_through(unsigned &from) {
      unsigned change = 0;
#pragma unroll
      for (int k = 0; k < kStrip; ++k) change |= go_on_to(cells[k], from);
      return change & Cells<T>::kBits;
    }
    __device__ void put_back() {
#pragma unroll
      for (int k = 0; k < kStrip; k += 4) {
        Quad a{cell(k, 0), cell(k, 2)}, b{cell(k, 1), cell(k, 3)};
        Cells<T>::transpose(a.first, b.first);
        Cells<T>::transpose(a.second, b.second);
        upper[step * k / 4] = a;
        lower[step * k / 4] = b;
      }
    }
  };

  /// The same with columns; rows `lane` and `lane + 32` are in the halves of a word.
  __device__ void go_sideways(const Span &where, Span &rows, Span &columns) const {
    const Way way(where);
    unsigned left = 0, right = 0, change = 0;
    if (way.first > 0) {
      const auto markers = [&](int pair, bool second) {
        Pair a = at(pair, lane_), b = at(pair, lane_ + 32);
        Cells<T>::transpose(a, b);
        return Cells<T>::markers(second ? b : a);
      };
      left = markers(way.first / 2 - 1, true);
      right = markers(kPairs - way.first / 2, false);
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

  /// Has those around look at edges that have changed.
  __device__ void tell_neighbours(const TileNotes &notes, unsigned step, const Span &rows,
                                  const Span &columns) const {
    if (lane_ >= 9) return;
    const int right = lane_ % 3 - 1, down = lane_ / 3 - 1;
    if ((!eight && right != 0 && down != 0) || (right == 0 && down == 0)) return;
    if ((right < 0 && columns.first > 0) || (right > 0 && columns.last < kTile - 1) ||
        (down < 0 && rows.first > 0) || (down > 0 && rows.last < kTile - 1))
      return;
    const int column = x_ / kTile + right, row = y_ / kTile + down;
    if (column >= 0 && column < image_.columns && row >= 0 && row < image_.rows)
      notes.tell(row * image_.columns + column, step);
  }

  const CellImage<T> &image_;
  const unsigned number_;
  const int x_, y_, lane_;
  Pair *const pairs_;
};

}  // namespace cudascan::swo
