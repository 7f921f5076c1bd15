// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Binarization as the text of kernels/binarize.h defines it, with a plain loop over each window
/// and a flood fill for each component. Only the formulas of a single pixel or histogram are those
/// of kernels/binarize/formula.h.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "kernels/binarize/formula.h"
#include "kernels/runlengths.h"
#include "tests/kernels/binarize/grid.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {

inline std::ostream &operator<<(std::ostream &s, const BinarizeParams &p) {
  s << "level " << static_cast<int>(p.level) << ", invert " << static_cast<int>(p.invert)
    << ", output " << static_cast<int>(p.output);
  if (p.smoothing != 0) s << ", smoothing " << p.smoothing;
  if (p.roi != Rectangle{})
    s << ", roi <" << p.roi.x << ", " << p.roi.y << ", " << p.roi.width << ", " << p.roi.height
      << ">";
  return s;
}

namespace test {

/// The result of the definition.
struct Binarized {
  Grid ink, darkness;
  BinarizeReport report;
};

class BinarizeOracle {
 public:
  template <typename T>
  BinarizeOracle(const Image<T> &in, const BinarizeParams &params)
      : params_(params),
        levels_(binarize::kDarkest<T> + 1),
        image_(Grid::of(in.width(), in.height(), [&](int x, int y) { return in.at(x, y); })),
        maximum_(in.plane().maximum),
        roi_(params.roi) {
    if (roi_.width == 0 || roi_.height == 0) roi_ = {0, 0, image_.width, image_.height};
    roi_.width = std::min(roi_.width, image_.width - roi_.x);
    roi_.height = std::min(roi_.height, image_.height - roi_.y);
  }

  Binarized result() {
    const Grid half = Grid::of((image_.width + 1) / 2, (image_.height + 1) / 2, [&](int x, int y) {
      return (image_.sum(2 * x - 1, 2 * y - 1, 4) + 8) / 16;
    });
    quarter_ = means(half), top_ = extremes(true, half), low_ = extremes(false, half);
    report_.inverted = params_.invert == BinarizeInvert::on ||
                       (params_.invert == BinarizeInvert::automatic && looks_inverted());
    if (report_.inverted) {
      std::swap(top_, low_);
      for (Grid *grid : {&image_, &quarter_, &top_, &low_})
        for (int &cell : grid->cells) cell = maximum_ - std::min(cell, maximum_);
    }
    Grid ink = decide();
    int count = 0;
    for (const int cell : ink.cells) count += cell;
    report_.ink_ratio = static_cast<double>(count) / static_cast<double>(ink.cells.size());
    return {std::move(ink), std::move(darkness_), report_};
  }

 private:
  struct Closed {
    Grid paper;
    int least;
  };

  static Grid means(const Grid &from) {
    return Grid::of((from.width + 1) / 2, (from.height + 1) / 2,
                    [&](int x, int y) { return (from.sum(2 * x, 2 * y, 2) + 2) / 4; });
  }
  static Grid extremes(bool largest, const Grid &from) {
    return Grid::of((from.width + 1) / 2, (from.height + 1) / 2, [&](int x, int y) {
      const int a = from.near(2 * x, 2 * y), b = from.near(2 * x + 1, 2 * y),
                c = from.near(2 * x, 2 * y + 1), d = from.near(2 * x + 1, 2 * y + 1);
      return largest ? std::max({a, b, c, d}) : std::min({a, b, c, d});
    });
  }
  bool in_roi(int x, int y) const {
    return x >= roi_.x && y >= roi_.y && x < roi_.x + roi_.width && y < roi_.y + roi_.height;
  }

  /// Calls visit(x, y) for the samples of the quarter that are measured.
  template <typename Visit>
  void for_quarter(const Visit &visit) const {
    int visited = 0;
    for (const bool everywhere : {false, true}) {
      if (visited > 0) break;
      for (int y = 0; y < quarter_.height; ++y)
        for (int x = 0; x < quarter_.width; ++x)
          if (everywhere || in_roi(4 * x, 4 * y)) ++visited, visit(x, y);
    }
  }

