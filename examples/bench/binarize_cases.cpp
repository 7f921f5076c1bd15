// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "bench/cases.h"
#include "kernels/binarize.h"

namespace cudascan::bench {
namespace {

using Level = BinarizeLevel;

constexpr Size kA4At600Dpi{4960, 7016, 8}, kA4At300Dpi{2480, 3508, 8},
    kA4At300Dpi16{2480, 3508, 16};
constexpr Level kLevels[] = {Level::fast, Level::sized, Level::full};

const char *name(Level level) {
  switch (level) {
    case Level::fast:
      return "fast";
    case Level::sized:
      return "sized";
    case Level::full:
      return "full";
  }
  return "?";
}

Case binarize_case(Size size, const BinarizeParams &params) {
  Case c;
  c.op = "binarize";
  c.variant = name(params.level);
  c.series = c.variant;
  c.size = size;
  c.runner = make_runner(params);
  c.two_valued = params.output == BinarizeOutput::binary;
  if (!c.two_valued) c.variant += " darkness";
  return c;
}

Case level_case(Size size, Level level) {
  return binarize_case(size, {.level = level});
}

Case darkness_case(Size size) {
  return binarize_case(size, {.output = BinarizeOutput::darkness});
}

/// The largest time for a frame of 3840x2160.
double goal_us(Level level) {
  return level == Level::fast ? 60 : level == Level::sized ? 130 : 300;
}

/// The threshold of a window, with settings for text of usual size.
constexpr int kNppWindow = 33;
Peer opencv_adaptive() {
  constexpr double kMean = 0, kWindow = 61, kBelow = 10;
  return OpenCv{"adaptive", {kMean, kWindow, kBelow}};
}

}  // namespace

void add_binarize_cuda(const Options &options, std::vector<Case> &cases) {
  for (const Size size : {k4k, k4k16})
    for (const Level level : kLevels) {
      cases.push_back(level_case(size, level));
      cases.back().cuda_goal_us = (size.depth == 8 ? 1 : 2) * goal_us(level);
      if (size.depth == 8) cases.back().peer = NppAdaptive{kNppWindow};
    }
  cases.push_back(level_case(kA4At600Dpi, Level::full));
  if (options.quick) return;
  for (const Content content :
       {Content::random, Content::constant, Content::negative, Content::natural})
    cases.push_back(with_content(level_case(k4k, Level::full), content));
  cases.push_back(darkness_case(k4k));
}

void add_binarize_cpu(const Options &options, std::vector<Case> &cases) {
  for (const Level level : kLevels) {
    cases.push_back(level_case(kA4At300Dpi, level));
    cases.back().peer = opencv_adaptive();
  }
  if (options.quick) return;
  for (const Level level : kLevels) cases.push_back(level_case(kA4At300Dpi16, level));
  cases.push_back(darkness_case(kA4At300Dpi));
  for (const Level level : kLevels) {
    cases.push_back(level_case(k4k, level));
    cases.back().peer = opencv_adaptive();
  }
}

}  // namespace cudascan::bench
