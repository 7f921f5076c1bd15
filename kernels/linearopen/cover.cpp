// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/cover.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace cudascan::linearopen {
namespace {

/// For each position of a word, how many letters from there on are those that the word begins with
/// (the Z algorithm; Gusfield, "Algorithms on Strings, Trees, and Sequences", 1997, section 1.4).
std::vector<int> beginnings(const std::vector<char> &word) {
  const int n = static_cast<int>(word.size());
  std::vector<int> same(n, n);
  for (int i = 1, from = 0, end = 0; i < n; ++i) {
    int k = i < end ? std::min(end - i, same[i - from]) : 0;
    while (i + k < n && word[k] == word[i + k]) ++k;
    same[i] = k;
    if (i + k <= end) continue;
    from = i;
    end = i + k;
  }
  return same;
}

/// Pixels [begin, end) of a segment.
struct Gap {
  int begin, end;
};

/// Searches the cover of a segment. Pixels of lines have numbers, from the top to the bottom.
class CoverSearch {
 public:
  CoverSearch(const lines::Direction &direction, int length, int width, int height)
      : direction_(direction), width_(width), height_(height) {
    for (int i = 0; i < length; ++i) {
      const int t = i - length / 2, shift = direction.shift(t);
      const SegmentPlace pixel = direction.steep ? SegmentPlace{shift, t} : SegmentPlace{t, shift};
      // Pixels further away than the size of the plane are always outside.
      if (std::abs(pixel.x) < width && std::abs(pixel.y) < height) pixels_.push_back(pixel);
    }
    n_ = static_cast<int>(pixels_.size());
    if (!direction.steep && !direction.rising) std::reverse(pixels_.begin(), pixels_.end());
    compare_steps();
    find_lengths();
  }

  SegmentCover best() const {
    double least = std::numeric_limits<double>::infinity();
    std::vector<int> best;
    for (const int growth : {2, 3, 4, 5, 6, 8, 12, 16}) {
      std::vector<int> lengths{1};
      double made = 0;
      for (;;) {
        const double cost = made + cost_of_places(lengths);
        if (cost < least) {
          least = cost;
          best = lengths;
        }
        const int next = next_length(lengths.back(), growth);
        if (next == 0 || lengths.size() == SegmentCover::kMostLevels) break;
        made += cost_of_level(lengths.back(), next);
        lengths.push_back(next);
      }
    }
    SegmentCover cover = cover_with(best);
    if (n_ <= kMostCombed) look_for_comb(least, cover);
    for (const SegmentPlace &pixel : pixels_)
      cover.reach = std::max(cover.reach, std::abs(pixel.x));
    return cover;
  }

 private:
  // ---- The line ---------------------------------------------------------------------------------

  /// The column or row, across the direction, of a pixel of a line on which each part begins with
  /// the first pixel.
  int across(int pixel) const {
    return static_cast<int>((std::int64_t{pixel + 1} * direction_.slope - 1) >>
                            lines::Direction::kFraction);
  }
  /// Pixel of that line, relative to the first one.
  SegmentPlace on_line(int pixel) const {
    const int along = pixel, over = across(pixel) - across(0);
    if (direction_.steep) return {direction_.rising ? over : -over, along};
    return {direction_.rising ? along : -along, over};
  }
  void compare_steps() {
    std::vector<char> steps;
    for (int i = 1; i < n_; ++i) steps.push_back(static_cast<char>(across(i) - across(i - 1)));
    steps.push_back(-1);  // differs from all
    for (int i = 1; i < n_; ++i)
      steps.push_back(pixels_[i].x != pixels_[i - 1].x && pixels_[i].y != pixels_[i - 1].y);
    steps.push_back(-1);
    on_line_ = beginnings(steps);
    in_segment_.assign(on_line_.begin() + n_, on_line_.end());
  }
  /// The lengths of parts, by descent in the Stern-Brocot tree.
  void find_lengths() {
    struct {
      std::int64_t over, along;
    } low{0, 1}, high{1, 1};
    while (low.along + high.along - 1 <= n_) {
      lengths_.push_back(static_cast<int>(low.along + high.along - 1));
      auto &moved = (low.over + high.over) << lines::Direction::kFraction <
                            (low.along + high.along) * direction_.slope
                        ? low
                        : high;
      moved = {low.over + high.over, low.along + high.along};
    }
  }

