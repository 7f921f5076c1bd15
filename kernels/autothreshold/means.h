// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Threshold methods based on means and shares of pixels; all except moments use only integers.
/// methods.h has the common rules. N, S: pixels and sum of levels of the image; n, s: the same at
/// or below T.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/autothreshold/split.h"

namespace cudascan::threshold {

/// A number below 2^256, to compare exactly.
struct Wide {
  std::uint64_t part[4];  ///< lowest first

  /// square^2 factor; the product must be below 2^256.
  CUDASCAN_HD static Wide product(u128 square, std::uint64_t factor) {
    const std::uint64_t low = static_cast<std::uint64_t>(square);
    const std::uint64_t high = static_cast<std::uint64_t>(square >> 64);
    const u128 cross = u128{low} * high;
    Wide w{};
    w.add(0, u128{low} * low);
    w.add(1, cross);
    w.add(1, cross);
    w.add(2, u128{high} * high);
    u128 carry = 0;
    for (std::uint64_t &p : w.part) {
      carry += u128{p} * factor;
      p = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    return w;
  }
  CUDASCAN_HD bool operator>(const Wide &other) const {
    for (int i = 3; i > 0; --i)
      if (part[i] != other.part[i]) return part[i] > other.part[i];
    return part[0] > other.part[0];
  }

 private:
  CUDASCAN_HD void add(int first, u128 x) {
    for (int i = first; i < 4; ++i) {
      x += part[i];
      part[i] = static_cast<std::uint64_t>(x);
      x >>= 64;
    }
  }
};

/// Otsu, "A threshold selection method from gray-level histograms", IEEE Transactions on Systems,
/// Man and Cybernetics 9(1), 1979: the largest variance between the classes, which is (S n - N s)^2
/// / (n (N - n)) over N^2. The largest is found exactly.
struct OtsuSplit {
  Sums below;
  double score;
  int level;

  /// |S n - N s|, < 2^77.
  CUDASCAN_HD static u128 distance(const Sums &below, const Sums &all) {
    const u128 a = u128{all.s} * below.n, b = u128{all.n} * below.s;
    return a > b ? a - b : b - a;
  }
  CUDASCAN_HD static std::uint64_t weight(const Sums &below, const Sums &all) {
    return below.n * (all.n - below.n);
  }
  CUDASCAN_HD static OtsuSplit at(int level, const Sums &below, const Sums &all) {
    if (below.n == all.n) return {below, kLastResort, level};
    const u128 d = distance(below, all);
    const double high = static_cast<double>(static_cast<std::uint64_t>(d >> 64));
    const double x = high * 0x1p64 + static_cast<double>(static_cast<std::uint64_t>(d));
    return {below, x * x / static_cast<double>(weight(below, all)), level};
  }
  CUDASCAN_HD static bool better(const OtsuSplit &a, const OtsuSplit &b, const Sums &all) {
    // Far more than the rounding errors of the scores.
    const double unsure = b.score > 0 ? 1e-12 * b.score : 0;
    if (a.score > b.score + unsure) return true;
    if (a.score < b.score - unsure || a.score < 0) return false;
    // Cross-multiplied: 2^154 2^60 at most.
    const Wide left = Wide::product(distance(a.below, all), weight(b.below, all));
    const Wide right = Wide::product(distance(b.below, all), weight(a.below, all));
    if (left > right) return true;
    return !(right > left) && a.level < b.level;
  }
};

template <typename Team>
CUDASCAN_HD int otsu(Team &team) {
  const SplitSums<Sums> sums = SplitSums<Sums>::of(team);
  const Sums &all = sums.all;
  OtsuSplit best{{}, kNothing, 0};
  visit_splits(team, sums, [&](int level, const Sums &below) {
    const OtsuSplit here = OtsuSplit::at(level, below, all);
    if (OtsuSplit::better(here, best, all)) best = here;
  });
  // If no other score is near the best one, the exact scores need no comparison.
  const Scored top = best_of(team, Scored{best.score, best.level});
  const bool near = best.level != top.level && best.score >= top.score * (1 - 1e-12);
  if (top.score <= 0 || !any_of(team, near)) return top.level;
  return team
      .reduce(best, [all](const OtsuSplit &a,
                          const OtsuSplit &b) { return OtsuSplit::better(b, a, all) ? b : a; })
      .level;
}

/// Ridler, Calvard, "Picture thresholding using an iterative selection method", IEEE Transactions
/// on Systems, Man and Cybernetics 8(8), 1978: T starts at the floor of the mean and becomes f(T) =
/// floor((mean at or below T + mean above T) / 2) until it stays.
///
/// This needs no iteration. Both means grow with T, so f grows, too, and the iteration runs in one
/// direction to the next fixpoint. Upwards that is the lowest k >= T0 with f(k) <= k: if f(k) < k
/// held, then f(f(k)) <= f(k), because f grows, so f(k) would be a lower one. Downwards it is the
/// highest k <= T0 with f(k) >= k. Neither test needs a division: f(k) <= k means mB + mA < 2 k +
/// 2, and f(k) >= k means mB + mA >= 2 k.
template <typename Team>
CUDASCAN_HD int isodata(Team &team) {
  const SplitSums<Sums> sums = SplitSums<Sums>::of(team);
  const Sums &all = sums.all;
  Sums below = sums.before;
  if (all.n == 0) return 0;
  const int start = static_cast<int>(all.s / all.n);
  // Both are computed as maxima: `up` counts from the top, `down` from 1.
  struct Ends {
    using Word = std::uint32_t;
    Word up, down;
  } ends{0, 0};
  const auto levels = static_cast<unsigned>(team.levels());
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) {
    below += Sums::of(i, team.count(i));
    const Sums above = all - below;
    // Without pixels above i, all are at one level, or i is beyond every fixpoint.
    if (below.n == 0 || (above.n == 0 && i != start)) continue;
    const u128 means = u128{below.s} * above.n + u128{above.s} * below.n;  // < 2^78
    const u128 unit = u128{2 * below.n} * above.n;
    const auto level = static_cast<unsigned>(i);
    if (i >= start && ends.up == 0 && (above.n == 0 || means < unit * (level + 1)))
      ends.up = levels - level;
    if (i <= start && means >= unit * level) ends.down = level + 1;
  }
  ends = highest_of(team, ends);
  const int up = static_cast<int>(levels - ends.up), down = static_cast<int>(ends.down) - 1;
  return down == start ? up : down;
}

/// Glasbey, "An analysis of histogram-based thresholding algorithms", CVGIP: Graphical Models and
/// Image Processing 55(6), 1993: the floor of the mean.
template <typename Team>
CUDASCAN_HD int mean(Team &team) {
  Sums mine{};
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) mine += Sums::of(i, team.count(i));
  const Sums all = sum_of(team, mine);
  return all.n ? static_cast<int>(all.s / all.n) : 0;
}

