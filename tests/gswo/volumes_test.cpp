// SPDX-License-Identifier: LGPL-2.1-or-later
// Stand-alone programs with nest(3), on an emulated device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "program.h"

namespace cudascan::gswo::test {
namespace {

using Pixel = std::uint16_t;

const Program &program() {
  static const Program all(source("volumes.cpp"));
  return all;
}

std::vector<Pixel> noise(std::size_t size) {
  std::mt19937 random(7);
  std::vector<Pixel> pixels(size);
  for (Pixel &p : pixels) p = static_cast<Pixel>(random() % 1000);
  return pixels;
}

/// A volume as tables of tables, with a slice more at each end.
struct Frames {
  Frames(std::vector<Pixel> &memory, int width, int height, int depth) {
    for (int k = 0; k < depth * height; ++k) rows.push_back(memory.data() + k * width);
    for (int z = 0; z < depth; ++z) slices.push_back(rows.data() + z * height);
  }
  std::vector<Pixel *> rows;
  std::vector<Pixel **> slices;
};

TEST(GswoVolumes, InOneArray) {
  using Function = void(const Pixel *, Pixel *, int, int, int);
  for (const auto &[w, h, d] : {std::array{3, 3, 3}, {2, 9, 9}, {37, 23, 11}, {16, 6, 30}}) {
    const std::vector<Pixel> in = noise(static_cast<std::size_t>(w) * h * d);
    std::vector<Pixel> expected = noise(in.size() + 1), is = expected;
    program().form(false).function<Function>("smooth")(in.data(), expected.data(), w, h, d);
    const Costs costs = program().costs_of(
        [&] { program().form(true).function<Function>("smooth")(in.data(), is.data(), w, h, d); });
    EXPECT_EQ(is, expected) << w << "x" << h << "x" << d;
    if (w < 3) continue;
    // Said in another way for one pixel.
    long long sum = 0;
    for (int k = 0; k < 27; ++k)
      sum += in[((d / 2 + k / 9 - 1) * h + h / 2 + k / 3 % 3 - 1) * w + w / 2 + k % 3 - 1] *
             (2 + (k / 9 - 1) * (k / 3 % 3 - 1) - (k % 3 - 1));
    EXPECT_EQ(is[(d / 2 * h + h / 2) * w + w / 2], static_cast<Pixel>(sum / 8));
    EXPECT_EQ(costs.launches, 1);
    EXPECT_EQ(costs.down_bytes, 2 * (w - 2) * (h - 2) * (d - 2)) << "the inner pixels";
  }
}

TEST(GswoVolumes, StepsAndFixedImages) {
  using Function = void(const Pixel *, const Pixel *, Pixel *, int, int, int);
  for (const auto &[w, h, d] : {std::array{1, 1, 1}, {40, 31, 3}, {5, 70, 17}}) {
    const std::vector<Pixel> in = noise(static_cast<std::size_t>(w) * h * d),
                             image = noise(static_cast<std::size_t>(w) * h);
    std::vector<Pixel> expected(in.size(), 5), is = expected;
    const auto run = [&](bool cuda, std::vector<Pixel> &out) {
      program().form(cuda).function<Function>("steps")(in.data(), image.data(), out.data(), w, h,
                                                       d);
    };
    run(false, expected);
    run(true, is);
    EXPECT_EQ(is, expected) << w << "x" << h << "x" << d;
    EXPECT_EQ(is[w - 1], in[w - 1] * 3 + image[w - 1]);
  }
}

TEST(GswoVolumes, FramesStayOnTheGpu) {
  using Function = int(Pixel ***, Pixel ***, int, int, int, int);
  constexpr int kWidth = 45, kHeight = 19, kFrames = 9;
  std::vector<Pixel> first = noise(kWidth * kHeight * (kFrames + 2)), second = first;
  std::vector<Pixel> expected_first = first, expected_second = first;
  int turns[2] = {};
  const auto run = [&](bool cuda, std::vector<Pixel> &a, std::vector<Pixel> &b, int most) {
    Frames frames(a, kWidth, kHeight, kFrames + 2), other(b, kWidth, kHeight, kFrames + 2);
    turns[cuda] = program().form(cuda).function<Function>("still")(
        frames.slices.data() + 1, other.slices.data() + 1, kWidth, kHeight, kFrames, most);
  };
  run(false, expected_first, expected_second, 50);
  const Costs costs = program().costs_of([&] { run(true, first, second, 50); });
  EXPECT_GT(turns[0], 2);
  EXPECT_EQ(turns[1], turns[0]);
  EXPECT_EQ(first, expected_first);
  EXPECT_EQ(second, expected_second);
  EXPECT_EQ(costs.launches, turns[0]);
  EXPECT_EQ(costs.down, 2 * kFrames + turns[0]) << "each frame once, and a number in each turn";
  constexpr int kBytes = 2 * kWidth * kHeight;
  EXPECT_EQ(costs.down_bytes, 2 * kFrames * kBytes + 4 * turns[0]);
}

TEST(GswoVolumes, BordersByHandAndUnknownSlices) {
  using Function = void(Pixel ***, Pixel ***, int, int, int, int);
  for (const auto &[w, h, d] : {std::array{1, 1, 1}, {33, 9, 2}, {10, 40, 21}}) {
    std::vector<Pixel> in = noise(static_cast<std::size_t>(w) * h * d), expected(in.size()),
                       is(in.size());
    const auto run = [&](bool cuda, std::vector<Pixel> &to) {
      Frames from(in, w, h, d), out(to, w, h, d);
      program().form(cuda).function<Function>("jumps")(from.slices.data(), out.slices.data(), w, h,
                                                       d, 7);
    };
    run(false, expected);
    run(true, is);
    EXPECT_EQ(is, expected) << w << "x" << h << "x" << d;
  }
}

TEST(GswoVolumes, ArraysOfFixedSizes) {
  using Function = void(const std::uint8_t *, int *, int);
  for (const int depth : {1, 4, 13}) {
    std::vector<std::uint8_t> in(static_cast<std::size_t>(depth) * 600);
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<std::uint8_t>(k * k / 7);
    std::vector<int> expected(in.size(), 1), is = expected;
    program().form(false).function<Function>("fixed")(in.data(), expected.data(), depth);
    program().form(true).function<Function>("fixed")(in.data(), is.data(), depth);
    EXPECT_EQ(is, expected) << depth;
  }
}

TEST(GswoVolumes, StepsInTwoArrays) {
  using Function = void(Pixel *, Pixel *, int, int, int, int);
  for (const auto &[w, h, d] : {std::array{3, 3, 3}, {2, 4, 5}, {37, 23, 11}, {70, 6, 4}}) {
    const std::size_t size = static_cast<std::size_t>(w) * h * d;
    constexpr int kSteps = 5;
    std::vector<Pixel> a = noise(size), b = noise(size + 1);
    std::vector<Pixel> expected_a = a, expected_b = b;
    program().form(false).function<Function>("wander")(expected_a.data(), expected_b.data(), w, h,
                                                       d, kSteps);
    const Costs costs = program().costs_of([&] {
      program().form(true).function<Function>("wander")(a.data(), b.data(), w, h, d, kSteps);
    });
    EXPECT_EQ(a, expected_a) << w << "x" << h << "x" << d;
    EXPECT_EQ(b, expected_b) << w << "x" << h << "x" << d;
    if (w < 3) continue;
    const long long inner = 2LL * (w - 2) * (h - 2) * (d - 2), all = 2LL * w * h * d;
    EXPECT_EQ(costs.down_bytes, 2 * inner);
    // All pixels of the first array, and those of the second that no step makes.
    EXPECT_EQ(costs.up_bytes, all + all - inner);
  }
}

TEST(GswoVolumes, InPlaceAllWindowsSeeWhatWasBefore) {
  using Function = void(Pixel *, int, int, int, int);
  for (const auto &[w, h, d] : {std::array{3, 3, 3}, {37, 23, 11}, {9, 40, 5}}) {
    constexpr int kSteps = 3;
    std::vector<Pixel> expected = noise(static_cast<std::size_t>(w) * h * d), is = expected;
    program().form(true).function<Function>("in_place")(is.data(), w, h, d, kSteps);
    for (int k = 0; k < kSteps; ++k) {
      const std::vector<Pixel> before = expected;
      for (std::size_t at = 0; at < before.size(); ++at) {
        const int x = static_cast<int>(at % w), y = static_cast<int>(at / w % h),
                  z = static_cast<int>(at / w / h);
        const bool inner = x % (w - 1) && y % (h - 1) && z % (d - 1);
        if (!inner || before[at] % 3 == 0) continue;
        const std::ptrdiff_t row = w, slice = static_cast<std::ptrdiff_t>(w) * h;
        const Pixel *const p = &before[at];
        expected[at] = static_cast<Pixel>(p[1 - slice] / 2 + p[slice - row - 1] / 3 + 1);
      }
    }
    EXPECT_EQ(is, expected) << w << "x" << h << "x" << d;
  }
}

TEST(GswoVolumes, ExchangedFramesAreNotCopied) {
  using Function = void(Pixel ***, Pixel ***, int, int, int, int);
  for (const auto &[w, h, count] : {std::array{1, 1, 3}, {45, 19, 9}, {33, 8, 17}}) {
    const std::size_t size = static_cast<std::size_t>(w) * h * count;
    constexpr int kSteps = 7;
    std::vector<Pixel> frames = noise(size), made = noise(size + 1);
    std::vector<Pixel> expected_frames = frames, expected_made = made;
    // Frames are not in the order of their addresses.
    const auto run = [&, w = w, h = h, count = count](bool cuda, auto &a, auto &b) {
      Frames from(a, w, h, count), to(b, w, h, count);
      std::swap(from.slices[0], from.slices[count - 1]);
      program().form(cuda).function<Function>("ring")(from.slices.data(), to.slices.data(), w, h,
                                                      count, kSteps);
    };
    run(false, expected_frames, expected_made);
    const Costs costs = program().costs_of([&] { run(true, frames, made); });
    EXPECT_EQ(frames, expected_frames) << w << "x" << h << "x" << count;
    EXPECT_EQ(made, expected_made) << w << "x" << h << "x" << count;
    const long long frame = 2LL * w * h;
    EXPECT_LE(costs.down_bytes, frame * (2 * count - 2)) << "each frame at most once";
    // Each frame of the ring, and small lists of frames.
    EXPECT_GE(costs.up_bytes, frame * count);
    EXPECT_LE(costs.up_bytes, frame * count + 8 * 2 * count * kSteps);
  }
}

TEST(GswoVolumes, FarWindows) {
  using Function = void(const Pixel *, int *, int *, int, int, int);
  for (const auto &[w, h, d] : {std::array{19, 9, 7}, {67, 19, 19}, {75, 23, 24}}) {
    const std::vector<Pixel> in = noise(static_cast<std::size_t>(w) * h * d);
    struct Result {
      std::vector<int> near, out;
    } expected{std::vector<int>(in.size(), 3), std::vector<int>(in.size(), 5)}, is = expected;
    const auto run = [&](bool cuda, Result &r) {
      program().form(cuda).function<Function>("far")(in.data(), r.near.data(), r.out.data(), w, h,
                                                     d);
    };
    run(false, expected);
    run(true, is);
    EXPECT_EQ(is.near, expected.near) << w << "x" << h << "x" << d;
    EXPECT_EQ(is.out, expected.out) << w << "x" << h << "x" << d;
  }
}

/// Filters a volume of random pixels with an example in both forms.
template <class T>
void compare_example(const std::string &symbol) {
  static const Program examples(GSWO_EXAMPLES "/programs/volumes.cpp");
  using Function = void(const T *, T *, int, int, int);
  for (const auto &[w, h, d] : {std::array{5, 5, 5}, {37, 23, 11}, {70, 9, 17}}) {
    const std::size_t size = static_cast<std::size_t>(w) * h * d * sizeof(T);
    std::vector<unsigned char> in(size), expected(size, 1), is(size, 1);
    std::mt19937 random(3);
    // Every byte is below 64, so no float is infinite or NaN.
    for (unsigned char &byte : in) byte = static_cast<unsigned char>(random() % 64);
    const auto run = [&](bool cuda, std::vector<unsigned char> &out) {
      examples.form(cuda).template function<Function>(symbol)(
          reinterpret_cast<const T *>(in.data()), reinterpret_cast<T *>(out.data()), w, h, d);
    };
    run(false, expected);
    run(true, is);
    EXPECT_EQ(is, expected) << symbol << ", " << w << "x" << h << "x" << d;
  }
}

TEST(GswoVolumes, ExamplesGiveTheSame) {
  struct Vector3 {
    float x, y, z;
  };
  compare_example<unsigned char>("_Z10mean_bytesPKhPhiii");
  compare_example<Pixel>("_Z11mean_shortsPKtPtiii");
  compare_example<float>("_Z11mean_floatsPKfPfiii");
  compare_example<Pixel>("_Z5max_5PKtPtiii");
  compare_example<unsigned char>("_Z8median_3PKhPhiii");
  compare_example<Vector3>("_Z14smooth_vectorsPK7Vector3PS_iii");
}

TEST(GswoVolumes, BlocksHaveTheThreadsOfThePaper) {
  const Outcome outcome = translate({source("volumes.cpp"), "--emit", "standalone"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("dim3 g_block(8, 4, 2), g_grid("), std::string::npos)
      << "tile(16, 4, 8) chunksize(2, 1, 4)";
  EXPECT_NE(outcome.output.find("dim3 g_block(8, 8, 2), g_grid("), std::string::npos)
      << "tile(8, 8, 2)";
}

}  // namespace
}  // namespace cudascan::gswo::test
