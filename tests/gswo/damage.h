// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Makes random mistakes in sources.
#pragma once
#include <random>
#include <string>
#include <vector>

namespace cudascan::gswo::test {

/// The same seed gives the same mistakes.
class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  /// A number from 0 to n - 1; 0 for n = 0.
  std::size_t below(std::size_t n) { return n ? random_() % n : 0; }

  /// Inserts random words and pieces of another text, or truncates the text: few results are still
  /// C++.
  std::string heavy(const std::string &text, const std::string &other);
  /// Changes numbers, operators, names, types and clauses of pragmas; removes, doubles and moves
  /// statements: many results still compile.
  std::string mild(const std::string &text);

 private:
  void change(std::vector<std::string> &tokens, const std::string &other);
  std::string step(const std::string &text);
  const std::string &one_of(const std::vector<std::string> &);

  std::mt19937 random_;
};

}  // namespace cudascan::gswo::test
