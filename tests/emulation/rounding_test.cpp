// SPDX-License-Identifier: LGPL-2.1-or-later
// How CUDA rounds means and deviations, for all sums near the ties between levels. Other sums need
// no test, because each result grows with its sum. The emulated square roots and reciprocals are as
// inexact as those of a GPU may be.
#include "kernels/windowsums/rounding.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/swofilter/moments/moments.h"

namespace cudascan::windowsums {
namespace {

constexpr unsigned kMostSamples = 65536;

TEST(SwoFilterRoundingCuda, MeansOfBytes) {
  for (unsigned n = 1; n <= kMostSamples; ++n)
    for (const int shift : {0, 8}) {
      if (shift == 0 ? n > 4096 : n <= 256) continue;
      const ByteMeans means(n, shift);
      for (unsigned level = 1; level <= 255; ++level)
        for (unsigned sum = ((2 * level - 1) * n + 1) / 2 - 1, i = 0; i < 2; ++i, ++sum) {
          const unsigned product = means.product_of_sum(sum);
          ASSERT_EQ(ByteMeans::levels({product, 0, product, 0}, shift) & 0xff00ff,
                    0x10001 * swo::rounded_mean(sum, n))
              << sum << " / " << n;
        }
      ASSERT_EQ(means.product_of_sum(255 * n) >> shift, 255u) << n;
      ASSERT_EQ(means.product_of_sum(0) >> shift, 0u) << n;
    }
}

TEST(SwoFilterRoundingCuda, Means) {
  for (unsigned n = 1; n < kMostSamples; n += n < 300 ? 1 : 97)
    for (std::uint64_t level = 1; level <= 65535; level += level < 300 || level > 65300 ? 1 : 83)
      for (std::uint64_t sum = ((2 * level - 1) * n + 1) / 2 - 1, i = 0; i < 2; ++i, ++sum)
        ASSERT_EQ(rounded_mean(static_cast<unsigned>(sum), n), (2 * sum + n) / (2 * n))
            << sum << " / " << n;
}

/// n^2 times the least variance whose square root is rounded to this level.
std::uint64_t least_variance(std::uint64_t level, std::uint64_t n) {
  const std::uint64_t root = (2 * level - 1) * n;  // twice the square root of that
  return (root * root + 3) / 4;
}

TEST(SwoFilterRoundingCuda, Deviations) {
  for (unsigned n = 1; n <= 65025; n += n < 300 ? 1 : 61)
    for (unsigned level = 1; level <= 32767; level += level < 200 || level > 32700 ? 1 : 71) {
      const std::uint64_t least = least_variance(level, n);
      ASSERT_EQ(rounded_deviation(least, n), level) << n;
      ASSERT_EQ(rounded_deviation(least - 1, n), level - 1) << n;
    }
}

/// Windows at the corners of an image have only a quarter of the samples of others.
TEST(SwoFilterRoundingCuda, DeviationsOfBytes) {
  std::mt19937 random(1);
  for (unsigned n = 1; n <= 65025; n += n < 1100 ? 1 : 29)
    for (const unsigned most : {n, 2 * n, 4 * n}) {
      const int shift = ByteDeviation::shift(static_cast<int>(std::min(most, 65025u)));
      // The product of the reciprocals of columns and of rows.
      const float inverse = reciprocal_approx(static_cast<float>(n));
      const ByteDeviation deviation(inverse * inverse, shift);
      const auto check = [&](std::uint64_t variance, unsigned level) {
        bool near = false;
        const unsigned got = deviation.estimate(variance, near) & 0xff;
        EXPECT_TRUE(near || got == level) << variance << " of " << n << " shifted by " << shift;
      };
      for (unsigned level = 0; level <= 127; ++level) {
        const std::uint64_t from = level ? least_variance(level, n) : 0,
                            to = least_variance(level + 1, n);
        const std::uint64_t steps[] = {0, 1, 2, random() % (to - from), (to - from) / 1000};
        for (const std::uint64_t step : steps) {
          check(std::min(from + step, to - 1), level);
          check(std::max(to - 1 - std::min(step, to - 1), from), level);
          if (HasFailure()) return;
        }
        // Far from ties the estimate is certain, except for windows of few samples.
        bool near = false;
        deviation.estimate(std::uint64_t{n} * n * level * level, near);
        ASSERT_FALSE(near && n > 8) << n;
      }
    }
}

}  // namespace
}  // namespace cudascan::windowsums
