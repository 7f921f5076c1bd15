// SPDX-License-Identifier: LGPL-2.1-or-later
// Stand-alone programs whose pixels are structures, on an emulated device.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "program.h"

namespace cudascan::gswo::test {
namespace {

using Byte = std::uint8_t;

const Program &program() {
  static const Program all(source("colours.cpp"));
  return all;
}

std::vector<Byte> noise(std::size_t size) {
  std::mt19937 random(3);
  std::vector<Byte> bytes(size);
  for (Byte &b : bytes) b = static_cast<Byte>(random());
  return bytes;
}

TEST(GswoColours, MemberFunctionsInWindows) {
  using Function = void(const Byte *, Byte *, int, int);
  for (const auto &[w, h] : {std::pair(3, 3), {40, 25}, {131, 70}}) {
    const std::vector<Byte> in = noise(static_cast<std::size_t>(w) * h * 3);
    std::vector<Byte> expected(in.size(), 9), is = expected;
    program().form(false).function<Function>("blur")(in.data(), expected.data(), w, h);
    const Costs costs = program().costs_of(
        [&] { program().form(true).function<Function>("blur")(in.data(), is.data(), w, h); });
    EXPECT_EQ(is, expected) << w << "x" << h;
    EXPECT_EQ(costs.up_bytes, 3 * w * h);
    EXPECT_EQ(costs.down_bytes, 3 * (w - 2) * (h - 2));
    // Said in another way for one pixel.
    const auto at = [&](int y, int x, int c) { return in[(y * w + x) * 3 + c]; };
    std::array<int, 3> mean{}, half{at(1, 1, 0) / 2, at(1, 1, 1) / 2, at(1, 1, 2)};
    for (int c = 0; c < 3; ++c) {
      for (int k = 0; k < 9; ++k) mean[c] += at(k / 3, k % 3, c);
      mean[c] /= 9;
    }
    const auto grey = [](const std::array<int, 3> &p) { return (2 * p[0] + 5 * p[1] + p[2]) / 8; };
    const auto &darker = grey(mean) < grey(half) ? mean : half;
    for (int c = 0; c < 3; ++c) EXPECT_EQ(is[(w + 1) * 3 + c], darker[c]);
  }
}

TEST(GswoColours, MembersAreSetOneByOne) {
  using Function = void(Byte **, Byte **, Byte **, int, int);
  constexpr int kWidth = 61, kHeight = 29;
  std::vector<Byte> in = noise(kWidth * kHeight * 3);
  struct Result {
    std::vector<Byte> out = std::vector<Byte>(kWidth * kHeight * 3, 1),
                      grey = std::vector<Byte>(kWidth * kHeight);
  } expected, is;
  const auto run = [&](bool cuda, Result &r) {
    std::vector<Byte *> rows[3];
    for (int y = 0; y < kHeight; ++y) {
      rows[0].push_back(in.data() + y * kWidth * 3);
      rows[1].push_back(r.out.data() + y * kWidth * 3);
      rows[2].push_back(r.grey.data() + y * kWidth);
    }
    program().form(cuda).function<Function>("members")(rows[0].data(), rows[1].data(),
                                                       rows[2].data(), kWidth, kHeight);
  };
  run(false, expected);
  const Costs costs = program().costs_of([&] { run(true, is); });
  EXPECT_EQ(is.out, expected.out);
  EXPECT_EQ(is.grey, expected.grey);
  EXPECT_EQ(costs.launches, 3);
  // The first kernel sets all members, so it needs no old ones; host code changes some later.
  EXPECT_EQ(costs.up_bytes, 3 * 3 * kWidth * kHeight);
}

TEST(GswoColours, RealNumbersInVolumes) {
  using Function = void(float *, float *, int *, int, int, int);
  for (const auto &[w, h, d] : {std::array{3, 3, 3}, {35, 12, 9}}) {
    std::vector<float> in(static_cast<std::size_t>(w) * h * d * 3);
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<float>(k * 37 % 1000) / 8;
    struct Result {
      std::vector<float> out;
      std::vector<int> levels = std::vector<int>(16, 2);
    } expected{std::vector<float>(in.size(), 1)}, is = expected;
    const auto run = [&](bool cuda, Result &r) {
      program().form(cuda).function<Function>("flow")(in.data(), r.out.data(), r.levels.data(), w,
                                                      h, d);
    };
    run(false, expected);
    run(true, is);
    EXPECT_EQ(is.out, expected.out) << w << "x" << h << "x" << d;
    EXPECT_EQ(is.levels, expected.levels);
    EXPECT_GT(is.out[1], 1.f) << "host code saw the result";
  }
}

}  // namespace
}  // namespace cudascan::gswo::test
