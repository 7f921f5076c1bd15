// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random numbers for tests and programs that draw their cases. A seed gives the same numbers on
/// every machine.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <random>

namespace cudascan {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  /// A whole number from the first to the last, inclusive.
  std::int64_t in(std::int64_t first, std::int64_t last) {
    return first +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(last - first + 1));
  }
  int small(int first, int last) { return static_cast<int>(in(first, last)); }
  bool one_in(int n) { return in(1, n) == 1; }
  double real(double first, double last) {
    return first + (last - first) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  /// A size up to `most`; small sizes are frequent.
  int size(int most) { return small(1, pick({1, 4, 9, 34, 70, 140, 300, most, most})); }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[in(0, static_cast<std::int64_t>(list.size()) - 1)];
  }
  /// A value of an enumeration whose last value is `last`.
  template <typename Enum>
  Enum any(Enum last) {
    return static_cast<Enum>(in(0, static_cast<std::int64_t>(last)));
  }
  /// An odd number up to `most`; small numbers are more frequent.
  int odd(int most) {
    const int end = pick({3, 5, 9, 17, 33, 71, most});
    return small(0, ((end < most ? end : most) - 1) / 2) * 2 + 1;
  }
  /// A number from `first`, at least 1, to `last`: octaves are equally frequent, and the numbers of
  /// an octave as well. (A power would depend on the machine's libm.)
  int log_uniform(int first, int last) {
    int lowest = 0, highest = 0;
    while (first >> (lowest + 1)) ++lowest;
    while (last >> (highest + 1)) ++highest;
    for (;;) {
      const int octave = 1 << small(lowest, highest), drawn = small(octave, 2 * octave - 1);
      if (drawn >= first && drawn <= last) return drawn;
    }
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace cudascan
