// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/random/settings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace cudascan::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One setting in so many is nonsense.
constexpr int kNonsense = 150;

/// A number that makes no sense anywhere, or a legal one.
int or_nonsense(Dice &dice, int legal) {
  if (!dice.one_in(kNonsense)) return legal;
  return dice.pick(
      {0, -1, 2, 1 << 20, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()});
}
double or_nonsense(Dice &dice, double legal) {
  if (!dice.one_in(kNonsense)) return legal;
  return dice.pick({kNan, HUGE_VAL, -HUGE_VAL, 1e300, -1e-300});
}

Rectangle draw_roi(Dice &dice, const Frame &frame) {
  if (!dice.one_in(3)) return {};
  return {or_nonsense(dice, dice.small(0, frame.width - 1)),
          or_nonsense(dice, dice.small(0, frame.height - 1)),
          or_nonsense(dice, dice.small(1, frame.width)),
          or_nonsense(dice, dice.small(1, frame.height))};
}

std::string draw_mask(Dice &dice, bool with_any) {
  const int most = dice.pick({3, 5, 7, 11, 31});
  const int width = dice.odd(most), height = dice.odd(most), on = dice.small(1, 9);
  std::string rows;
  for (int y = 0; y < height; ++y) {
    if (y > 0) rows += ';';
    // Rows and ends of rows are often empty: the cells may all be on one side of the pixel.
    const bool empty = dice.one_in(3);
    const int first = dice.one_in(3) ? dice.small(0, width - 1) : 0;
    for (int x = 0; x < width; ++x)
      rows += with_any && dice.one_in(3)                       ? '-'
              : !empty && x >= first && dice.small(1, 9) <= on ? '1'
                                                               : '0';
  }
  return rows;
}

void print(std::ostream &s, const Rectangle &roi) {
  s << " roi <" << roi.x << "," << roi.y << "," << roi.width << "," << roi.height << ">";
}

}  // namespace

// ---- nick ---------------------------------------------------------------------------------------

void draw(Dice &dice, const Frame &, NickParams &p) {
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

double cost(const NickParams &p) {
  const double width = p.window_width ? p.window_width : p.window;
  const double height = p.window_height ? p.window_height : p.window;
  return p.algorithm == NickAlgorithm::automatic ? 20 : width * height;
}

std::string text_of(const NickParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "nick method " << static_cast<int>(p.method) << " window " << p.window << " ("
    << p.window_width << "x" << p.window_height << ") k " << k_in_use(p) << " r " << p.r
    << " invert " << p.invert << " output " << static_cast<int>(p.output) << " algorithm "
    << static_cast<int>(p.algorithm);
  return s.str();
}

// ---- equalize -----------------------------------------------------------------------------------

void draw(Dice &dice, const Frame &frame, EqualizeParams &p) {
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

double cost(const EqualizeParams &p) {
  return p.method == EqualizeMethod::clahe ? 30 : 10;
}

std::string text_of(const EqualizeParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "equalize method " << static_cast<int>(p.method) << " formula "
    << static_cast<int>(p.formula) << " clip-limit " << p.clip_limit << " tiles " << p.tiles_x
    << "x" << p.tiles_y << " amount " << p.amount << " smoothing " << p.smoothing << " algorithm "
    << static_cast<int>(p.algorithm);
  print(s, p.roi);
  return s.str();
}

// ---- autothreshold ------------------------------------------------------------------------------

void draw(Dice &dice, const Frame &frame, AutothresholdParams &p) {
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

double cost(const AutothresholdParams &) {
  return 10;
}

std::string text_of(const AutothresholdParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "autothreshold method " << static_cast<int>(p.method) << " classes " << p.classes
    << " apply " << p.apply << " invert " << p.invert << " offset " << p.offset << " smoothing "
    << p.smoothing << " hysteresis " << p.hysteresis << " ignore-black " << p.ignore_black
    << " ignore-white " << p.ignore_white << " algorithm " << static_cast<int>(p.algorithm);
  print(s, p.roi);
  return s.str();
}

// ---- linearopen ---------------------------------------------------------------------------------

void draw(Dice &dice, const Frame &, LinearOpenParams &p) {
  p.operation = dice.any(LinearOpenOperation::black_hat);
  p.length = or_nonsense(dice, dice.pick({1, 2, dice.small(1, 60), dice.small(1, 300), 4096}));
  p.angle = or_nonsense(dice, dice.pick({0., 45., 90., 135., dice.real(-360, 360)}));
  p.directions = or_nonsense(dice, dice.pick({1, 1, 1, dice.small(1, 8), dice.small(1, 60)}));
  if (dice.one_in(2)) p.span = or_nonsense(dice, dice.real(0.1, 180));
  p.output = dice.one_in(4) ? LinearOpenOutput::orientation : LinearOpenOutput::filtered;
  p.lines = dice.one_in(4) ? LinearOpenLines::invariant : LinearOpenLines::partition;
  if (dice.one_in(10)) p.algorithm = dice.any(LinearOpenAlgorithm::bartovsky_zones);
}

double cost(const LinearOpenParams &p) {
  const bool by_pixels = p.lines == LinearOpenLines::invariant;
  const double of_one = by_pixels ? std::clamp(p.length, 1, 1300)
                        : p.algorithm == LinearOpenAlgorithm::automatic ? 20
                                                                        : 100;
  return of_one * std::clamp(p.directions, 1, 1024);
}

std::string text_of(const LinearOpenParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "linearopen operation " << static_cast<int>(p.operation) << " length " << p.length
    << " angle " << p.angle << " directions " << p.directions << " span " << p.span << " output "
    << static_cast<int>(p.output) << " lines " << static_cast<int>(p.lines) << " algorithm "
    << static_cast<int>(p.algorithm);
  return s.str();
}

// ---- rotate -------------------------------------------------------------------------------------

void draw(Dice &dice, const Frame &frame, RotateParams &p) {
  p.angle = or_nonsense(dice, dice.pick({0., 90., 180., dice.real(-9, 9), dice.real(-360, 360)}));
  p.interpolation = dice.any(RotateInterpolation::cubic);
  p.border = dice.any(RotateBorder::constant);
  if (dice.one_in(2))
    p.border_value =
        or_nonsense(dice, dice.small(0, static_cast<int>(Levels::of(frame.maximum).count) - 1));
}

double cost(const RotateParams &) {
  return 20;
}

std::string text_of(const RotateParams &p) {
  std::ostringstream s;
  s.precision(17);
  s << "rotate angle " << p.angle << " interpolation " << static_cast<int>(p.interpolation)
    << " border " << static_cast<int>(p.border) << " border-value " << p.border_value;
  return s.str();
}

// ---- swofilter ----------------------------------------------------------------------------------

namespace {

bool takes_patterns(SwoFilterOperator op) {
  return op == SwoFilterOperator::hit_or_miss || op == SwoFilterOperator::thin ||
         op == SwoFilterOperator::thicken;
}

}  // namespace

void draw(Dice &dice, const Frame &frame, SwoFilterParams &p) {
  using Op = SwoFilterOperator;
  p.op = dice.any(Op::clear_border);
  p.window = or_nonsense(dice, dice.odd(255));
  if (dice.one_in(3)) {
    p.window_width = or_nonsense(dice, dice.odd(255));
    p.window_height = or_nonsense(dice, dice.odd(255));
  }
  switch (dice.small(0, 5)) {
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

double cost(const SwoFilterParams &p) {
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

std::string text_of(const SwoFilterParams &p) {
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

}  // namespace cudascan::test
