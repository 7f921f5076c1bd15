// SPDX-License-Identifier: LGPL-2.1-or-later
// Contrast limited adaptive equalization: a mapping for each tile, then for each pixel the mappings of
// the four nearest, interpolated.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/equalize_cpu.h"
#include "kernels/equalize_rows.h"
#include "kernels/histogram_cpu.h"

namespace cudascan::equalize {
namespace {

/// Makes the mappings of tiles, one after the other.
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

  /// Writes what each index becomes in a tile.
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
  /// Counts the samples of a tile, which may reach over the right and the lower border.
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

  /// Cuts counts off at the limit and shares out what was above: clipped_count() of each.
  void clip(std::uint32_t *counts) const {
    const std::uint32_t clipped = rows<T>().count_above(counts, range_.count, limit_);
    if (clipped == 0) return;
    const Share share = share_out(static_cast<int>(clipped), range_.count);
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
std::vector<T> map_tiles(Cpu &cpu, Plane<const T> in, const Range &range, const Tiles &tiles,
                         double limit) {
  std::vector<T> mappings(std::size_t(tiles.nx) * tiles.ny * range.count);
  const int most = clip_limit(limit, tiles.pixels(), range.count);
  cpu.for_bands(tiles.nx * tiles.ny, 1, [&](int begin, int end) {
    TileMapper<T> mapper(in, range, tiles, most);
    for (int tile = begin; tile < end; ++tile)
      mapper.map(tile % tiles.nx, tile / tiles.nx, &mappings[std::size_t(tile) * range.count]);
  });
  return mappings;
}

/// Columns that lie between the centres of the same tiles.
struct Cell {
  int begin, end, before, after;
};

/// What the pixels of all rows share.
struct ColumnPlan {
  std::vector<Cell> cells;
  std::vector<float> weight_before, weight_after;

  ColumnPlan(int width, const Tiles &tiles) : weight_before(width), weight_after(width) {
    const float inverse = 1.f / static_cast<float>(tiles.width);
    for (int x = 0; x < width; ++x) {
      const Neighbours n = neighbours(x, inverse, tiles.nx);
      weight_before[x] = n.weight_before;
      weight_after[x] = n.weight_after;
      if (cells.empty() || cells.back().before != n.before || cells.back().after != n.after)
        cells.push_back({x, x, n.before, n.after});
      ++cells.back().end;
    }
  }
};

/// The mappings of the four tiles around the pixels of a row, cell by cell.
template <typename T>
class Cells {
 public:
  Cells(const ColumnPlan &plan, const Range &range, const Tiles &tiles,
        const std::vector<T> &mappings)
      : plan_(plan), range_(range), tiles_(tiles), mappings_(mappings) {}

  /// Goes to the row whose neighbours are these.
  void go_to(const Neighbours &y) {
    if (y.before == before_ && y.after == after_) return;
    before_ = y.before;
    after_ = y.after;
    if constexpr (sizeof(T) == 1) {
      tables_.resize(plan_.cells.size() * 256);
      Four<T> *table = tables_.data();
      for (const Cell &cell : plan_.cells)
        for (int sample = 0; sample < 256; ++sample)
          *table++ = four(cell, range_.index_of_sample(sample));
    }
  }

  /// Writes what the samples of a row become in their four tiles.
  void look_up(const T *row, Four<T> *fours) const {
    for (std::size_t c = 0; c < plan_.cells.size(); ++c) {
      const Cell &cell = plan_.cells[c];
      if constexpr (sizeof(T) == 1) {
        const Four<T> *const table = &tables_[c * 256];
        for (int x = cell.begin; x < cell.end; ++x) fours[x] = table[row[x]];
      } else {
        const T *const bb = mapping(cell.before, before_), *const ba = mapping(cell.after, before_);
        const T *const ab = mapping(cell.before, after_), *const aa = mapping(cell.after, after_);
        for (int x = cell.begin; x < cell.end; ++x) {
          const int i = range_.index_of_sample(row[x]);
          fours[x] = join(bb[i], ba[i], ab[i], aa[i]);
        }
      }
    }
  }

 private:
  const T *mapping(int tile_x, int tile_y) const {
    return &mappings_[(std::size_t(tile_y) * tiles_.nx + tile_x) * range_.count];
  }
  static Four<T> join(Four<T> bb, Four<T> ba, Four<T> ab, Four<T> aa) {
    constexpr int kBits = 8 * sizeof(T);
    return bb | ba << kBits | ab << (2 * kBits) | aa << (3 * kBits);
  }
  Four<T> four(const Cell &cell, int i) const {
    return join(mapping(cell.before, before_)[i], mapping(cell.after, before_)[i],
                mapping(cell.before, after_)[i], mapping(cell.after, after_)[i]);
  }

  const ColumnPlan &plan_;
  const Range &range_;
  const Tiles &tiles_;
  const std::vector<T> &mappings_;
  int before_ = -1, after_ = -1;
  std::vector<Four<T>> tables_;  // one of 256 for each cell
};

}  // namespace

template <typename T>
void run_clahe(Cpu &cpu, Plane<const T> in, Plane<T> out, const EqualizeParams &p) {
  const Range range = Range::of(in.maximum, in.black, in.white);
  const Tiles tiles(p, in.width, in.height);
  const std::vector<T> mappings = map_tiles(cpu, in, range, tiles, p.clip_limit);
  const ColumnPlan plan(in.width, tiles);
  const std::uint32_t amount = weight_of(p.amount);
  const float inverse = 1.f / static_cast<float>(tiles.height);
  const Rows<T> &loops = rows<T>();
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    Cells<T> cells(plan, range, tiles, mappings);
    std::vector<Four<T>> fours(in.width);
    for (int y = begin; y < end; ++y) {
      const Neighbours rows_around = neighbours(y, inverse, tiles.ny);
      cells.go_to(rows_around);
      cells.look_up(in.row(y), fours.data());
      loops.interpolate(
          {fours.data(), plan.weight_before.data(), plan.weight_after.data(), in.width},
          rows_around, range, out.row(y));
      if (amount < 65536) loops.blend(in.row(y), in.width, range, amount, out.row(y));
    }
  });
}

template void run_clahe(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                        const EqualizeParams &);
template void run_clahe(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                        const EqualizeParams &);

}  // namespace cudascan::equalize
