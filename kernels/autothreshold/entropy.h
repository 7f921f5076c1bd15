// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Threshold methods based on entropies and correlations. methods.h has the common rules.
///
/// N, S: pixels and sum of levels of the image; n, s: the same at or below T; h: pixels of a level.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/autothreshold/split.h"
#include "kernels/histogram/log2.h"

namespace cudascan::threshold {

/// Li, Lee, "Minimum cross entropy thresholding", Pattern Recognition 26(4), 1993: the least
/// -s log(s / n) - (S - s) log((S - s) / (N - n)) of all T.
template <typename Team>
CUDASCAN_HD int mcet(Team &team) {
  const auto term = [](const Sums &part) {
    const double n = static_cast<double>(part.n), s = static_cast<double>(part.s);
    return s > 0 ? s * log2_of(s / n) : 0.0;
  };
  return best_split<Sums>(
      team, [term](const Sums &below, const Sums &above) { return term(below) + term(above); });
}

/// Sums at or below any level: a member walks through its own levels from the last query on.
template <typename Team>
class Walk {
 public:
  CUDASCAN_HD Walk(const Team &team, const Sums &before) : below_(before), next_(team.begin()) {}

  /// @param level  one of this member's levels
  CUDASCAN_HD const Sums &at_or_below(const Team &team, int level) {
    for (; next_ <= level; ++next_) below_ += Sums::of(next_, team.count(next_));
    for (; next_ > level + 1; --next_) below_ = below_ - Sums::of(next_ - 1, team.count(next_ - 1));
    return below_;
  }

 private:
  Sums below_;
  int next_;
};

/// Li, Tam, "An iterative algorithm for minimum cross entropy thresholding", Pattern Recognition
/// Letters 19(8), 1998, as in scikit-image's threshold_li for integers: levels count from the
/// lowest one with pixels. T starts at the mean and becomes (mB - mA) / (log mB - log mA), where mB
/// and mA are the means at or below and above T, until it moves by at most 1/2 or mB is 0. The
/// result is rounded down.
///
/// The next T depends only on the level of T. A team with a member for each level computes it for
/// all levels at once.
class LiStep {
 public:
  CUDASCAN_HD LiStep(const Sums &all, int lowest)
      : all_(all), lowest_(static_cast<unsigned>(lowest)) {}

  CUDASCAN_HD double mean() const { return from_lowest(all_) / static_cast<double>(all_.n); }
  /// The next T for a level; -1 if it stays.
  CUDASCAN_HD double after(const Sums &below) const {
    const Sums above = all_ - below;
    if (above.n == 0 || !(from_lowest(below) > 0)) return -1;
    const double b = from_lowest(below) / static_cast<double>(below.n);
    const double a = from_lowest(above) / static_cast<double>(above.n);
    constexpr double kLn2 = 0.6931471805599453;
    return (a - b) / (kLn2 * (log2_of(a) - log2_of(b)));
  }
  /// @param next  next(level) is after() the sums at or below a level
  template <typename Next>
  CUDASCAN_HD int iterate(int levels, const Next &next) const {
    const int lowest = static_cast<int>(lowest_);
    double t = mean();
    // Both means grow with T, so T moves in one direction, by more than 1/2 each time.
    for (int i = 0; i < 2 * levels; ++i) {
      const double then = next(static_cast<int>(t) + lowest);
      if (then < 0) break;
      const double moved = then > t ? then - t : t - then;
      t = then;
      if (moved <= 0.5) break;
    }
    return static_cast<int>(t) + lowest;
  }

 private:
  CUDASCAN_HD double from_lowest(const Sums &x) const {
    return static_cast<double>(x.s - lowest_ * x.n);
  }

