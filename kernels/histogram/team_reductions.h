// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Frequent reductions over the members of a team (team.h). A team may implement them faster.
#pragma once
#include <cstdint>

#include "common/api.h"
#include "kernels/histogram/team.h"

namespace cudascan {

/// A level with its score.
struct Scored {
  double score;
  int level;

  /// A total order, so that the best of many does not depend on the order of comparisons.
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

/// The best values of the members with levels, for several values at a time.
template <int n, typename Team>
CUDASCAN_HD void best_of(Team &team, Scored (&scored)[n]) {
  if constexpr (requires { team.best(scored); }) {
    team.best(scored);
  } else {
    struct All {
      Scored scored[n];
    } all;
    for (int i = 0; i < n; ++i) all.scored[i] = scored[i];
    all = team.reduce(all, [](All a, const All &b) {
      for (int i = 0; i < n; ++i) a.scored[i] = Better{}(a.scored[i], b.scored[i]);
      return a;
    });
    for (int i = 0; i < n; ++i) scored[i] = all.scored[i];
  }
}
template <typename Team>
CUDASCAN_HD Scored best_of(Team &team, const Scored &mine) {
  Scored scored[1] = {mine};
  best_of(team, scored);
  return scored[0];
}
/// The sum of the values of the members with levels.
template <typename Team, Wordwise T>
CUDASCAN_HD T sum_of(Team &team, const T &mine) {
  if constexpr (requires { team.sum(mine); })
    return team.sum(mine);
  else
    return team.reduce(mine, [](T a, const T &b) { return a += b; });
}
/// The largest value of each word over the members with levels.
template <typename Team, Wordwise T>
CUDASCAN_HD T highest_of(Team &team, const T &mine) {
  if constexpr (requires { team.highest(mine); })
    return team.highest(mine);
  else
    return team.reduce(mine, [](const T &a, const T &b) {
      auto words = __builtin_bit_cast(WordsOf<T>, a);
      const auto other = __builtin_bit_cast(WordsOf<T>, b);
      constexpr int kWords = sizeof(words) / sizeof(words.word[0]);
      for (int i = 0; i < kWords; ++i)
        if (other.word[i] > words.word[i]) words.word[i] = other.word[i];
      return __builtin_bit_cast(T, words);
    });
}
/// The lowest level of the members, or team.levels() if no level is lower.
template <typename Team>
CUDASCAN_HD int lowest_of(Team &team, int mine) {
  const auto levels = static_cast<unsigned>(team.levels());
  return static_cast<int>(levels - highest_of(team, levels - static_cast<unsigned>(mine)));
}
/// Whether the value of any member is true.
template <typename Team>
CUDASCAN_HD bool any_of(Team &team, bool mine) {
  if constexpr (requires { team.any(mine); })
    return team.any(mine);
  else
    return team.reduce(mine ? 1 : 0, [](int a, int b) { return a | b; }) != 0;
}

}  // namespace cudascan
