// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Components of 8-connected pixels on the CPU: runs of pixels, united where they touch a run of
/// the row before.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/exec.h"
#include "kernels/runlengths/bits.h"

namespace cudascan::binarize {

class Components {
 public:
  struct Run {
    std::uint16_t begin, end;  ///< columns
  };

  /// Finds the components of the pixels whose bit is set.
  void find(Cpu &cpu, const runlengths::BitPlane &bits);

  int height() const { return static_cast<int>(first_.size()) - 1; }
  std::uint32_t count() const { return first_.back(); }
  /// The first run of a row; that of row height() is count().
  std::uint32_t first(int y) const { return first_[y]; }
  Run run(std::uint32_t i) const { return runs_[i]; }
  /// One run for all runs of a component.
  std::uint32_t component(std::uint32_t i) const { return parent_[i]; }

 private:
  std::uint32_t root(std::uint32_t i);
  void unite(std::uint32_t a, std::uint32_t b);
  void unite_with_row_before(int y);

  std::vector<std::uint32_t> first_, parent_;
  std::vector<Run> runs_;
};

/// Keeps the components that have a bit in common with `seeds`.
void keep_with_seeds(Cpu &cpu, const runlengths::BitPlane &seeds,
                     const runlengths::BitPlane &pixels, Components &memory,
                     std::vector<std::uint8_t> &flags);

/// The bits of a row in columns [begin, end).
template <typename Visit>
void for_words(int begin, int end, const Visit &visit) {
  using namespace runlengths;
  const int first = begin / kWordBits, last = (end - 1) / kWordBits;
  for (int i = first; i <= last; ++i) {
    Word mask = ~Word{0};
    if (i == first) mask &= ~bits_before(begin);
    if (i == last && end % kWordBits) mask &= bits_before(end);
    visit(i, mask);
  }
}
inline bool any_bit(const runlengths::Word *row, int begin, int end) {
  runlengths::Word any = 0;
  for_words(begin, end, [&](int i, runlengths::Word mask) { any |= row[i] & mask; });
  return any != 0;
}
inline std::uint32_t count_bits(const runlengths::Word *row, int begin, int end) {
  std::uint32_t count = 0;
  for_words(begin, end,
            [&](int i, runlengths::Word mask) { count += std::popcount(row[i] & mask); });
  return count;
}

}  // namespace cudascan::binarize
