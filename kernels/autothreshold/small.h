// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Threshold methods whose work grows with the square of the number of levels. They are for small
/// teams, which divide the levels among their members. methods.h has the common rules. N, n: pixels
/// of the image and at or below T.
#pragma once
#include <cstdint>

#include "kernels/autothreshold/shape.h"
#include "kernels/autothreshold/split.h"
#include "kernels/histogram/log2.h"
#include "kernels/histogram/team.h"

namespace cudascan::threshold {

/// Huang, Wang, "Image thresholding by minimizing the measures of fuzziness", Pattern Recognition
/// 28(1), 1995, as in ImageJ: a pixel belongs to its class by 1 / (1 + d / C), where d is its
/// distance to the class's mean and C that of the highest and lowest levels; T has the least sum of
/// Shannon's function over all pixels.
///
/// Shannon's function is steep for levels less than 1 from the mean; there it is computed. For the
/// others it is interpolated linearly in a table, with the mean rounded to 1/4096 level; the error
/// is below 10^-5.
class Fuzziness {
 public:
  static constexpr unsigned kUnit = 4096;  ///< of rounded means and distances, in a level
  static constexpr double kScale = 0x1p33;
  /// The entries are 1/32 level apart for distances below 16 levels, 1/4 level above.
  static constexpr unsigned kFineEntries = 16 * 32;
  static constexpr unsigned kEntries = kFineEntries + (kSmallLevels - 16) * 4 + 1;

  /// -C/q log2(C/q) - d/q log2(d/q) with q = C + d; at most 1.
  /// @param c  C, > 0
  CUDASCAN_HD static double shannon(double d, int c) {
    const double q = c + d, bits = log2_of(q) - (x_log2_x(c) + x_log2_x(d)) / q;
    return bits > 0 ? bits : 0;
  }
  CUDASCAN_HD static std::uint32_t entry(unsigned i, int c) {
    const double d = i < kFineEntries ? i / 32.0 : 16 + (i - kFineEntries) / 4.0;
    return static_cast<std::uint32_t>(shannon(d, c) * (kScale / 1024) + 0.5);
  }
  /// Shannon's function times kScale, from the table.
  CUDASCAN_HD std::uint64_t at(unsigned distance) const {
    constexpr unsigned kFine = kUnit / 32, kCoarse = kUnit / 4;
    const bool fine = distance < 16 * kUnit;
    const unsigned i =
        fine ? distance / kFine : kFineEntries - 16 * kUnit / kCoarse + distance / kCoarse;
    const unsigned rest = fine ? distance % kFine * (kCoarse / kFine) : distance % kCoarse;
    return std::uint64_t{table[i]} * (1024 - rest) + std::uint64_t{table[i + 1]} * rest;
  }
  CUDASCAN_HD static std::uint32_t mean(const Sums &part) {
    if (part.n == 0) return 0;
    // Below 2^51 divided by 2^31: rounding never raises the quotient to the next integer.
    return static_cast<std::uint32_t>(static_cast<double>(2 * kUnit * part.s + part.n) /
                                      static_cast<double>(2 * part.n));
  }
  /// The contribution of a level that is less than 1 from the mean of its class.
  CUDASCAN_HD static std::uint64_t near_mean(std::uint64_t level, std::uint32_t count,
                                             const Sums &part, int c) {
    const std::uint64_t a = level * part.n;
    const std::uint64_t apart = a > part.s ? a - part.s : part.s - a;
    const double d = static_cast<double>(apart) / static_cast<double>(part.n);
    return static_cast<std::uint64_t>(count * (shannon(d, c) * kScale) + 0.5);
  }

