// SPDX-License-Identifier: LGPL-2.1-or-later
// The threshold methods: known values, comparisons with oracles, and large counts.
#include "kernels/autothreshold/methods.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/kernels/autothreshold/histograms.h"

namespace cudascan::threshold {
namespace {

TEST(ThresholdKnown, NoPixels) {
  for (Method method : kMethods) {
    for (int levels : {1, 2, 256}) EXPECT_EQ(on_host(Counts(levels), method), 0);
    if (!is_small(method, 2)) {
      EXPECT_EQ(on_host(Counts(65536), method), 0);
    }
  }
  EXPECT_EQ(classes_on_host(Counts(256), 4), (std::vector<int>{0, 0, 0}));
}

TEST(ThresholdKnown, OneLevelIsTheThreshold) {
  for (int level : {0, 1, 128, 254, 255})
    for (std::uint32_t count : {1u, 1000u, 1u << 30}) {
      const Counts h = with(256, {{level, count}});
      for (Method method : kMethods) EXPECT_EQ(on_host(h, method), level) << name(method, h);
      EXPECT_EQ(classes_on_host(h, 3), (std::vector<int>{level, level}));
    }
  const Counts h = with(65536, {{65535, 1u << 30}});
  for (Method method : kMethods)
    if (!is_small(method, 2)) {
      EXPECT_EQ(on_host(h, method), 65535) << name(method, h);
    }
}

TEST(ThresholdKnown, TwoLevels) {
  const Counts h = with(256, {{50, 100}, {200, 100}});
  const struct {
    Method method;
    int threshold;
  } cases[] = {
      {Method::otsu, 50},
      {Method::isodata, 125},
      {Method::mcet, 50},
      // The line is from (201, 0) to the peak (50, 100). 51 is the farthest below it, and T is next
      // to 51.
      {Method::triangle, 52},
      {Method::max_entropy, 50},
      {Method::yen, 50},
      {Method::li, 125},
      {Method::minimum, 51},
      {Method::intermodes, 125},
      {Method::moments, 50},
      {Method::huang, 50},
      {Method::renyi_entropy, 50},
      {Method::shanbhag, 50},
      {Method::percentile, 50},
      {Method::mean, 125},
  };
  for (const auto &c : cases) EXPECT_EQ(on_host(h, c.method), c.threshold) << name(c.method, h);
  EXPECT_EQ(classes_on_host(h, 3), (std::vector<int>{50, 50}));
}

TEST(ThresholdKnown, LiStopsAtTheMeanWhereNothingIsBelowIt) {
  // The mean is 162.5. The mean of the levels below is that of the lowest level, and levels count
  // from the lowest, so it is 0.
  EXPECT_EQ(on_host(with(256, {{50, 100}, {200, 300}}), Method::li), 162);
}

TEST(ThresholdKnown, ByHand) {
  // The example of 36 pixels that textbooks use for Otsu: the variance is largest between 2 and 3.
  const Counts h{8, 7, 2, 6, 9, 4};
  EXPECT_EQ(on_host(h, Method::otsu), 2);
  // the mean is 85 / 36
  EXPECT_EQ(on_host(h, Method::mean), 2);
  // 17 of 36 pixels are at or below 2, and 23 at or below 3
  EXPECT_EQ(on_host(h, Method::percentile), 2);
  // From 2 on: the means are 11 / 17 and 74 / 19, half of their sum is 2.27.
  EXPECT_EQ(on_host(h, Method::isodata), 2);
  EXPECT_EQ(classes_on_host(h, 3), (std::vector<int>{1, 3}));
}

TEST(ThresholdKnown, OtsuTakesTheLowestOfExactTies) {
  // Symmetric: both splits are equally good, and rounding must not prefer the higher one.
  for (std::uint32_t count : {1u, 3u, 99'999'999u})
    for (int step : {1, 7, 21'000}) {
      const Counts h = with(65536, {{100, count}, {100 + step, count}, {100 + 2 * step, count}});
      EXPECT_EQ(on_host(h, Method::otsu), 100) << count << " " << step;
    }
}

TEST(ThresholdKnown, MinimumAndIntermodesOfOneHumpAreOtsus) {
  Counts h(256);
  for (int i = 0; i < 256; ++i) h[i] = 1000 - 3 * std::abs(i - 90);
  EXPECT_EQ(on_host(h, Method::minimum), on_host(h, Method::otsu));
  EXPECT_EQ(on_host(h, Method::intermodes), on_host(h, Method::otsu));
}

/// Runs a check for the histograms that test a method.
template <typename Check>
void for_random_histograms(Method method, const Check &check) {
  for (unsigned seed = 0; seed < 320; ++seed) {
    const int levels = seed % 16 < 8 ? 64 : seed % 3 ? 256 : 2 + seed % 50;
    check(random_histogram(seed, levels));
  }
  if (is_small(method, 2)) return;
  for (unsigned seed = 0; seed < 8; ++seed) check(random_histogram(seed, 1024));
  for (unsigned seed : {1, 4}) check(random_histogram(seed, 4096));
}

/// T must have the oracle's highest score, or a score that is lower by `tolerance` at most.
void expect_best(Method method, const oracle::Score &score, oracle::Real tolerance) {
  for_random_histograms(method, [&](const Counts &h) {
    const int threshold = on_host(h, method), best = oracle::best(h, score);
    if (threshold == best) return;
    ASSERT_LT(threshold, oracle::highest(h)) << name(method, h);
    ASSERT_GT(h[threshold], 0u) << name(method, h);
    const oracle::Real most = score(h, best);
    EXPECT_NEAR(score(h, threshold), most, tolerance * std::max(oracle::Real(1), std::abs(most)))
        << name(method, h) << ": " << threshold << ", oracle: " << best;
  });
}
void expect_same(Method method, const std::function<int(const Counts &)> &expected) {
  for_random_histograms(method, [&](const Counts &h) {
    EXPECT_EQ(on_host(h, method), expected(h)) << name(method, h);
  });
}

TEST(ThresholdOracle, Otsu) {
  expect_best(Method::otsu, oracle::otsu, 1e-17L);
}
TEST(ThresholdOracle, Mcet) {
  expect_best(Method::mcet, oracle::mcet, 1e-9L);
}
TEST(ThresholdOracle, MaxEntropy) {
  expect_best(Method::max_entropy, oracle::entropies(1), 1e-9L);
}
TEST(ThresholdOracle, Yen) {
  expect_best(Method::yen, oracle::yen, 1e-12L);
}
TEST(ThresholdOracle, Percentile) {
  expect_best(Method::percentile, oracle::percentile, 1e-17L);
}
TEST(ThresholdOracle, Shanbhag) {
  expect_best(Method::shanbhag, oracle::shanbhag, 1e-9L);
}
// The method takes its function partly from a table.
TEST(ThresholdOracle, Huang) {
  expect_best(Method::huang, oracle::huang, 1e-5L);
}
TEST(ThresholdOracle, Isodata) {
  expect_same(Method::isodata, oracle::isodata);
}
TEST(ThresholdOracle, Li) {
  expect_same(Method::li, oracle::li);
}
TEST(ThresholdOracle, Triangle) {
  expect_same(Method::triangle, oracle::triangle);
}
TEST(ThresholdOracle, Moments) {
  expect_same(Method::moments, oracle::moments);
}
TEST(ThresholdOracle, RenyiEntropy) {
  expect_same(Method::renyi_entropy, oracle::renyi_entropy);
}
TEST(ThresholdOracle, Mean) {
  expect_same(Method::mean,
              [](const Counts &h) { return static_cast<int>(oracle::mean(h, 0, oracle::top(h))); });
}

TEST(ThresholdOracle, MinimumAndIntermodes) {
  for (unsigned seed = 0; seed < 64; ++seed) {
    const Counts h = random_histogram(seed, seed % 16 < 8 ? 64 : 256);
    const oracle::Modes modes(h);
    const bool found = modes.first >= 0;
    const int otsu = on_host(h, Method::otsu);
    EXPECT_EQ(on_host(h, Method::minimum), found ? modes.lowest : otsu) << seed;
    EXPECT_EQ(on_host(h, Method::intermodes), found ? (modes.first + modes.second) / 2 : otsu)
        << seed;
  }
}

// Levels of equal height are no modes, but become some when they are smoothed.
TEST(ThresholdOracle, MinimumAndIntermodesOfPlateaus) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    Counts h(seed % 3 ? 48 : 256);
    for (std::size_t i = 0; i < h.size();) {
      const std::uint32_t height = random() % 3 * (seed % 5 ? 10 : 100'000);
      for (auto width = 1 + random() % 12; width > 0 && i < h.size(); --width) h[i++] = height;
    }
    h[0] += 1;
    const oracle::Modes modes(h);
    const bool found = modes.first >= 0;
    const int otsu = on_host(h, Method::otsu);
    EXPECT_EQ(on_host(h, Method::intermodes), found ? (modes.first + modes.second) / 2 : otsu)
        << seed;
  }
}

// One hump stays one: rising, falling, flat, at an end, of a single level.
TEST(ThresholdOracle, MinimumAndIntermodesOfOneHump) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Counts h(seed % 2 ? 256 : 64);
    const int peak = static_cast<int>(seed % 5 == 0   ? 0
                                      : seed % 5 == 1 ? h.size() - 1
                                                      : random() % h.size());
    const auto step = [&] { return random() % (seed % 4 + 1) * (random() % 1000); };
    for (int i = 1; i <= peak; ++i) h[i] = h[i - 1] + step();
    h[peak] += 1;
    for (int i = static_cast<int>(h.size()) - 1; i > peak; --i)
      h[i] = (i + 1 < static_cast<int>(h.size()) ? h[i + 1] : 0) + step();
    h[peak] = std::max(h[peak], peak + 1 < static_cast<int>(h.size()) ? h[peak + 1] : 0);
    EXPECT_LT(oracle::Modes(h).first, 0) << seed;
    EXPECT_EQ(on_host(h, Method::minimum), on_host(h, Method::otsu)) << seed;
    EXPECT_EQ(on_host(h, Method::intermodes), on_host(h, Method::otsu)) << seed;
  }
}

