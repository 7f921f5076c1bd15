// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Threshold methods based on the shape of the histogram. methods.h has the common rules.
#pragma once
#include <cstdint>

#include "kernels/autothreshold/means.h"
#include "kernels/autothreshold/split.h"

namespace cudascan::threshold {

/// The ends of a histogram and its peak, the lowest of several.
struct LevelExtent {
  int lowest, highest, peak;
  std::uint32_t height;
};

template <typename Team>
CUDASCAN_HD LevelExtent extent(Team &team) {
  // Computed as maxima: the first counts from the top, the second from 1, the third by height
  // first.
  struct Ends {
    using Word = std::uint64_t;
    Word lowest, highest, peak;
  } ends{0, 0, 0};
  const auto levels = static_cast<unsigned>(team.levels());
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) {
    const std::uint32_t count = team.count(i);
    if (count == 0) continue;
    const auto level = static_cast<unsigned>(i);
    if (ends.lowest == 0) ends.lowest = levels - level;
    ends.highest = level + 1;
    const std::uint64_t peak = std::uint64_t{count} << 32 | (levels - level);
    if (peak > ends.peak) ends.peak = peak;
  }
  ends = highest_of(team, ends);
  const auto from_top = [levels](std::uint64_t x) {
    return static_cast<int>(levels - static_cast<std::uint32_t>(x));
  };
  return {from_top(ends.lowest), static_cast<int>(ends.highest) - 1, from_top(ends.peak),
          static_cast<std::uint32_t>(ends.peak >> 32)};
}

/// Zack, Rogers, Latt, "Automatic measurement of sister chromatid exchange frequency", Journal of
/// Histochemistry and Cytochemistry 25(7), 1977: draws a line from the peak to the empty level next
/// to the farther end of the histogram; T is next to the level that is farthest below the line.
///
/// Levels, line and ties are those of OpenCV's THRESH_TRIANGLE: at 256 levels T is the same, one
/// level from the farthest one towards the end. Of equally far levels the one nearest to the end
/// counts. There are two exceptions: the T of an image with one level is that level, and T stays
/// within the levels.
template <typename Team>
CUDASCAN_HD int triangle(Team &team) {
  const LevelExtent all = extent(team);
  if (all.height == 0) return 0;
  if (all.lowest == all.highest) return all.lowest;
  const int last = team.levels() - 1;
  const int left = all.lowest > 0 ? all.lowest - 1 : 0;
  const int right = all.highest < last ? all.highest + 1 : last;
  // If the tail is on the right, positions count from the other end.
  const bool mirrored = all.peak - left < right - all.peak;
  const int end = mirrored ? last - right : left, peak = mirrored ? last - all.peak : all.peak;
  // The distance times a factor that is the same for all positions; it is below 2^48.
  Scored best{0, end};
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) {
    const int position = mirrored ? last - i : i;
    if (position <= end || position > peak) continue;
    const std::int64_t distance =
        std::int64_t{all.height} * position - std::int64_t{team.count(i)} * (peak - end);
    const Scored here{static_cast<double>(distance), position};
    if (here > best) best = here;
  }
  best = best_of(team, best);
  const int level = mirrored ? last - best.level + 1 : best.level - 1;
  return level < 0 ? 0 : level > last ? last : level;
}

/// The histogram for minimum and intermodes: smoothed until exactly two levels are higher than both
/// their neighbours.
struct SmoothedHistogram {
  static constexpr int kMost = 10000;  ///< largest number of smoothings

  int first, second;  ///< the levels of the two modes; -1 if there never were two
  const double *y;

  template <typename Team>
  CUDASCAN_HD static SmoothedHistogram of(Team &team);

 private:
  template <typename Team>
  CUDASCAN_HD static bool has_one_hump(Team &team, const double *y);
};

/// Smooths many times without synchronising the team. Near members hold the levels they own and
/// kBatch more at both ends; every smoothing makes one of these extra levels invalid.
///
/// One smoothing replaces every level by the mean of itself and its neighbours, with 0 beyond the
/// ends. Instead of dividing by 3, it divides by 2 and 4 in turn (a whole batch at once by kScale).
/// After 10000 smoothings the values are 2^850 times too large. As long as the sums fit into 53
/// bits, equal values stay equal. After that, rounding keeps the order of the levels on a slope, so
/// it creates no modes.
template <typename Team>
class Smoothing {
 public:
  static constexpr int kBatch = 16;
  static constexpr double kScale = 0x1p-24;