  std::uint32_t table[kEntries];
  Sums below[kSmallLevels];
  std::uint64_t sums[kSmallLevels];
};
static_assert(sizeof(Fuzziness) <= kTeamMemory);

template <typename Team>
CUDASCAN_HD int huang(Team &team) {
  const SplitSums<Sums> sums = SplitSums<Sums>::of(team);
  const Sums &all = sums.all;
  const LevelExtent ends = extent(team);
  if (ends.lowest >= ends.highest) return ends.height ? ends.lowest : 0;
  auto &memory = *static_cast<Fuzziness *>(team.memory());
  const int range = ends.highest - ends.lowest;
  for (unsigned i = team.member(); i < Fuzziness::kEntries; i += team.members())
    memory.table[i] = Fuzziness::entry(i, range);
  visit_splits(team, sums, [&](int level, const Sums &below) { memory.below[level] = below; });
  team.share(team.levels(), memory.sums, [&](int level, auto &worker) {
    std::uint64_t sum = 0;  // < 2^30 2^33
    if (team.count(level) > 0) {
      const Sums below = memory.below[level], above = all - below;
      const std::uint32_t mean_below = Fuzziness::mean(below), mean_above = Fuzziness::mean(above);
      CUDASCAN_KEEP_LOOP
      for (int i = worker.begin(); i < worker.end(); ++i) {
        const std::uint32_t count = team.count(i);
        if (count == 0) continue;
        const std::uint32_t here = Fuzziness::kUnit * i,
                            mean = i <= level ? mean_below : mean_above;
        const std::uint32_t distance = here > mean ? here - mean : mean - here;
        if (distance >= Fuzziness::kUnit)
          sum += count * memory.at(distance);
        else
          sum += Fuzziness::near_mean(i, count, i <= level ? below : above, range);
      }
    }
    return sum_of(worker, sum);
  });
  Scored best{kNothing, 0};
  visit_splits(team, sums, [&](int level, const Sums &below) {
    const Scored here{below.n < all.n ? -static_cast<double>(memory.sums[level]) : kLastResort,
                      level};
    if (here > best) best = here;
  });
  return best_of(team, best).level;
}

/// Shanbhag, "Utilization of information measure as a means of image thresholding", CVGIP:
/// Graphical Models and Image Processing 56(5), 1994, as in ImageJ: the least difference between
/// the information -1 / (2 n) sum h log(1 - m / (2 n)) of the two classes, where n is the class's
/// pixels, h those of a level and m those of the class beyond it, on the side away from T.
struct Information {
  /// Sums of h log2(2 n / (2 n - m)) in steps of 2^-32, <= 2^62.
  struct Classes {
    using Word = std::uint64_t;
    Word below, above;

    CUDASCAN_HD Classes &operator+=(const Classes &other) {
      below += other.below;
      above += other.above;
      return *this;
    }
  };

  std::uint32_t below[kSmallLevels];  ///< n of each level
  Classes classes[kSmallLevels];
};
static_assert(sizeof(Information) <= kTeamMemory);

template <typename Team>
CUDASCAN_HD int shanbhag(Team &team) {
  const SplitSums<Sums> sums = SplitSums<Sums>::of(team);
  auto &memory = *static_cast<Information *>(team.memory());
  auto before = static_cast<std::uint32_t>(sums.before.n);
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) memory.below[i] = before += team.count(i);
  const auto n = static_cast<std::uint32_t>(sums.all.n);
  team.share(team.levels(), memory.classes, [&](int level, auto &worker) {
    Information::Classes classes{};
    if (team.count(level) > 0) {
      const std::uint32_t below = memory.below[level];
      const double whole_below = 2.0 * below, whole_above = 2.0 * (n - below);
      const double log_below = log2_of(whole_below);
      const double log_above = below < n ? log2_of(whole_above) : 0;
      CUDASCAN_KEEP_LOOP
      for (int i = worker.begin(); i < worker.end(); ++i) {
        const std::uint32_t count = team.count(i);
        if (count == 0) continue;
        const bool upper = i > level;
        const std::uint32_t beyond = upper ? n - memory.below[i] : memory.below[i] - count;
        const double bits =
            (upper ? log_above : log_below) - log2_of((upper ? whole_above : whole_below) - beyond);
        const auto term = static_cast<std::uint64_t>(count * bits * 0x1p32 + 0.5);
        (upper ? classes.above : classes.below) += term;
      }
    }
    return sum_of(worker, classes);
  });
  Scored best{kNothing, 0};
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) {
    if (team.count(i) == 0) continue;
    const std::uint32_t below = memory.below[i], above = n - below;
    double score = kLastResort;
    if (above > 0) {
      const double b = static_cast<double>(memory.classes[i].below) / below;
      const double a = static_cast<double>(memory.classes[i].above) / above;
      score = a > b ? b - a : a - b;
    }
    const Scored here{score, i};
    if (here > best) best = here;
  }
  return best_of(team, best).level;
}