  Sums all_;
  unsigned lowest_;
};

template <typename Team>
CUDASCAN_HD int li(Team &team) {
  const SplitSums<Sums> sums = SplitSums<Sums>::of(team);
  if (sums.all.n == 0) return 0;
  int lowest = team.levels();
  CUDASCAN_KEEP_LOOP
  for (int i = team.end(); i-- > team.begin();)
    if (team.count(i) > 0) lowest = i;
  const LiStep step(sums.all, lowest_of(team, lowest));
  if constexpr (requires { team.memory(); }) {
    if (team.members() >= team.levels() && team.levels() * sizeof(double) <= kTeamMemory) {
      auto *const next = static_cast<double *>(team.memory());
      CUDASCAN_KEEP_LOOP
      for (int i = team.begin(); i < team.end(); ++i) {
        Sums below = sums.before;
        below += sums.mine;
        next[i] = step.after(below);
      }
      team.sync();
      const int found = step.iterate(team.levels(), [next](int level) { return next[level]; });
      team.sync();  // The memory is free after that.
      return found;
    }
  }
  Walk<Team> walk(team, sums.before);
  return step.iterate(team.levels(), [&](int level) {
    // Only the member that owns the level knows.
    const bool mine = level >= team.begin() && level < team.end();
    const double next = mine ? step.after(walk.at_or_below(team, level)) : -1;
    return team.reduce(next, [](double x, double y) { return x > y ? x : y; });
  });
}

/// n pixels, their sum of h log2(h) in steps of 2^-28, < 2^63.
struct Entropies {
  using Word = std::uint64_t;
  Word n, h_log_h;

  CUDASCAN_HD Entropies &operator+=(const Entropies &other) {
    n += other.n;
    h_log_h += other.h_log_h;
    return *this;
  }
  CUDASCAN_HD Entropies operator-(const Entropies &other) const {
    return {n - other.n, h_log_h - other.h_log_h};
  }
  CUDASCAN_HD static Entropies of(int, std::uint32_t count) {
    return {count, static_cast<std::uint64_t>(x_log2_x(count) * 0x1p28 + 0.5)};
  }
  /// In bits per pixel: -sum h / n log2(h / n).
  CUDASCAN_HD double entropy() const {
    const double pixels = static_cast<double>(n);
    return log2_of(pixels) - static_cast<double>(h_log_h) * 0x1p-28 / pixels;
  }
};

/// Kapur, Sahoo, Wong, "A new method for gray-level picture thresholding using the entropy of the
/// histogram", Computer Vision, Graphics, and Image Processing 29(3), 1985: the largest sum of the
/// two classes' entropies.
template <typename Team>
CUDASCAN_HD int max_entropy(Team &team) {
  return best_split<Entropies>(team, [](const Entropies &below, const Entropies &above) {
    return below.entropy() + above.entropy();
  });
}

/// n pixels, their sum of h^2, <= 2^60.
struct Squares {
  using Word = std::uint64_t;
  Word n, h_squared;

  CUDASCAN_HD Squares &operator+=(const Squares &other) {
    n += other.n;
    h_squared += other.h_squared;
    return *this;
  }
  CUDASCAN_HD Squares operator-(const Squares &other) const {
    return {n - other.n, h_squared - other.h_squared};
  }
  CUDASCAN_HD static Squares of(int, std::uint64_t count) { return {count, count * count}; }
};

/// (n (N - n))^2 / (q (Q - q)) with q = sum h^2: larger if the classes' pixels are less alike.
CUDASCAN_HD inline double dissimilarity(const Squares &below, const Squares &above) {
  const double b = static_cast<double>(below.n), a = static_cast<double>(above.n);
  const double qb = static_cast<double>(below.h_squared), qa = static_cast<double>(above.h_squared);
  return b * a / qb * (b * a / qa);
}

/// Yen, Chang, Chang, "A new criterion for automatic multilevel thresholding", IEEE Transactions on
/// Image Processing 4(3), 1995, as in scikit-image: the largest dissimilarity().
template <typename Team>
CUDASCAN_HD int yen(Team &team) {
  return best_split<Squares>(team, dissimilarity);
}

/// Sums for the Renyi entropies of order 1/2, 1 and 2.
struct RenyiSums {
  using Word = std::uint64_t;
  Word roots;  ///< sum of sqrt(h) in steps of 2^-32, < 2^56
  Entropies entropies;
  Squares squares;

  CUDASCAN_HD RenyiSums &operator+=(const RenyiSums &other) {
    roots += other.roots;
    entropies += other.entropies;
    squares += other.squares;
    return *this;
  }
  CUDASCAN_HD static RenyiSums of(int level, std::uint32_t count) {
    const double root = std::sqrt(static_cast<double>(count));
    return {static_cast<std::uint64_t>(root * 0x1p32 + 0.5), Entropies::of(level, count),
            Squares::of(level, count)};
  }
};

/// A level, the pixels at or below it and its score.
struct Counted {
  Scored scored;
  std::uint64_t n;

