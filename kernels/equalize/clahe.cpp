// SPDX-License-Identifier: LGPL-2.1-or-later
// Contrast limited adaptive equalization: makes a mapping for each tile, then interpolates for each
// pixel between the mappings of the four nearest tiles.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/equalize/clahe_sparse.h"
#include "kernels/equalize/cpu.h"
#include "kernels/equalize/rows.h"
#include "kernels/histogram/roi.h"

namespace cudascan::equalize {
namespace {

/// Makes the mappings of tiles, one after another.
template <typename T>
class TileMapper {
 public:
  /// @param limit  a clip_limit()
  TileMapper(Plane<const T> in, const Range &range, const Tiles &tiles, int limit)
      : in_(in),
        range_(range),
        tiles_(tiles),
        limit_(limit),
        counter_(range.levels),
        counts_(range.levels.count) {}

  /// Writes the mapping of a tile: the new value of each index.
  void map(int tile_x, int tile_y, T *mapping) {
    count(tile_x, tile_y);
    counter_.take(counts_.data());
    const auto first = counts_.begin() + range_.first, end = first + range_.count;
    *first = std::accumulate(counts_.begin(), first + 1, 0u);
    if (end != counts_.end()) end[-1] = std::accumulate(end - 1, counts_.end(), 0u);
    clip(&*first);
    std::partial_sum(first, end, first);
    rows<T>().map_tile(&*first, range_.count, tile_scale(range_.count, tiles_.pixels()), mapping);
  }

 private:
  /// Counts the samples of a tile, which may extend beyond the right and the lower border.
  void count(int tile_x, int tile_y) {
    const int left = tile_x * tiles_.width, right = left + tiles_.width;
    const int inside = std::clamp(in_.width - left, 0, tiles_.width);
    beyond_.resize(tiles_.width - inside);
    for (int i = 0; i < tiles_.height; ++i) {
      const T *const row = in_.row(source_index(tile_y * tiles_.height + i, in_.height));
      if (inside) counter_.add(row + left, inside);
      for (int x = left + inside; x < right; ++x)
        beyond_[x - left - inside] = row[source_index(x, in_.width)];
      counter_.add(beyond_.data(), tiles_.width - inside);
    }
  }

  /// Clips counts at the limit and redistributes the excess: clipped_count() of each.
  void clip(std::uint32_t *counts) const {
    const std::uint32_t clipped = rows<T>().count_above(counts, range_.count, limit_);
    if (clipped == 0) return;
    const ClippedShare share = share_out(static_cast<int>(clipped), range_.count);
    rows<T>().clip(counts, range_.count, limit_, share.each);
    for (int i = 0; i < share.rest; ++i) ++counts[i * share.step];
  }

  Plane<const T> in_;
  const Range &range_;
  const Tiles &tiles_;
  std::uint32_t limit_;
  LevelCounter<T> counter_;
  Histogram counts_;
  std::vector<T> beyond_;
};

/// The mappings of all tiles, row by row.
template <typename T>
class FullMappings {
 public:
  FullMappings(const Range &range, const Tiles &tiles)
      : bins_(range.count), values_(std::size_t(tiles.nx) * tiles.ny * range.count) {}

  T *operator[](int tile) { return &values_[std::size_t(tile) * bins_]; }
  const T *operator[](int tile) const { return &values_[std::size_t(tile) * bins_]; }

 private:
  int bins_;
  std::vector<T> values_;
};

template <typename T>
FullMappings<T> map_tiles(Cpu &cpu, Plane<const T> in, const Range &range, const Tiles &tiles,
                          double limit) {
  FullMappings<T> mappings(range, tiles);
  const int most = clip_limit(limit, tiles.pixels(), range.count);
  cpu.for_bands(tiles.nx * tiles.ny, 1, [&](int begin, int end) {
    TileMapper<T> mapper(in, range, tiles, most);
    for (int tile = begin; tile < end; ++tile)
      mapper.map(tile % tiles.nx, tile / tiles.nx, mappings[tile]);
  });
  return mappings;
}

/// The same for small tiles.
SparseMappings map_sparse_tiles(Cpu &cpu, Plane<const std::uint16_t> in, const Range &range,
                                const Tiles &tiles, double limit) {
  SparseMappings mappings(range, tiles, clip_limit(limit, tiles.pixels(), range.count));
  cpu.for_bands(tiles.nx * tiles.ny, 1, [&](int begin, int end) {
    std::vector<std::uint16_t> indices(tiles.pixels());
    for (int tile = begin; tile < end; ++tile) {
      auto index = indices.begin();
      for (int i = 0; i < tiles.height; ++i) {
        const std::uint16_t *const row =
            in.row(source_index(tile / tiles.nx * tiles.height + i, in.height));
        for (int x = tile % tiles.nx * tiles.width, end_x = x + tiles.width; x < end_x; ++x)
          *index++ =
              static_cast<std::uint16_t>(range.index_of_sample(row[source_index(x, in.width)]));
      }
      mappings.make(tile, indices);
    }
  });
  return mappings;
}

TileNeighbours row_neighbours(int y, const Tiles &tiles) {
  return neighbours(y, 1.f / static_cast<float>(tiles.height), tiles.ny);
}

bool same_tiles(const TileNeighbours &a, const TileNeighbours &b) {
  return a.before == b.before && a.after == b.after;
}

/// Columns between the centres of the same tiles.
struct ClaheCell {
  int begin, end, before, after;
};

/// Data shared by all rows.
struct ColumnPlan {
  std::vector<ClaheCell> cells;
  std::vector<float> weight_before, weight_after;

