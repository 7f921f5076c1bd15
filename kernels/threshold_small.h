// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Threshold methods whose work grows with the square of the number of levels, for small teams: the
/// members share pairs of a level and a part of the levels that are to be summed up for it.
/// threshold_methods.h has the common rules. N, n: pixels of the image and of what is at or below
/// T.
#pragma once
#include <cstdint>

#include "kernels/log2.h"
#include "kernels/split.h"
#include "kernels/team.h"
#include "kernels/threshold_shape.h"

namespace cudascan::threshold {

/// The work for a level is done in so many parts.
inline constexpr int kParts = 4;

/// Calls work(level, part) once for each level and each part, which the members share. They meet
/// before and after.
template <typename Team, typename Work>
CUDASCAN_HD void share_parts(Team &team, const Work &work) {
  team.sync();
  const int levels = team.levels();
  for (int i = team.member(); i < kParts * levels; i += team.members())
    work(i % levels, i / levels);
  team.sync();
}

/// Huang, Wang, "Image thresholding by minimizing the measures of fuzziness", Pattern Recognition
/// 28(1), 1995, as in ImageJ: a pixel belongs to its class by 1 / (1 + d / C), where d is its
/// distance to the class's mean and C that of the highest and lowest levels; T has the least sum of
/// Shannon's function over all pixels.
///
/// For levels that are less than 1 from the mean, where Shannon's function is steep, it is
/// computed. For the others it comes from a table, which is linear between its entries, with the
/// mean rounded to 1/4096 level: wrong by less than 10^-5.
class Fuzziness {
 public:
  static constexpr unsigned kUnit = 4096;  ///< of rounded means and distances, in a level
  static constexpr double kScale = 0x1p33;
  /// The entries are 1/32 level apart for distances below 16 levels, 1/4 level above.
  static constexpr unsigned kFineEntries = 16 * 32;
  static constexpr unsigned kEntries = kFineEntries + (kSmallLevels - 16) * 4 + 1;

  /// With q = C + d, -C/q log2(C/q) - d/q log2(d/q), 1 at most.
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
    return static_cast<std::uint32_t>((2 * kUnit * part.s + part.n) / (2 * part.n));
  }
  /// What the levels add that are less than 1 from the mean of their class.
  template <typename Team>
  CUDASCAN_HD static std::uint64_t near_mean(const Team &team, const Sums &part, int c) {
    const std::uint32_t rounded = mean(part);
    const int first = static_cast<int>(rounded / kUnit);
    std::uint64_t sum = 0;
    for (int i = first; i <= first + (rounded % kUnit != 0); ++i) {
      const std::uint64_t a = i * part.n;
      const std::uint64_t apart = a > part.s ? a - part.s : part.s - a;
      const double d = static_cast<double>(apart) / static_cast<double>(part.n);
      sum += static_cast<std::uint64_t>(team.count(i) * (shannon(d, c) * kScale) + 0.5);
    }
    return sum;
  }

  std::uint32_t table[kEntries];
  std::uint32_t below[kSmallLevels], above[kSmallLevels];  ///< rounded means
  std::uint64_t sums[kParts][kSmallLevels];
};
static_assert(sizeof(Fuzziness) <= kTeamMemory);

template <typename Team>
CUDASCAN_HD int huang(Team &team) {
  Sums all;
  const Sums before = sums_before(team, all);
  const Extent ends = extent(team);
  if (ends.lowest >= ends.highest) return ends.height ? ends.lowest : 0;
  auto &memory = *static_cast<Fuzziness *>(team.memory());
  const int range = ends.highest - ends.lowest;
  for (unsigned i = team.member(); i < Fuzziness::kEntries; i += team.members())
    memory.table[i] = Fuzziness::entry(i, range);
  visit_splits(team, before, [&](int level, const Sums &below) {
    memory.below[level] = Fuzziness::mean(below);
    memory.above[level] = Fuzziness::mean(all - below);
  });
  share_parts(team, [&](int level, int part) {
    if (team.count(level) == 0) return;
    std::uint64_t sum = 0;  // < 2^30 2^33
    for (int i = ends.lowest + part; i <= ends.highest; i += kParts) {
      const std::uint32_t here = Fuzziness::kUnit * i;
      const std::uint32_t mean = i <= level ? memory.below[level] : memory.above[level];
      const std::uint32_t distance = here > mean ? here - mean : mean - here;
      if (distance >= Fuzziness::kUnit) sum += team.count(i) * memory.at(distance);
    }
    memory.sums[part][level] = sum;
  });
  Scored best{kNothing, 0};
  visit_splits(team, before, [&](int level, const Sums &below) {
    Scored here{kLastResort, level};
    if (below.n < all.n) {
      std::uint64_t sum =
          Fuzziness::near_mean(team, below, range) + Fuzziness::near_mean(team, all - below, range);
      for (int part = 0; part < kParts; ++part) sum += memory.sums[part][level];
      here.score = -static_cast<double>(sum);
    }
    if (here > best) best = here;
  });
  return best_of(team, best).level;
}

/// Shanbhag, "Utilization of information measure as a means of image thresholding", CVGIP:
/// Graphical Models and Image Processing 56(5), 1994, as in ImageJ: the least difference between
/// the information -1 / (2 n) sum h log(1 - m / (2 n)) of the two classes, where n is the class's
/// pixels, h those of a level and m those of the class beyond it, on the side away from T.
struct Information {
  std::uint32_t below[kSmallLevels];  ///< n of each level
  std::uint64_t sums[kParts][kSmallLevels];
};
static_assert(sizeof(Information) <= kTeamMemory);

