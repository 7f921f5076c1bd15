// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of the exact decision.
#include "kernels/nick/formula.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace cudascan::nick {
namespace {

constexpr std::uint64_t kOnes = ~std::uint64_t{0};

constexpr u128 wide(std::uint64_t high, std::uint64_t low) {
  return u128{high} << 64 | low;
}

/// Multiplies by hand, with digits to the base 2^32, the lowest first.
std::array<std::uint32_t, 8> long_product(u128 a, u128 b) {
  std::array<std::uint32_t, 8> digits{};
  for (int i = 0; i < 4; ++i) {
    std::uint64_t carry = 0;
    for (int j = 0; j < 4; ++j) {
      const std::uint64_t x = static_cast<std::uint32_t>(a >> (32 * i));
      const std::uint64_t y = static_cast<std::uint32_t>(b >> (32 * j));
      carry += digits[i + j] + x * y;
      digits[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    digits[i + 4] = static_cast<std::uint32_t>(carry);
  }
  return digits;
}

std::array<std::uint32_t, 8> digits_of(const Product &p) {
  std::array<std::uint32_t, 8> digits;
  for (int i = 0; i < 4; ++i) {
    digits[i] = static_cast<std::uint32_t>(p.low >> (32 * i));
    digits[i + 4] = static_cast<std::uint32_t>(p.high >> (32 * i));
  }
  return digits;
}

TEST(NickProduct, KnownProducts) {
  const struct {
    u128 a, b, high, low;
  } cases[] = {
      {0, wide(kOnes, kOnes), 0, 0},
      {1, wide(kOnes, kOnes), 0, wide(kOnes, kOnes)},
      // (2^64 - 1)^2 = 2^128 - 2^65 + 1
      {kOnes, kOnes, 0, wide(kOnes - 1, 1)},
      // 2^64 2^64 = 2^128
      {wide(1, 0), wide(1, 0), 1, 0},
      // (2^128 - 1)^2 = 2^256 - 2^129 + 1
      {wide(kOnes, kOnes), wide(kOnes, kOnes), wide(kOnes, kOnes - 1), 1},
      // (2^128 - 2^64) (2^65 - 1) = 2^193 - 2^129 - 2^128 + 2^64
      {wide(kOnes, 0), wide(1, kOnes), wide(1, kOnes - 2), wide(1, 0)},
      // Python computed these products.
      {wide(0x0123456789abcdef, 0xfedcba9876543210), wide(0xfedcba9876543210, 0x0123456789abcdef),
       wide(0x0121fa00ad77d743, 0x1ff2e48e8a71de69), wide(0xbcb448e0e2b4bd63, 0x2236d88fe5618cf0)},
      // 10^38 * 3 10^38
      {wide(0x4b3b4ca85a86c47a, 0x098a224000000000), wide(0xe1b1e5f90f944d6e, 0x1c9e66c000000000),
       wide(0x425365f534cb411f, 0x162e1e03b92f7c6c), wide(0x6660f1d454bf3000, 0)},
  };
  for (const auto &c : cases) {
    const Product p(c.a, c.b), q(c.b, c.a);
    EXPECT_TRUE(p.high == c.high && p.low == c.low);
    EXPECT_TRUE(q.high == c.high && q.low == c.low);
  }
}

TEST(NickProduct, EqualsLongMultiplication) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    // Operands of all lengths, with runs of ones, which cause carries.
    const u128 a = wide(random(), i % 5 ? random() : kOnes) >> random() % 128;
    const u128 b = wide(i % 7 ? random() : kOnes, random()) >> random() % 128;
    ASSERT_EQ(digits_of(Product(a, b)), long_product(a, b)) << "product " << i;
  }
}

TEST(NickProduct, Order) {
  const Product small(2, 3), same(3, 2), larger(7, 1), high(wide(1, 0), wide(1, 0));
  EXPECT_FALSE(small > same);
  EXPECT_FALSE(same > small);
  EXPECT_TRUE(larger > small);
  EXPECT_FALSE(small > larger);
  EXPECT_TRUE(high > larger);
  EXPECT_FALSE(larger > high);
  // 2^128 and 2^128 - 1: only both halves together show the difference.
  const Product below(wide(kOnes, kOnes), 1);
  EXPECT_TRUE(high > below);
  EXPECT_FALSE(below > high);
}

TEST(NickGreater, SignsAndSquares) {
  const int values[] = {-3, -2, 0, 2, 3};
  for (int x : values)
    for (int y : values)
      EXPECT_EQ(greater(sign(x), Product(x * x, 1), sign(y), Product(y * y, 1)), x > y)
          << x << " > " << y;
}

TEST(NickMagnitude, Extremes) {
  EXPECT_TRUE(magnitude(0) == 0);
  EXPECT_TRUE(magnitude(-5) == 5);
  EXPECT_TRUE(magnitude(INT64_MAX) == u128{INT64_MAX});
  EXPECT_TRUE(magnitude(INT64_MIN) == wide(0, std::uint64_t{1} << 63));
}

TEST(NickWindow, VarianceOfTheLargestWindow) {
  // Half of the samples are 65535 and half are 0: S = N/2 max, Q = N/2 max^2, so V = (N max / 2)^2.
  constexpr std::uint32_t n = 1022 * 1022;
  constexpr std::uint64_t max = 65535;
  const WindowSums w{n / 2 * max, n / 2 * max * max, n};
  EXPECT_TRUE(w.v() == u128{n / 2 * max} * (n / 2 * max));
  const WindowSums constant{n * max, n * max * max, n};
  EXPECT_TRUE(constant.v() == 0);
}

TEST(NickBusier, ComparesDeviationsOfDifferentSizes) {
  const WindowSums zero_two{2, 4, 2};         // 0 2: deviation 1
  const WindowSums zero_two_twice{4, 8, 4};   // 0 0 2 2: deviation 1
  const WindowSums zero_two_three{5, 13, 3};  // 0 2 3: deviation 1.25
  EXPECT_FALSE(busier(zero_two, zero_two_twice));
  EXPECT_FALSE(busier(zero_two_twice, zero_two));
  EXPECT_TRUE(busier(zero_two_three, zero_two));
  EXPECT_FALSE(busier(zero_two, zero_two_three));
}

TEST(NickExp, EqualsTheExponential) {
  for (int i = 0; i <= 100'000; ++i) {
    const double x = -10.0 * i / 100'000;
    ASSERT_NEAR(exp_ieee(x) / std::exp(x), 1, 1e-12) << "exp(" << x << ")";
  }
  EXPECT_EQ(exp_ieee(0), 1);
}

TEST(NickPhansalkarBoost, KnownValues) {
  // 2 exp(-10 m / max) in millionths
  EXPECT_EQ(phansalkar_boost({0, 0, 9}, 255), 2'000'000);
  EXPECT_EQ(phansalkar_boost({51 * 9, 0, 9}, 255), 270'671);  // 2 e^-2 = 0.27067056...
  EXPECT_EQ(phansalkar_boost({255 * 9, 0, 9}, 255), 91);      // 2 e^-10 = 0.0000907998...
  EXPECT_EQ(phansalkar_boost({13107ull << 20, 0, 1 << 20}, 65535), 270'671);
  EXPECT_EQ(phansalkar_boost({65535ull << 20, 0, 1 << 20}, 65535), 91);
}

TEST(NickPhansalkarBoost, IsTheRoundedExponential) {
  for (int sum = 0; sum <= 255 * 9; ++sum) {
    const long double exact = 2e6L * std::exp(-10.0L * sum / (9 * 255));
    EXPECT_LE(std::abs(phansalkar_boost({static_cast<std::uint64_t>(sum), 0, 9}, 255) - exact),
              0.5L + 1e-5L)
        << "sum " << sum;
  }
}

}  // namespace
}  // namespace cudascan::nick