  CUDASCAN_HD Smoothing(const Team &team, const double *from)
      : team_(team),
        first_(team.near_begin() - kBatch + team.near_member() * kEach),
        inside_(*this, 0, team.levels()),
        own_(*this, team.near_begin(), team.near_end()),
        with_neighbours_(*this, team.near_begin() > 1 ? team.near_begin() : 1,
                         team.near_end() < team.levels() ? team.near_end() : team.levels() - 1) {
    for (double &y : y_) y = 0;
    inside_.for_each([&](int k) { y_[k + 1] = from[first_ + k]; });
  }

  CUDASCAN_HD static bool is_mode(double left, double y, double right) {
    return (left < y) & (right < y);  // no branch, for vectors
  }
  /// Smooths once more.
  /// @return the number of modes before
  CUDASCAN_HD unsigned smooth() {
    y_[0] = team_.value_before(y_[kEach]);
    y_[kEach + 1] = team_.value_after(y_[1]);
    unsigned modes = 0;
    with_neighbours_.for_each([&](int k) { modes += is_mode(y_[k], y_[k + 1], y_[k + 2]); });
    double next[kEach];
    inside_.for_each([&](int k) { next[k] = y_[k] + y_[k + 2] + y_[k + 1]; });
    inside_.for_each([&](int k) { y_[k + 1] = next[k]; });
    return modes;
  }
  /// Stores the levels that these members own.
  CUDASCAN_HD void store(double *to, double factor) const {
    own_.for_each([&](int k) { to[first_ + k] = y_[k + 1] * factor; });
  }

 private:
  static constexpr int kEach = Team::kMostLevels + 2 * kBatch / Team::kNear;

  /// Some of this member's levels.
  struct Span {
    int begin, end;

    CUDASCAN_HD Span(const Smoothing &s, int from, int to)
        : begin(from - s.first_ > 0 ? from - s.first_ : 0),
          end(to - s.first_ < kEach ? to - s.first_ : kEach) {}
    template <typename F>
    CUDASCAN_HD void for_each(const F &f) const {
      if constexpr (kEach > 4) {
        for (int k = begin; k < end; ++k) f(k);
      } else {  // They are in registers, which cannot be indexed.
        for (int k = 0; k < kEach; ++k)
          if (k >= begin && k < end) f(k);
      }
    }
  };

  const Team &team_;
  int first_;  ///< the lowest of this member's levels
  Span inside_, own_, with_neighbours_;
  double y_[kEach + 2];  ///< from first_ - 1 on
};

/// The number of modes after each smoothing of a batch, in bytes: 256 levels have at most 127
/// modes.
struct Modes {
  using Word = std::uint32_t;
  Word times[4];

  CUDASCAN_HD Modes &operator+=(const Modes &other) {
    for (int i = 0; i < 4; ++i) times[i] += other.times[i];
    return *this;
  }
  /// Appends the numbers of four smoothings.
  CUDASCAN_HD void push(Word four) {
    times[0] = times[1];  // Not a loop: it would be unrolled too late for registers.
    times[1] = times[2];
    times[2] = times[3];
    times[3] = four;
  }
  /// Before the last smoothing.
  CUDASCAN_HD Word last() const { return times[3] >> 24; }
  /// The first smoothing with two modes; 16 if there is none.
  CUDASCAN_HD int first_two() const {
    int first = 16;
    for (int i = 3; i >= 0; --i) {
      const Word other = times[i] ^ 0x02020202;
      const Word zero =
          (other - 0x01010101) & ~other & 0x80808080;  // exact up to the lowest zero byte
      if (zero != 0)
        first = 4 * i + (zero & 0x80 ? 0 : zero & 0x8000 ? 1 : zero & 0x800000 ? 2 : 3);
    }
    return first;
  }
};

