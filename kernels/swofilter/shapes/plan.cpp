// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/shapes/plan.h"

#include <algorithm>

namespace cudascan::swo {
namespace {

constexpr int kUnit = 16;

int rounded_up(int n, int to) {
  return (n + to - 1) / to * to;
}

/// A shape of tiles, with the number of phases.
struct TileLayout {
  int across, down, phases;
};

class ShapePlanner {
 public:
  ShapePlanner(const std::vector<ShapeRead> &reads, const ShapeReach &reach, int sample_bytes,
               int threads)
      : reads_(reads), reach_(reach), sample_bytes_(sample_bytes), threads_(threads) {
    for (const ShapeRead &read : reads) {
      top_ = std::min(top_, read.dy);
      bottom_ = std::max(bottom_, read.dy);
      lists_ = std::max(lists_, read.list + 1);
    }
    rows_ = bottom_ - top_ + 1;
  }

  ShapePlan operator()(int most_shared) const {
    TileLayout best{};
    double least = 0;
    for (const auto &[across, down] : {std::pair{2, 16}, {1, 16}, {2, 8}, {1, 8}})
      for (int phases = 1; phases <= std::min(rows_, kMostPhases); ++phases) {
        const TileLayout layout = {across, down, phases};
        if (across * down * 32 > threads_ || pitch(layout) > ShapePlan::kMostPitch ||
            bytes(layout) > most_shared || words(layout) > ShapePlan::kMostWords)
          continue;
        if (const double cost = this->cost(layout); best.phases == 0 || cost < least)
          best = layout, least = cost;
      }
    return plan(best);
  }

 private:
  /// A block of the smallest tile has 52 KiB with so many phases for the largest window.
  static constexpr int kMostPhases = 16;
  /// Shared memory of a multiprocessor, and what each block needs besides its own.
  static constexpr int kShared = 228 << 10, kReserved = 1 << 10;

  int left() const { return rounded_up(reach_.left * sample_bytes_, kUnit); }
  int pitch(const TileLayout &layout) const {
    const int bytes =
        layout.across * ShapePlan::kWarpBytes + left() + reach_.right * sample_bytes_ + kUnit;
    return (bytes + kUnit - 1) / kUnit | 1;
  }
  int begin(const TileLayout &layout, int phase) const {
    return top_ + rows_ * phase / layout.phases;
  }
  int rows(const TileLayout &layout) const {
    return layout.down * ShapePlan::kWarpRows + (rows_ + layout.phases - 1) / layout.phases - 1;
  }
  int bytes(const TileLayout &layout) const { return pitch(layout) * kUnit * rows(layout); }

  int words(const TileLayout &layout) const {
    return layout.phases * (3 + 2 * lists_) + static_cast<int>(reads_.size());
  }

  /// About the number of units that are read or written for each unit of the tile.
  double cost(const TileLayout &layout) const {
    const int threads = layout.across * layout.down * 32;
    const int blocks = std::min(threads_ / threads, kShared / (bytes(layout) + kReserved));
    const double tile = layout.across * ShapePlan::kWarpBytes * layout.down * ShapePlan::kWarpRows;
    const double loaded = layout.phases * bytes(layout) / tile;
    // One block alone waits for its samples; it also waits longer at barriers.
    const double idle = blocks * threads < threads_ ? 1.6 : blocks == 1 ? 1.2 : 1;
    return (loaded * (4 * lists_ + 4) + 2 * static_cast<double>(reads_.size())) * idle;
  }

  ShapePlan plan(const TileLayout &layout) const {
    ShapePlan plan{};
    plan.across = layout.across;
    plan.down = layout.down;
    plan.left = left();
    plan.pitch = pitch(layout);
    plan.phases = layout.phases;
    plan.bytes = bytes(layout);
    std::uint32_t *words = plan.words;
    for (int phase = 0; phase < layout.phases; ++phase) {
      const int begin = this->begin(layout, phase), end = this->begin(layout, phase + 1);
      int lists = 1;
      for (const ShapeRead &read : reads_)
        if (read.dy >= begin && read.dy < end) lists = std::max(lists, read.list + 1);
      *words++ = static_cast<std::uint32_t>(begin);
      *words++ = end - begin + plan.tile_rows() - 1;
      *words++ = lists;
      for (int list = 0; list < lists; ++list) words = append(plan, begin, end, list, words);
    }
    return plan;
  }

  std::uint32_t *append(const ShapePlan &plan, int begin, int end, int list,
                        std::uint32_t *words) const {
    std::uint32_t *const counts = words;
    counts[0] = counts[1] = 0;
    words += 2;
    for (int distance = 0; distance < 4; ++distance)
      for (const ShapeRead &read : reads_) {
        const int offset = plan.left + read.dx * sample_bytes_;
        if (read.list != list || read.dy < begin || read.dy >= end ||
            offset % kUnit / 4 != distance)
          continue;
        *words++ = ((read.dy - begin) * plan.pitch + offset / kUnit) * kUnit + offset % 4;
        counts[distance / 2] += 1u << distance % 2 * 16;
      }
    return words;
  }

  const std::vector<ShapeRead> &reads_;
  const ShapeReach reach_;
  const int sample_bytes_, threads_;
  int top_ = 0, bottom_ = 0, rows_ = 1, lists_ = 1;
};

}  // namespace

ShapePlan make_shape_plan(const std::vector<ShapeRead> &reads, const ShapeReach &reach,
                          int sample_bytes, int most_shared, int threads) {
  return ShapePlanner(reads, reach, sample_bytes, threads)(most_shared);
}

}  // namespace cudascan::swo
