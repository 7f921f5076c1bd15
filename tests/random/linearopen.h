// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of linearopen; settings.h says what is here.
#pragma once
#include <algorithm>
#include <sstream>
#include <string>

#include "kernels/linearopen.h"
#include "tests/random/draws.h"

namespace cudascan::test {

inline void draw(Dice &dice, const Frame &, LinearOpenParams &p) {
  p.operation = dice.any(LinearOpenOperation::black_hat);
  p.length = or_nonsense(dice, dice.pick({1, 2, dice.small(1, 60), dice.small(1, 300), 4096}));
  p.angle = or_nonsense(dice, dice.pick({0., 45., 90., 135., dice.real(-360, 360)}));
  p.directions = or_nonsense(dice, dice.pick({1, 1, 1, dice.small(1, 8), dice.small(1, 60)}));
  if (dice.one_in(2)) p.span = or_nonsense(dice, dice.real(0.1, 180));
  p.output = dice.one_in(4) ? LinearOpenOutput::orientation : LinearOpenOutput::filtered;
  p.lines = dice.one_in(4) ? LinearOpenLines::invariant : LinearOpenLines::partition;
  if (dice.one_in(10)) p.algorithm = dice.any(LinearOpenAlgorithm::bartovsky_zones);
}

inline double cost(const LinearOpenParams &p) {
  const bool by_pixels = p.lines == LinearOpenLines::invariant;
  const double of_one = by_pixels ? std::clamp(p.length, 1, 150)
                        : p.algorithm == LinearOpenAlgorithm::automatic ? 20
                                                                        : 100;
  return of_one * std::clamp(p.directions, 1, 1024);
}

inline std::string text_of(const LinearOpenParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "linearopen operation " << static_cast<int>(p.operation) << " length " << p.length
    << " angle " << p.angle << " directions " << p.directions << " span " << p.span << " output "
    << static_cast<int>(p.output) << " lines " << static_cast<int>(p.lines) << " algorithm "
    << static_cast<int>(p.algorithm);
  return s.str();
}

inline int share(const LinearOpenParams &) {
  return 2;
}

inline std::string text(const LinearOpenReport &r) {
  return numbers({r.dominant_angle, r.confidence, double(r.blank)}) + all_of(r.angles) +
         all_of(r.spectrum);
}

}  // namespace cudascan::test
