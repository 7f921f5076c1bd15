// SPDX-License-Identifier: LGPL-2.1-or-later
#include "orientation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "profile.h"
#include "reduce.h"
#include "sheet.h"
#include "straighten.h"

namespace cudascan::scan {
namespace {

constexpr int kStrips = 8;
constexpr int kNear = 40;         ///< rows; more than half of the distance between lines
constexpr double kSurely = 4;     ///< least |t|
constexpr double kClearly = 2;    ///< how many times clearer lines must be than those across
constexpr double kSteepest = 12;  ///< degrees

/// How dark pixels are, half of 0..255.
ByColumns darkness(const Image &page) {
  const auto levels = page.plane<const std::uint8_t>();
  const Sheet sheet(page);
  ByColumns dark(page.width, page.height);
  for (int y = 0; y < page.height; ++y)
    for (int x = sheet.left(y); x < sheet.right(y); ++x)
      if (sheet.has(x, y))
        dark.column(x)[y] = static_cast<std::int8_t>((255 - levels.row(y)[x]) / 2);
  return dark;
}

/// The extreme of the values at most kNear rows away.
template <typename F>
std::vector<int> extremes(const std::vector<int> &values, F better) {
  const int rows = static_cast<int>(values.size());
  std::vector<int> result(values);
  for (int y = 0; y < rows; ++y)
    for (int near = std::max(0, y - kNear); near < std::min(rows, y + kNear + 1); ++near)
      result[y] = better(result[y], values[near]);
  return result;
}

/// The lines in a strip of the page.
class Lines {
 public:
  explicit Lines(const std::vector<std::int16_t> &sums) : ink_(sums.begin(), sums.end()) {
    const std::vector<int> paper = extremes(ink_, [](int a, int b) { return std::min(a, b); });
    for (std::size_t y = 0; y < ink_.size(); ++y) ink_[y] -= paper[y];
    most_ = extremes(ink_, [](int a, int b) { return std::max(a, b); });
    std::vector<int> sorted(most_);
    const auto usual = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 9 / 10);
    std::nth_element(sorted.begin(), usual, sorted.end());
    least_ = std::max(*usual / 4, 50);
  }

  /// Adds a vote for each line.
  void vote(std::vector<double> &votes) const {
    constexpr int kShortest = 4, kTallest = kNear / 2 + 10;
    const int rows = static_cast<int>(ink_.size());
    for (int begin = 0; begin < rows; ++begin) {
      if (!has_small_letters(begin)) continue;
      int end = begin + 1;
      while (end < rows && has_small_letters(end)) ++end;
      const int height = end - begin, zone = (7 * height + 5) / 10;
      const bool fits = height >= kShortest && height <= kTallest && begin > zone &&
                        end + zone < rows && is_gap(begin - zone, begin) && is_gap(end, end + zone);
      if (fits)
        votes.push_back((sum(begin - zone, begin) - sum(end, end + zone)) / sum(begin, end));
      begin = end;
    }
  }

 private:
  bool has_small_letters(int y) const { return most_[y] > least_ && 2 * ink_[y] > most_[y]; }
  bool is_gap(int begin, int end) const {
    for (int y = begin; y < end; ++y)
      if (has_small_letters(y)) return false;
    return true;
  }
  double sum(int begin, int end) const {
    double sum = 0;
    for (int y = begin; y < end; ++y) sum += ink_[y];
    return sum;
  }

  std::vector<int> ink_;   ///< of each row, without what the paper has
  std::vector<int> most_;  ///< ink near each row
  int least_;              ///< ink of a line
};

template <typename T>
void turn(const Plane<const T> &from, int degrees, const Plane<T> &to) {
  constexpr int kTile = 64;  // so that rows and columns stay in the cache
  const auto source = [&](int x, int y) {
    switch (degrees) {
      case 90:
        return from.row(from.height - 1 - x)[y];
      case 180:
        return from.row(from.height - 1 - y)[from.width - 1 - x];
      default:
        return from.row(x)[from.width - 1 - y];
    }
  };
  for (int top = 0; top < to.height; top += kTile)
    for (int left = 0; left < to.width; left += kTile)
      for (int y = top; y < std::min(to.height, top + kTile); ++y)
        for (int x = left; x < std::min(to.width, left + kTile); ++x) to.row(y)[x] = source(x, y);
}

void transpose(const Image &from, Image &to) {
  to.shape(from.height, from.width, 8);
  const auto in = from.plane<const std::uint8_t>();
  const auto out = to.plane<std::uint8_t>();
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) out.row(x)[y] = in.row(y)[x];
}

}  // namespace

double letters_rise(const Image &copy, int squeeze, double angle) {
  const ByColumns dark = darkness(copy);
  Profiles profiles(dark, squeeze, kSteepest);
  profiles.sum(angle, kStrips);
  std::vector<double> votes;
  for (int i = 0; i < kStrips; ++i) Lines(profiles.strip(i)).vote(votes);
  const double count = static_cast<double>(votes.size());
  if (count < 3) return 0;
  double sum = 0, squares = 0;
  for (const double vote : votes) sum += vote;
  for (const double vote : votes) squares += (vote - sum / count) * (vote - sum / count);
  constexpr double kInexact = 0.02;  // so that a few equal votes do not decide
  return sum / count / ((std::sqrt(squares / (count - 1)) + kInexact) / std::sqrt(count));
}

void turn_by_quarters(Image &page, int degrees, Image &space) {
  space.shape(page.width, page.height, page.depth);
  std::memcpy(space.memory.data(), page.memory.data(), page.bytes());
  if (degrees != 180) {
    page.shape(page.height, page.width, page.depth);
    std::swap(page.resolution.x, page.resolution.y);
  }
  if (page.depth == 8)
    turn(space.plane<const std::uint8_t>(), degrees, page.plane<std::uint8_t>());
  else
    turn(space.plane<const std::uint16_t>(), degrees, page.plane<std::uint16_t>());
}

void Upright::turn(Image &page, Findings &found) {
  const SkewScale rows(page.width, page.height), columns(page.height, page.width);
  if (!rows.enough || !columns.enough) {
    found.not_upright = "the page is too small to measure";
    return;
  }
  reduce(page, rows.by * rows.squeeze, rows.by, reduced_);
  const Skew upright = measure_skew(rows, reduced_);
  reduce(page, columns.by, columns.by * columns.squeeze, space_);
  transpose(space_, across_);
  const Skew sideways = measure_skew(columns, across_);
  const auto clearly = [](const Skew &one, const Skew &other) {
    return one.confidence >= kTrusted && one.lines > kClearly * other.lines;
  };
  const bool lies = clearly(sideways, upright);
  if (!lies && !clearly(upright, sideways)) {
    found.not_upright = "no clear lines";
    return;
  }
  const Skew &lines = lies ? sideways : upright;
  const double rise = lies ? letters_rise(across_, columns.squeeze, lines.angle)
                           : letters_rise(reduced_, rows.squeeze, lines.angle);
  found.orientation_confidence = rise * rise / (rise * rise + kSurely * kSurely);
  if (std::fabs(rise) < kSurely) {
    found.not_upright = lies ? "on its side, but no letters tell top from bottom"
                             : "no letters tell top from bottom";
    return;
  }
  found.orientation = (lies ? 90 : 0) + (rise < 0 ? 180 : 0);
  if (found.orientation != 0) turn_by_quarters(page, found.orientation, space_);
}

}  // namespace cudascan::scan
