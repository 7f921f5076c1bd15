// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A threshold splits a histogram in two. The methods compare sums over the levels at or below it
/// and above it. This file has these sums and the search for the best level.
///
/// The widths in the comments hold for 2^30 pixels and 65536 levels: n < 2^31, s < 2^46.
#pragma once
#include <cstdint>

#include "common/api.h"
#include "kernels/histogram/team_reductions.h"

namespace cudascan::threshold {

using u128 = unsigned __int128;

/// Pixels, and the sum of their levels.
struct Sums {
  using Word = std::uint64_t;
  Word n, s;

  CUDASCAN_HD Sums &operator+=(const Sums &other) {
    n += other.n;
    s += other.s;
    return *this;
  }
  CUDASCAN_HD Sums operator-(const Sums &other) const { return {n - other.n, s - other.s}; }

  CUDASCAN_HD static Sums of(std::uint64_t level, std::uint64_t count) {
    return {count, count * level};
  }
};

/// The score of no level, and of the highest level: that splits nothing off and is taken only if it
/// is the only level.
inline constexpr double kNothing = -0x1p1001, kLastResort = -0x1p1000;

/// Sums over this member's levels, over the levels below them, and over all. T has a member n
/// (pixels) and a static function of(level, count).
template <typename T>
struct SplitSums {
  T mine, before, all;

  template <typename Team>
  CUDASCAN_HD static SplitSums of(Team &team) {
    SplitSums sums{};
    CUDASCAN_KEEP_LOOP
    for (int i = team.begin(); i < team.end(); ++i) sums.mine += T::of(i, team.count(i));
    sums.before = team.before(sums.mine, sums.all);
    return sums;
  }
};

/// Calls visit(level, sums at or below it) for this member's levels with pixels; an empty level
/// splits like the level below it.
template <typename T, typename Team, typename Visit>
CUDASCAN_HD void visit_splits(Team &team, const SplitSums<T> &sums, const Visit &visit) {
  T below = sums.before;
  const bool one = team.end() - team.begin() == 1;
  CUDASCAN_KEEP_LOOP
  for (int i = team.begin(); i < team.end(); ++i) {
    const std::uint32_t count = team.count(i);
    if (count == 0) continue;
    below += one ? sums.mine : T::of(i, count);
    visit(i, below);
  }
}

/// The lowest level with the highest score.
/// @param score  score(below, above) of the sums at or below a level and above it, both with pixels
template <typename T, typename Team, typename Score>
CUDASCAN_HD int best_split(Team &team, const Score &score) {
  const SplitSums<T> sums = SplitSums<T>::of(team);
  Scored best{kNothing, 0};
  visit_splits(team, sums, [&](int level, const T &below) {
    const T above = sums.all - below;
    const Scored here{above.n ? score(below, above) : kLastResort, level};
    if (here > best) best = here;
  });
  return best_of(team, best).level;
}

}  // namespace cudascan::threshold
