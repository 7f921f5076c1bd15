// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A threshold splits a histogram in two. What the methods weigh are sums over the levels at or
/// below it and above it. Here are these sums, and the search for the level that splits best.
///
/// The widths in the comments hold for 2^30 pixels and 65536 levels: n < 2^31, s < 2^46.
#pragma once
#include <cstdint>

#include "common/api.h"

namespace cudascan::threshold {

using u128 = unsigned __int128;

/// Pixels, and the sum of their levels.
struct Sums {
  std::uint64_t n, s;

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

/// A level that is as good as its score says.
struct Scored {
  double score;
  int level;

  /// Orders completely, so that the best of many does not depend on the order of comparing.
  CUDASCAN_HD bool operator>(const Scored &other) const {
    return score != other.score ? score > other.score : level < other.level;
  }
};

struct Better {
  template <typename T>
  CUDASCAN_HD T operator()(T a, const T &b) const {
    if (b > a) a = b;
    return a;
  }
};
struct Lower {
  CUDASCAN_HD int operator()(int a, int b) const { return a < b ? a : b; }
};

/// The best of what the members with levels give.
template <typename Team>
CUDASCAN_HD Scored best_of(Team &team, const Scored &mine) {
  if constexpr (requires { team.best(mine); })
    return team.best(mine);
  else
    return team.reduce(mine, Better{});
}
/// Whether any member gives true.
template <typename Team>
CUDASCAN_HD bool any_of(Team &team, bool mine) {
  if constexpr (requires { team.any(mine); })
    return team.any(mine);
  else
    return team.reduce(mine ? 1 : 0, [](int a, int b) { return a | b; }) != 0;
}

/// The score of nothing at all, and of the highest level: it splits nothing off and is taken when
/// it is the only one.
inline constexpr double kNothing = -0x1p1001, kLastResort = -0x1p1000;

/// The sums below this member's levels and over all. A type of sums has a member n, pixels, and a
/// static function of(level, count).
template <typename T, typename Team>
CUDASCAN_HD T sums_before(Team &team, T &all) {
  T mine{};
  for (int i = team.begin(); i < team.end(); ++i) mine += T::of(i, team.count(i));
  return team.before(mine, all);
}

/// Calls visit(level, sums at or below it) for those of this member's levels that have pixels: any
/// other splits as the level below it.
/// @param below  sums_before()
template <typename T, typename Team, typename Visit>
CUDASCAN_HD void visit_splits(Team &team, T below, const Visit &visit) {
  for (int i = team.begin(); i < team.end(); ++i) {
    const std::uint32_t count = team.count(i);
    if (count == 0) continue;
    below += T::of(i, count);
    visit(i, below);
  }
}

/// The lowest level with the highest score.
/// @param score  score(below, above) of the sums at or below a level and above it, both with pixels
template <typename T, typename Team, typename Score>
CUDASCAN_HD int best_split(Team &team, const Score &score) {
  T all;
  const T before = sums_before(team, all);
  Scored best{kNothing, 0};
  visit_splits(team, before, [&](int level, const T &below) {
    const T above = all - below;
    const Scored here{above.n ? score(below, above) : kLastResort, level};
    if (here > best) best = here;
  });
  return best_of(team, best).level;
}

}  // namespace cudascan::threshold
