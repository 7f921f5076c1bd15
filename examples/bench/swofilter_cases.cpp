// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/swofilter_cases.h"

#include <initializer_list>
#include <iterator>

namespace cudascan::bench {
namespace {

using Op = SwoFilterOperator;

constexpr Size kPage{2500, 4000, 8};  // 10 Mpx, a page at 300 dpi
constexpr Size kSquare{1024, 1024, 8};
constexpr char kCorner[] = "-1-;011;00-";  // of hit-or-miss

/// In the order of the enumeration.
constexpr const char *kNames[] = {"min",
                                  "max",
                                  "midpoint",
                                  "mean",
                                  "standard-deviation",
                                  "median",
                                  "rank",
                                  "alpha-trimmed-mean",
                                  "mode",
                                  "directional-median",
                                  "erode",
                                  "dilate",
                                  "open",
                                  "close",
                                  "gradient",
                                  "top-hat",
                                  "black-hat",
                                  "hit-or-miss",
                                  "thin",
                                  "thicken",
                                  "recursive-erode",
                                  "recursive-dilate",
                                  "geodesic-erode",
                                  "geodesic-dilate",
                                  "reconstruct",
                                  "h-dome",
                                  "h-basin",
                                  "fill-holes",
                                  "clear-border",
                                  "custom"};
static_assert(std::size(kNames) == static_cast<int>(Op::custom) + 1);

bool has_window(Op op) {
  return op < Op::hit_or_miss || op == Op::recursive_erode || op == Op::recursive_dilate ||
         op == Op::custom;
}

bool thins(Op op) {
  return op == Op::thin || op == Op::thicken;
}

const char *name(SwoFilterThinning thinning) {
  switch (thinning) {
    case SwoFilterThinning::zhang_suen:
      return "zhang-suen";
    case SwoFilterThinning::guo_hall:
      return "guo-hall";
    case SwoFilterThinning::templates:
      return "templates";
  }
  return "?";
}

SwoFilterParams with_shape(SwoFilterParams params, const char *shape) {
  params.shape = shape;
  return params;
}

SwoFilterParams thin(SwoFilterThinning thinning, int iterations = 0) {
  SwoFilterParams params;
  params.op = Op::thin;
  params.thinning = thinning;
  params.iterations = iterations;
  return params;
}

struct Goal {
  int window;
  double us;
};
/// Operators as formulas.
struct Formula {
  Op op;
  const char *expression;
  std::initializer_list<int> windows;
};
constexpr Formula kFormulas[] = {{Op::minimum, "p.min()", {3, 5, 9, 31}},
                                 {Op::mean, "p.mean()", {3, 5, 15, 31}},
                                 {Op::gradient, "p.max() - p.min()", {3, 5}},
                                 {Op::standard_deviation, "p.deviation()", {3, 5, 15, 31}},
                                 {Op::median, "p.median()", {3, 5, 7, 9, 15}}};

constexpr const char *kReads[] = {"auto", "global", "shared", "texture"};

SwoFilterParams custom(const Formula &formula, int window) {
  SwoFilterParams params = swofilter(Op::custom, window);
  params.custom.expression = formula.expression;
  return params;
}

/// Of 3840x2160 on the GPU; the mode and the trimmed mean may take 1.5 times as long.
constexpr Goal kMedianGoals[] = {{3, 6.5},   {5, 18},    {7, 40},     {9, 75},    {15, 280},
                                 {31, 1000}, {63, 1000}, {127, 1000}, {255, 1000}};

}  // namespace

const char *name(Op op) {
  return kNames[static_cast<int>(op)];
}

SwoFilterParams swofilter(Op op, int window, SwoFilterAlgorithm algorithm) {
  SwoFilterParams params;
  params.op = op;
  params.window = window;
  params.algorithm = algorithm;
  return params;
}

Case swofilter_case(Size size, const SwoFilterParams &params) {
  Case c;
  c.op = "swofilter";
  c.variant = name(params.op);
  if (params.op == Op::custom) c.variant += " " + params.custom.expression;
  c.series = c.variant;
  if (has_window(params.op)) {
    c.variant += " " + std::to_string(params.window);
    c.parameter = "window";
    c.value = params.window;
  }
  if (params.custom.reads != UserFilterReads::automatic)
    c.variant += std::string(" ") + kReads[static_cast<int>(params.custom.reads)];
  if (params.custom.tune) c.variant += " tuned";
  if (params.shape != "rectangle" && has_window(params.op)) c.variant += " " + params.shape;
  if (thins(params.op)) c.variant += std::string(" ") + name(params.thinning);
  if (params.iterations > 0) c.variant += ", " + std::to_string(params.iterations) + " passes";
  if (params.algorithm == SwoFilterAlgorithm::naive) c.variant += " naive";
  if (params.algorithm == SwoFilterAlgorithm::naive) c.series += " naive";
  c.size = size;
  c.runner = make_runner(params);
  c.two_valued = is_binary(params.op) && size.depth == 8;
  return c;
}

void add_swofilter_cuda(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](Size size, const SwoFilterParams &params,
                       double goal_us = kUnknown) -> Case & {
    cases.push_back(swofilter_case(size, params));
    cases.back().cuda_goal_us = goal_us;
    cases.back().peer = npp_window(params);
    return cases.back();
  };
  const auto add_windows = [&](Size size, Op op, std::initializer_list<int> windows,
                               double goal_us = kUnknown) {
    for (const int window : windows)
      if (!options.quick || window == 3 || window == 15 || window == 255)
        add(size, swofilter(op, window), goal_us);
  };