template <typename Team>
CUDASCAN_HD int shanbhag(Team &team) {
  Sums all;
  Sums before = sums_before(team, all);
  auto &memory = *static_cast<Information *>(team.memory());
  for (int i = team.begin(); i < team.end(); ++i) {
    before.n += team.count(i);
    memory.below[i] = static_cast<std::uint32_t>(before.n);
  }
  const std::uint32_t n = static_cast<std::uint32_t>(all.n);
  // Even parts are of the class below, odd ones of the class above. A term is h log2(2 n / (2 n -
  // m)) in steps of 2^-32, their sum <= 2^62.
  const int last = team.levels() - 1;
  share_parts(team, [&](int level, int part) {
    if (team.count(level) == 0) return;
    const bool upper = part % 2 != 0;
    const std::uint32_t pixels = upper ? n - memory.below[level] : memory.below[level];
    std::uint64_t sum = 0;
    if (pixels > 0) {
      const double whole = 2.0 * pixels, whole_log = log2_of(whole);
      const int first = upper ? level + 1 : 0, end = upper ? last : level;
      for (int i = first + part / 2; i <= end; i += kParts / 2) {
        const std::uint32_t count = team.count(i);
        if (count == 0) continue;
        const std::uint32_t beyond = upper ? n - memory.below[i] : memory.below[i] - count;
        const double bits = whole_log - log2_of(whole - beyond);
        sum += static_cast<std::uint64_t>(count * bits * 0x1p32 + 0.5);
      }
    }
    memory.sums[part][level] = sum;
  });
  Scored best{kNothing, 0};
  for (int i = team.begin(); i < team.end(); ++i) {
    if (team.count(i) == 0) continue;
    const std::uint32_t below = memory.below[i], above = n - below;
    double score = kLastResort;
    if (above > 0) {
      const double b = static_cast<double>(memory.sums[0][i] + memory.sums[2][i]) / below;
      const double a = static_cast<double>(memory.sums[1][i] + memory.sums[3][i]) / above;
      score = a > b ? b - a : a - b;
    }
    const Scored here{score, i};
    if (here > best) best = here;
  }
  return best_of(team, best).level;
}

/// Liao, Chen, Chung, "A fast algorithm for multilevel thresholding", Journal of Information
/// Science and Engineering 17(5), 2001: the largest sum of s^2 / n over the classes, which makes
/// the variance between them largest. By dynamic programming: the best c classes at or below k are
/// the best c - 1 at or below some j and one of the levels from j + 1 to k.
///
/// Only the upper classes may be without pixels. So an image of fewer levels than classes has the
/// highest threshold several times or at the highest level.
struct MultiOtsu {
  static constexpr int kMostClasses = 4;

  Sums below[kSmallLevels];
  double best[kSmallLevels];  ///< of as many classes as are done; kNothing without pixels
  double parts[kParts][kSmallLevels];
  std::uint8_t parts_j[kParts][kSmallLevels];
  std::uint8_t j[kMostClasses - 2]
                [kSmallLevels];  ///< where the best c classes end but for the last

  CUDASCAN_HD static double of_class(const Sums &part) {
    const double s = static_cast<double>(part.s);
    return part.n ? s * s / static_cast<double>(part.n) : 0;
  }
  CUDASCAN_HD Scored ending(int j_, int k) const {
    return {best[j_] + of_class(below[k] - below[j_]), j_};
  }
};
static_assert(sizeof(MultiOtsu) <= kTeamMemory);

template <typename Team>
CUDASCAN_HD void multi_otsu(Team &team, int classes, int *thresholds) {
  Sums all;
  Sums before = sums_before(team, all);
  auto &memory = *static_cast<MultiOtsu *>(team.memory());
  for (int i = team.begin(); i < team.end(); ++i) {
    memory.below[i] = before += Sums::of(i, team.count(i));
    memory.best[i] = before.n ? MultiOtsu::of_class(before) : kNothing;
  }
  for (int c = 2; c < classes; ++c) {
    share_parts(team, [&](int k, int part) {
      Scored best{kNothing, 0};
      for (int j = part; j <= k; j += kParts) {
        const Scored here = memory.ending(j, k);
        if (team.count(j) > 0 && here > best) best = here;
      }
      memory.parts[part][k] = best.score;
      memory.parts_j[part][k] = static_cast<std::uint8_t>(best.level);
    });
    for (int k = team.begin(); k < team.end(); ++k) {
      Scored best{kNothing, 0};
      for (int part = 0; part < kParts; ++part) {
        const Scored here{memory.parts[part][k], memory.parts_j[part][k]};
        if (here > best) best = here;
      }
      memory.best[k] = best.score;
      memory.j[c - 2][k] = static_cast<std::uint8_t>(best.level);
    }
  }
  team.sync();
  const int last = team.levels() - 1;
  Scored best{kNothing, 0};
  for (int j = team.begin(); j < team.end(); ++j) {
    const Scored here = memory.ending(j, last);
    if (team.count(j) > 0 && here > best) best = here;
  }
  int threshold = best_of(team, best).level;
  for (int c = classes; c >= 2; --c) {
    thresholds[c - 2] = threshold;
    if (c > 2) threshold = memory.j[c - 3][threshold];
  }
  team.sync();  // After find_small() and find_classes() the memory is free.
}

}  // namespace cudascan::threshold
