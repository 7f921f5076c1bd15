// SPDX-License-Identifier: LGPL-2.1-or-later
// Measurements for spectra with known angles.
#include "kernels/linearopen/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace cudascan {
namespace {

using Operation = LinearOpenOperation;

constexpr double kPixels = 1e6, kMaximum = 255, kFull = kPixels * kMaximum;

/// Directions that span 20 degrees in steps of 0.25, or what a test sets instead.
LinearOpenParams scan(Operation operation = Operation::opening) {
  LinearOpenParams params;
  params.operation = operation;
  params.angle = -10;
  params.span = 20;
  params.directions = 81;
  return params;
}

LinearOpenParams circle(int directions) {
  LinearOpenParams params;
  params.directions = directions;
  return params;
}

/// The report for a spectrum. `height` gives the response for each angle, as a share of the image
/// at full contrast. Openings sum large samples for a strong response, other operations small ones.
LinearOpenReport analysed(const LinearOpenParams &params,
                          const std::function<double(double)> &height) {
  LinearOpenReport report;
  const int steps = params.span == 180 ? params.directions : params.directions - 1;
  for (int i = 0; i < params.directions; ++i) {
    const double angle = params.angle + (steps ? params.span * i / steps : 0);
    const double answer = kFull * (params.operation == Operation::opening ? 0.5 + height(angle)
                                                                          : 0.5 - height(angle));
    report.angles.push_back(angle);
    report.spectrum.push_back(std::llround(answer));
  }
  linearopen::analyse_spectrum(params, kPixels, kMaximum, report);
  EXPECT_TRUE(std::isfinite(report.dominant_angle));
  EXPECT_GE(report.confidence, 0);
  EXPECT_LE(report.confidence, 1);
  return report;
}

/// The response of a line at `angle`; it reaches `reach` degrees to both sides.
std::function<double(double)> line_at(double angle, double height = 0.05, double reach = 1.5) {
  return [=](double at) {
    const double away = std::fabs(std::remainder(at - angle, 180.)) / reach;
    return away < 1 ? height * (1 - away * away) : 0;
  };
}

class LinearOpenSpectrum : public testing::TestWithParam<Operation> {};

TEST_P(LinearOpenSpectrum, FindsTheVertexOfAParabola) {
  for (const double angle : {-8.9, -3.3, -0.1, 0., 0.01, 2.1875, 2.25, 7.13}) {
    const LinearOpenReport report = analysed(scan(GetParam()), line_at(angle));
    EXPECT_NEAR(report.dominant_angle, angle, 1e-4);
    EXPECT_GT(report.confidence, 0.6) << angle;
    EXPECT_FALSE(report.blank) << angle;
  }
}

TEST_P(LinearOpenSpectrum, SeesNothingInAFlatSpectrum) {
  const LinearOpenReport report = analysed(scan(GetParam()), [](double) { return 0.1; });
  EXPECT_EQ(report.dominant_angle, 0) << "the middle of equal responses";
  EXPECT_EQ(report.confidence, 0);
  EXPECT_TRUE(report.blank);
}

TEST_P(LinearOpenSpectrum, IsNotSureOfAPeakAtAnEnd) {
  for (const double end : {-10., 10.}) {
    const LinearOpenReport report = analysed(scan(GetParam()), line_at(end * 1.05));
    EXPECT_EQ(report.dominant_angle, end);
    EXPECT_LE(report.confidence, 0.5);
    // The next to last direction has neighbours on both sides.
    const double inside = end * 0.973;
    EXPECT_NEAR(analysed(scan(GetParam()), line_at(inside)).dominant_angle, inside, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, LinearOpenSpectrum,
                         testing::Values(Operation::opening, Operation::closing, Operation::top_hat,
                                         Operation::black_hat));

TEST(LinearOpenSpectrum, GoesRoundAHalfTurn) {
  for (const double angle : {0., 0.3, 0.5, 89.6, 179.5, 179.9}) {
    const LinearOpenReport report = analysed(circle(180), line_at(angle, 0.05, 6));
    EXPECT_NEAR(std::remainder(report.dominant_angle - angle, 180.), 0, 1e-4);
    EXPECT_GE(report.dominant_angle, 0);
    EXPECT_LT(report.dominant_angle, 180);
    EXPECT_FALSE(report.blank);
  }
}

TEST(LinearOpenSpectrum, TakesTheMiddleOfAPlateau) {
  const auto plateau = [](double centre) {
    return [=](double at) { return std::fabs(std::remainder(at - centre, 180.)) < 1.1 ? 0.05 : 0; };
  };
  EXPECT_NEAR(analysed(scan(), plateau(3)).dominant_angle, 3, 1e-9);
  // A peak that extends beyond the first direction.
  for (const double centre : {0., 1., 179.}) {
    const double found = analysed(circle(360), plateau(centre)).dominant_angle;
    EXPECT_NEAR(std::remainder(found - centre, 180.), 0, 1e-9);
  }
}

TEST(LinearOpenSpectrum, FindsAPeakUnderJitter) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> jitter(-0.0005, 0.0005);
  double worst = 0;
  for (double angle = -8; angle < 8; angle += 0.37) {
    const auto line = line_at(angle);
    const auto report = analysed(scan(), [&](double at) { return line(at) + jitter(random); });
    worst = std::max(worst, std::fabs(report.dominant_angle - angle));
    EXPECT_FALSE(report.blank) << angle;
  }
  EXPECT_LT(worst, 0.05);
}

TEST(LinearOpenSpectrum, SeesTheTopOfACuspOnUnequalSlopes) {
  LinearOpenParams params = scan();
  params.directions = 201;
  // Two straight flanks, like the response of gaps between lines of text.
  const auto cusp = [](double at) { return at < 1 ? 0.05 * (at - 1) / 4 : 0.05 * (1 - at) / 2; };
  params.length = 930;
  const double exact = std::fabs(analysed(params, cusp).dominant_angle - 1);
  params.length = 250;
  const double broad = std::fabs(analysed(params, cusp).dominant_angle - 1);
  EXPECT_LT(exact, 0.08);
  EXPECT_GT(broad, exact * 1.5) << "shorter segments jitter more and are smoothed more";
}

TEST(LinearOpenSpectrum, IsLessSureOfALineThatIsBent) {
  LinearOpenParams params = scan();
  params.angle = -20;
  params.span = 40;
  params.directions = 401;
  const auto straight = [](double at) { return 0.1 / (1 + std::fabs(at - 1)); };
  const auto bent = [&](double at) {
    double sum = 0;
    for (int i = -4; i <= 4; ++i) sum += straight(at + i * 0.75) / 9;
    return sum;
  };
  EXPECT_GT(analysed(params, straight).confidence, 0.6);
  EXPECT_LT(analysed(params, bent).confidence, 0.5);
  EXPECT_FALSE(analysed(params, bent).blank);
}

TEST(LinearOpenSpectrum, CallsNoiseBlank) {
  std::mt19937 random(5);
  for (const double height : {1e-6, 1e-4, 1e-2, 0.3}) {
    std::uniform_real_distribution<double> noise(0, height);
    const auto report = analysed(scan(), [&](double) { return noise(random); });
    EXPECT_TRUE(report.blank) << height << ": " << report.confidence;
  }
}

TEST(LinearOpenSpectrum, CallsFaintAndBroadAnswersBlank) {
  EXPECT_TRUE(analysed(scan(), line_at(1, 0.0005)).blank) << "hardly any contrast";
  EXPECT_TRUE(analysed(scan(), line_at(1, 0.05, 40)).blank) << "as wide as the span";
}

TEST(LinearOpenSpectrum, IsTheSurerTheHigherThePeak) {
  double last = 0;
  for (const double height : {0.001, 0.005, 0.02, 0.1, 0.4}) {
    const double confidence = analysed(scan(), line_at(1, height)).confidence;
    EXPECT_GT(confidence, last);
    last = confidence;
  }
}

TEST(LinearOpenSpectrum, TakesFewDirections) {
  LinearOpenParams params = circle(1);
  params.angle = 33;
  LinearOpenReport report = analysed(params, line_at(33));
  EXPECT_EQ(report.dominant_angle, 33);
  EXPECT_TRUE(report.blank);

  for (const double angle : {0., 90.}) {
    report = analysed(circle(2), line_at(angle));
    EXPECT_EQ(report.dominant_angle, angle) << "two directions are too few for interpolation";
    params = scan();
    params.angle = 0;
    params.span = 90;
    params.directions = 2;
    EXPECT_EQ(analysed(params, line_at(angle)).dominant_angle, angle);
  }
  report = analysed(circle(3), line_at(60));
  EXPECT_EQ(report.dominant_angle, 60);
  report = {};
  linearopen::analyse_spectrum(circle(1), 1, 255, report);
  EXPECT_TRUE(report.blank);
}

TEST(LinearOpenSpectrum, KeepsLargeSumsApart) {
  LinearOpenReport report;
  const LinearOpenParams params = scan();
  for (int i = 0; i < 81; ++i) {
    report.angles.push_back(-10 + i * 0.25);
    report.spectrum.push_back((std::int64_t{1} << 61) - (i - 40) * (i - 40));
  }
  linearopen::analyse_spectrum(params, 1 << 30, 65535. * 65536, report);
  EXPECT_NEAR(report.dominant_angle, 0, 1e-9);
  EXPECT_TRUE(report.blank);
}

}  // namespace
}  // namespace cudascan