  for (const int window : {3, 5, 9, 15, 31, 63, 127, 255}) {
    if (options.quick && window != 3 && window != 15 && window != 255) continue;
    Case &c = add(k4k, swofilter(Op::minimum, window), 8);
    if (window != 3 && window != 255) continue;
    c.spread = "swofilter 3840x2160 8 bit, min 3 and 255";
    c.spread_goal = 1.5;
  }
  for (const Op op : {Op::maximum, Op::erode, Op::dilate})
    add_windows(k4k, op, {3, 5, 9, 15, 31, 63, 127, 255}, 8);
  add_windows(k4k16, Op::minimum, {3, 15, 255});
  for (const char *shape : {"ellipse", "cross"})
    for (const int window : {5, 15, 63}) add(k4k, with_shape(swofilter(Op::erode, window), shape));
  for (const Op op : {Op::open, Op::close})
    add_windows(k4k, op, {3, 5, 9, 15, 31, 63, 127, 255}, 14);
  for (const Op op : {Op::midpoint, Op::gradient, Op::directional_median})
    add_windows(k4k, op, {5, 9});
  for (const Size &size : {k4k, k4k16}) add_windows(size, Op::directional_median, {11, 33, 255});
  add_windows(k4k16, Op::directional_median, {9});
  add_windows(k4k, Op::mean, {3, 15, 63, 255}, 8);
  add_windows(k4k, Op::standard_deviation, {3, 15, 63, 255}, 15);

  for (const auto &[window, us] : kMedianGoals) add(k4k, swofilter(Op::median, window), us);
  for (const Content content : {Content::random, Content::constant, Content::natural})
    for (const int window : {3, 9, 31})
      if (!options.quick || content == Content::random)
        cases.push_back(with_content(swofilter_case(k4k, swofilter(Op::median, window)), content));
  for (const Op op : {Op::mode, Op::alpha_trimmed_mean})
    for (const auto &[window, us] : kMedianGoals)
      if (window <= 31 && window != 7) add(k4k, swofilter(op, window), 1.5 * us);
  add_windows(k4k16, Op::median, {3, 5, 9, 31});

  const SwoFilterParams corner = with_shape(swofilter(Op::hit_or_miss, 3), kCorner);
  const auto add_on = [&](Content content, Size size, const SwoFilterParams &params,
                          double goal_us = kUnknown) {
    Case &c = add(size, params, goal_us);
    c = with_content(c, content);
  };
  add_on(Content::negative, k4k, corner, 6);
  for (const auto thinning : {SwoFilterThinning::zhang_suen, SwoFilterThinning::guo_hall}) {
    add_on(Content::negative, kPage, thin(thinning), 60);
    add_on(Content::negative, kSquare, thin(thinning));
  }
  add_on(Content::negative, kPage, thin(SwoFilterThinning::templates));
  add(k4k, swofilter(Op::recursive_erode, 3));
  add_on(Content::natural, k4k, swofilter(Op::h_dome, 3), 500);
  add_on(Content::natural, k4k, swofilter(Op::fill_holes, 3), 500);
  add_on(Content::spiral, k4k, swofilter(Op::fill_holes, 3), 20e3);

  // A formula may take twice the time of the hand-written operator.
  for (const Formula &formula : kFormulas)
    for (const int window : formula.windows) {
      const std::string word = std::string("swofilter 3840x2160 8 bit, ") + name(formula.op) + ' ' +
                               std::to_string(window) + " by hand and as a formula";
      const SwoFilterParams by_hand = swofilter(formula.op, window);
      for (const SwoFilterParams &params : {by_hand, custom(formula, window)}) {
        Case &c = add(k4k, params);
        c.peer = npp_window(by_hand);
        if (window > 5) continue;
        c.spread = word;
        c.spread_goal = 2;
      }
    }

