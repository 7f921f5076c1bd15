// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A warp lets the marker of a tile grow in shared memory. One half of the warp walks down and the
/// other half up, with one lane for four columns. Then all lanes walk to the right and to the left,
/// with one lane for two rows. Diagonal neighbours are handled on the way down and up. The pixels
/// around the tile are read once, before; they do not change.
#pragma once
#include "kernels/swofilter/geodesic/cells.cuh"
#include "kernels/swofilter/geodesic/tile_walk.cuh"
#include "kernels/swofilter/geodesic/work.cuh"

namespace cudascan::swo {

/// Rows and columns of an image along which changes enter tiles, see line.cuh.
struct GrowthLines {
  Work rows, columns;
  bool wanted;
};

template <typename T, bool eight>
class GrowthTile {
 public:
  using Pair = typename GrowthCells<T>::Pair;
  static constexpr int kPairs = kTile / 2;
  /// So that lanes that read four cells of a column use different banks.
  static constexpr int kPitch = kPairs + 2;
  static constexpr int kBytes = kTile * kPitch * sizeof(Pair);

  /// @param memory  kBytes of shared memory for this warp
  __device__ GrowthTile(const CellImage<T> &image, unsigned number, void *memory)
      : image_(image),
        number_(number),
        x_(static_cast<int>(number % image.columns) * kTile),
        y_(static_cast<int>(number / image.columns) * kTile),
        lane_(threadIdx.x % 32),
        pairs_(static_cast<Pair *>(memory)) {}

  /// Copies cells into shared memory: cells(x, y) are those of the pixels (x, y) and (x + 1, y).
  template <typename F>
  __device__ void make(const F &cells) const {
#pragma unroll 16
    for (int y = 0; y < kTile; ++y)
      at(lane_, y) = GrowthCells<T>::fold(cells(x_ + 2 * lane_, y_ + y));
    __syncwarp();
  }
  /// Copies the cells from the image.
  __device__ void take() const {
    make([&](int x, int y) { return image_.pair(x, y); });
  }
  /// Lets the tile grow, which is in shared memory or, if not `here`, in the image. Returns whether
  /// something is left to do in it or around it.
  /// @param keep  leave it in shared memory
  __device__ bool grow_once(const TileNotes &notes, const TileEdges &edges, unsigned step,
                            bool &here, bool keep, const GrowthLines &lines) {
    // Loaded before it is known whether it is needed. In the first step nobody has written it yet.
    const Around a = step == 1 ? Around() : around(edges);
    TileNotes::Note note = notes.at(number_, step);
    const bool work = note.news || note.rows.any() || note.columns.any();
    Change change;
    if (work) {
      if (!here) take();
      here = true;
      if (step == 1)
        change.edges = TileEdges::kAll;
      else if (note.news)
        look_around(a, change, lines);
      note.rows |= change.rows;
      note.columns |= change.columns;
      walk(note, change);
      note.held |= change.rows;
    }
    if (!keep && note.held.any()) {
      store(note.held);
      note.held = {};
    }
    if (change.edges) {
      store_edges(edges, change.edges);
      tell_neighbours(notes, step, change.edges);
    }
    __syncwarp();
    if (lane_ == 0 && (work || !keep)) notes.put(number_, note);
    return change.edges || note.rows.any() || note.columns.any();
  }
  /// Calls f(x, y, pair) for all pairs of cells.
  template <typename F>
  __device__ void for_all(const F &f) const {
#pragma unroll 8
    for (int y = 0; y < kTile; ++y) f(x_ + 2 * lane_, y_ + y, GrowthCells<T>::fold(at(lane_, y)));
  }

 private:
  /// Pairs of a row are in the order in which GrowthCells::fold() assigns them to lanes: columns 4
  /// i and 4 i + 2, then 4 i + 1 and 4 i + 3. So the neighbours of one pair are in the other,
  /// except at the outer columns.
  __device__ Pair &at(int pair, int y) const {
    return pairs_[y * kPitch + pair];
  }

  /// Where cells change.
  struct Change {
    Span rows, columns;
    unsigned edges = 0;  ///< edges that really change

    __device__ Change &operator|=(const Change &more) {
      rows |= more.rows;
      columns |= more.columns;
      edges |= more.edges;
      return *this;
    }
    __device__ void add_edge(TileEdges::Edge edge, bool changes) {
      if (changes) edges |= 1u << edge;
    }
  };

