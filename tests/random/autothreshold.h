// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of autothreshold; settings.h says what is here.
#pragma once
#include <sstream>
#include <string>

#include "kernels/autothreshold.h"
#include "tests/random/draws.h"

namespace cudascan::test {

inline void draw(Dice &dice, const Frame &frame, AutothresholdParams &p) {
  p.method = dice.any(AutothresholdMethod::mean);
  if (p.method == AutothresholdMethod::otsu) p.classes = dice.pick({2, 2, 3, 4});
  p.classes = or_nonsense(dice, p.classes);
  p.apply = !dice.one_in(4) || !frame.same_depth;
  p.invert = dice.one_in(3);
  if (dice.one_in(3)) p.offset = or_nonsense(dice, dice.pick({dice.small(-9, 9), 65535, -65535}));
  if (p.classes == 2 && dice.one_in(3)) p.smoothing = or_nonsense(dice, dice.real(0, 0.999));
  if (p.classes == 2 && dice.one_in(3)) p.hysteresis = or_nonsense(dice, dice.pick({1, 5, 300}));
  p.ignore_black = dice.one_in(4);
  p.ignore_white = dice.one_in(4);
  p.roi = draw_roi(dice, frame);
  if (dice.one_in(12)) p.algorithm = AutothresholdAlgorithm::prahara;
}

inline double cost(const AutothresholdParams &) {
  return 10;
}

inline std::string text_of(const AutothresholdParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "autothreshold method " << static_cast<int>(p.method) << " classes " << p.classes
    << " apply " << p.apply << " invert " << p.invert << " offset " << p.offset << " smoothing "
    << p.smoothing << " hysteresis " << p.hysteresis << " ignore-black " << p.ignore_black
    << " ignore-white " << p.ignore_white << " algorithm " << static_cast<int>(p.algorithm);
  print(s, p.roi);
  return s.str();
}

inline std::string text(const AutothresholdReport &r) {
  return numbers({double(r.threshold), r.mean_below, r.mean_above, r.separability}) +
         all_of(r.thresholds) + all_of(r.histogram);
}

}  // namespace cudascan::test