  // What tiles gain, and tuning.
  for (const int window : {5, 9})
    for (const char *expression : {"p.min()", "p.median()", "p.mean()"}) {
      SwoFilterParams params = custom({Op::custom, expression, {}}, window);
      for (const auto reads :
           {UserFilterReads::global, UserFilterReads::texture, UserFilterReads::shared}) {
        params.custom.reads = reads;
        add(k4k, params).peer = {};
      }
      params.custom.reads = UserFilterReads::automatic;
      params.custom.tune = true;
      add(k4k, params).peer = {};
    }

  for (const Op op : {Op::minimum, Op::mean, Op::median})
    for (const int window : {3, 5, 9, 15})
      add(k4k, swofilter(op, window, SwoFilterAlgorithm::naive)).peer = {};
  for (const int window : {3, 5, 7, 9})
    for (const auto algorithm : {SwoFilterAlgorithm::automatic, SwoFilterAlgorithm::naive})
      add(kSeed, swofilter(Op::median, window, algorithm)).peer = {};
}

void add_swofilter_cpu(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](Size size, const SwoFilterParams &params) -> Case & {
    cases.push_back(swofilter_case(size, params));
    cases.back().peer = opencv_window(params);
    return cases.back();
  };
  for (const int window : {3, 9, 15, 63, 255}) {
    if (options.quick && window != 9) continue;
    for (const Op op : {Op::minimum, Op::maximum})
      add(k4k, swofilter(op, window)).cpu_goal_mpx = 4000;
    Case &c = add(k4k, swofilter(Op::erode, window));
    if (window >= 9) c.cpu_goal_ratio = 1.5;
  }
  for (const int window : {3, 5}) add(k4k, swofilter(Op::median, window)).cpu_goal_ratio = 1;
  for (const Formula &formula : kFormulas)
    for (const int window : formula.windows)
      if (window == 3 || (window == 5 && !options.quick))
        add(k4k, custom(formula, window)).peer = {};
  const auto add_negative = [&](Size size, const SwoFilterParams &params) -> Case & {
    Case &c = add(size, params);
    c = with_content(c, Content::negative);
    return c;
  };
  constexpr int kPasses = 20;  // fewer than this page takes
  add_negative(kPage, thin(SwoFilterThinning::zhang_suen, kPasses)).cpu_goal_us = kPasses * 500;
  if (options.quick) return;
  add(k4k16, swofilter(Op::minimum, 15));
  for (const Op op : {Op::open, Op::close, Op::gradient})
    for (const int window : {3, 15}) add(k4k, swofilter(op, window));
  for (const int window : {3, 15, 63, 255}) add(k4k, swofilter(Op::mean, window));
  for (const int window : {3, 63}) add(k4k, swofilter(Op::standard_deviation, window));
  for (const int window : {7, 9, 15, 31, 63, 255}) add(k4k, swofilter(Op::median, window));
  for (const int window : {3, 5}) add(k4k16, swofilter(Op::median, window));
  for (const Op op : {Op::mode, Op::alpha_trimmed_mean})
    for (const int window : {3, 9, 31}) add(k4k, swofilter(op, window));
  for (const Op op : {Op::midpoint, Op::directional_median}) add(k4k, swofilter(op, 5));
  add_negative(k4k, with_shape(swofilter(Op::hit_or_miss, 3), kCorner));
  for (const auto thinning : {SwoFilterThinning::zhang_suen, SwoFilterThinning::guo_hall}) {
    add_negative(kPage, thin(thinning));
    add_negative(kSquare, thin(thinning));
  }
  add(k4k, swofilter(Op::recursive_erode, 3));
  for (const Op op : {Op::h_dome, Op::fill_holes}) {
    Case &c = add(k4k, swofilter(op, 3));
    c = with_content(c, Content::natural);
  }
  Case &spiral = add(k4k, swofilter(Op::fill_holes, 3));
  spiral = with_content(spiral, Content::spiral);
  for (const Op op : {Op::minimum, Op::mean, Op::median})
    for (const int window : {3, 5})
      if (op != Op::median || window == 3 || options.full)
        add(k4k, swofilter(op, window, SwoFilterAlgorithm::naive)).peer = {};
}

}  // namespace cudascan::bench