  // ---- Parts ------------------------------------------------------------------------------------

  bool begins_on_line(int pixel, int length) const { return on_line_[pixel] >= length - 1; }
  bool begins_in_segment(int pixel, int length) const { return in_segment_[pixel] >= length - 1; }

  /// The longest part that is at most `growth` times as long and occurs, or 0.
  int next_length(int length, int growth) const {
    int next = 0;
    for (const int l : lengths_)
      if (l > length && (next == 0 || l <= growth * length)) next = l;
    if (next == 0) return 0;
    for (int i = 0; i + next <= n_; ++i)
      if (begins_in_segment(i, next)) return next;
    return 0;
  }
  /// Parts that make up a longer one.
  template <typename Visit>
  void make(int length, int longer, const Visit &visit) const {
    for (int covered = 0; covered < longer;) {
      int begin = std::min(covered, longer - length);
      while (!begins_on_line(begin, length)) --begin;
      visit(begin);
      covered = begin + length;
    }
  }
  /// Covers gaps as far as parts of a length can, and returns the gaps that are left.
  template <typename Visit>
  std::vector<Gap> fill(const std::vector<Gap> &gaps, int length, const Visit &visit) const {
    std::vector<Gap> left;
    for (const Gap &gap : gaps)
      for (int covered = gap.begin; covered < gap.end;) {
        int begin = covered;
        const int first = std::max(0, covered - length + 1);
        while (begin >= first && !begins_in_segment(begin, length)) --begin;
        if (begin >= first) {
          visit(begin);
          covered = begin + length;
        } else {
          int end = covered + 1;
          while (end < gap.end && !begins_in_segment(end, length)) ++end;
          left.push_back({covered, end});
          covered = end;
        }
      }
    return left;
  }
  /// The longest parts first. Calls visit(level, pixel).
  template <typename Visit>
  void fill_all(const std::vector<int> &lengths, const Visit &visit) const {
    std::vector<Gap> gaps{{0, n_}};
    for (int level = static_cast<int>(lengths.size()) - 1; level >= 0; --level)
      gaps = fill(gaps, lengths[level], [&](int begin) { visit(level, begin); });
  }

  // ---- Costs, in extrema that are read for a pixel ----------------------------------------------

  double cost_of_places(const std::vector<int> &lengths) const {
    int n = 0;
    fill_all(lengths, [&](int, int) { ++n; });
    return n;
  }
  double cost_of_level(int length, int longer) const {
    int n = 0;
    make(length, longer, [&](int) { ++n; });
    return cost_of_level(n, on_line(longer - 1));
  }
  /// @param n     parts that make up one of the level
  /// @param last  its last pixel
  double cost_of_level(int n, const SegmentPlace &last) const {
    constexpr int kToBegin = 4;  // and to write the result
    // Parts that begin outside the plane may end inside.
    return (n + kToBegin) * (1 + std::abs(last.x) / double(width_)) *
           (1 + last.y / double(height_));
  }

  SegmentCover cover_with(const std::vector<int> &lengths) const {
    SegmentCover cover;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const SegmentPlace last = on_line(lengths[i] - 1);
      SegmentLevel &level = cover.levels.emplace_back(SegmentLevel{last.x, last.y, {}, {}});
      if (i > 0)
        make(lengths[i - 1], lengths[i], [&](int at) { level.made_of.push_back(on_line(at)); });
    }
    fill_all(lengths,
             [&](int level, int at) { cover.levels[level].places.push_back(pixels_[at]); });
    return cover;
  }

