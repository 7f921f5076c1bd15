// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/histogram/log2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cudascan {
namespace {

TEST(Log2, IsExactForPowersOfTwo) {
  for (int e = -1022; e < 1024; ++e) EXPECT_EQ(log2_of(std::ldexp(1.0, e)), e);
}

TEST(Log2, IsNearTheLogarithm) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    // Values near 1 from both sides, counts, and all exponents.
    const double x = i % 4 == 0   ? 1 + unit
                     : i % 4 == 1 ? 1 - unit / 2
                     : i % 4 == 2 ? 1 + static_cast<double>(random() >> (random() % 64))
                                  : std::ldexp(1 + unit, static_cast<int>(random() % 2000) - 1000);
    const long double exact = std::log2(static_cast<long double>(x));
    const long double error = std::abs(log2_of(x) - exact);
    ASSERT_LE(error, 3e-16L * std::max(1.0L, std::abs(exact))) << x;
    ASSERT_LE(error, 5e-16L * std::abs(exact)) << x;
  }
}

}  // namespace
}  // namespace cudascan