/// Whether the levels first rise and then fall. Smoothing keeps it so, and there are never two
/// modes: the weights 1 1 1 are log-concave, and convolution with a log-concave sequence keeps
/// every sequence unimodal (Ibragimov, "On the composition of unimodal distributions", Theory of
/// Probability and its Applications 1(2), 1956; for sequences: Keilson, Gerber, "Some results for
/// discrete unimodality", Journal of the American Statistical Association 66, 1971). Rounding could
/// break it only where neighbours are nearly equal, so at most the two at the top may be.
template <typename Team>
CUDASCAN_HD bool SmoothedHistogram::has_one_hump(Team &team, const double *y) {
  constexpr double kNearlyMore = 1 - 0x1p-30, kNearlyLess = 1 + 0x1p-30;
  // The last rise and, counted from the top, the first fall.
  struct Turns {
    using Word = std::uint32_t;
    Word rise, fall;
  } turns{0, 0};
  const int levels = team.levels();
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin() > 1 ? team.begin() : 1; i < team.end(); ++i) {
    if (y[i] > y[i - 1] * kNearlyMore) turns.rise = static_cast<unsigned>(i);
    if (y[i] < y[i - 1] * kNearlyLess && turns.fall == 0)
      turns.fall = static_cast<unsigned>(levels - i);
  }
  turns = highest_of(team, turns);
  return turns.rise + turns.fall <= static_cast<unsigned>(levels);
}

/// Modes are counted in batches, so that members exchange values only once for many smoothings. If
/// a batch goes too far, it is repeated from its start.
template <typename Team>
CUDASCAN_HD SmoothedHistogram SmoothedHistogram::of(Team &team) {
  using Run = Smoothing<Team>;
  constexpr int kBatch = Run::kBatch;
  auto *const memory = static_cast<double *>(team.memory());
  const bool owner = team.near_begin() < team.near_end();
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) memory[i] = team.count(i);
  team.sync();
  for (int batch = 0; batch * kBatch <= kMost; ++batch) {
    const double *const from = memory + batch % 2 * kSmallLevels;
    double *const to = memory + (batch + 1) % 2 * kSmallLevels;
    Modes modes{};
    if (owner) {
      Run run(team, from);
      CUDASCAN_KEEP_LOOP
      for (int i = 0; i < kBatch / 4; ++i) {
        unsigned four = 0;
        for (int time = 0; time < 4; ++time) four |= run.smooth() << (8 * time);
        modes.push(four);
      }
      run.store(to, Run::kScale);
    }
    modes = sum_of(team, modes);
    const int times = modes.first_two();
    if (times == kBatch || batch * kBatch + times > kMost) {
      if (modes.last() < 2 && has_one_hump(team, to)) break;
      continue;
    }
    if (owner) {
      Run again(team, from);
      CUDASCAN_KEEP_LOOP
      for (int i = 0; i < times; ++i) again.smooth();
      again.store(to, 1);
    }
    team.sync();
    // The lowest mode, counted from the top, and the highest, counted from 1.
    struct Ends {
      using Word = std::uint32_t;
      Word first, second;
    } ends{0, 0};
    const int levels = team.levels();
    CUDASCAN_KEEP_LOOP
    for (int i = team.begin(); i < team.end(); ++i) {
      if (i == 0 || i == levels - 1 || !Run::is_mode(to[i - 1], to[i], to[i + 1])) continue;
      if (ends.first == 0) ends.first = static_cast<unsigned>(levels - i);
      ends.second = static_cast<unsigned>(i + 1);
    }
    ends = highest_of(team, ends);
    return {levels - static_cast<int>(ends.first), static_cast<int>(ends.second) - 1, to};
  }
  return {-1, -1, nullptr};
}

/// Prewitt, Mendelsohn, "The analysis of cell images", Annals of the New York Academy of Sciences
/// 128, 1966: the lowest level of the smoothed histogram between its two modes; Otsu's threshold if
/// it never has exactly two.
template <typename Team>
CUDASCAN_HD int minimum(Team &team) {
  const SmoothedHistogram smoothed = SmoothedHistogram::of(team);
  if (smoothed.first < 0) return otsu(team);
  Scored best{kNothing, 0};
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) {
    if (i <= smoothed.first || i >= smoothed.second) continue;
    const Scored here{-smoothed.y[i], i};
    if (here > best) best = here;
  }
  return best_of(team, best).level;
}

/// The same source: halfway between the two modes, rounded down; Otsu's threshold if there are
/// never exactly two.
template <typename Team>
CUDASCAN_HD int intermodes(Team &team) {
  const SmoothedHistogram smoothed = SmoothedHistogram::of(team);
  if (smoothed.first < 0) return otsu(team);
  return (smoothed.first + smoothed.second) / 2;
}

}  // namespace cudascan::threshold
