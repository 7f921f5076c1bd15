// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Mistakes in sources, by chance.
#pragma once
#include <random>
#include <string>
#include <vector>

namespace cudascan::gswo::test {

/// The same seed makes the same mistakes.
class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  /// From 0 to n - 1; 0 for n = 0.
  std::size_t below(std::size_t n) { return n ? random_() % n : 0; }

  /// Words anywhere, pieces of another text, ends cut off: few of these are C++ still.
  std::string heavy(const std::string &text, const std::string &other);
  /// Other numbers, operators of the same kind, names, types and clauses of pragmas; statements
  /// left out, doubled and moved: many of these can still be compiled.
  std::string mild(const std::string &text);

 private:
  void change(std::vector<std::string> &tokens, const std::string &other);
  std::string step(const std::string &text);
  const std::string &one_of(const std::vector<std::string> &);

  std::mt19937 random_;
};

}  // namespace cudascan::gswo::test
