// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Teams: how a function over a histogram is written once and runs on one thread of the CPU, on a block
/// of the GPU and on all its blocks. The members of a team run the same function and share out the
/// levels, each a run of neighbours. What they need of one another goes through two functions, before()
/// and reduce(), which all members call in the same order and in which all meet:
///
///     template <typename Team>
///     CUDASCAN_HD int lowest_level(Team &team) {
///       int lowest = team.levels();
///       for (int i = team.end(); i-- > team.begin();)
///         if (team.count(i) > 0) lowest = i;
///       return team.reduce(lowest, [](int a, int b) { return a < b ? a : b; });
///     }
///
/// For what is reduced often team_reductions.h has functions, sum_of() and so on.
///
/// A sum in floating point would depend on the size of the team: terms are integers, fixed point where
/// they have to. A small team is one with 256 levels at most and some memory that all members share.
/// Its members can share out what is much work for each level, and near ones exchange values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/api.h"

namespace cudascan {

/// Most levels of a small team, and its memory in bytes.
inline constexpr int kSmallLevels = 256;
inline constexpr std::size_t kTeamMemory = 16384;

/// A type that is made of unsigned integers of one size, T::Word, which are added up, or compared, each
/// by itself; or such an integer.
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

  /// Adds up what members give, in the order of their levels. T has an associative operator+= and is zero
  /// when value-initialised; members without levels give zero.
  /// @param all  the sum over all members
  /// @return the sum over the members with lower levels
  template <typename T>
  T before(const T &mine, T &all) {
    all = mine;
    return T{};
  }
  /// Combines what the members that have levels give with an associative and commutative operation;
  /// every member gets the result.
  template <typename T, typename Op>
  T reduce(const T &mine, const Op &) {
    return mine;
  }

  /// Of small teams: the number of this member among how many, memory of kTeamMemory bytes that is
  /// aligned to 16 and uninitialised, and a meeting of all members, before which what they wrote
  /// there is not there for others.
  int member() const { return 0; }
  int members() const { return 1; }
  void *memory() { return memory_; }
  void sync() {}

  /// Of small teams, the members of which have kMostLevels levels at most: kNear members that follow one
  /// another are near, this is the near_member()-th of them, and together they own the levels from
  /// near_begin() to near_end(). They exchange values without the others, all of them if one does. To
  /// sum_of() those without levels may give something, too, if one that is near has levels.
  static constexpr int kNear = 1, kMostLevels = kSmallLevels;
  int near_member() const { return 0; }
  int near_begin() const { return 0; }
  int near_end() const { return levels_; }
  /// The value of the near member before, or after, this one; any for the first, or the last.
  double value_before(double) const { return 0; }
  double value_after(double) const { return 0; }

  /// Of small teams, once in the life of one: results[i] becomes work(i, worker) for all i < n <=
  /// kSmallLevels, for all members. A worker is a team of some members, or of this one, that shares out
  /// all levels; work() may call its begin(), end(), reduce() and what rests on that, the same for any i.
  /// All members meet before and after.
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
