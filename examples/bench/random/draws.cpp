// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/random/draws.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <type_traits>

#include "bench/swofilter_cases.h"
#include "common/dice.h"
#include "kernels/autothreshold.h"
#include "kernels/binarize.h"
#include "kernels/equalize.h"
#include "kernels/linearopen.h"
#include "kernels/nick.h"
#include "kernels/rotate.h"

namespace cudascan::bench {
namespace {

/// An element and its properties. Setting one also sets a field of the operator's parameters.
class LaunchLine {
 public:
  explicit LaunchLine(const char *element) { text_ << element; }

  template <typename Field, typename Value>
  void set(const char *property, Field &field, const Value &value) {
    field = value;
    text_ << ' ' << property << '=';
    if constexpr (std::is_same_v<Value, bool>)
      text_ << (value ? "true" : "false");
    else
      text_ << value;
  }
  void word(const char *property, const char *value) { text_ << ' ' << property << '=' << value; }
  /// A value of an enumeration by its word; `words` are in the order of the values.
  template <typename Enum, std::size_t N>
  void pick(const char *property, Enum &field, const char *const (&words)[N], int value) {
    field = static_cast<Enum>(value);
    word(property, words[value]);
  }
  void roi(Rectangle &field, const Rectangle &value) {
    field = value;
    text_ << " roi=\"<" << value.x << ',' << value.y << ',' << value.width << ',' << value.height
          << ">\"";
  }
  void shape(std::string &field, const std::string &value) {
    field = value;
    const bool quotes = value.find_first_of("; ") != value.npos;
    text_ << " shape=" << (quotes ? "\"" : "") << value << (quotes ? "\"" : "");
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

struct Frame {
  Size size;
  int levels() const { return 1 << size.depth; }
};

constexpr int kMostDirections = 36;

int odd(Dice &dice, int first, int last) {
  return dice.log_uniform(first, last) | 1;
}

/// A decimal number with few digits, the same on every machine.
double decimal(Dice &dice, int first, int last, int units) {
  return dice.small(first, last) / static_cast<double>(units);
}

template <typename Params>
void draw_sides(Dice &dice, LaunchLine &line, Params &p, int first, int last) {
  if (dice.small(1, 3) > 1) {
    line.set("window", p.window, odd(dice, first, last));
  } else {
    line.set("window-width", p.window_width, odd(dice, first, last));
    line.set("window-height", p.window_height, odd(dice, first, last));
  }
}

template <typename Params>
int larger_side(const Params &p) {
  return std::max(p.window_width ? p.window_width : p.window,
                  p.window_height ? p.window_height : p.window);
}

/// Drawn last, so that it alone depends on the size.
Rectangle draw_roi(Dice &dice, const Frame &frame) {
  const int width = dice.log_uniform(1, frame.size.width);
  const int height = dice.log_uniform(1, frame.size.height);
  return {dice.small(0, frame.size.width - width), dice.small(0, frame.size.height - height), width,
          height};
}

// ---- Operators ---------------------------------------------------------------------------------

DrawnCase drawn(const Frame &frame, const char *op, const LaunchLine &line, Runner runner,
                const char *family, int side = 0) {
  DrawnCase d{};
  d.c.op = op;
  d.c.variant = line.text();
  d.c.size = frame.size;
  d.c.runner = std::move(runner);
  d.family = &family_of(family, side, frame.size.depth);
  if (side > 0) {
    d.c.parameter = "window";
    d.c.value = side;
  }
  return d;
}

DrawnCase draw_nick(Dice &dice, const Frame &frame) {
  LaunchLine line("cudanick");
  NickParams p;
  constexpr const char *kMethods[] = {"nick", "niblack", "sauvola",
                                      "wolf", "bradley", "phansalkar"};
  line.pick("method", p.method, kMethods, dice.small(0, 5));
  draw_sides(dice, line, p, 3, 1023);
  if (dice.one_in(2)) line.set("k", p.k, decimal(dice, -100, 100, 100));
  if (dice.one_in(3)) line.set("r", p.r, decimal(dice, 10, 3000, 10));
  if (dice.one_in(3)) line.set("invert", p.invert, true);
  const bool surface = dice.one_in(4);
  constexpr const char *kOutputs[] = {"binary", "threshold"};
  if (surface) line.pick("output", p.output, kOutputs, 1);
  return drawn(frame, "nick", line, make_runner(p),
               surface                        ? "nick, threshold surface"
               : p.method == NickMethod::wolf ? "nick, wolf"
                                              : "nick, other methods",
               larger_side(p));
}

DrawnCase draw_equalize(Dice &dice, const Frame &frame) {
  LaunchLine line("cudaequalize");
  EqualizeParams p;
  constexpr const char *kMethods[] = {"global", "clahe"}, *kFormulas[] = {"opencv", "cdf"};
  line.pick("method", p.method, kMethods, dice.small(0, 1));
  const bool clahe = p.method == EqualizeMethod::clahe;
  if (clahe) {
    line.set("clip-limit", p.clip_limit, decimal(dice, 0, 1000, 10));
    line.set("tiles-x", p.tiles_x, dice.log_uniform(1, 64));
    line.set("tiles-y", p.tiles_y, dice.log_uniform(1, 64));
  } else {
    line.pick("formula", p.formula, kFormulas, dice.small(0, 1));
    if (dice.one_in(3)) line.set("smoothing", p.smoothing, decimal(dice, 0, 999, 1000));
  }
  if (dice.one_in(3)) line.set("amount", p.amount, decimal(dice, 0, 100, 100));
  if (!clahe && dice.one_in(3)) line.roi(p.roi, draw_roi(dice, frame));
  return drawn(frame, "equalize", line, make_runner(p),
               clahe ? "equalize, clahe" : "equalize, global");
}

DrawnCase draw_autothreshold(Dice &dice, const Frame &frame) {
  using Method = AutothresholdMethod;
  LaunchLine line("cudaautothreshold");
  AutothresholdParams p;
  constexpr const char *kMethods[] = {"otsu",        "isodata",    "mcet",  "triangle",
                                      "max-entropy", "yen",        "li",    "minimum",
                                      "intermodes",  "moments",    "huang", "renyi-entropy",
                                      "shanbhag",    "percentile", "mean"};
  line.pick("method", p.method, kMethods, dice.small(0, 14));
  if (p.method == Method::otsu) line.set("classes", p.classes, dice.pick({2, 2, 3, 4}));
  if (dice.one_in(8)) line.set("apply", p.apply, false);
  if (dice.one_in(3)) line.set("invert", p.invert, true);
  if (dice.one_in(3)) line.set("offset", p.offset, dice.small(-9, 9));
  if (p.classes == 2 && dice.one_in(3))
    line.set("smoothing", p.smoothing, decimal(dice, 0, 999, 1000));
  if (p.classes == 2 && dice.one_in(3))
    line.set("hysteresis", p.hysteresis, dice.log_uniform(1, frame.levels() - 1));
  if (dice.one_in(4)) line.set("ignore-black", p.ignore_black, true);
  if (dice.one_in(4)) line.set("ignore-white", p.ignore_white, true);
  if (dice.one_in(3)) line.roi(p.roi, draw_roi(dice, frame));
  const bool smooths = p.method == Method::minimum || p.method == Method::intermodes;
  return drawn(frame, "autothreshold", line, make_runner(p),
               smooths ? "autothreshold, minimum and intermodes" : "autothreshold, other methods");
}

DrawnCase draw_binarize(Dice &dice, const Frame &frame) {
  LaunchLine line("cudabinarize");
  BinarizeParams p;
  constexpr const char *kLevels[] = {"fast", "sized", "full"}, *kInvert[] = {"auto", "on", "off"},
                       *kOutputs[] = {"binary", "darkness"};
  constexpr const char *kFamilies[] = {"binarize, fast", "binarize, sized", "binarize, full"};
  const int level = dice.small(0, 2);
  line.pick("level", p.level, kLevels, level);
  if (dice.one_in(3)) line.pick("invert", p.invert, kInvert, dice.small(1, 2));
  if (dice.one_in(4)) line.pick("output", p.output, kOutputs, 1);
  if (dice.one_in(3)) line.set("smoothing", p.smoothing, decimal(dice, 0, 999, 1000));
  if (dice.one_in(3)) line.roi(p.roi, draw_roi(dice, frame));
  return drawn(frame, "binarize", line, make_runner(p), kFamilies[level]);
}

DrawnCase draw_linearopen(Dice &dice, const Frame &frame) {
  LaunchLine line("cudalinearopen");
  LinearOpenParams p;
  constexpr const char *kOperations[] = {"opening", "closing", "top-hat", "black-hat"},
                       *kOutputs[] = {"filtered", "orientation"},
                       *kLines[] = {"partition", "invariant"};
  line.pick("operation", p.operation, kOperations, dice.small(0, 3));
  line.set("length", p.length, dice.one_in(16) ? 4096 : dice.log_uniform(1, 4096));
  line.set("angle", p.angle,
           dice.one_in(3) ? 45. * dice.small(0, 7) : decimal(dice, -3600, 3600, 10));
  if (dice.one_in(3)) {
    line.set("directions", p.directions, dice.log_uniform(2, kMostDirections));
    if (dice.one_in(2)) line.set("span", p.span, decimal(dice, 1, 1800, 10));
  }
  line.pick("output", p.output, kOutputs, dice.one_in(4));
  line.pick("lines", p.lines, kLines, dice.one_in(2));
  DrawnCase d = drawn(
      frame, "linearopen", line, make_runner(p),
      p.lines == LinearOpenLines::invariant ? "lines, invariant" : "lines, partition", p.length);
  d.c.parameter = "length";
  d.directions = p.directions;
  return d;
}

DrawnCase draw_rotate(Dice &dice, const Frame &frame) {
  LaunchLine line("rotate");  // of the library
  RotateParams p;
  constexpr const char *kInterpolations[] = {"nearest", "linear", "cubic"},
                       *kBorders[] = {"replicate", "constant"};
  line.set("angle", p.angle,
           dice.one_in(4)   ? 90. * dice.small(0, 3)
           : dice.one_in(2) ? decimal(dice, -900, 900, 100)
                            : decimal(dice, -3600, 3600, 10));
  line.pick("interpolation", p.interpolation, kInterpolations, dice.small(0, 2));
  line.pick("border", p.border, kBorders, dice.small(0, 1));
  if (dice.one_in(2)) line.set("border-value", p.border_value, dice.small(0, frame.levels() - 1));
  return drawn(frame, "rotate", line, make_runner(p), "rotate");
}

// ---- Sliding windows ----------------------------------------------------------------------------

using Op = SwoFilterOperator;

/// Rows of cells with some empty ones; one cell at least is 1.
std::string draw_mask(Dice &dice, int width, int height, bool with_any) {
  const int share = dice.small(1, 9), set = dice.small(0, width * height - 1);
  std::string rows;
  for (int y = 0; y < height; ++y) {
    if (y > 0) rows += ';';
    const bool empty = dice.one_in(6);
    for (int x = 0; x < width; ++x)
      rows += y * width + x == set                  ? '1'
              : with_any && dice.one_in(3)          ? '-'
              : !empty && dice.small(1, 9) <= share ? '1'
                                                    : '0';
  }
  return rows;
}

/// @return the shape's word in the names of families
const char *draw_shape(Dice &dice, LaunchLine &line, SwoFilterParams &p) {
  const int drawn = dice.small(1, 6);
  if (drawn == 6) {
    const int width = odd(dice, 1, 31), height = odd(dice, 1, 31);
    line.shape(p.shape, draw_mask(dice, width, height, p.op == Op::hit_or_miss));
    return "mask";
  }
  draw_sides(dice, line, p, 1, 255);
  const char *shape = drawn <= 2 ? "rectangle" : drawn <= 4 ? "ellipse" : "cross";
  line.shape(p.shape, shape);
  return shape;
}

void draw_border(Dice &dice, LaunchLine &line, const Frame &frame, SwoFilterParams &p) {
  constexpr const char *kBorders[] = {"clip", "replicate", "reflect", "constant"};
  const bool recursive = p.op == Op::recursive_erode || p.op == Op::recursive_dilate;
  line.pick("border", p.border, kBorders, recursive ? dice.pick({0, 3}) : dice.small(0, 3));
  if (p.border == SwoFilterBorder::constant)
    line.set("border-value", p.border_value, dice.small(0, frame.levels() - 1));
}

const char *family_of(Op op) {
  switch (op) {
    case Op::minimum:
    case Op::maximum:
    case Op::midpoint:
    case Op::erode:
    case Op::dilate:
      return "extrema";
    case Op::mean:
    case Op::standard_deviation:
      return "mean and deviation";
    case Op::median:
    case Op::rank:
      return "median and rank";
    case Op::alpha_trimmed_mean:
    case Op::mode:
      return "trimmed mean and mode";
    case Op::directional_median:
      return "directional median";
    case Op::hit_or_miss:
      return "hit-or-miss";
    case Op::recursive_erode:
    case Op::recursive_dilate:
      return "recursive";
    default:
      return "composites";
  }
}

/// Operators with a window.
DrawnCase draw_window(Dice &dice, const Frame &frame, LaunchLine &line, SwoFilterParams &p) {
  std::string family = family_of(p.op);
  if (p.op == Op::directional_median) {  // has no shape
    draw_sides(dice, line, p, 1, 255);
  } else {
    const char *shape = draw_shape(dice, line, p);
    if (p.op != Op::hit_or_miss) family += std::string(", ") + shape;
  }
  draw_border(dice, line, frame, p);
  if (p.op == Op::rank) line.set("percentile", p.percentile, decimal(dice, 0, 1000, 10));
  if (p.op == Op::alpha_trimmed_mean) line.set("alpha", p.alpha, decimal(dice, 0, 50, 100));
  const std::size_t row = p.shape.find_first_of(";"), cells = p.shape.size() + 1;
  const bool mask = p.shape.find_first_of("01-") != p.shape.npos;
  const int width = static_cast<int>(std::min(row, p.shape.size()));
  const int side =
      mask ? std::max<int>(width, static_cast<int>(cells) / (width + 1)) : larger_side(p);
  return drawn(frame, "swofilter", line, make_runner(p), family.c_str(), side);
}

DrawnCase draw_thinning(Dice &dice, const Frame &frame, LaunchLine &line, SwoFilterParams &p) {
  constexpr const char *kThinning[] = {"zhang-suen", "guo-hall", "templates"};
  line.pick("thinning", p.thinning, kThinning, dice.small(0, 2));
  if (p.thinning == SwoFilterThinning::templates && dice.one_in(2))
    line.shape(p.shape, draw_mask(dice, 3, 3, true));
  if (dice.one_in(2)) line.set("iterations", p.iterations, dice.small(1, 20));
  return drawn(frame, "swofilter", line, make_runner(p), "thin and thicken");
}

DrawnCase draw_geodesic(Dice &dice, const Frame &frame, LaunchLine &line, SwoFilterParams &p) {
  constexpr const char *kMarkers[] = {"shifted", "border"};
  if (p.op <= Op::reconstruct) line.pick("marker", p.marker, kMarkers, dice.small(0, 1));
  if (p.op <= Op::h_basin && p.marker == SwoFilterMarker::shifted)
    line.set("height", p.height, dice.log_uniform(1, frame.levels() - 1));
  line.set("connectivity", p.connectivity, dice.pick({4, 8}));
  if (dice.one_in(2)) line.set("iterations", p.iterations, dice.small(1, 20));
  return drawn(frame, "swofilter", line, make_runner(p), "geodesic");
}

DrawnCase draw_swofilter(Dice &dice, const Frame &frame) {
  LaunchLine line("cudaswofilter");
  SwoFilterParams p;
  const Op op = dice.any(Op::clear_border);
  line.word("operator", name(op));
  p.op = op;
  DrawnCase d = op == Op::thin || op == Op::thicken ? draw_thinning(dice, frame, line, p)
                : op >= Op::geodesic_erode          ? draw_geodesic(dice, frame, line, p)
                                                    : draw_window(dice, frame, line, p);
  // Natural pictures are white to these operators.
  if (is_binary(op)) d.c.content = Content::negative;
  return d;
}

}  // namespace

DrawnCase draw_case(int seed, int number, Size size) {
  Dice dice((static_cast<std::uint64_t>(seed) << 32) + static_cast<std::uint64_t>(number));
  size.depth = dice.pick({8, 16});
  using Draw = DrawnCase(Dice &, const Frame &);
  struct Share {
    int of_20;
    Draw *draw;
  };
  constexpr Share kShares[] = {{11, draw_swofilter}, {1, draw_binarize}, {3, draw_linearopen},
                               {2, draw_nick},       {1, draw_equalize}, {1, draw_autothreshold},
                               {1, draw_rotate}};
  int drawn = dice.small(0, 19);
  for (const auto &[share, draw] : kShares) {
    if (drawn < share) {
      DrawnCase d = draw(dice, {size});
      d.number = number;
      return d;
    }
    drawn -= share;
  }
  throw Error("no operator was drawn");
}

}  // namespace cudascan::bench
