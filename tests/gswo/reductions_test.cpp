// SPDX-License-Identifier: LGPL-2.1-or-later
// Stand-alone programs with reductions: the GPU combines the windows' parts, and only the result is
// copied back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "program.h"

namespace cudascan::gswo::test {
namespace {

using Pixel = std::uint16_t;

const Program &program() {
  static const Program all(source("reductions.cpp"));
  return all;
}

std::vector<Pixel> noise(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<Pixel> pixels(size);
  for (Pixel &p : pixels) p = static_cast<Pixel>(random());
  return pixels;
}

/// A marker grows along a winding path of ones in the mask.
TEST(GswoReductions, RepeatUntilNothingChanges) {
  constexpr int kWidth = 37, kHeight = 21, kPitch = kWidth + 2;
  struct Pictures {
    std::vector<Pixel> memory = std::vector<Pixel>(3 * kPitch * (kHeight + 2));
    std::vector<Pixel *> rows[3];
    Pictures() {
      for (int k = 0; k < 3; ++k)
        for (int y = 0; y < kHeight + 2; ++y)
          rows[k].push_back(memory.data() + (k * (kHeight + 2) + y) * kPitch + 1);
      for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x)
          rows[2][y + 1][x] = y % 2 == 0 ? 9 : x == (y % 4 == 1 ? kWidth - 1 : 0) ? 5 : 0;
      rows[0][1][0] = 9;
    }
  } expected, is;
  using Function = int(Pixel **, Pixel **, Pixel **, int, int);
  const auto run = [](bool cuda, Pictures &p) {
    return program().form(cuda).function<Function>("reconstruct")(
        p.rows[0].data() + 1, p.rows[1].data() + 1, p.rows[2].data() + 1, kWidth, kHeight);
  };
  const int turns = run(false, expected);
  int found = 0;
  const Costs costs = program().costs_of([&] { found = run(true, is); });
  EXPECT_GT(turns, 300) << "the path is long";
  EXPECT_EQ(found, turns);
  EXPECT_EQ(is.memory, expected.memory);
  EXPECT_EQ(costs.launches, turns);
  EXPECT_EQ(costs.down, turns + 2) << "a number in each turn, and both images at the end";
  EXPECT_EQ(costs.down_bytes, 4 * turns + 2 * 2 * kWidth * kHeight);
  EXPECT_LE(costs.up, turns + 6);
}

TEST(GswoReductions, EachOperationGivesWhatTheLoopGives) {
  using Function = void(const Pixel *, long long *, int, int);
  for (const auto &[w, h] : {std::pair(1, 1), {5, 4}, {37, 23}, {300, 130}})
    for (const unsigned seed : {1u, 2u}) {
      std::vector<Pixel> in = noise(static_cast<std::size_t>(w) * h, seed);
      if (seed == 2)
        for (Pixel &p : in) p %= 11;
      std::vector<long long> expected(12), is(12);
      program().form(false).function<Function>("each")(in.data(), expected.data(), w, h);
      program().form(true).function<Function>("each")(in.data(), is.data(), w, h);
      EXPECT_EQ(is, expected) << w << "x" << h << ", " << seed;
      // Said in another way than in the source.
      const long long all = std::accumulate(in.begin(), in.end(), 0LL);
      EXPECT_EQ(is[0], 5 + all - 100LL * w * h);
      EXPECT_EQ(
          is[1],
          (200 + std::count_if(in.begin(), in.end(), [](Pixel p) { return p % 2 == 1; })) % 256);
      EXPECT_EQ(is[2], -1 - all * 1000000);
    }
}

TEST(GswoReductions, HistogramsAreCounted) {
  using Function = void(const Pixel *, int *, unsigned *, int, int, int);
  for (const int levels : {1, 100, 5000}) {
    constexpr int kWidth = 203, kHeight = 151;
    std::vector<Pixel> in = noise(kWidth * kHeight);
    for (std::size_t k = 0; k < in.size(); k += 3) in[k] = 77;
    std::vector<int> table(256, 4), found_table = table;
    std::vector<unsigned> other(5000, 7), found_other = other;
    program().form(false).function<Function>("histograms")(in.data(), table.data(), other.data(),
                                                           kWidth, kHeight, levels);
    const Costs costs = program().costs_of([&] {
      program().form(true).function<Function>("histograms")(
          in.data(), found_table.data(), found_other.data(), kWidth, kHeight, levels);
    });
    EXPECT_EQ(found_table, table) << levels;
    EXPECT_EQ(found_other, other) << levels;
    EXPECT_GT(table[77], kWidth * kHeight / 3);
    EXPECT_EQ(costs.launches, 1);
    EXPECT_EQ(costs.up_bytes, 2 * kWidth * kHeight + 4 * (256 + 16 + levels));
    EXPECT_EQ(costs.down_bytes, 4 * (256 + 16 + levels)) << "no image comes back";
  }
}

TEST(GswoReductions, DecideWhatTheNextKernelDoes) {
  using Function = int(const Pixel *, Pixel *, int, int);
  constexpr int kWidth = 90, kHeight = 70;
  const std::vector<Pixel> in = noise(kWidth * kHeight);
  std::vector<Pixel> expected(in.size()), is(in.size());
  const int threshold = program().form(false).function<Function>("binarised")(
      in.data(), expected.data(), kWidth, kHeight);
  int found = 0;
  const Costs costs = program().costs_of([&] {
    found =
        program().form(true).function<Function>("binarised")(in.data(), is.data(), kWidth, kHeight);
  });
  EXPECT_EQ(found, threshold);
  EXPECT_EQ(is, expected);
  EXPECT_NEAR(std::count(is.begin(), is.end(), 0), kWidth * kHeight / 2, kWidth * kHeight / 30);
  EXPECT_EQ(costs.up_bytes, 2 * kWidth * kHeight + 4 * 64) << "the image goes there once";
  EXPECT_EQ(costs.down_bytes, 2 * kWidth * kHeight + 4 * 64);
}

TEST(GswoReductions, TablesOfTheHostAreRead) {
  using Function = void(const std::uint8_t *, std::uint8_t *, int, int);
  constexpr int kWidth = 61, kHeight = 44;
  std::vector<std::uint8_t> in(kWidth * kHeight), expected(in.size()), is(in.size());
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<std::uint8_t>(k * k % 97);
  program().form(false).function<Function>("equalized")(in.data(), expected.data(), kWidth,
                                                        kHeight);
  const Costs costs = program().costs_of([&] {
    program().form(true).function<Function>("equalized")(in.data(), is.data(), kWidth, kHeight);
  });
  EXPECT_EQ(is, expected);
  EXPECT_EQ(costs.up_bytes, kWidth * kHeight + 2 * 4 * 256) << "the image goes there once";
  EXPECT_EQ(costs.down_bytes, kWidth * kHeight + 4 * 256);
}

}  // namespace
}  // namespace cudascan::gswo::test
