// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of binarize; settings.h says what is here.
#pragma once
#include <sstream>
#include <string>

#include "kernels/binarize.h"
#include "tests/random/draws.h"

namespace cudascan::test {

inline void draw(Dice &dice, const Frame &frame, BinarizeParams &p) {
  p.level = dice.any(BinarizeLevel::full);
  if (dice.one_in(2)) p.invert = dice.any(BinarizeInvert::off);
  if (dice.one_in(4)) p.output = BinarizeOutput::darkness;
  if (dice.one_in(2)) p.smoothing = or_nonsense(dice, dice.real(0, 0.999));
  p.roi = draw_roi(dice, frame);
}

inline double cost(const BinarizeParams &p) {
  return p.level == BinarizeLevel::fast ? 40 : 100;
}

inline std::string text_of(const BinarizeParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "binarize level " << static_cast<int>(p.level) << " invert " << static_cast<int>(p.invert)
    << " output " << static_cast<int>(p.output) << " smoothing " << p.smoothing;
  print(s, p.roi);
  return s.str();
}

inline int share(const BinarizeParams &) {
  return 2;
}

inline std::string text(const BinarizeReport &r) {
  return numbers({double(r.blank), double(r.inverted), r.confidence, r.stroke_width, r.threshold,
                  r.paper_deviation, r.ink_darkness, r.ink_ratio});
}

}  // namespace cudascan::test
