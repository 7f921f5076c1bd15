// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Draws that operators have in common, and functions for numbers as text.
#pragma once
#include <cmath>
#include <initializer_list>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/dice.h"
#include "kernels/histogram.h"

namespace cudascan::test {

/// The frame for which settings are drawn.
struct Frame {
  int width, height;
  unsigned maximum;
  bool same_depth;  ///< input and output have the same depth
};

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One of this many settings is nonsense.
inline constexpr int kNonsense = 150;

/// The legal number, or sometimes a number that no setting allows.
inline int or_nonsense(Dice &dice, int legal) {
  if (!dice.one_in(kNonsense)) return legal;
  return dice.pick(
      {0, -1, 2, 1 << 20, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()});
}
inline double or_nonsense(Dice &dice, double legal) {
  if (!dice.one_in(kNonsense)) return legal;
  return dice.pick({kNan, HUGE_VAL, -HUGE_VAL, 1e300, -1e-300});
}

inline Rectangle draw_roi(Dice &dice, const Frame &frame) {
  if (!dice.one_in(3)) return {};
  return {or_nonsense(dice, dice.small(0, frame.width - 1)),
          or_nonsense(dice, dice.small(0, frame.height - 1)),
          or_nonsense(dice, dice.small(1, frame.width)),
          or_nonsense(dice, dice.small(1, frame.height))};
}

inline std::string draw_mask(Dice &dice, bool with_any) {
  const int most = dice.pick({3, 5, 7, 11, 31});
  const int width = dice.odd(most), height = dice.odd(most), on = dice.small(1, 9);
  std::string rows;
  for (int y = 0; y < height; ++y) {
    if (y > 0) rows += ';';
    // Rows and ends of rows are often empty, so all cells may be on one side of the pixel.
    const bool empty = dice.one_in(3);
    const int first = dice.one_in(3) ? dice.small(0, width - 1) : 0;
    for (int x = 0; x < width; ++x)
      rows += with_any && dice.one_in(3)                       ? '-'
              : !empty && x >= first && dice.small(1, 9) <= on ? '1'
                                                               : '0';
  }
  return rows;
}

inline void print(std::ostream &s, const Rectangle &roi) {
  s << " roi <" << roi.x << "," << roi.y << "," << roi.width << "," << roi.height << ">";
}

/// Numbers with all digits, for comparisons.
inline std::string numbers(std::initializer_list<double> values) {
  std::ostringstream s;
  s.precision(17);
  for (const double value : values) s << value << " ";
  return s.str();
}
template <typename T>
std::string all_of(const std::vector<T> &values) {
  std::ostringstream s;
  s.precision(17);
  for (const T &value : values) s << value << " ";
  return s.str();
}

}  // namespace cudascan::test