  bool looks_inverted() const {
    struct Block {
      int high = 0, low = 1 << 16;
      std::vector<int> samples;
    };
    std::map<std::pair<int, int>, Block> blocks;
    for_quarter([&](int x, int y) {
      Block &block = blocks[{x / 8, y / 8}];
      const int sample = quarter_.at(x, y);
      block.high = std::max(block.high, sample);
      block.low = std::min(block.low, sample);
      block.samples.push_back(sample);
    });
    std::uint64_t above = 0, below = 0;
    for (const auto &[place, block] : blocks) {
      if (10 * (block.high - block.low) <= maximum_) continue;
      for (const int sample : block.samples) {
        above += block.high - sample;
        below += sample - block.low;
      }
    }
    return 5 * above > 6 * below;
  }

  /// Measures the noise and decides whether the page is blank.
  void judge(const Closed &paper) {
    const Grid closed = top_.dilated(3).eroded(3);
    std::vector<int> details;
    for_quarter([&](int x, int y) {
      const int c = paper.paper.at(x, y);
      details.push_back(binarize::darkness(low_.at(x, y), closed.at(x, y),
                                           binarize::darkness_factor(4095, c, paper.least)));
    });
    std::sort(details.begin(), details.end());
    const int quartile = details[(details.size() + 3) / 4 - 1];
    const int third = details.size() < 3 ? 0 : details[details.size() - 3];
    const double level = 434 + 3 * quartile / 2;
    noise_ = binarize::noise_of(quartile);
    report_.blank = third <= level;
    report_.confidence = report_.blank ? 1 - third / level : 1 - level / third;
  }

  static Closed close(const Grid &image, int side) {
    const Grid before = image.dilated(side).extreme(false, 1, side);
    std::uint64_t sum = 0, squares = 0;
    for (const std::uint64_t cell : before.cells) sum += cell, squares += cell * cell;
    return {before.extreme(false, side, 1), binarize::least_paper(sum, squares)};
  }
  /// @param times  pixels of the image along a pixel of paper
  Grid dark(const Grid &image, const Closed &closed, int times) const {
    return Grid::of(image.width, image.height, [&](int x, int y) {
      const int paper = closed.paper.at(x / times, y / times);
      return binarize::darkness(image.at(x, y), paper,
                                binarize::darkness_factor(levels_ - 1, paper, closed.least));
    });
  }

  binarize::DarknessLevels otsu() const {
    std::vector<std::uint64_t> counts(levels_);
    for (int y = 0; y < darkness_.height; ++y)
      for (int x = 0; x < darkness_.width; ++x) {
        constexpr int kColumns[] = {0, 2, 1, 3};
        counts[darkness_.at(x, y)] += in_roi(x, y) && x % 4 == kColumns[y % 4];
      }
    std::vector<binarize::LevelSums> up_to(levels_);
    binarize::LevelSums all{};
    for (int level = 0; level < levels_; ++level) {
      all.count += counts[level];
      all.sum += counts[level] * level;
      all.squares += counts[level] * level * level;
      up_to[level] = all;
    }
    double largest = 0;
    for (const auto &below : up_to) largest = std::max(largest, separation_at(below, all));
    std::vector<int> best;
    for (int level = 0; level < levels_; ++level)
      if (separation_at(up_to[level], all) >= binarize::flat_maximum(largest))
        best.push_back(level);
    const int t = (best.front() + best.back()) / 2;
    return levels_at(t, up_to[t], all, levels_, noise_);
  }

