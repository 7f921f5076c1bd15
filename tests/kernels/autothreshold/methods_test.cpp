// SPDX-License-Identifier: LGPL-2.1-or-later
// The threshold methods: known values, oracles, teams of all sizes, large counts.
#include "kernels/autothreshold/methods.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "tests/kernels/autothreshold/oracle.h"

namespace cudascan::threshold {
namespace {

using oracle::Counts;
using Method = AutothresholdMethod;

constexpr Method kMethods[] = {
    Method::otsu,        Method::isodata,    Method::mcet,  Method::triangle,
    Method::max_entropy, Method::yen,        Method::li,    Method::minimum,
    Method::intermodes,  Method::moments,    Method::huang, Method::renyi_entropy,
    Method::shanbhag,    Method::percentile, Method::mean,
};

template <typename Team>
int find_any(Team &team, Method method) {
  return is_small(method, 2) ? find_small(team, method) : find(team, method);
}
int on_host(const Counts &h, Method method) {
  HostTeam team(h.data(), static_cast<int>(h.size()));
  return find_any(team, method);
}
std::vector<int> classes_on_host(const Counts &h, int classes) {
  HostTeam team(h.data(), static_cast<int>(h.size()));
  std::vector<int> thresholds(classes - 1);
  find_classes(team, classes, thresholds.data());
  return thresholds;
}
std::string name(Method method, const Counts &h) {
  return "method " + std::to_string(static_cast<int>(method)) + ", " + std::to_string(h.size()) +
         " levels";
}

Counts with(int levels, std::initializer_list<std::pair<int, std::uint32_t>> pixels) {
  Counts h(levels);
  for (const auto &[level, count] : pixels) h[level] = count;
  return h;
}

/// Histograms of many shapes, one for each seed.
Counts random_histogram(unsigned seed, int levels) {
  std::mt19937 random(seed);
  Counts h(levels);
  const auto hump = [&](int pixels, double centre, double width) {
    std::normal_distribution<double> normal(centre * levels, width * levels);
    for (int i = 0; i < pixels; ++i) {
      const double level = normal(random);
      if (level >= 0 && level < levels) ++h[static_cast<int>(level)];
    }
  };
  const auto share = [&] { return random() % 1000 / 1000.0; };
  switch (seed % 8) {
    case 0:
      for (auto &c : h) c = random() % 1000;
      break;
    case 1:
      hump(20000, share() / 2, 0.02 + share() / 10);
      hump(5000, 0.5 + share() / 2, 0.02 + share() / 10);
      break;
    case 2:
      for (int i = 0; i < 3; ++i) hump(10000, (i + share()) / 3, 0.01 + share() / 15);
      break;
    case 3:
      for (int i = 0; i < 2 + levels / 16; ++i) h[random() % levels] = random() % 10000;
      break;
    case 4:  // Counts of up to 2^30 pixels, most of them white.
      hump(30000, share() / 2, 0.05);
      for (auto &c : h) c *= 800;
      h[levels - 1 - random() % 2] += 1'000'000'000;
      break;
    case 5:
      h[random() % levels] = 1 + random() % 1000;
      h[random() % levels] = 1 + random() % 1000;
      break;
    case 6:
      for (int i = 0; i < 5; ++i) ++h[random() % levels];
      break;
    default:
      h[random() % levels] = random() % 2 ? 1 : random() % 1'000'000;
      break;
  }
  if (oracle::pixels(h, 0, levels - 1) == 0) h[levels / 2] = 1;
  return h;
}

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
      // The line is from (201, 0) to the peak (50, 100); 51 is farthest below, T is next to it.
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
  // The mean is 162.5, and the mean below it is that of the lowest level, from which levels count.
  EXPECT_EQ(on_host(with(256, {{50, 100}, {200, 300}}), Method::li), 162);
}

TEST(ThresholdKnown, ByHand) {
  // The example of 36 pixels that textbooks have for Otsu: the variance is largest between 2 and 3.
  const Counts h{8, 7, 2, 6, 9, 4};
  EXPECT_EQ(on_host(h, Method::otsu), 2);
  // 85 / 36
  EXPECT_EQ(on_host(h, Method::mean), 2);
  // 17 of 36 at or below 2, 23 at or below 3
  EXPECT_EQ(on_host(h, Method::percentile), 2);
  // From 2 on: means 11 / 17 and 74 / 19, the half of their sum is 2.27.
  EXPECT_EQ(on_host(h, Method::isodata), 2);
  EXPECT_EQ(classes_on_host(h, 3), (std::vector<int>{1, 3}));
}

TEST(ThresholdKnown, OtsuTakesTheLowestOfExactTies) {
  // Symmetric: both splits are equally good, and no rounding may prefer the higher.
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

/// The histograms for the test of one method.
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

/// That T has the oracle's highest score, or one that is lower by `tolerance` at most.
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
// Its function comes from a table in part.
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

/// What a team of threads shares.
struct Meeting {
  explicit Meeting(int members) : barrier(members), slots(members) {}

  std::barrier<> barrier;
  struct alignas(16) Slot {
    unsigned char bytes[192];
  };
  std::vector<Slot> slots;
  alignas(16) unsigned char memory[kTeamMemory];
};

/// A member of a team of threads. They combine what they give in different orders.
class ThreadTeam {
 public:
  ThreadTeam(const Counts &h, Meeting &meeting, int member, int members)
      : h_(h), meeting_(meeting), member_(member), members_(members) {}

  int levels() const { return static_cast<int>(h_.size()); }
  std::uint32_t count(int level) const { return h_[level]; }
  int begin() const { return static_cast<int>(h_.size() * member_ / members_); }
  int end() const { return static_cast<int>(h_.size() * (member_ + 1) / members_); }

  template <typename T>
  T before(const T &mine, T &all) {
    give(mine);
    T below{};
    all = T{};
    for (int i = 0; i < members_; ++i) {
      if (i < member_) below += given<T>(i);
      all += given<T>(i);
    }
    sync();
    return below;
  }
  template <typename T, typename Op>
  T reduce(const T &mine, const Op &op) {
    give(mine);
    T result = mine;
    for (int i = 1; i < members_; ++i) {
      const T other = given<T>((member_ + i) % members_);
      result = i % 2 ? op(result, other) : op(other, result);
    }
    sync();
    return result;
  }
  int member() const { return member_; }
  int members() const { return members_; }
  void *memory() { return meeting_.memory; }
  void sync() { meeting_.barrier.arrive_and_wait(); }

  static constexpr int kNear = 1, kMostLevels = kSmallLevels;
  int near_member() const { return 0; }
  int near_begin() const { return begin(); }
  int near_end() const { return end(); }
  double value_before(double) const { return 0; }
  double value_after(double) const { return 0; }

  template <typename T, typename Work>
  void share(int n, T *results, const Work &work) {
    sync();
    HostTeam worker(h_.data(), levels());
    for (int i = member_; i < n; i += members_) results[i] = work(i, worker);
    sync();
  }

 private:
  template <typename T>
  void give(const T &mine) {
    static_assert(sizeof(T) <= sizeof(Meeting::Slot) && std::is_trivially_copyable_v<T>);
    std::memcpy(meeting_.slots[member_].bytes, &mine, sizeof(T));
    sync();
  }
  template <typename T>
  T given(int member) const {
    T x;
    std::memcpy(&x, meeting_.slots[member].bytes, sizeof(T));
    return x;
  }

  const Counts &h_;
  Meeting &meeting_;
  int member_, members_;
};

/// All methods that fit, on one member.
template <typename Team>
std::vector<int> everything(Team &team) {
  std::vector<int> results;
  for (Method method : kMethods)
    if (team.levels() <= kSmallLevels || !is_small(method, 2))
      results.push_back(find_any(team, method));
  if (team.levels() > kSmallLevels) return results;
  for (int classes = 2; classes <= 4; ++classes) {
    results.resize(results.size() + classes - 1);
    find_classes(team, classes, &results[results.size() - (classes - 1)]);
  }
  return results;
}

void expect_same_in_teams(int members, const std::vector<Counts> &histograms) {
  Meeting meeting(members);
  std::vector<std::vector<std::vector<int>>> results(members);
  std::vector<std::thread> threads;
  for (int member = 0; member < members; ++member)
    threads.emplace_back([&, member] {
      for (const Counts &h : histograms) {
        ThreadTeam team(h, meeting, member, members);
        results[member].push_back(everything(team));
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (std::size_t i = 0; i < histograms.size(); ++i) {
    HostTeam team(histograms[i].data(), static_cast<int>(histograms[i].size()));
    const std::vector<int> expected = everything(team);
    for (int member = 0; member < members; ++member)
      ASSERT_EQ(results[member][i], expected)
          << "histogram " << i << ", member " << member << " of " << members;
  }
}

TEST(ThresholdTeams, AnySizeGivesTheSame) {
  std::vector<Counts> histograms;
  for (unsigned seed : {0, 1, 2, 3, 4, 9, 10}) histograms.push_back(random_histogram(seed, 256));
  histograms.push_back(random_histogram(2, 64));
  histograms.push_back(random_histogram(1, 4096));
  histograms.push_back(Counts(256));
  for (int members : {1, 3, 7}) expect_same_in_teams(members, histograms);
  // Larger teams meet slowly: histograms with two modes after few smoothings.
  const std::vector<Counts> few{with(256, {{50, 100}, {60, 3}, {200, 100}}),
                                random_histogram(1, 1024)};
  for (int members : {256, 1000}) expect_same_in_teams(members, few);
}

/// A page of 7016 x 9921 with 97 % white pixels, in thousands and in pixels, and at 2^30 pixels.
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
  // (2^76)^2 2^58 = (2^70)^2 2^70 / 2^0: 2^210 both, in another way.
  EXPECT_FALSE(Wide::product(a, std::uint64_t{1} << 58) > Wide::product(u128{1} << 77, 1ull << 56));
  EXPECT_FALSE(Wide::product(u128{1} << 77, 1ull << 56) > Wide::product(a, std::uint64_t{1} << 58));
  EXPECT_TRUE(Wide::product(a, (1ull << 58) + 1) > Wide::product(u128{1} << 77, 1ull << 56));
}

TEST(Log2, IsExactForPowersOfTwo) {
  for (int e = -1022; e < 1024; ++e) EXPECT_EQ(log2_of(std::ldexp(1.0, e)), e);
}

TEST(Log2, IsNearTheLogarithm) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    // Near 1 from both sides, counts, and all exponents.
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
}  // namespace cudascan::threshold
