// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Teams: a function of a histogram is written once and runs on one CPU thread, on a block of the
/// GPU or on all its blocks. The members of a team run the same function; each member owns a run of
/// neighbouring levels. They exchange values through two functions, before() and reduce(), which
/// all members call in the same order and which synchronise them:
///
///     template <typename Team>
///     CUDASCAN_HD int lowest_level(Team &team) {
///       int lowest = team.levels();
///       for (int i = team.end(); i-- > team.begin();)
///         if (team.count(i) > 0) lowest = i;
///       return team.reduce(lowest, [](int a, int b) { return a < b ? a : b; });
///     }
///
/// team_reductions.h has functions for common reductions, sum_of() and so on; teams may implement
/// them faster.
///
/// A floating-point sum would depend on the size of the team, so terms are integers, or fixed-point
/// numbers if needed. A small team has at most 256 levels and some memory that all members share.
/// Its members can divide large work per level among them, and near members can exchange values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/api.h"

namespace cudascan {

/// Most levels of a small team, and its memory in bytes.
inline constexpr int kSmallLevels = 256;
inline constexpr std::size_t kTeamMemory = 16384;

/// A type made of unsigned integers of one size, T::Word, that are added or compared one by one; or
/// such an integer.
template <typename T>
concept Wordwise = std::is_unsigned_v<T> || requires {
  typename T::Word;
};
template <typename T>
struct WordOf {
  using Type = T;
};
template <typename T>
requires requires {
  typename T::Word;
}
struct WordOf<T> {
  using Type = typename T::Word;
};
template <Wordwise T>
struct WordsOf {
  using Word = typename WordOf<T>::Type;
  Word word[sizeof(T) / sizeof(Word)];
};

/// A team of one, on the CPU; small if it has few levels.
class HostTeam {
 public:
  /// @param counts  pixels of each level
  HostTeam(const std::uint32_t *counts, int levels) : counts_(counts), levels_(levels) {}

  int levels() const { return levels_; }
  /// Pixels of any level.
  std::uint32_t count(int level) const { return counts_[level]; }

  /// The levels of this member.
  int begin() const { return 0; }
  int end() const { return levels_; }

  /// Adds the members' values, in the order of their levels. T has an associative operator+= and is
  /// zero when value-initialised; members without levels give zero.
  /// @param all  the sum over all members
  /// @return the sum over the members with lower levels
  template <typename T>
  T before(const T &mine, T &all) {
    all = mine;
    return T{};
  }
  /// Combines the values of members with levels by an associative and commutative operation; every
  /// member gets the result.
  template <typename T, typename Op>
  T reduce(const T &mine, const Op &) {
    return mine;
  }

  /// For small teams: the index of this member and the number of members; kTeamMemory bytes of
  /// uninitialised memory, aligned to 16; and a barrier for all members, after which they see what
  /// the others wrote there.
  int member() const { return 0; }
  int members() const { return 1; }
  void *memory() { return memory_; }
  void sync() {}

  /// For small teams whose members have at most kMostLevels levels: kNear consecutive members are
  /// near each other. This member is the near_member()-th of them, and together they own the levels
  /// from near_begin() to near_end(). They exchange values without the other members; if one does,
  /// all near ones must. Members without levels may also contribute to sum_of() if a near member
  /// has levels.
  static constexpr int kNear = 1, kMostLevels = kSmallLevels;
  int near_member() const { return 0; }
  int near_begin() const { return 0; }
  int near_end() const { return levels_; }
  /// The value of the near member before (after) this one; undefined for the first (last).
  double value_before(double) const { return 0; }
  double value_after(double) const { return 0; }

  /// For small teams, once in a team's life: results[i] becomes work(i, worker) for all i < n <=
  /// kSmallLevels, for all members. A worker is a team of some members, or of this one alone, with
  /// all levels. work() may call its begin(), end(), reduce() and functions based on these, the
  /// same for every i. All members synchronise before and after.
  template <typename T, typename Work>
  void share(int n, T *results, const Work &work) {
    for (int i = 0; i < n; ++i) results[i] = work(i, *this);
  }

 private:
  const std::uint32_t *counts_;
  int levels_;
  alignas(16) unsigned char memory_[kTeamMemory];
};

}  // namespace cudascan
