// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of swofilter; settings.h says what is here.
#pragma once
#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "kernels/swofilter.h"
#include "tests/random/draws.h"

namespace cudascan::test {

inline bool takes_patterns(SwoFilterOperator op) {
  return op == SwoFilterOperator::hit_or_miss || op == SwoFilterOperator::thin ||
         op == SwoFilterOperator::thicken;
}

inline void draw(Dice &dice, const Frame &frame, SwoFilterParams &p) {
  using Op = SwoFilterOperator;
  p.op = dice.any(Op::clear_border);
  p.window = or_nonsense(dice, dice.odd(255));
  if (dice.one_in(3)) {
    p.window_width = or_nonsense(dice, dice.odd(255));
    p.window_height = or_nonsense(dice, dice.odd(255));
  }
  switch (dice.small(0, 7)) {
    case 0:
      p.shape = "ellipse";
      break;
    case 1:
      p.shape = "cross";
      break;
    case 2:
    case 3:
      p.shape = draw_mask(dice, takes_patterns(p.op));
      if (takes_patterns(p.op) && dice.one_in(3))
        p.shape.append(1, ' ').append(draw_mask(dice, true));
      break;
    case 4:
      p.shape = dice.one_in(2) ? "octagon" : "hexagon";
      break;
  }
  p.border = dice.any(SwoFilterBorder::constant);
  p.border_value =
      or_nonsense(dice, dice.small(0, static_cast<int>(Levels::of(frame.maximum).count) - 1));
  p.percentile = or_nonsense(dice, dice.pick({0., 100., dice.real(0, 100)}));
  p.alpha = or_nonsense(dice, dice.pick({0., 0.5, dice.real(0, 0.5)}));
  p.iterations = or_nonsense(dice, dice.pick({0, 1, 2, dice.small(1, 20)}));
  p.thinning = dice.any(SwoFilterThinning::templates);
  p.marker = dice.any(SwoFilterMarker::border);
  p.height = or_nonsense(dice, dice.pick({1, 32, static_cast<int>(frame.maximum)}));
  p.connectivity = or_nonsense(dice, dice.pick({4, 8}));
  if (dice.one_in(10)) {
    p.algorithm = SwoFilterAlgorithm::naive;
    p.window = std::min(p.window, 15);
    p.window_width = std::min(p.window_width, 15);
    p.window_height = std::min(p.window_height, 15);
  }
}

inline double cost(const SwoFilterParams &p) {
  using Op = SwoFilterOperator;
  const double width = std::clamp(p.window_width ? p.window_width : p.window, 1, 255);
  const double height = std::clamp(p.window_height ? p.window_height : p.window, 1, 255);
  const bool text = p.shape.find_first_of("01-") != p.shape.npos;
  const double cells = text                 ? static_cast<double>(p.shape.size())
                       : p.shape == "cross" ? width + height
                                            : width * height;
  if (p.algorithm == SwoFilterAlgorithm::naive) return 3 * cells * (p.op < Op::median ? 1 : cells);
  switch (p.op) {
    case Op::median:
    case Op::rank:
    case Op::alpha_trimmed_mean:
    case Op::mode:
    case Op::recursive_erode:
    case Op::recursive_dilate:
      return 50 + 2 * cells;
    case Op::directional_median:
      return 50 + 8 * (width + height);
    case Op::reconstruct:
    case Op::h_dome:
    case Op::h_basin:
    case Op::fill_holes:
    case Op::clear_border:
    case Op::thin:
    case Op::thicken:
      return 100;
    default:
      return p.shape == "rectangle" ? 20 : 20 + cells;
  }
}

inline std::string text_of(const SwoFilterParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "swofilter operator " << static_cast<int>(p.op) << " window " << p.window << " ("
    << p.window_width << "x" << p.window_height << ") shape " << p.shape << " border "
    << static_cast<int>(p.border) << " border-value " << p.border_value << " percentile "
    << p.percentile << " alpha " << p.alpha << " iterations " << p.iterations << " thinning "
    << static_cast<int>(p.thinning) << " marker " << static_cast<int>(p.marker) << " height "
    << p.height << " connectivity " << p.connectivity << " algorithm "
    << static_cast<int>(p.algorithm);
  return s.str();
}

/// The settings for the naive implementation, which must give the same result.
inline std::optional<SwoFilterParams> plain_form(const SwoFilterParams &p) {
  const int width = p.window_width ? p.window_width : p.window;
  const int height = p.window_height ? p.window_height : p.window;
  if (p.algorithm != SwoFilterAlgorithm::automatic || std::max(width, height) > 15) return {};
  SwoFilterParams plain = p;
  plain.algorithm = SwoFilterAlgorithm::naive;
  return plain;
}

inline int share(const SwoFilterParams &) {
  return 5;
}

inline std::string text(const SwoFilterReport &r) {
  return numbers({double(r.iterations)});
}

}  // namespace cudascan::test