  /// Whether runs are measured in a column of the roi: in every fourth group of 32, and in the
  /// middle one.
  bool is_measured(int x) const {
    const int first = roi_.x / 32, last = (roi_.x + roi_.width - 1) / 32;
    const int distance = std::abs((roi_.x + x) / 32 - (first + last) / 2);
    return distance % 4 == 0;
  }
  /// The median run of ink, Q8.
  int stroke(const Grid &ink) const {
    std::vector<int> lengths;
    const auto measure = [&](int count, const auto &cell) {
      for (int i = 1; i < count; ++i) {
        int end = i;
        while (end < count && cell(end)) ++end;
        if (end < count && !cell(i - 1) && end - i > 1 && end - i < kRunBins - 1)
          lengths.push_back(end - i);
        i = std::max(i, end);
      }
    };
    for (int y = 0; y < roi_.height; ++y)
      if ((roi_.y + y) % 4 == 0)
        measure(roi_.width, [&](int i) { return ink.at(roi_.x + i, roi_.y + y); });
    for (int x = 0; x < roi_.width; ++x)
      if (is_measured(x))
        measure(roi_.height, [&](int i) { return ink.at(roi_.x + x, roi_.y + i); });
    std::sort(lengths.begin(), lengths.end());
    if (lengths.empty()) return binarize::median_run(0, 0, 0, 0);
    const int median = lengths[(lengths.size() - 1) / 2];
    const auto [first, last] = std::equal_range(lengths.begin(), lengths.end(), median);
    return binarize::median_run(lengths.size(), median, first - lengths.begin(), last - first);
  }

  void set_levels(const binarize::DarknessLevels &levels) {
    report_.threshold = levels.threshold / 256.0 / (levels_ - 1);
    report_.paper_deviation = levels.deviation / 256.0 / (levels_ - 1);
  }

  Grid decide() {
    const Closed paper = close(top_, 15);
    judge(paper);
    darkness_ = dark(image_, paper, 4);
    const auto first = otsu();
    set_levels(first);
    if (report_.blank) return Grid{image_.width, image_.height};
    const Grid least = darkness_.eroded(5);
    const int level = (first.threshold + 4 * first.deviation) / 256;
    const Grid ink = Grid::of(image_.width, image_.height, [&](int x, int y) {
      return 2 * darkness_.at(x, y) - least.at(x, y) > level;
    });
    if (params_.level == BinarizeLevel::fast) return ink;
    return decide_again(stroke(ink));
  }

  Grid decide_again(int run) {
    report_.stroke_width = run / 256.0;
    const auto sizes = binarize::StrokeSizes::of(run);
    darkness_ = dark(image_, close(top_, sizes.closing), 4);
    const auto levels = otsu();
    set_levels(levels);
    const Grid half = means(darkness_), cells = means(half);
    const Grid darkest =
        extremes(true, extremes(true, extremes(true, half))).dilated(sizes.neighbourhood);
    const auto weights = binarize::InkWeights::of(run);
    const int radius = sizes.mean / 2;
    const Grid around = Grid::of(cells.width, cells.height, [&](int x, int y) {
      return binarize::mean_of(cells.sum(x - radius, y - radius, sizes.mean),
                               binarize::inverse_area(sizes.mean));
    });
    const Grid least = darkness_.eroded(sizes.erosion);
    Grid ink{image_.width, image_.height}, cores = ink;
    for (int y = 0; y < image_.height; ++y)
      for (int x = 0; x < image_.width; ++x) {
        const auto local =
            binarize::LocalLevels::of(levels.threshold, levels.deviation, levels.clear, weights,
                                      darkest.at(x / 16, y / 16), around.at(x / 4, y / 4));
        const int d = darkness_.at(x, y), e = least.at(x, y);
        ink.at(x, y) = local.is_ink(weights, d, e);
        const int sum9 =
            weights.has_cells ? 9 * cells.at(x / 4, y / 4) : darkness_.sum(x - 1, y - 1, 3);
        cores.at(x, y) = local.is_core(weights, d, e, sum9);
      }
    if (params_.level == BinarizeLevel::sized) return ink;
    for_components(ink, [&](const Component &pixels) {
      const bool has_core = std::any_of(pixels.begin(), pixels.end(),
                                        [&](const auto &p) { return cores.at(p.first, p.second); });
      for (const auto &[x, y] : pixels) ink.at(x, y) = has_core;
    });
    std::vector<int> inks;
    for (int y = 0; y < ink.height; y += 4)
      for (int x = 0; x < ink.width; ++x)
        if (ink.at(x, y)) inks.push_back(darkness_.at(x, y));
    if (inks.empty()) return ink;
    std::sort(inks.begin(), inks.end());
    const int median = inks[(inks.size() - 1) / 2];
    report_.ink_darkness = static_cast<double>(median) / (levels_ - 1);
    return with_wide_things(ink, sizes, median);
  }

