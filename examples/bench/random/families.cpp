// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/random/families.h"

namespace cudascan::bench {
namespace {

constexpr double kNoClass = -1;

/// The budget of lines is for one direction.
constexpr Family kFamilies[] = {
    {"extrema, rectangle", 0, kFrameUs, kFrameUs},
    {"extrema, cross", 0, 40, 60},
    {"extrema, ellipse", 33, 80, 120},
    {"extrema, ellipse", 100, 200, 300},
    {"extrema, ellipse", 255, 600, 900},
    {"extrema, mask", 0, 120, 200},
    {"composites, rectangle", 0, kFrameUs, kFrameUs},
    {"composites, cross", 0, 80, 120},
    {"composites, ellipse", 33, 160, 240},
    {"composites, ellipse", 100, 400, 600},
    {"composites, ellipse", 255, 1200, 1800},
    {"composites, mask", 0, 240, 400},
    {"mean and deviation, rectangle", 0, kFrameUs, kFrameUs},
    {"mean and deviation, cross", 0, 60, 90},
    {"mean and deviation, ellipse", 33, 120, 180},
    {"mean and deviation, ellipse", 100, 300, 450},
    {"mean and deviation, ellipse", 255, 900, 1350},
    {"mean and deviation, mask", 0, 200, 300},
    {"median and rank, rectangle", 9, kNoClass, 400},
    {"median and rank, rectangle", 33, 300, kNoClass},
    {"median and rank, rectangle", 127, 600, kNoClass},
    {"median and rank, rectangle", 255, 1000, 2000, 8000},
    {"median and rank, cross", 0, 500, 2000},
    {"median and rank, ellipse", 33, 500, 2000},
    {"median and rank, ellipse", 100, 1500, 6000},
    {"median and rank, ellipse", 255, 4200, 16800},
    {"median and rank, mask", 0, 500, 2000},
    {"trimmed mean and mode, rectangle", 33, 900, 4200},
    {"trimmed mean and mode, rectangle", 127, 1800, kNoClass},
    {"trimmed mean and mode, rectangle", 255, 3000, 16700},
    {"trimmed mean and mode, cross", 33, kNoClass, 4200},
    {"trimmed mean and mode, cross", 255, 1500, 16700},
    {"trimmed mean and mode, ellipse", 33, 1500, 4200},
    {"trimmed mean and mode, ellipse", 100, 4500, kNoClass},
    {"trimmed mean and mode, ellipse", 255, 12600, 16700},
    {"trimmed mean and mode, mask", 0, 1500, 4200},
    {"directional median", 9, 120, 240},
    {"directional median", 33, 500, 1000},
    {"directional median", 255, 2000, 4000},
    {"recursive, rectangle", 0, 80, 120},
    {"recursive, cross", 0, 80, 120},
    {"recursive, ellipse", 0, 4200, 4200},
    {"recursive, mask", 0, 4200, 4200},
    {"hit-or-miss", 0, kFrameUs, kFrameUs},
    {"thin and thicken", 0, kFrameUs, kFrameUs},
    {"geodesic", 0, kFrameUs, kFrameUs},
    {"lines, partition", 0, kFrameUs, kFrameUs},
    {"lines, invariant", 41, 120, 180},
    {"lines, invariant", 1000, 1000, 1500},
    {"lines, invariant", 4096, 4000, 6000},
    {"binarize, fast", 0, 60, 120},
    {"binarize, sized", 0, 130, 260},
    {"binarize, full", 0, 300, 600},
    {"nick, wolf", 0, 50, 80},
    {"nick, threshold surface", 0, 60, 90},
    {"nick, other methods", 0, kFrameUs, kFrameUs},
    {"autothreshold, minimum and intermodes", 0, kFrameUs, 150},
    {"autothreshold, other methods", 0, kFrameUs, kFrameUs},
    {"equalize, clahe", 0, kFrameUs, 250},
    {"equalize, global", 0, kFrameUs, kFrameUs},
    {"rotate", 0, kFrameUs, kFrameUs},
};

}  // namespace

std::string Family::title() const {
  return up_to ? std::string(name) + " up to " + std::to_string(up_to) : name;
}

double Family::budget_us(int depth, Content content) const {
  return depth == 8 ? us8 : content == Content::natural ? us16 : other16;
}

std::span<const Family> families() {
  return kFamilies;
}

const Family &family_of(std::string_view name, int side, int depth) {
  for (const Family &family : kFamilies)
    if (family.name == name && (family.up_to == 0 || side <= family.up_to) &&
        (depth == 8 ? family.us8 : family.us16) != kNoClass)
      return family;
  throw Error("no family is called " + std::string(name));
}

}  // namespace cudascan::bench