  ColumnPlan(int width, const Tiles &tiles) : weight_before(width), weight_after(width) {
    const float inverse = 1.f / static_cast<float>(tiles.width);
    for (int x = 0; x < width; ++x) {
      const TileNeighbours n = neighbours(x, inverse, tiles.nx);
      weight_before[x] = n.weight_before;
      weight_after[x] = n.weight_after;
      if (cells.empty() || cells.back().before != n.before || cells.back().after != n.after)
        cells.push_back({x, x, n.before, n.after});
      ++cells.back().end;
    }
  }
};

/// Equalizes the pixels of a cell, which is between the centres of the same four tiles.
template <typename T, typename AllMappings>
class CellMapper {
 public:
  CellMapper(Plane<const T> in, Plane<T> out, const Range &range, const Tiles &tiles,
             const AllMappings &mappings, const ColumnPlan &plan, std::uint32_t amount)
      : in_(in),
        out_(out),
        range_(range),
        tiles_(tiles),
        mappings_(mappings),
        plan_(plan),
        amount_(amount) {}

  /// @param begin, end  rows of the cell, all with the tiles of `first` around them
  void map(const ClaheCell &cell, const TileNeighbours &first, int begin, int end) {
    const Mappings four{mapping(cell.before, first.before), mapping(cell.after, first.before),
                        mapping(cell.before, first.after), mapping(cell.after, first.after)};
    const int width = cell.end - cell.begin;
    const int entries = sizeof(T) == 1 ? 256 : range_.count;
    // One look-up instead of four pays off if there are enough pixels.
    const bool joined = std::int64_t{2} * width * (end - begin) > entries;
    if (joined) {
      table_.resize(entries);
      for (int i = 0; i < entries; ++i)
        table_[i] = four.at(sizeof(T) == 1 ? range_.index_of_sample(i) : i);
    }
    fours_.resize(width);
    for (int y = begin; y < end; ++y) {
      const T *const from = in_.row(y) + cell.begin;
      T *const to = out_.row(y) + cell.begin;
      for (int x = 0; x < width; ++x)
        fours_[x] = !joined          ? four.at(range_.index_of_sample(from[x]))
                    : sizeof(T) == 1 ? table_[from[x]]
                                     : table_[range_.index_of_sample(from[x])];
      rows<T>().interpolate(
          {fours_.data(), &plan_.weight_before[cell.begin], &plan_.weight_after[cell.begin], width},
          row_neighbours(y, tiles_), range_, to);
      if (amount_ < 65536) rows<T>().blend(from, width, range_, amount_, to);
    }
  }

 private:
  using Mapping = decltype(std::declval<const AllMappings &>()[0]);

  /// The mappings of the four tiles.
  struct Mappings {
    Mapping before_before, before_after, after_before, after_after;

    Four<T> at(int i) const {
      constexpr int kBits = 8 * sizeof(T);
      return before_before[i] | Four<T>{before_after[i]} << kBits |
             Four<T>{after_before[i]} << 2 * kBits | Four<T>{after_after[i]} << 3 * kBits;
    }
  };
  Mapping mapping(int tile_x, int tile_y) const { return mappings_[tile_y * tiles_.nx + tile_x]; }

  Plane<const T> in_;
  Plane<T> out_;
  const Range range_;
  const Tiles &tiles_;
  const AllMappings &mappings_;
  const ColumnPlan &plan_;
  std::uint32_t amount_;
  std::vector<Four<T>> table_, fours_;
};

template <typename T, typename AllMappings>
void interpolate_plane(Cpu &cpu, Plane<const T> in, Plane<T> out, const Range &range,
                       const Tiles &tiles, const AllMappings &mappings, std::uint32_t amount) {
  const ColumnPlan plan(in.width, tiles);
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    CellMapper<T, AllMappings> mapper(in, out, range, tiles, mappings, plan, amount);
    for (int y = begin, next; y < end; y = next) {
      const TileNeighbours first = row_neighbours(y, tiles);
      next = y + 1;
      while (next < end && same_tiles(row_neighbours(next, tiles), first)) ++next;
      for (const ClaheCell &cell : plan.cells) mapper.map(cell, first, y, next);
    }
  });
}

}  // namespace

template <typename T>
void run_clahe(Cpu &cpu, Plane<const T> in, Plane<T> out, const EqualizeParams &p) {
  const Range range = Range::of(in.maximum, in.black, in.white);
  const Tiles tiles(p, in.width, in.height);
  const auto go = [&](const auto &mappings) {
    interpolate_plane(cpu, in, out, range, tiles, mappings, weight_of(p.amount));
  };
  if constexpr (sizeof(T) == 2)
    if (tiles.pixels() <= range.count / 8)
      return go(map_sparse_tiles(cpu, in, range, tiles, p.clip_limit));
  go(map_tiles(cpu, in, range, tiles, p.clip_limit));
}

template void run_clahe(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                        const EqualizeParams &);
template void run_clahe(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                        const EqualizeParams &);

}  // namespace cudascan::equalize
