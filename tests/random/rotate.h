// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of rotate; settings.h says what is here.
#pragma once
#include <sstream>
#include <string>

#include "kernels/rotate.h"
#include "tests/random/draws.h"

namespace cudascan::test {

inline void draw(Dice &dice, const Frame &frame, RotateParams &p) {
  p.angle = or_nonsense(dice, dice.pick({0., 90., 180., dice.real(-9, 9), dice.real(-360, 360)}));
  p.interpolation = dice.any(RotateInterpolation::cubic);
  p.border = dice.any(RotateBorder::constant);
  if (dice.one_in(2))
    p.border_value =
        or_nonsense(dice, dice.small(0, static_cast<int>(Levels::of(frame.maximum).count) - 1));
}

inline double cost(const RotateParams &) {
  return 20;
}

inline std::string text_of(const RotateParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "rotate angle " << p.angle << " interpolation " << static_cast<int>(p.interpolation)
    << " border " << static_cast<int>(p.border) << " border-value " << p.border_value;
  return s.str();
}

}  // namespace cudascan::test