  // ---- Combs: a few pixels at equal distances, which are as good for short segments -------------

  static constexpr int kMostCombed = 150;

  void look_for_comb(double least, SegmentCover &best) const {
    constexpr int kMostDistance = 32;
    for (const int teeth : {2, 3, 4, 6, 8, 12, 16, 24, 32})
      for (int distance = 1; distance <= kMostDistance && distance * (teeth - 1) < n_; ++distance) {
        SegmentCover cover = comb(teeth, distance);
        const SegmentLevel &pixels = cover.levels[0], &combs = cover.levels[1];
        const double cost = cost_of_level(teeth, {combs.x, combs.y}) +
                            static_cast<double>(pixels.places.size() + combs.places.size());
        if (cost >= least) continue;
        least = cost;
        best = std::move(cover);
      }
  }
  /// @param distance  from a pixel of a comb to the next, in pixels of the segment
  SegmentCover comb(int teeth, int distance) const {
    const auto between = [&](int from, int to) {
      return SegmentPlace{pixels_[to].x - pixels_[from].x, pixels_[to].y - pixels_[from].y};
    };
    const int middle = (n_ - distance) / 2;
    const SegmentPlace step = between(middle, middle + distance);
    SegmentCover cover;
    cover.levels.resize(2);
    SegmentLevel &pixels = cover.levels[0], &combs = cover.levels[1];
    combs.x = (teeth - 1) * step.x;
    combs.y = (teeth - 1) * step.y;
    for (int i = 0; i < teeth; ++i) combs.made_of.push_back({i * step.x, i * step.y});
    // The number of pixels of a comb from each pixel on.
    std::vector<int> follow(n_, 1);
    for (int i = n_ - 1 - distance; i >= 0; --i)
      if (between(i, i + distance) == step) follow[i] = follow[i + distance] + 1;
    std::vector<bool> covered(n_);
    for (int i = 0; i < n_; ++i) {
      if (covered[i]) continue;
      // Earlier pixels are covered already, so a comb may begin there if too few pixels follow.
      int begin = i;
      while (follow[begin] < teeth && begin >= distance && follow[begin - distance] > follow[begin])
        begin -= distance;
      if (follow[begin] < teeth) {
        pixels.places.push_back(pixels_[i]);
        continue;
      }
      combs.places.push_back(pixels_[begin]);
      for (int k = 0; k < teeth; ++k) covered[begin + k * distance] = true;
    }
    return cover;
  }

  const lines::Direction direction_;
  const int width_, height_;
  std::vector<SegmentPlace> pixels_;
  int n_;
  /// How many steps from a pixel on are as those from the beginning of the line on.
  std::vector<int> on_line_, in_segment_;
  std::vector<int> lengths_;
};

}  // namespace

SegmentCover SegmentCover::turned() const {
  SegmentCover cover = *this;
  for (SegmentLevel &level : cover.levels) {
    std::reverse(level.places.begin(), level.places.end());
    // The last pixel of a part becomes its first one.
    for (SegmentPlace &place : level.places) place = {-place.x - level.x, -place.y - level.y};
  }
  return cover;
}

SegmentCover cover_of(const lines::Direction &direction, int length, int width, int height) {
  return CoverSearch(direction, length, width, height).best();
}

const char SegmentCovers::key_ = 0;

std::shared_ptr<const SegmentCover> SegmentCovers::find(const lines::Direction &direction,
                                                        int length, int width, int height) {
  constexpr std::size_t kMost = 2048;  // twice as many as an operator may have directions
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &e) {
    return e.direction == direction && e.length == length && e.width == width && e.height == height;
  });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    if (entries_.size() == kMost) entries_.pop_back();
    entries_.push_front(
        {direction, length, width, height,
         std::make_shared<const SegmentCover>(cover_of(direction, length, width, height))});
  }
  return entries_.front().cover;
}

}  // namespace cudascan::linearopen