  CUDASCAN_HD bool operator>(const Counted &other) const { return scored > other.scored; }
};
struct ThreeCounted {
  Counted best[3];
};

/// The best of what members with levels give. If that is faster, adds the pixels afterwards.
template <typename Team>
CUDASCAN_HD ThreeCounted best_of(Team &team, const ThreeCounted &mine) {
  Scored scored[3] = {mine.best[0].scored, mine.best[1].scored, mine.best[2].scored};
  if constexpr (requires { team.best(scored); }) {
    best_of(team, scored);
    struct Pixels {
      using Word = std::uint32_t;
      Word n[3];
    } pixels{};
    for (int i = 0; i < 3; ++i)
      if (mine.best[i].scored.level == scored[i].level)
        pixels.n[i] = static_cast<std::uint32_t>(mine.best[i].n);
    pixels = highest_of(team, pixels);
    ThreeCounted result;
    for (int i = 0; i < 3; ++i) result.best[i] = {scored[i], pixels.n[i]};
    return result;
  } else {
    return team.reduce(mine, [](ThreeCounted a, const ThreeCounted &b) {
      for (int i = 0; i < 3; ++i) a.best[i] = Better{}(a.best[i], b.best[i]);
      return a;
    });
  }
}

/// Sahoo, Wilkins, Yeager, "Threshold selection using Renyi's entropy", Pattern Recognition 30(1),
/// 1997: t1 <= t2 <= t3 are the thresholds with the largest sums of the classes' entropies of order
/// 1/2, 1 and 2. T is their weighted mean; the weights depend on how near they are (5 levels of
/// 256) and on the pixels below, between and above. It is rounded down, as in ImageJ, and computed
/// in integers.
CUDASCAN_HD inline int renyi_mean(Counted t1, Counted t2, Counted t3, std::uint64_t n, int levels) {
  const auto order = [](Counted &a, Counted &b) {
    if (a.scored.level <= b.scored.level) return;
    const Counted lower = b;
    b = a;
    a = lower;
  };
  order(t1, t2);
  order(t2, t3);
  order(t1, t2);
  const std::uint64_t k1 = t1.scored.level, k2 = t2.scored.level, k3 = t3.scored.level;
  const std::uint64_t steps = static_cast<std::uint64_t>(levels);
  const bool low_near = (k2 - k1) * 256 <= 5 * steps, high_near = (k3 - k2) * 256 <= 5 * steps;
  std::uint64_t w1 = 1, w2 = 2, w3 = 1;
  if (low_near != high_near) {
    w1 = low_near ? 0 : 3;
    w2 = 1;
    w3 = low_near ? 3 : 0;
  }
  const std::uint64_t between = t3.n - t1.n;
  // < 2^16 2^30 8
  const std::uint64_t sum =
      k1 * (4 * t1.n + between * w1) + k2 * between * w2 + k3 * (4 * (n - t3.n) + between * w3);
  return static_cast<int>(sum / (4 * n));
}

template <typename Team>
CUDASCAN_HD int renyi_entropy(Team &team) {
  const SplitSums<RenyiSums> sums = SplitSums<RenyiSums>::of(team);
  const RenyiSums &all = sums.all;
  const std::uint64_t n = all.squares.n;
  if (n == 0) return 0;
  constexpr Counted kNone{{kNothing, 0}, 0};
  ThreeCounted mine{{kNone, kNone, kNone}};
  visit_splits(team, sums, [&](int level, const RenyiSums &below) {
    double scores[3] = {kLastResort, kLastResort, kLastResort};
    const Entropies entropies = all.entropies - below.entropies;
    const Squares squares = all.squares - below.squares;
    if (squares.n > 0) {
      // The square of the logarithm's argument for order 1/2; for order 2 it is 1 / Yen's.
      const double roots = static_cast<double>(below.roots);
      const double product = roots * static_cast<double>(all.roots - below.roots);
      const double pixels = static_cast<double>(below.squares.n * squares.n);
      scores[0] = product * product / pixels;
      scores[1] = below.entropies.entropy() + entropies.entropy();
      scores[2] = dissimilarity(below.squares, squares);
    }
    for (int i = 0; i < 3; ++i) {
      const Counted here{{scores[i], level}, below.squares.n};
      if (here > mine.best[i]) mine.best[i] = here;
    }
  });
  const ThreeCounted found = best_of(team, mine);
  return renyi_mean(found.best[0], found.best[1], found.best[2], n, team.levels());
}

}  // namespace cudascan::threshold