TEST(ThresholdOracle, Classes) {
  for (unsigned seed = 0; seed < 64; ++seed)
    for (int classes = 2; classes <= 4; ++classes) {
      const Counts h = random_histogram(seed, classes < 4 ? 48 : 24);
      const std::vector<int> thresholds = classes_on_host(h, classes);
      EXPECT_TRUE(std::is_sorted(thresholds.begin(), thresholds.end()));
      const oracle::Real most = oracle::most_variance_between(h, classes - 1);
      EXPECT_NEAR(oracle::variance_between(h, thresholds), most, 1e-12L * (1 + most))
          << seed << ", classes " << classes;
    }
}

/// A page of 7016 x 9921 pixels, 97 % white. Counts in thousands, in pixels, and for 2^30 pixels.
TEST(ThresholdCounts, LargeOnesAreAsSmallOnes) {
  for (int levels : {256, 65536}) {
    Counts small(levels);
    for (int i = 0; i < 200; ++i) {
      const int black = levels / 8 + (i - 100) * levels / 1000;
      const int white = levels - 1 - i * levels / 2000;
      small[black] += 12 - std::abs(i - 100) / 10;
      small[white] += 340 - i;
    }
    small[levels - 1] += 23'000;
    const double n = static_cast<double>(oracle::pixels(small, 0, levels - 1));
    for (double pixels : {7016.0 * 9921, 0x1p30}) {
      Counts large = small;
      for (auto &c : large) c *= static_cast<std::uint32_t>(pixels / n);
      for (Method method : kMethods) {
        if (levels > kSmallLevels && is_small(method, 2)) continue;
        EXPECT_EQ(on_host(large, method), on_host(small, method)) << name(method, large);
      }
      if (levels > kSmallLevels) continue;
      for (int classes : {3, 4})
        EXPECT_EQ(classes_on_host(large, classes), classes_on_host(small, classes));
    }
  }
}

TEST(ThresholdWide, ComparesProductsBeyond128Bits) {
  const u128 a = u128{1} << 76;
  EXPECT_TRUE(Wide::product(a, 2) > Wide::product(a, 1));
  EXPECT_TRUE(Wide::product(a, 1) > Wide::product(a - 1, 1));
  EXPECT_FALSE(Wide::product(a, 1) > Wide::product(a, 1));
  // Equal products: (2^76)^2 2^58 = (2^77)^2 2^56 = 2^210.
  EXPECT_FALSE(Wide::product(a, std::uint64_t{1} << 58) > Wide::product(u128{1} << 77, 1ull << 56));
  EXPECT_FALSE(Wide::product(u128{1} << 77, 1ull << 56) > Wide::product(a, std::uint64_t{1} << 58));
  EXPECT_TRUE(Wide::product(a, (1ull << 58) + 1) > Wide::product(u128{1} << 77, 1ull << 56));
}

}  // namespace
}  // namespace cudascan::threshold
