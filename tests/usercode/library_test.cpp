// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions that users' code may call, compared with those of the C library.
#include "kernels/gswo/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace cudascan {
namespace {

namespace library = gswo::library;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Compares results for random arguments. Doubles may differ by some units in the last place.
/// Floats must be the nearest float; one in a million may differ.
template <typename Ours, typename Floats>
void expect_near(const char *name, Ours ours, Floats of_floats,
                 const std::function<double(double)> &reference,
                 const std::function<double(std::mt19937 &)> &argument) {
  std::mt19937 random(1);
  int missed = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = argument(random);
    const double right = reference(x);
    ASSERT_NEAR(ours(x), right, 1e-14 * std::max(std::abs(right), 1.0)) << name << " of " << x;
    const auto y = static_cast<float>(x);
    missed += of_floats(y) != static_cast<float>(reference(y));
  }
  EXPECT_LE(missed, 1) << name;
}

std::function<double(std::mt19937 &)> between(double low, double high) {
  return [=](std::mt19937 &random) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
}

TEST(GswoLibrary, FunctionsAreThoseOfTheCLibrary) {
#define EXPECT_FUNCTION(name, low, high)                                                  \
  expect_near(                                                                            \
      #name, [](double x) { return library::name(x); },                                   \
      [](float x) { return library::name##f(x); }, [](double x) { return std::name(x); }, \
      between(low, high))
  EXPECT_FUNCTION(exp, -30, 3);
  EXPECT_FUNCTION(exp2, -30, 3);
  EXPECT_FUNCTION(log, 1e-9, 1e9);
  EXPECT_FUNCTION(log2, 1e-3, 70000);
  EXPECT_FUNCTION(log10, 1e-3, 70000);
  EXPECT_FUNCTION(sin, -1000, 1000);
  EXPECT_FUNCTION(cos, -1000, 1000);
  EXPECT_FUNCTION(tan, -1.5, 1.5);
  EXPECT_FUNCTION(atan, -50, 50);
  EXPECT_FUNCTION(sqrt, 0, 70000);
  EXPECT_FUNCTION(floor, -300, 300);
  EXPECT_FUNCTION(ceil, -300, 300);
  EXPECT_FUNCTION(trunc, -300, 300);
  EXPECT_FUNCTION(round, -300, 300);
  EXPECT_FUNCTION(rint, -300, 300);
  EXPECT_FUNCTION(fabs, -300, 300);
#undef EXPECT_FUNCTION
}

TEST(GswoLibrary, PowersAndAngles) {
  std::mt19937 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const double x = between(0, 300)(random), y = between(-3, 3)(random);
    ASSERT_NEAR(library::pow(x, y), std::pow(x, y), 1e-13 * std::pow(x, y)) << x << " ^ " << y;
    ASSERT_NEAR(library::atan2(y, x - 150), std::atan2(y, x - 150), 1e-14);
    ASSERT_EQ(library::hypotf(3.f * i, 4.f * i), 5.f * i);
  }
  EXPECT_EQ(library::pow(-2.0, 3), -8);
  EXPECT_EQ(library::pow(3, 4), 81);
  EXPECT_EQ(library::pow(2.0, -2), 0.25);
  EXPECT_EQ(library::pow(0.0, 0), 1);
  EXPECT_EQ(library::pow(0.0, 2.5), 0);
  EXPECT_EQ(library::pow(0.0, -2.5), kInfinity);
  EXPECT_TRUE(std::isnan(library::pow(-2.0, 0.5)));
  EXPECT_EQ(library::atan2(0.0, 0.0), 0);
  EXPECT_EQ(library::atan2f(1, 0), static_cast<float>(std::acos(0.0)));
  EXPECT_EQ(library::fmod(7.5f, 2.f), 1.5f);
  EXPECT_EQ(library::fmod(-7.5, 2.0), -1.5);
}

TEST(GswoLibrary, LimitsOfFunctions) {
  EXPECT_EQ(library::exp(0.0), 1);
  EXPECT_EQ(library::exp(1000.0), kInfinity);
  EXPECT_EQ(library::exp(-1000.0), 0);
  EXPECT_EQ(library::exp(-kInfinity), 0);
  EXPECT_EQ(library::log(1.0), 0);
  EXPECT_EQ(library::log(0.0), -kInfinity);
  EXPECT_EQ(library::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(library::log(-1.0)));
  EXPECT_NEAR(library::log(5e-324), std::log(5e-324), 1e-11);
  EXPECT_TRUE(std::isnan(library::sin(kInfinity)));
  EXPECT_TRUE(library::isnan(std::nan("")));
  EXPECT_FALSE(library::isfinite(kInfinity));
  EXPECT_TRUE(library::isfinite(0.f));
}

TEST(GswoLibrary, SmallFunctions) {
  EXPECT_EQ(library::min(3, 2.5f), 2.5f);
  EXPECT_EQ(library::max(3, 4u), 4u);
  EXPECT_EQ(library::clamp(300, 0, 255), 255);
  EXPECT_EQ(library::clamp(-3.5, 0, 255), 0);
  EXPECT_EQ(library::abs(-7), 7);
  EXPECT_EQ(library::abs(-7.5f), 7.5f);
  EXPECT_FALSE(std::signbit(library::abs(-0.f)));
  EXPECT_EQ(library::fmin(std::nan(""), 3.0), 3);
  EXPECT_EQ(library::fmax(3.f, std::nanf("")), 3);
  EXPECT_EQ(library::sqrt(49), 7);
  int a = 1, b = 2;
  library::swap(a, b);
  EXPECT_EQ(a, 2);
  std::mt19937 random(3);
  for (int n = 0; n < 40; ++n) {
    std::vector<float> ours;
    for (int i = 0; i < n; ++i) ours.push_back(static_cast<float>(random() % 20));
    std::vector<float> sorted = ours;
    std::sort(sorted.begin(), sorted.end());
    library::sort(ours.data(), ours.data() + n);
    EXPECT_EQ(ours, sorted);
  }
}

}  // namespace
}  // namespace cudascan
