// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/spectrum.h"

#include <algorithm>
#include <cstddef>

namespace cudascan::linearopen {
namespace {

// On each side of the best direction.
constexpr double kFitDegrees = 0.75;
constexpr double kFitPixels = 6;  // that the end of a segment moves relative to the other end
constexpr double kDegreesOfRadian = 57.295779513082323;
constexpr double kHalfContrast = 1. / 200;  // of the image at full contrast
constexpr double kBlank = 0.2;

/// The responses of the directions relative to the best one; at most 0.
class Answers {
 public:
  Answers(const LinearOpenParams &params, const std::vector<std::int64_t> &spectrum)
      : circle_(params.span == 180) {
    const bool largest = params.operation == LinearOpenOperation::opening;
    const auto extremum = largest ? std::max_element(spectrum.begin(), spectrum.end())
                                  : std::min_element(spectrum.begin(), spectrum.end());
    for (const std::int64_t sum : spectrum)
      values_.push_back(static_cast<double>(largest ? sum - *extremum : *extremum - sum));
    const int n = size();
    int first = static_cast<int>(extremum - spectrum.begin()), last = first;
    while (last + 1 < n && values_[last + 1] == 0) ++last;
    if (circle_ && first == 0 && last < n - 1)
      while (values_[first + n - 1] == 0) --first;
    best_ = first + (last - first) / 2;
    if (best_ < 0) best_ += n;
  }

  int size() const { return static_cast<int>(values_.size()); }
  int best() const { return best_; }
  /// Directions on either side of the best one.
  int before() const { return circle_ ? (size() - 1) / 2 : best_; }
  int behind() const { return circle_ ? (size() - 1) / 2 : size() - 1 - best_; }
  /// Steps that the directions cover.
  int extent() const { return circle_ ? size() : size() - 1; }
  /// The response `offset` directions from the best one.
  double operator()(int offset) const { return values_[(best_ + offset + size()) % size()]; }

  /// How far the best response is above the median.
  double depth() const { return -median(values_); }

  /// The median second difference: how much the responses jitter.
  double jitter() const {
    std::vector<double> bends;
    for (int i = circle_ ? 0 : 1; i < (circle_ ? size() : size() - 1); ++i) {
      const double bend =
          values_[(i + size() - 1) % size()] - 2 * values_[i] + values_[(i + 1) % size()];
      bends.push_back(bend < 0 ? -bend : bend);
    }
    return median(std::move(bends));
  }

  /// Steps from the best direction, towards `sign`, to where the response falls to `level`.
  double reach(double level, int sign) const {
    const int most = sign < 0 ? before() : behind();
    for (int i = 1; i <= most; ++i) {
      const double near = (*this)((i - 1) * sign), far = (*this)(i * sign);
      if (far < level) return i - 1 + (near - level) / (near - far);
    }
    return most;
  }

 private:
  static double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  }

  const bool circle_;
  std::vector<double> values_;
  int best_;
};

/// Steps from the best direction to the vertex of the parabola through k directions on either side.
double vertex(const Answers &answers, int k) {
  double sum = 0, first_moment = 0, second_moment = 0, squares = 0, fourths = 0;
  for (int i = -k; i <= k; ++i) {
    const double x = i, y = answers(i);
    sum += y;
    first_moment += x * y;
    second_moment += x * x * y;
    squares += x * x;
    fourths += x * x * x * x;
  }
  const double points = 2 * k + 1;
  const double bend =
      (points * second_moment - squares * sum) / (points * fourths - squares * squares);
  if (!(bend < 0)) return 0;
  return std::clamp(-first_moment / squares / (2 * bend), -1. * k, 1. * k);
}

double confidence_of(const Answers &answers, double full) {
  const double depth = answers.depth();
  if (!(depth > 0)) return 0;
  const double share = depth / full;
  const double contrast = share / (share + kHalfContrast);
  const double steadiness = 1 - 16 * answers.jitter() / depth;
  const double width = answers.reach(-depth / 4, -1) + answers.reach(-depth / 4, 1);
  const double narrowness = 1 - 4 * width / answers.extent();
  if (steadiness <= 0 || narrowness <= 0) return 0;
  return contrast * steadiness * narrowness;
}

}  // namespace

void analyse_spectrum(const LinearOpenParams &params, double pixels, double maximum,
                      LinearOpenReport &report) {
  report.dominant_angle = report.angles.empty() ? 0 : report.angles.front();
  report.confidence = 0;
  report.blank = true;
  if (report.spectrum.size() < 2) return;

  const Answers answers(params, report.spectrum);
  const double step = params.span / answers.extent();
  report.dominant_angle = report.angles[static_cast<std::size_t>(answers.best())];
  const int most = std::min(answers.before(), answers.behind());
  int k = std::min(most, 1);
  const double fit = std::min(kFitDegrees, kFitPixels * kDegreesOfRadian / params.length);
  while (k < most && (k + 1) * step <= fit * (1 + 1e-9)) ++k;
  if (k > 0) report.dominant_angle += step * vertex(answers, k);
  if (params.span == 180) {
    if (report.dominant_angle < params.angle) report.dominant_angle += 180;
    if (report.dominant_angle >= params.angle + 180) report.dominant_angle -= 180;
  }
  report.confidence = confidence_of(answers, pixels * maximum) * (most > 0 ? 1 : 0.5);
  report.blank = report.confidence < kBlank;
}

}  // namespace cudascan::linearopen