  __device__ void store(const Span &rows) const {
#pragma unroll 8
    for (int y = rows.first; y <= rows.last; ++y)
      image_.pair(x_ + 2 * lane_, y_ + y) = GrowthCells<T>::fold(at(lane_, y));
  }

  __device__ void store_edges(const TileEdges &edges, unsigned which) const {
    const auto levels = [&](TileEdges::Edge edge) -> unsigned & {
      return edges.levels(number_, edge, lane_);
    };
    if (which & 1u << TileEdges::top)
      levels(TileEdges::top) = GrowthCells<T>::markers(at(lane_, 0));
    if (which & 1u << TileEdges::bottom)
      levels(TileEdges::bottom) = GrowthCells<T>::markers(at(lane_, kTile - 1));
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const TileEdges::Edge edge = side ? TileEdges::right : TileEdges::left;
      if (!(which & 1u << edge)) continue;
      const int pair = side ? kPairs - 1 : 0;
      Pair a = at(pair, lane_), b = at(pair, lane_ + 32);
      GrowthCells<T>::transpose(a, b);
      levels(edge) = GrowthCells<T>::markers(side ? b : a);
    }
  }

  /// Levels around the tile.
  struct Around {
    unsigned above = 0, below = 0;                ///< of this lane's columns
    unsigned above_corner = 0, below_corner = 0;  ///< of the first lane, and the last
    unsigned left = 0, right = 0;                 ///< of rows `lane` and `lane + 32`
  };
  __device__ Around around(const TileEdges &edges) const {
    const int columns = image_.columns;
    const bool above = y_ > 0, below = y_ / kTile < image_.rows - 1;
    const bool left = x_ > 0, right = x_ / kTile < columns - 1;
    Around a;
    if (above) a.above = edges.levels(number_ - columns, TileEdges::bottom, lane_);
    if (below) a.below = edges.levels(number_ + columns, TileEdges::top, lane_);
    if (left) a.left = edges.levels(number_ - 1, TileEdges::right, lane_);
    if (right) a.right = edges.levels(number_ + 1, TileEdges::left, lane_);
    if (!eight) return a;
    if (lane_ == 0 && left) {
      if (above) a.above_corner = edges.levels(number_ - columns - 1, TileEdges::bottom, 31) >> 16;
      if (below) a.below_corner = edges.levels(number_ + columns - 1, TileEdges::top, 31) >> 16;
    }
    if (lane_ == 31 && right) {
      if (above)
        a.above_corner = edges.levels(number_ - columns + 1, TileEdges::bottom, 0) & 0xffff;
      if (below) a.below_corner = edges.levels(number_ + columns + 1, TileEdges::top, 0) & 0xffff;
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
  /// Lets a pair of cells grow from its neighbours; returns what changes.
  __device__ static unsigned meet(Pair &pair, unsigned neighbours) {
    const unsigned before = GrowthCells<T>::markers(pair);
    const unsigned after = grow(before, GrowthCells<T>::masks(pair), neighbours);
    const unsigned change = (after ^ before) & GrowthCells<T>::kBits;
    if (change) pair = GrowthCells<T>::with(pair, after);
    return change;
  }

  /// The first and the last of the columns or rows that lanes have changed.
  /// @param mine  true for either of two columns, or for the first one of two rows
  /// @param far   true for the row that is 32 rows further down
  __device__ static Span columns_of(bool mine) {
    const unsigned lanes = __ballot_sync(kWholeWarp, mine);
    if (lanes == 0) return {};
    return {(__ffs(lanes) - 1) / 2 * 4, (31 - __clz(lanes)) / 2 * 4 + 3};
  }
  __device__ static Span rows_of(bool upper, bool lower) {
    const unsigned uppers = __ballot_sync(kWholeWarp, upper);
    const unsigned lowers = __ballot_sync(kWholeWarp, lower);
    if ((uppers | lowers) == 0) return {};
    return {uppers ? __ffs(uppers) - 1 : __ffs(lowers) + 31,
            lowers ? 63 - __clz(lowers) : 31 - __clz(uppers)};
  }

  /// Lets the edges of the tile grow from the pixels around it; adds the places that change.
  __device__ void look_around(Around a, Change &change, const GrowthLines &lines) {
    if (eight) {
      a.above = spread_folded(a.above, a.above_corner, a.above_corner);
      a.below = spread_folded(a.below, a.below_corner, a.below_corner);
      a.left = spread_down(a.left);
      a.right = spread_down(a.right);
    }
    const unsigned top = meet(at(lane_, 0), a.above), bottom = meet(at(lane_, kTile - 1), a.below);
    change.columns |= columns_of((top | bottom) != 0);
    if (__any_sync(kWholeWarp, top != 0)) change.rows |= Span{0, 0};
    if (__any_sync(kWholeWarp, bottom != 0)) change.rows |= Span{kTile - 1, kTile - 1};
    unsigned sides = 0;
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      __syncwarp();
      const int pair = side ? kPairs - 1 : 0;
      const unsigned beside = side ? a.right : a.left;
      const unsigned upper = meet(at(pair, lane_), side ? beside << 16 : beside & 0xffff);
      const unsigned lower = meet(at(pair, lane_ + 32), side ? beside & 0xffff0000 : beside >> 16);
      change.rows |= rows_of(upper != 0, lower != 0);
      if (__any_sync(kWholeWarp, (upper | lower) != 0))
        change.columns |= side ? Span{kTile - 1, kTile - 1} : Span{0, 0};
      sides |= (upper ? 1 : 0) | (lower ? 2 : 0);
    }
    change.add_edge(TileEdges::top, change.rows.first == 0);
    change.add_edge(TileEdges::bottom, change.rows.last == kTile - 1);
    change.add_edge(TileEdges::left, change.columns.first == 0);
    change.add_edge(TileEdges::right, change.columns.last == kTile - 1);
    if (!lines.wanted) return;
    const int column = x_ + lane_ / 2 * 4 + lane_ % 2;
    if ((top | bottom) & 0xffff) lines.columns.add(column);
    if ((top | bottom) >> 16) lines.columns.add(column + 2);
    if (sides & 1) lines.rows.add(y_ + lane_);
    if (sides & 2) lines.rows.add(y_ + lane_ + 32);
  }

  /// Walks once along the rows and columns of the note; notes and adds those that change.
  __device__ void walk(TileNotes::Note &note, Change &change) const {
    if (note.rows.any()) {
      Change here;
      __syncwarp();
      go_vertically(note.rows, here);
      change |= here;
      note.columns |= here.columns;
      // The half that walks down has not seen all changes of the half that walks up. Without
      // diagonals, these changes bring nothing new.
      note.rows = eight ? here.rows : Span{};
    }
    if (note.columns.any()) {
      Change here;
      __syncwarp();
      go_sideways(note.columns, here);
      change |= here;
      note.rows |= here.rows;
      note.columns = {};
    }
    __syncwarp();
  }

  using Quad = TileQuad<T>;
  using Levels = TileLevels<T>;
  static constexpr int kQuads = kPairs / 2, kQuadPitch = kPitch / 2;
  __device__ Quad &quad(int i, int y) const {
    return reinterpret_cast<Quad &>(at(2 * i, y));
  }

  /// Walks down and up through all rows that may change because the rows of `where` have changed;
  /// adds what changes. One half of the warp walks down, the other half up, with four columns for
  /// each lane.
  __device__ void go_vertically(const Span &where, Change &change) const {
    const TileWay way(where);
    const bool up = lane_ >= 16;
    const int column = lane_ % 16, step = up ? -kQuadPitch : kQuadPitch;
    const auto row = [&](int i) { return up ? kTile - 1 - i : i; };
    unsigned near = 0,
             far = 0;  // changes in the first row of this half, and in its last row
    Levels from, all;
    if (way.first > 0) {
      const Quad before = quad(column, row(way.first - 1));
      from = {GrowthCells<T>::markers(before.even), GrowthCells<T>::markers(before.odd)};
    }
    for (int i = way.first; i < kTile; i += kTileStrip) {
      Quad *const cells = &quad(column, row(i));
      Quad strip[kTileStrip];
      Levels after[kTileStrip];
#pragma unroll
      for (int k = 0; k < kTileStrip; ++k) strip[k] = cells[step * k];
      Levels here;
#pragma unroll
      for (int k = 0; k < kTileStrip; ++k) {
        go_on_to<T, eight>(strip[k], from);
        after[k] = from;
        here.add_change(strip[k], from);
      }
      const bool any = here.change() != 0;
      if (any) {
#pragma unroll
        for (int k = 0; k < kTileStrip; ++k)
          cells[step * k] = {GrowthCells<T>::with(strip[k].even, after[k].even),
                             GrowthCells<T>::with(strip[k].odd, after[k].odd)};
        Levels first, last;
        first.add_change(strip[0], after[0]);
        last.add_change(strip[kTileStrip - 1], after[kTileStrip - 1]);
        if (i == 0) near = first.change();
        if (i == kTile - kTileStrip) far = last.change();
        all.even |= here.even;
        all.odd |= here.odd;
      }
      __syncwarp();  // beyond the middle each half reads what the other half has written
      if (!way.go_on(i, any, change.rows)) break;
    }
    const unsigned lanes = __ballot_sync(kWholeWarp, all.change() != 0);
    if (lanes == 0) return;
    const unsigned both = (lanes | lanes >> 16) & 0xffff;
    change.columns |= Span{4 * (__ffs(both) - 1), 4 * (31 - __clz(both)) + 3};
    change.add_edge(TileEdges::top, __any_sync(kWholeWarp, (up ? far : near) != 0));
    change.add_edge(TileEdges::bottom, __any_sync(kWholeWarp, (up ? near : far) != 0));
    constexpr unsigned kFirst = GrowthCells<T>::kBits & 0xffff,
                       kSecond = GrowthCells<T>::kBits & 0xffff0000;
    change.add_edge(TileEdges::left,
                    __any_sync(kWholeWarp, column == 0 && (all.even & kFirst) != 0));
    change.add_edge(TileEdges::right,
                    __any_sync(kWholeWarp, column == 15 && (all.odd & kSecond) != 0));
  }

  /// The same for columns; rows `lane` and `lane + 32` are in the halves of a word.
  __device__ void go_sideways(const Span &where, Change &change) const {
    const TileWay way(where);
    unsigned left = 0, right = 0, all = 0;
    unsigned first_column = 0, last_column = 0;  // their change
    if (way.first > 0) {
      const auto markers = [&](int pair, bool second) {
        Pair a = at(pair, lane_), b = at(pair, lane_ + 32);
        GrowthCells<T>::transpose(a, b);
        return GrowthCells<T>::markers(second ? b : a);
      };
      left = markers(way.first / 2 - 1, true);
      right = markers(kPairs - way.first / 2, false);
    }
    for (int i = way.first; i < kTile; i += kTileStrip) {
      const int left_quad = kQuads - 1 - i / 4;
      TileColumns<T, 1> to_right(&quad(i / 4, lane_), &quad(i / 4, lane_ + 32));
      TileColumns<T, -1> to_left(&quad(left_quad, lane_), &quad(left_quad, lane_ + 32));
      const unsigned right_change = to_right.go_through(left);
      const unsigned left_change = to_left.go_through(right);
      if (right_change) {
        to_right.put_back();
        if (i == 0) first_column |= to_right.change(0);
        if (i == kTile - kTileStrip) last_column |= to_right.change(kTileStrip - 1);
      }
      if (left_change) {
        to_left.put_back();
        if (i == 0) last_column |= to_left.change(0);
        if (i == kTile - kTileStrip) first_column |= to_left.change(kTileStrip - 1);
      }
      all |= right_change | left_change;
      if (!way.go_on(i, (right_change | left_change) != 0, change.columns)) break;
    }
    const Span rows = rows_of((all & 0xffff) != 0, all >> 16 != 0);
    change.rows |= rows;
    change.add_edge(TileEdges::top, rows.first == 0);
    change.add_edge(TileEdges::bottom, rows.last == kTile - 1);
    change.add_edge(TileEdges::left, __any_sync(kWholeWarp, first_column != 0));
    change.add_edge(TileEdges::right, __any_sync(kWholeWarp, last_column != 0));
  }

  /// Tells the tiles around to look at edges that have changed.
  __device__ void tell_neighbours(const TileNotes &notes, unsigned step, unsigned edges) const {
    if (lane_ >= 9) return;
    const int right = lane_ % 3 - 1, down = lane_ / 3 - 1;
    if ((!eight && right != 0 && down != 0) || (right == 0 && down == 0)) return;
    unsigned needed = 0;
    if (right != 0) needed |= 1u << (right < 0 ? TileEdges::left : TileEdges::right);
    if (down != 0) needed |= 1u << (down < 0 ? TileEdges::top : TileEdges::bottom);
    if ((edges & needed) != needed) return;
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
