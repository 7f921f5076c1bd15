// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resolution.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cudascan::scan {
namespace {

constexpr double kXHeight = 5.2 / 72;  ///< inches
constexpr double kUsual[] = {75, 100, 150, 200, 240, 300, 400, 600};
constexpr double kSame = 0.01;  ///< sides of a page, relative to those of the paper
constexpr double kOther = 1.3;  ///< factor between the estimate and what is stated

constexpr Paper kPapers[] = {{210, 297},     {148, 210},     {297, 420},
                             {215.9, 279.4}, {215.9, 355.6}, {215.9, 297}};

/// What programs state that know no resolution.
bool is_doubtful(const Resolution &stated) {
  const auto near = [](double a, double b) { return std::fabs(a - b) < 0.5; };
  return near(stated.x, stated.y) && (near(stated.x, 72) || near(stated.x, 96));
}

double factor_between(double a, double b) {
  return a > b ? a / b : b / a;
}

}  // namespace

double dpi_of_paper(int width, int height) {
  const auto fits = [](int pixels, double mm, double dpi) {
    return std::fabs(pixels - mm * dpi / kMmPerInch) <= kSame * pixels;
  };
  for (const Paper &paper : kPapers)
    for (const double dpi : kUsual)
      if ((fits(width, paper.width, dpi) && fits(height, paper.height, dpi)) ||
          (fits(width, paper.height, dpi) && fits(height, paper.width, dpi)))
        return dpi;
  return 0;
}

double dpi_of_letters(double height) {
  if (height <= 0) return 0;
  const double dpi = height / kXHeight;
  return *std::min_element(std::begin(kUsual), std::end(kUsual), [=](double a, double b) {
    return factor_between(dpi, a) < factor_between(dpi, b);
  });
}

bool ResolutionFinder::settle(Image &page, const Steps &steps,
                              const std::function<void()> &need_levels, Findings &found) {
  const bool stated = page.resolution.x > 0 && page.resolution.y > 0;
  bool is_certain = true;
  found.resolution_from = "stated";
  if (!stated) {
    page.resolution = {steps.resolution, steps.resolution};
    found.resolution_from = steps.resolution_given ? "option" : "assumed";
  }
  if (!steps.resolution_given && (!stated || is_doubtful(page.resolution))) {
    const char *from = "estimated from the size";
    double dpi = dpi_of_paper(page.width, page.height);
    if (dpi == 0 && (page.content == Content::gray || page.content == Content::bilevel)) {
      from = "estimated from the letters";
      need_levels();
      dpi = dpi_of_letters(letters_.height(page));
    }
    if (dpi > 0 && (!stated || factor_between(dpi, page.resolution.x) > kOther)) {
      page.resolution = {dpi, dpi};
      found.resolution_from = from;
    }
    is_certain = dpi > 0;
  }
  found.resolution = page.resolution;
  return is_certain;
}

}  // namespace cudascan::scan
