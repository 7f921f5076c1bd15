// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fold.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "median.h"

namespace cudascan::scan {
namespace {

constexpr int kSegments = 40;
constexpr double kAside = 0.15;  ///< of the width of the sheet
constexpr double kDark = 0.025;  ///< of segments
constexpr double kNear = 2.5, kFar = 15, kBeside = 12, kAsideOfLine = 1.5;  ///< mm
constexpr double kDarkShare = 0.7, kShortest = 0.6;                         ///< of segments
constexpr double kShade = 0.2, kFlat = 0.93, kUneven = 0.15,
                 kClearlyDark = 0.5;             ///< of the darkness
constexpr double kPaper = 0.5;                   ///< of segments
constexpr double kAlike = 0.7, kNotDark = 0.33;  ///< of the level of the paper

}  // namespace

/// Whether all that is looked at around this column has sums.
bool FoldFinder::can_measure(int x) const {
  const int far = copy_->mm(kFar) + copy_->mm(kAsideOfLine);
  return x - far >= from_ && x + far < to_;
}

/// The largest level of 5 mm of each column: folds stay, and lines of text go.
void FoldFinder::take_upright() {
  const auto levels = copy_->levels();
  upright_.shape(copy_->levels().width, copy_->levels().height, 8);
  const auto to = upright_.plane<std::uint8_t>();
  const int reach = copy_->mm(2.5);
  for (int y = 0; y < to.height; ++y) {
    std::uint8_t *most = to.row(y);
    std::memcpy(most, levels.row(y), static_cast<std::size_t>(to.width));
    for (int other = std::max(copy_->top(), y - reach);
         other < std::min(copy_->bottom(), y + reach + 1); ++other) {
      const std::uint8_t *row = levels.row(other);
      for (int x = 0; x < to.width; ++x) most[x] = std::max(most[x], row[x]);
    }
  }
}

/// Sums of the levels in each segment of the columns along a slope.
void FoldFinder::sum_segments(double slope) {
  const auto levels = static_cast<const Image &>(upright_).plane<const std::uint8_t>();
  const int count = to_ - from_;
  sums_.assign(static_cast<std::size_t>(kSegments) * count, 0);
  rows_.assign(kSegments, 0);
  for (int y = copy_->top(); y < copy_->bottom(); ++y) {
    const int segment = (y - copy_->top()) * kSegments / copy_->height();
    const int shift = copy_->shift(slope, y);
    int *sums = sums_.data() + static_cast<std::size_t>(segment) * count;
    const std::uint8_t *row = levels.row(y);
    const int begin = std::max(0, -(from_ + shift)),
              end = std::min(count, copy_->levels().width - from_ - shift);
    for (int x = begin; x < end; ++x) sums[x] += row[from_ + shift + x];
    ++rows_[segment];
  }
}

/// By which share a segment is darker than the paper on its sides.
double FoldFinder::drop(int segment, int x) const {
  const int *sums = sums_of(segment);
  const int near = copy_->mm(kNear), far = copy_->mm(kFar);
  const int left = *std::max_element(sums + x - far, sums + x - near + 1);
  const int right = *std::max_element(sums + x + near, sums + x + far + 1);
  const int side = std::min(left, right);
  return side > 0 ? static_cast<double>(side - sums[x]) / side : 0;
}

double FoldFinder::score_at(int x) const {
  double score = 0;
  for (int segment = 0; segment < kSegments; ++segment)
    score += std::clamp(drop(segment, x), 0., 1.);
  return score;
}

std::vector<FoldFinder::Candidate> FoldFinder::best_lines() {
  const int far = copy_->mm(kFar) + copy_->mm(kAsideOfLine), width = copy_->width(),
            height = copy_->height();
  const int middle = (copy_->left() + copy_->right()) / 2, aside = static_cast<int>(kAside * width);
  from_ = std::max(0, middle - aside - far);
  to_ = std::min(copy_->levels().width, middle + aside + far + 1);
  std::vector<Candidate> best(to_ - from_, Candidate{{0, 0}, 0});
  const double step = 3. / height;
  const int steps = static_cast<int>(kSteepest / step);
  for (int i = -steps; i <= steps; ++i) {
    sum_segments(i * step);
    for (int x = from_; x < to_; ++x)
      if (const double score = can_measure(x) ? score_at(x) : 0; score > best[x - from_].score)
        best[x - from_] = {{1. * x, i * step}, score};
  }
  std::sort(best.begin(), best.end(),
            [](const Candidate &a, const Candidate &b) { return a.score > b.score; });
  std::vector<Candidate> apart;
  constexpr std::size_t kMost = 6;
  for (const Candidate &one : best) {
    if (one.score < kSegments * kDark * kShortest || apart.size() == kMost) break;
    if (std::none_of(apart.begin(), apart.end(), [&](const Candidate &other) {
          return std::fabs(one.line.middle - other.line.middle) < copy_->mm(3);
        }))
      apart.push_back(one);
  }
  return apart;
}

/// The line in finer steps of slope, and between the cells.
UprightLine FoldFinder::refined(const UprightLine &line) {
  const double step = 0.5 / copy_->height();
  Candidate best{line, 0};
  for (int i = -6; i <= 6; ++i) {
    sum_segments(line.slope + i * step);
    for (int x = static_cast<int>(line.middle) - 3; x <= line.middle + 3; ++x) {
      if (!can_measure(x - 1) || !can_measure(x + 1)) continue;
      const double score = score_at(x);
      if (score <= best.score) continue;
      const double before = score_at(x - 1), after = score_at(x + 1);
      const double bend = before - 2 * score + after;
      const double shift = bend < 0 ? std::clamp((before - after) / (2 * bend), -0.5, 0.5) : 0;
      best = {{x + shift, line.slope + i * step}, score};
    }
  }
  return best.line;
}

/// Whether there is paper on both sides of a segment, equally light.
bool FoldFinder::has_paper_beside(int segment, int x) const {
  const int near = copy_->mm(kNear), reach = copy_->mm(kBeside);
  const int *sums = sums_of(segment);
  int light = 0, left = 0, right = 0;
  for (int i = near; i <= reach; ++i) {
    left = std::max(left, sums[x - i]);
    right = std::max(right, sums[x + i]);
    light += (sums[x - i] >= 0.85 * left) + (sums[x + i] >= 0.85 * right);
  }
  const auto [darker, lighter] = std::minmax(left, right);
  return light * 10 >= 17 * (reach - near + 1) && darker >= kAlike * lighter &&
         darker >= kNotDark * copy_->paper() * rows_[segment];
}

/// The rows that have more than a few cells of ink away from the line.
std::pair<int, int> FoldFinder::print_around(const UprightLine &line) const {
  const int reach = copy_->mm(kFar), few = 3 * copy_->width() / 100;
  int first = copy_->bottom(), last = copy_->top();
  for (int y = copy_->top(); y < copy_->bottom(); ++y) {
    const int at = static_cast<int>(line.middle) + copy_->shift(line.slope, y);
    const std::uint8_t *row = copy_->ink(y);
    int count = 0;
    for (int x = copy_->left(); x < copy_->right(); ++x)
      count += row[x] && std::abs(x - at) > reach;
    if (count <= few) continue;
    first = std::min(first, y);
    last = y + 1;
  }
  return {first, last};
}

/// What a fold has and other dark lines lack, in segments with paper on both sides.
FoldFinder::Shade FoldFinder::look_at(int x, int first, int last) const {
  const int aside = copy_->mm(kAsideOfLine);
  std::vector<double> steps, drops, one_side, both_sides;
  int paper = 0;
  bool before = false;
  for (int segment = first; segment <= last; ++segment) {
    const bool clean = has_paper_beside(segment, x);
    const double deepest = drop(segment, x);
    paper += clean;
    if (clean) {
      const double limited = std::min(deepest, kClearlyDark);
      if (before) steps.push_back(std::fabs(limited - drops.back()));
      drops.push_back(limited);
      const auto [less, more] = std::minmax({drop(segment, x - aside), drop(segment, x + aside)});
      one_side.push_back(more / std::max(deepest, kDark));
      both_sides.push_back(less / std::max(deepest, kDark));
    }
    before = clean;
  }
  if (steps.empty() || paper < kPaper * (last - first + 1)) return {};
  return {.is_even = median(steps) <= kUneven * median(drops),
          .is_soft = median(one_side) >= kShade && median(both_sides) <= kFlat};
}

bool FoldFinder::is_fold(const UprightLine &line) {
  sum_segments(line.slope);
  const int x = static_cast<int>(std::lround(line.middle));
  if (!can_measure(x)) return false;
  std::vector<bool> dark;
  for (int segment = 0; segment < kSegments; ++segment) dark.push_back(drop(segment, x) >= kDark);
  const auto begins = [&](int at, int sign) {
    return dark[at] && (dark[at + sign] || dark[at + 2 * sign]);
  };
  int first = 0, last = kSegments - 1;
  while (first < kSegments - 3 && !begins(first, 1)) ++first;
  while (last > 2 && !begins(last, -1)) --last;
  const int length = last - first + 1;
  if (length < kShortest * kSegments) return false;
  if (std::count(dark.begin() + first, dark.begin() + last + 1, true) < kDarkShare * length)
    return false;
  const int height = copy_->height(), clear = copy_->mm(4);
  const int begin = copy_->top() + first * height / kSegments;
  const int end = copy_->top() + (last + 1) * height / kSegments;
  const auto [print_top, print_bottom] = print_around(line);
  const Shade shade = look_at(x, first, last);
  if (!shade.is_even) return false;
  // Rules and bars between columns end where the print ends.
  const int ends = shade.is_soft ? 1 : 0;
  const int over = shade.is_soft ? -height / kSegments : clear;
  return (first <= ends || begin <= print_top - over) &&
         (last >= kSegments - 1 - ends || end >= print_bottom + over);
}

bool FoldFinder::find(const BookCopy &copy, UprightLine &line) {
  copy_ = &copy;
  take_upright();
  for (const Candidate &candidate : best_lines()) {
    line = refined(candidate.line);
    if (is_fold(line)) return true;
  }
  return false;
}

}  // namespace cudascan::scan
