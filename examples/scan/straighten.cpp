// SPDX-License-Identifier: LGPL-2.1-or-later
#include "straighten.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <tuple>
#include <vector>

namespace cudascan::scan {
namespace {

constexpr double kSpan = 11;  ///< degrees to either side
constexpr double kCoarse = 0.2, kFine = 0.05;
constexpr double kReach = 0.6;  ///< degrees to either side of the peak to measure in fine steps
/// Fine steps to either side of the largest for the parabola: at least, and relative to the width
/// of the peak.
constexpr int kFit = 4;
constexpr double kFitShare = 0.35;

using Strengths = std::vector<double>;  ///< by angle

/// Equal steps of angles.
struct Angles {
  Angles(double first, double last, double step)
      : begin(first), step(step), count(1 + static_cast<int>(std::lround((last - first) / step))) {}
  double at(double i) const { return begin + i * step; }
  std::vector<double> list() const {
    std::vector<double> all;
    for (int i = 0; i < count; ++i) all.push_back(at(i));
    return all;
  }
  double begin, step;
  int count;
};

double median_of(Strengths values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The largest value; the middle one of several equal ones next to each other.
int largest_of(const Strengths &values) {
  const auto largest = std::max_element(values.begin(), values.end());
  auto last = largest;
  while (last + 1 != values.end() && last[1] == *largest) ++last;
  return static_cast<int>((largest - values.begin()) + (last - largest) / 2);
}

/// The vertex of the parabola of least squares through up to k values on either side of the
/// largest.
double vertex_of(const Strengths &values, int k) {
  const int best = largest_of(values);
  k = std::min({k, best, static_cast<int>(values.size()) - 1 - best});
  if (k < 1) return best;
  double sum = 0, first = 0, second = 0, squares = 0, fourths = 0;
  for (int i = -k; i <= k; ++i) {
    const double x = i, y = values[best + i];
    sum += y;
    first += x * y;
    second += x * x * y;
    squares += x * x;
    fourths += x * x * x * x;
  }
  const double points = 2 * k + 1;
  const double bend = (points * second - squares * sum) / (points * fourths - squares * squares);
  if (!(bend < 0)) return best;
  return best + std::clamp(-first / squares / (2 * bend), -1. * k, 1. * k);
}

/// The peak of strengths.
struct Peak {
  Peak(const Angles &angles, const Strengths &values) {
    const int last = angles.count - 1, best = largest_of(values);
    const double median = median_of(values);
    top = values[best];
    at_end = best == 0 || best == last;
    angle = angles.at(vertex_of(values, 1));
    ratio = top / std::max(1., median);
    const double half = (top + median) / 2;
    const auto reach = [&](int sign) {
      int i = best;
      while (i + sign >= 0 && i + sign <= last && values[i] > half) i += sign;
      if (i == best || values[i] > half) return 1. * std::abs(i - best);
      return std::abs(i - best) - (half - values[i]) / (values[i - sign] - values[i]);
    };
    width = (reach(-1) + reach(1)) * angles.step;
  }

  double top, angle, ratio;
  double width;  ///< at half of its height, in degrees
  bool at_end;   ///< the true peak may be beyond it
};

double fourth_power(double x) {
  return x * x * x * x;
}

/// Strengths of the page and of its parts in coarse steps.
struct Survey {
  Survey(LineMeter &lines, int page_rows) {
    for (const HalfStrengths &one : lines.halves(angles.list(), std::max(4, page_rows / 170))) {
      left.push_back(one.left);
      right.push_back(one.right);
      top.push_back(one.top);
      bottom.push_back(one.bottom);
      all.push_back(one.top + one.bottom);
      most.push_back(one.most);
    }
  }

  double confidence() const {
    const Peak peak(angles, all), rest(angles, most);
    if (peak.at_end) return 0;
    const double strength = std::max(0., (rest.ratio - 1) / (rest.ratio + 2));
    const double narrowness = std::clamp(2.6 - peak.width, 0., 1.);
    const double apart = std::max(difference(left, right), difference(top, bottom));
    return strength * narrowness / (1 + fourth_power((rest.angle - peak.angle) / 0.3)) /
           (1 + fourth_power(apart / 0.9));
  }

  const Angles angles{-kSpan, kSpan, kCoarse};
  Strengths all, most, left, right, top, bottom;  ///< `most` are without the strongest lines

 private:
  /// Degrees between the peaks of two parts; 0 if one of them has no lines or hardly any.
  double difference(const Strengths &a, const Strengths &b) const {
    constexpr double kLines = 4, kShare = 0.1;
    const Peak one(angles, a), other(angles, b);
    const bool comparable = std::min(one.ratio, other.ratio) >= kLines &&
                            std::min(one.top, other.top) >= kShare * std::max(one.top, other.top);
    return comparable ? std::fabs(one.angle - other.angle) : 0;
  }
};

/// The angle in fine steps around a peak of that width.
double refined(LineMeter &lines, double peak, double width) {
  const double reach = std::max(kReach, 0.6 * width);
  const Angles angles(std::max(-kSpan, peak - reach), std::min(kSpan, peak + reach), kFine);
  std::array<Strengths, std::tuple_size_v<PartStrengths>> strengths;
  for (const PartStrengths &one : lines.parts(angles.list()))
    for (std::size_t level = 0; level < one.size(); ++level) strengths[level].push_back(one[level]);
  Strengths together(angles.count, 0);
  for (const Strengths &level : strengths) {
    const double largest = std::max(1., *std::max_element(level.begin(), level.end()));
    for (int i = 0; i < angles.count; ++i) together[i] += level[i] / largest;
  }
  const int fit = std::max(kFit, static_cast<int>(kFitShare * width / kFine));
  return angles.at(vertex_of(together, fit));
}

/// Why a page is not turned by the angle; empty if it is.
std::string objection(const Skew &skew, const Steps &steps, const Image &page) {
  char text[80] = "";
  const double least = steps.min_confidence > 0 ? steps.min_confidence : kTrusted;
  const double radius = std::hypot(page.width, page.height) / 2;
  if (skew.confidence < least)
    std::snprintf(text, sizeof text, "confidence %.3f is below %g", skew.confidence, least);
  else if (std::fabs(skew.angle) > steps.max_angle)
    std::snprintf(text, sizeof text, "%.2f degrees are above --max-angle=%g", std::fabs(skew.angle),
                  steps.max_angle);
  else if (std::fabs(skew.angle) * std::numbers::pi / 180 * radius < 0.5)
    return "too small to move a corner by half a pixel";
  return text;
}

}  // namespace

SkewScale::SkewScale(int page_width, int page_height) {
  constexpr int kWidest = 1700, kNarrowest = 200, kMostReduction = 16;
  by = std::min(kMostReduction, (page_width + kWidest - 1) / kWidest);
  const int width = page_width / by;
  squeeze = width >= 1000 ? 4 : width >= 500 ? 2 : 1;
  enough = width >= kNarrowest && page_height / by >= kNarrowest;
}

Skew measure_skew(const SkewScale &scale, const Image &copy, LineMeter &lines) {
  lines.take_slopes(copy, scale.squeeze, kSpan + kFine);
  const Survey survey(lines, copy.height);
  const double peak = survey.angles.at(vertex_of(survey.all, 1));
  return {refined(lines, peak, Peak(survey.angles, survey.all).width), survey.confidence(),
          Peak(survey.angles, survey.most).ratio};
}

Skew measure_skew(const SkewScale &scale, const Image &copy) {
  CpuLineMeter lines;
  return measure_skew(scale, copy, lines);
}

void measure_angle(const Image &page, const SkewScale &scale, const Image &copy, LineMeter &lines,
                   const Steps &steps, Findings &found) {
  if (!steps.straighten) {
    found.not_turned = "--no-straighten";
    return;
  }
  if (!scale.enough) {
    found.not_turned = "the page is too small to measure";
    return;
  }
  const Skew skew = measure_skew(scale, copy, lines);
  found.angle = skew.angle;
  found.confidence = skew.confidence;
  found.not_turned = objection(skew, steps, page);
  found.turned = found.not_turned.empty();
}

}  // namespace cudascan::scan
