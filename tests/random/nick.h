// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of nick; settings.h says what is here.
#pragma once
#include <algorithm>
#include <sstream>
#include <string>

#include "kernels/nick.h"
#include "tests/random/draws.h"

namespace cudascan::test {

inline void draw(Dice &dice, const Frame &, NickParams &p) {
  p.method = dice.any(NickMethod::phansalkar);
  p.window = or_nonsense(dice, std::max(dice.odd(1023), 3));
  if (dice.one_in(3)) {
    p.window_width = or_nonsense(dice, std::max(dice.odd(255), 3));
    p.window_height = or_nonsense(dice, std::max(dice.odd(255), 3));
  }
  if (dice.one_in(2)) p.k = or_nonsense(dice, dice.real(-1, 1));
  if (dice.one_in(3)) p.r = or_nonsense(dice, dice.real(1, 300));
  p.invert = dice.one_in(3);
  p.output = dice.one_in(4) ? NickOutput::threshold : NickOutput::binary;
  if (dice.one_in(12)) {
    p.algorithm = dice.any(NickAlgorithm::shared);
    p.window = std::min(p.window, dice.pick({15, 33}));
    p.window_width = std::min(p.window_width, 15);
    p.window_height = std::min(p.window_height, 15);
  }
}

inline double cost(const NickParams &p) {
  const double width = p.window_width ? p.window_width : p.window;
  const double height = p.window_height ? p.window_height : p.window;
  return p.algorithm == NickAlgorithm::automatic ? 20 : width * height;
}

inline std::string text_of(const NickParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "nick method " << static_cast<int>(p.method) << " window " << p.window << " ("
    << p.window_width << "x" << p.window_height << ") k " << k_in_use(p) << " r " << p.r
    << " invert " << p.invert << " output " << static_cast<int>(p.output) << " algorithm "
    << static_cast<int>(p.algorithm);
  return s.str();
}

inline int share(const NickParams &) {
  return 2;
}

inline std::string text(const NickReport &r) {
  return numbers({r.black_ratio});
}

}  // namespace cudascan::test
