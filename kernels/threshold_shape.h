// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Threshold methods that look at the shape of the histogram. threshold_methods.h has the common
/// rules.
#pragma once
#include <cstdint>

#include "kernels/split.h"
#include "kernels/threshold_means.h"

namespace cudascan::threshold {

/// The ends of a histogram and its peak, the lowest of several.
struct Extent {
  int lowest, highest, peak;
  std::uint32_t height;

  CUDASCAN_HD void add(int level, std::uint32_t count) {
    if (count == 0) return;
    if (level < lowest) lowest = level;
    if (level > highest) highest = level;
    if (count > height) {
      height = count;
      peak = level;
    }
  }
  CUDASCAN_HD static Extent both(const Extent &a, const Extent &b) {
    const bool second = b.height != a.height ? b.height > a.height : b.peak < a.peak;
    return {a.lowest < b.lowest ? a.lowest : b.lowest,
            a.highest > b.highest ? a.highest : b.highest, second ? b.peak : a.peak,
            second ? b.height : a.height};
  }
};

template <typename Team>
CUDASCAN_HD Extent extent(Team &team) {
  Extent mine{team.levels(), -1, 0, 0};
  for (int i = team.begin(); i < team.end(); ++i) mine.add(i, team.count(i));
  return team.reduce(mine, [](const Extent &a, const Extent &b) { return Extent::both(a, b); });
}

/// Zack, Rogers, Latt, "Automatic measurement of sister chromatid exchange frequency", Journal of
/// Histochemistry and Cytochemistry 25(7), 1977: a line from the peak to the empty level beside the
/// farther end of the histogram; T is beside the level that lies farthest below it.
///
/// Levels, line and ties as in OpenCV's THRESH_TRIANGLE, whose T it is: that is one level from the
/// farthest towards the end, at 256 levels. Of equally far ones the one nearest to the end counts.
/// Two exceptions: an image of one level has that one, and T does not leave the levels.
template <typename Team>
CUDASCAN_HD int triangle(Team &team) {
  const Extent all = extent(team);
  if (all.height == 0) return 0;
  if (all.lowest == all.highest) return all.lowest;
  const int last = team.levels() - 1;
  const int left = all.lowest > 0 ? all.lowest - 1 : 0;
  const int right = all.highest < last ? all.highest + 1 : last;
  // Where the tail is on the right, positions count from the other end.
  const bool mirrored = all.peak - left < right - all.peak;
  const int end = mirrored ? last - right : left, peak = mirrored ? last - all.peak : all.peak;
  struct Farthest {
    std::int64_t distance;  ///< times what is the same for all positions, < 2^48
    int position;
  } best{0, end};
  const auto farther = [](const Farthest &a, const Farthest &b) {
    const bool second =
        b.distance != a.distance ? b.distance > a.distance : b.position < a.position;
    return second ? b : a;
  };
  for (int i = team.begin(); i < team.end(); ++i) {
    const int position = mirrored ? last - i : i;
    if (position <= end || position > peak) continue;
    const std::int64_t distance =
        std::int64_t{all.height} * position - std::int64_t{team.count(i)} * (peak - end);
    best = farther(best, {distance, position});
  }
  best = team.reduce(best, farther);
  const int level = mirrored ? last - best.position + 1 : best.position - 1;
  return level < 0 ? 0 : level > last ? last : level;
}

/// What minimum and intermodes look at: the histogram, smoothed until two levels are higher than
/// both their neighbours. In the memory of a small team.
struct Smoothed {
  static constexpr int kMost = 10000;  ///< times at most
  static constexpr int kBatch = 16;

  int first, second;  ///< the levels of the two modes; -1 where there never were two
  const double *y;

  /// Number of modes after each time of a batch, in bytes: 256 levels have 127 modes at most.
  struct Modes {
    std::uint64_t word[kBatch / 8];
    CUDASCAN_HD int of(int time) const { return word[time / 8] >> (8 * (time % 8)) & 255; }
  };
  CUDASCAN_HD static bool is_mode(const double *y, int levels, int i) {
    return i > 0 && i + 1 < levels && y[i - 1] < y[i] && y[i + 1] < y[i];
  }