/// Liao, Chen, Chung, "A fast algorithm for multilevel thresholding", Journal of Information
/// Science and Engineering 17(5), 2001: the largest sum of s^2 / n over the classes, which makes
/// the variance between them largest. For each second threshold, the best first and the best third
/// threshold are independent of each other.
///
/// Only upper classes may be empty. So for an image with fewer levels than classes, the highest
/// threshold occurs several times or is the highest level.
struct MultiOtsu {
  /// The best thresholds for a given second threshold.
  struct Second {
    double of_two;  ///< of the two classes below it
    double of_all;  ///< of four classes
    int first, third;
  };

  Sums below[kSmallLevels];
  Second second[kSmallLevels];

  /// The score of the class of levels above `from`, up to `to`.
  CUDASCAN_HD double between(int from, int to) const { return of_class(below[to] - below[from]); }
  CUDASCAN_HD static double of_class(const Sums &part) {
    const double s = static_cast<double>(part.s);
    return part.n ? s * s / static_cast<double>(part.n) : 0;
  }
};
static_assert(sizeof(MultiOtsu) <= kTeamMemory);

/// The best of the levels from `first` to `last` that have pixels.
template <typename Team, typename Score>
CUDASCAN_HD Scored best_between(Team &team, int first, int last, const Score &score) {
  Scored best{kNothing, 0};
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) {
    if (i < first || i > last || team.count(i) == 0) continue;
    const Scored here{score(i), i};
    if (here > best) best = here;
  }
  return best_of(team, best);
}

/// @param classes  3 or 4
template <typename Team>
CUDASCAN_HD void multi_otsu(Team &team, int classes, int *thresholds) {
  const SplitSums<Sums> sums = SplitSums<Sums>::of(team);
  auto &memory = *static_cast<MultiOtsu *>(team.memory());
  Sums below = sums.before;
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i)
    memory.below[i] = below += Sums::of(i, team.count(i));
  const int last = team.levels() - 1;
  team.share(team.levels(), memory.second, [&](int level, auto &worker) {
    const Scored first = best_between(worker, 0, level, [&](int i) {
      return MultiOtsu::of_class(memory.below[i]) + memory.between(i, level);
    });
    Scored third{first.score, last};
    if (classes > 3)
      third = best_between(worker, level, last, [&](int i) {
        return first.score + memory.between(level, i) + memory.between(i, last);
      });
    return MultiOtsu::Second{first.score, third.score, first.level, third.level};
  });
  // The floating-point sums add class by class. Of equally good thresholds, the lowest count,
  // starting with the highest one.
  int third = last;
  if (classes > 3) {
    Scored best{kNothing, 0};
    CUDASCAN_KEEP_LOOP
    for (int i = team.begin(); i < team.end(); ++i) {
      const Scored here{memory.second[i].of_all, memory.second[i].third};
      if (team.count(i) > 0 && here > best) best = here;
    }
    third = best_of(team, best).level;
  }
  const int second = best_between(team, 0, third, [&](int i) {
                       return memory.second[i].of_two + memory.between(i, third);
                     }).level;
  thresholds[0] = memory.second[second].first;
  thresholds[1] = second;
  if (classes > 3) thresholds[2] = third;
  team.sync();  // The memory is free after that.
}

}  // namespace cudascan::threshold
