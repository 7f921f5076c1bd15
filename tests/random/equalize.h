// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of equalize; settings.h says what is here.
#pragma once
#include <sstream>
#include <string>

#include "kernels/equalize.h"
#include "tests/random/draws.h"

namespace cudascan::test {

inline void draw(Dice &dice, const Frame &frame, EqualizeParams &p) {
  p.method = dice.one_in(2) ? EqualizeMethod::clahe : EqualizeMethod::global;
  const bool global = p.method == EqualizeMethod::global;
  if (global) p.formula = dice.any(EqualizeFormula::cdf);
  p.clip_limit = or_nonsense(dice, dice.pick({0., 1., 3., 40., dice.real(0, 100)}));
  p.tiles_x = or_nonsense(dice, dice.pick({1, 2, 8, 64, dice.small(1, 64)}));
  p.tiles_y = or_nonsense(dice, dice.pick({1, 2, 8, dice.small(1, 64)}));
  if (dice.one_in(3)) p.amount = or_nonsense(dice, dice.pick({0., dice.real(0, 1)}));
  if (global && dice.one_in(3)) p.smoothing = or_nonsense(dice, dice.real(0, 0.999));
  if (global) p.roi = draw_roi(dice, frame);
  if (global && dice.one_in(12)) p.algorithm = dice.any(EqualizeAlgorithm::shared);
}

inline double cost(const EqualizeParams &p) {
  return p.method == EqualizeMethod::clahe ? 30 : 10;
}

inline std::string text_of(const EqualizeParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "equalize method " << static_cast<int>(p.method) << " formula "
    << static_cast<int>(p.formula) << " clip-limit " << p.clip_limit << " tiles " << p.tiles_x
    << "x" << p.tiles_y << " amount " << p.amount << " smoothing " << p.smoothing << " algorithm "
    << static_cast<int>(p.algorithm);
  print(s, p.roi);
  return s.str();
}

inline std::string text(const EqualizeReport &r) {
  return numbers({double(r.minimum), double(r.maximum), r.mean}) + all_of(r.histogram);
}

}  // namespace cudascan::test