  /// One time: every level becomes the mean of itself and its neighbours, with 0 beyond the ends.
  /// Instead of by 3, all is divided by 2 and 4 in turn: 10000 times make it 2^850 too large, and
  /// what is equal stays equal for as long as the sums have 53 bits. Beyond, rounding keeps the
  /// order of the levels on a slope, so that no mode comes from it there.
  template <typename Team>
  CUDASCAN_HD static void smooth(Team &team, void *memory, int batch, int time) {
    const double *from = buffer(memory, batch, time);
    double *to = buffer(memory, batch, time + 1);
    const double factor = time % 2 ? 0.5 : 0.25;
    const int last = team.levels() - 1;
    for (int i = team.begin(); i < team.end(); ++i) {
      const double left = i > 0 ? from[i - 1] : 0, right = i < last ? from[i + 1] : 0;
      to[i] = (left + right + from[i]) * factor;
    }
    team.sync();
  }

  /// The histogram of a batch after some times, in one of three buffers: that of time 0 lives on,
  /// the others alternate.
  CUDASCAN_HD static double *buffer(void *memory, int batch, int time) {
    const int start = 2 * batch;
    const int index = time == 0 ? start : start + 2 - time % 2;
    return static_cast<double *>(memory) + index % 3 * kSmallLevels;
  }

  /// The modes are counted in batches, for one exchange between the members after many times; what
  /// a batch went too far is done again from its start.
  template <typename Team>
  CUDASCAN_HD static Smoothed of(Team &team) {
    void *const memory = team.memory();
    for (int i = team.begin(); i < team.end(); ++i) buffer(memory, 0, 0)[i] = team.count(i);
    team.sync();
    for (int batch = 0; batch * kBatch <= kMost; ++batch) {
      Modes mine{};
      for (int time = 0; time < kBatch; ++time) {
        const double *y = buffer(memory, batch, time);
        for (int i = team.begin(); i < team.end(); ++i)
          mine.word[time / 8] += std::uint64_t{is_mode(y, team.levels(), i)} << (8 * (time % 8));
        smooth(team, memory, batch, time);
      }
      const Modes all = team.reduce(mine, [](Modes x, const Modes &other) {
        for (int i = 0; i < kBatch / 8; ++i) x.word[i] += other.word[i];
        return x;
      });
      for (int time = 0; time < kBatch && batch * kBatch + time <= kMost; ++time) {
        if (all.of(time) != 2) continue;
        for (int again = 0; again < time; ++again) smooth(team, memory, batch, again);
        return between_modes(team, buffer(memory, batch, time));
      }
    }
    return {-1, -1, nullptr};
  }

 private:
  template <typename Team>
  CUDASCAN_HD static Smoothed between_modes(Team &team, const double *y) {
    struct Ends {
      int first, second;
    } ends{team.levels(), -1};
    for (int i = team.begin(); i < team.end(); ++i) {
      if (!is_mode(y, team.levels(), i)) continue;
      if (i < ends.first) ends.first = i;
      ends.second = i;
    }
    ends = team.reduce(ends, [](const Ends &p, const Ends &q) {
      return Ends{p.first < q.first ? p.first : q.first, p.second > q.second ? p.second : q.second};
    });
    return {ends.first, ends.second, y};
  }
};

/// Prewitt, Mendelsohn, "The analysis of cell images", Annals of the New York Academy of Sciences
/// 128, 1966: the lowest level of the smoothed histogram between its two modes; Otsu's threshold
/// where it never has just two.
template <typename Team>
CUDASCAN_HD int minimum(Team &team) {
  const Smoothed smoothed = Smoothed::of(team);
  if (smoothed.first < 0) return otsu(team);
  Scored best{kNothing, 0};
  for (int i = team.begin(); i < team.end(); ++i) {
    if (i <= smoothed.first || i >= smoothed.second) continue;
    const Scored here{-smoothed.y[i], i};
    if (here > best) best = here;
  }
  return best_of(team, best).level;
}

/// The same source: halfway between the two modes, rounded down; Otsu's threshold where there never
/// are just two.
template <typename Team>
CUDASCAN_HD int intermodes(Team &team) {
  const Smoothed smoothed = Smoothed::of(team);
  if (smoothed.first < 0) return otsu(team);
  return (smoothed.first + smoothed.second) / 2;
}

}  // namespace cudascan::threshold
