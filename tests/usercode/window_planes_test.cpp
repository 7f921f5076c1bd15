// SPDX-License-Identifier: LGPL-2.1-or-later
// Which planes filters are given.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/usercode/window_planes.h"

namespace cudascan::test {
namespace {

using Border = WindowBorder;
using Reads = UserFilterReads;
gswo::FilterTarget target(const Mask &mask, Border border) {
  return {mask, border, 0, 255, 0, 1};
}

gswo::WindowPlanes planes(const char *text, const Mask &mask, Border border = Border::clip,
                          bool on_gpu = false) {
  return gswo::planes_for(gswo::window_calls(text), target(mask, border),
                          {{"k", std::int64_t{7}}, {"q", 7.0}}, Reads::automatic, on_gpu);
}

TEST(GswoPlanes, AreMadeForLargeWindowsOfAnyShape) {
  using namespace gswo;
  const char *const kAll = "p.min() + p.max() + p.median() + p.deviation() + p.rank(3)";
  const unsigned order = kMinPlane | kMaxPlane | kMedianPlane | kRankPlanes;
  for (const Mask &mask : {Mask::make_ellipse(31, 31), Mask::make_cross(255, 101)}) {
    EXPECT_EQ(planes(kAll, mask).kinds, order | kSumPlane | kSquaresPlane | kCountPlane);
    EXPECT_EQ(planes(kAll, mask, Border::reflect).kinds, order | kSumPlane | kSquaresPlane);
    EXPECT_EQ(planes(kAll, mask, Border::clip, true).kinds, order | kSumPlane | kSquaresPlane)
        << "the GPU counts samples itself";
    EXPECT_EQ(planes("p.mean()", mask).kinds, kSumPlane | kCountPlane);
    EXPECT_EQ(planes("p.count()", mask).kinds, kCountPlane);
  }
  EXPECT_EQ(planes(kAll, Mask::make_rectangle(31, 31)).kinds, order | kSumPlane | kSquaresPlane);
  EXPECT_EQ(planes(kAll, Mask::make_cross(3, 3)).kinds, 0u);
}

TEST(GswoPlanes, OnTheGpuAreMadeWhereTheyAreFaster) {
  using namespace gswo;
  const auto kinds = [](const char *text, const Mask &mask) {
    return planes(text, mask, Border::clip, true).kinds;
  };
  const Mask small = Mask::make_ellipse(7, 7), middle = Mask::make_ellipse(15, 15),
             cross = Mask::make_cross(15, 15), rectangle = Mask::make_rectangle(21, 21);
  EXPECT_EQ(kinds("p.min() + p.median() + p.mean() + p.deviation()", small), 0u);
  EXPECT_EQ(kinds("p.min() + p.median() + p.mean()", middle), kMinPlane | kMedianPlane);
  EXPECT_EQ(kinds("p.mean() + p.deviation()", middle), kSumPlane | kSquaresPlane);
  EXPECT_EQ(kinds("p.min() + p.median() + p.mean()", cross), unsigned{kMinPlane});
  EXPECT_EQ(kinds("p.percentile(25) + p.deviation()", rectangle), unsigned{kRankPlanes});
  EXPECT_EQ(kinds("p.mean()", Mask::make_rectangle(31, 31)), unsigned{kSumPlane});
}

TEST(GswoPlanes, OfRanksHaveKnownArguments) {
  using namespace gswo;
  const Mask mask = Mask::make_ellipse(31, 31);
  const auto ranks = [&](const char *text) {
    std::vector<std::pair<bool, float>> result;
    for (const RankPlane &rank : planes(text, mask).ranks)
      result.emplace_back(rank.is_percentile, rank.argument);
    return result;
  };
  using Ranks = std::vector<std::pair<bool, float>>;
  EXPECT_EQ(ranks("p.rank(3) + p.rank(k) + p.rank(3) + p.percentile(12.5)"),
            (Ranks{{false, 3}, {false, 7}, {true, 12.5f}}));
  EXPECT_EQ(ranks("p.rank(q) + p.rank(0x3) + p.percentile(unknown)"), Ranks{});
  EXPECT_TRUE(planes("p.rank(q)", mask).other_ranks);
  EXPECT_FALSE(planes("p.rank(3)", mask).other_ranks);
  EXPECT_EQ(planes("p.rank(0) + p.percentile(0)", mask).kinds, kMinPlane);
  EXPECT_EQ(planes("p.rank(100000) + p.percentile(100)", mask).kinds, kMaxPlane);
  EXPECT_EQ(planes("p.rank(3)", mask, Border::constant).kinds, kRankPlanes);
  std::string many = "0";
  for (int k = 1; k <= kMostRankPlanes + 1; ++k) many += " + p.rank(" + std::to_string(k) + ")";
  EXPECT_EQ(planes(many.c_str(), mask).ranks.size(), std::size_t{kMostRankPlanes});
  EXPECT_TRUE(planes(many.c_str(), mask).other_ranks);
}

TEST(GswoPlanes, OfPercentilesHaveTheNumberOfEverySize) {
  const auto number = [](int n, float q) {
    return std::min(static_cast<int>(static_cast<float>(n) * q / 100), n - 1);
  };
  for (const float q : {0.5f, 1.f, 10.f, 12.5f, 25.f, 50.f, 75.f, 90.f, 97.5f, 99.f}) {
    const std::int64_t share = gswo::share_for(1, 65025, number, q);
    ASSERT_GE(share, 0) << q;
    for (int n = 1; n <= 65025; ++n)
      ASSERT_EQ(std::min(n * share / 1000000, std::int64_t{n - 1}), number(n, q)) << q << ", " << n;
  }
  EXPECT_EQ(gswo::share_for(
                1, 9, [](int n, float) { return n % 2; }, 0),
            -1);
}

}  // namespace
}  // namespace cudascan::test