  Grid with_wide_things(const Grid &ink, const binarize::StrokeSizes &sizes, int median) const {
    const Grid sixteenth = extremes(true, extremes(true, quarter_));
    const auto raised = [&](int side) {
      Closed closed = close(sixteenth, side);
      for (int &cell : closed.paper.cells) cell = std::max(cell, closed.least);
      return closed;
    };
    const auto flags = [&](const auto &flag) {
      return Grid::of(quarter_.width, quarter_.height, flag);
    };
    const Closed widest = raised(sizes.widest_closing);
    const Grid d = dark(quarter_, widest, 4);
    const Grid near_d = dark(quarter_, raised(sizes.wide_closing), 4);
    const Grid things = flags([&](int x, int y) { return 5 * d.at(x, y) > 4 * median; });
    const Grid thick =
        flags([&](int x, int y) { return 5 * near_d.at(x, y) > 4 * median; }).eroded(sizes.core);
    const Grid inside = things.eroded(3);
    const Grid high = d.dilated(sizes.edge), low = d.eroded(sizes.edge);
    Grid kept{quarter_.width, quarter_.height}, margins = kept;
    for_components(things, [&](const Component &pixels) {
      int edge = 0, soft = 0, cores = 0;
      for (const auto &[x, y] : pixels) {
        cores += thick.at(x, y);
        edge += !inside.at(x, y);
        soft += !inside.at(x, y) && 5 * (high.at(x, y) - low.at(x, y)) < 4 * median;
      }
      for (const auto &[x, y] : pixels) kept.at(x, y) = cores > 0 && 8 * soft <= edge;
    });
    const Grid deep =
        flags([&](int x, int y) { return things.at(x, y) && 2 * d.at(x, y) > levels_ - 1; });
    for_components(deep.eroded(sizes.core).dilated(sizes.core), [&](const Component &pixels) {
      const bool touches = std::any_of(pixels.begin(), pixels.end(), [&](const auto &p) {
        return p.first == 0 || p.second == 0 || p.first == quarter_.width - 1 ||
               p.second == quarter_.height - 1;
      });
      for (const auto &[x, y] : pixels) margins.at(x, y) = touches;
    });
    margins = margins.dilated(sizes.margin);
    const Grid near =
        flags([&](int x, int y) { return kept.at(x, y) && !margins.at(x, y); }).dilated(3);
    const Grid far_d = dark(image_, widest, 16);
    return Grid::of(image_.width, image_.height, [&](int x, int y) {
      if (margins.at(x / 4, y / 4)) return false;
      return ink.at(x, y) || (near.at(x / 4, y / 4) && 2 * far_d.at(x, y) > median);
    });
  }

  using Component = std::vector<std::pair<int, int>>;
  /// Calls visit(pixels) for the components of cells that are not 0.
  template <typename Visit>
  static void for_components(const Grid &flags, const Visit &visit) {
    Grid left = flags;
    for (int y = 0; y < flags.height; ++y)
      for (int x = 0; x < flags.width; ++x) {
        if (!left.at(x, y)) continue;
        Component pixels{{x, y}};
        left.at(x, y) = 0;
        for (std::size_t i = 0; i < pixels.size(); ++i)
          for (int k = 0; k < 9; ++k) {
            const int nx = pixels[i].first + k % 3 - 1, ny = pixels[i].second + k / 3 - 1;
            if (!left.has(nx, ny) || !left.at(nx, ny)) continue;
            left.at(nx, ny) = 0;
            pixels.emplace_back(nx, ny);
          }
        visit(pixels);
      }
  }

  const BinarizeParams params_;
  const int levels_;
  Grid image_, darkness_{0, 0};
  Grid quarter_{0, 0}, top_{0, 0}, low_{0, 0};  ///< means and extrema of 2x2 samples of the half
  const int maximum_;
  Rectangle roi_;
  int noise_ = 0;
  BinarizeReport report_;
};

}  // namespace test
}  // namespace cudascan