/// Doyle, "Operations useful for similarity-invariant pattern recognition", Journal of the ACM
/// 9(2), 1962: as close as possible to half of the pixels are black.
template <typename Team>
CUDASCAN_HD int percentile(Team &team) {
  return best_split<Sums>(team, [](const Sums &below, const Sums &above) {
    const std::uint64_t more = below.n > above.n ? below.n - above.n : above.n - below.n;
    return -static_cast<double>(more);
  });
}

/// Sums over the pixels of the powers of their levels.
struct LevelMoments {
  using Word = std::uint64_t;
  Word n, s, squares;
  Word cubes_low,
      cubes_high;  ///< the sum of cubes, < 2^78: of their lower 32 bits and of their upper bits

  CUDASCAN_HD LevelMoments &operator+=(const LevelMoments &other) {
    n += other.n;
    s += other.s;
    squares += other.squares;
    cubes_low += other.cubes_low;
    cubes_high += other.cubes_high;
    return *this;
  }
  CUDASCAN_HD u128 cubes() const { return (u128{cubes_high} << 32) + cubes_low; }
  CUDASCAN_HD static LevelMoments of(std::uint64_t level, std::uint64_t count) {
    const std::uint64_t squares = count * level * level;
    const u128 cubes = u128{squares} * level;
    return {count, count * level, squares, static_cast<std::uint32_t>(cubes),
            static_cast<std::uint64_t>(cubes >> 32)};
  }
};

/// The number of black pixels in the image of two levels with the same mean, variance and third
/// moment: N / 2 (1 + u3 / sqrt(u3^2 + 4 u2^3)) with the central moments u2, u3.
CUDASCAN_HD inline double two_level_share(const LevelMoments &m) {
  using Signed = __int128;
  // Exact moments about the floor of the mean; the correction to the mean is small.
  const Signed c = static_cast<Signed>(m.s / m.n);
  const Signed n = m.n, s = m.s, squares = m.squares, cubes = static_cast<Signed>(m.cubes());
  const double pixels = static_cast<double>(m.n);
  const double a = static_cast<double>(static_cast<std::int64_t>(s - c * n)) / pixels;
  const Signed around2 = squares - 2 * c * s + c * c * n;
  const Signed around3 = cubes - 3 * c * squares + 3 * c * c * s - c * c * c * n;
  const double b = static_cast<double>(static_cast<std::int64_t>(around2)) / pixels;
  // In two parts that fit into 64 bits.
  const double high = static_cast<double>(static_cast<std::int64_t>(around3 >> 32));
  const double low = static_cast<double>(static_cast<std::uint32_t>(around3));
  const double d = (high * 0x1p32 + low) / pixels;
  const double u2 = b - a * a;
  const double u3 = d - 3.0 * a * b + 2.0 * a * a * a;
  return pixels * 0.5 * (1.0 + u3 / std::sqrt(u3 * u3 + 4.0 * u2 * u2 * u2));
}

/// Tsai, "Moment-preserving thresholding", Computer Vision, Graphics, and Image Processing 29(3),
/// 1985: the lowest T with at least two_level_share() pixels, rounded to the next whole pixel, at
/// or below it.
template <typename Team>
CUDASCAN_HD int moments(Team &team) {
  const SplitSums<LevelMoments> sums = SplitSums<LevelMoments>::of(team);
  const LevelMoments &all = sums.all;
  if (all.n == 0) return 0;
  const bool one_level = u128{all.squares} * all.n == u128{all.s} * all.s;
  if (one_level) return static_cast<int>(all.s / all.n);
  const auto share = static_cast<std::uint64_t>(two_level_share(all) + 0.5);
  int lowest = team.levels() - 1;
  visit_splits(team, sums, [&](int level, const LevelMoments &below) {
    if (below.n >= share && level < lowest) lowest = level;
  });
  return lowest_of(team, lowest);
}

}  // namespace cudascan::threshold
