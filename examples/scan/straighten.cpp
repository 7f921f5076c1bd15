// SPDX-License-Identifier: LGPL-2.1-or-later
#include "straighten.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/linearopen/spectrum.h"

namespace cudascan::scan {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kSpan = 10;  ///< degrees to either side
constexpr double kCoarse = 0.25, kFine = 0.1;

/// What responds to the lines, and how strong the response must be.
struct Recipe {
  LinearOpenOperation operation;
  double length;   ///< of segments, as a share of the width
  double reach;    ///< degrees to either side of the peak to measure in fine steps
  double trusted;  ///< see docs/scan.md for how it was measured
};
constexpr Recipe kText{LinearOpenOperation::opening, 0.75, 0.5, 0.45};
constexpr Recipe kRules{LinearOpenOperation::closing, 0.2, 0.8, 0.4};

/// Directions of the page and of its squeezed copy.
class Directions {
 public:
  explicit Directions(int squeeze) : squeeze_(squeeze) {}

  double squeezed(double angle) const {
    return std::atan(squeeze_ * std::tan(angle * kDegree)) / kDegree;
  }

  /// Parameters that measure from `begin` to `end` degrees of the page in steps of at most `step`.
  LinearOpenParams params(const Recipe &recipe, int width, double begin, double end,
                          double step) const {
    LinearOpenParams params;
    params.operation = recipe.operation;
    params.length = std::max(1, static_cast<int>(width * recipe.length));
    params.angle = squeezed(begin);
    params.span = squeezed(end) - params.angle;
    params.directions = 1 + static_cast<int>(std::ceil(params.span / (squeeze_ * step)));
    return params;
  }

  /// The same measurement in equal steps of the page's degrees.
  LinearOpenReport unsqueezed(const LinearOpenParams &params, const LinearOpenReport &measured,
                              double begin, double end, double step, int width, int height) const {
    LinearOpenParams page = params;
    page.length = params.length * squeeze_;
    page.angle = begin;
    page.span = end - begin;
    page.directions = 1 + static_cast<int>(std::lround(page.span / step));
    LinearOpenReport report;
    report.angles = directions_of(page);
    for (const double angle : report.angles) {
      const double last = params.directions - 1;
      const double at =
          std::clamp((squeezed(angle) - params.angle) / params.span * last, 0.0, last);
      const int below = std::min(static_cast<int>(at), params.directions - 2);
      const double share = at - below;
      report.spectrum.push_back(
          std::llround(static_cast<double>(measured.spectrum[below]) * (1 - share) +
                       static_cast<double>(measured.spectrum[below + 1]) * share));
    }
    linearopen::analyse_spectrum(page, double{1} * width * height, 255, report);
    return report;
  }

 private:
  int squeeze_;
};

Skew measure_by(const Recipe &recipe, const SkewScale &scale, int width, int height,
                double min_confidence, const Measure &measure) {
  const Directions directions(scale.squeeze);
  const auto answer = [&](double begin, double end, double step) {
    const LinearOpenParams params = directions.params(recipe, width, begin, end, step);
    return directions.unsqueezed(params, measure(params), begin, end, step, width, height);
  };
  const LinearOpenReport coarse = answer(-kSpan, kSpan, kCoarse);
  Skew skew{coarse.dominant_angle, coarse.confidence, false};
  if (skew.confidence < (min_confidence > 0 ? min_confidence : recipe.trusted)) return skew;
  skew.trusted = true;
  skew.angle = answer(std::max(-kSpan, skew.angle - recipe.reach),
                      std::min(kSpan, skew.angle + recipe.reach), kFine)
                   .dominant_angle;
  return skew;
}

}  // namespace

SkewScale::SkewScale(const Image &page) {
  constexpr int kWidest = 1700, kNarrowest = 200, kMostReduction = 16;
  by = std::min(kMostReduction, (page.width + kWidest - 1) / kWidest);
  const int width = page.width / by;
  squeeze = width >= 1000 ? 4 : width >= 500 ? 2 : 1;
  enough = width >= kNarrowest && page.height / by >= kNarrowest;
}

Skew measure_skew(const SkewScale &scale, int width, int height, double min_confidence,
                  const Measure &measure) {
  const Skew text = measure_by(kText, scale, width, height, min_confidence, measure);
  if (text.trusted) return text;
  const Skew rules = measure_by(kRules, scale, width, height, min_confidence, measure);
  return rules.trusted || rules.confidence > text.confidence ? rules : text;
}

}  // namespace cudascan::scan
