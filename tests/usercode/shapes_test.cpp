// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions of windows of all shapes, which planes of built-in operators answer where windows are
// large, compared with the samples of each window taken one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels/usercode/window_planes.h"
#include "tests/kernels/swofilter/window_oracle.h"
#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

using Border = SwoFilterBorder;

const char *const kFunctions[] = {"p.min()",
                                  "p.max() - p.min() / 2",
                                  "p.median()",
                                  "p.rank(1)",
                                  "p.rank(number)",
                                  "p.percentile(33.3)",
                                  "p.percentile(share)",
                                  "p.rank(0) + p.rank(70000) / 2",
                                  "p.rank(p.count() / 3)",
                                  "fmod(p.sum(), 251.f)",
                                  "fmod(p.mean() * 97, 251.f)",
                                  "fmod(p.variance(), 249.5f)",
                                  "p.deviation()",
                                  "fmod(float(p.count()), 251.f)"};
constexpr int kNumber = 11, kShare = 75;

/// Some of them.
struct Range {
  int begin, end;
};
/// Those of ranks and those of sums have planes on the GPU.
constexpr Range kAll{0, 14}, kRanks{0, 8}, kMedianAndRank{2, 4}, kSums{9, 13};

/// Functions in one filter; `which` chooses without another compilation.
std::string text_of(Range functions) {
  std::string text = "float filter(auto p) {\n";
  for (int i = functions.begin; i < functions.end; ++i)
    text += "  if (which < " + std::to_string(i + 1) + ") return " + kFunctions[i] + ";\n";
  return text + "  return 0;\n}\n";
}

/// Function `which` of the samples of a window in ascending order.
float result(int which, const std::vector<int> &v, int self) {
  const int n = static_cast<int>(v.size());
  const auto rank = [&](int k) {
    return static_cast<float>(n == 0 ? self : v[std::clamp(k, 0, n - 1)]);
  };
  const auto percentile = [&](float q) {
    return rank(static_cast<int>(static_cast<float>(n) * q / 100));
  };
  double sum = 0, squares = 0;
  for (const double level : v) sum += level, squares += level * level;
  const auto mean = static_cast<float>(n == 0 ? self : sum / n);
  const double n_n = static_cast<double>(n) * n;
  const auto variance = static_cast<float>(n == 0 ? 0 : (n * squares - sum * sum) / n_n);
  switch (which) {
    case 0:
      return rank(0);
    case 1:
      return rank(n - 1) - rank(0) / 2;
    case 2:
      return rank(n / 2);
    case 3:
      return rank(1);
    case 4:
      return rank(kNumber);
    case 5:
      return percentile(33.3f);
    case 6:
      return percentile(kShare);
    case 7:
      return rank(0) + rank(n - 1) / 2;
    case 8:
      return rank(n / 3);
    case 9:
      return std::fmod(static_cast<float>(sum), 251.f);
    case 10:
      return std::fmod(mean * 97, 251.f);
    case 11:
      return std::fmod(variance, 249.5f);
    case 12:
      return std::sqrt(variance);
    default:
      return std::fmod(static_cast<float>(n), 251.f);
  }
}

/// Compares functions for a window and a picture.
template <typename T, typename Runner>
void expect_functions(Runner &runner, SwoFilterParams p, T maximum, Size size, Content content,
                      Range functions = kAll) {
  const Files files;
  p.op = SwoFilterOperator::custom;
  p.border_value = 77;
  p.custom.source = files.write("functions.cpp", text_of(functions));
  p.custom.cache_dir = "";
  const int shift = unused_low_bits(maximum), most = maximum >> shift;
  const Image<T> in = picture<T>(size, content, maximum);
  window_oracle::Levels levels{size.width, size.height, {}};
  for (const T sample : in.samples()) levels.level.push_back(sample >> shift);
  const auto cells = window_oracle::cells_of(p);
  std::vector<std::vector<int>> windows;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      windows.push_back(window_oracle::found(levels, cells, x, y, p));
      std::sort(windows.back().begin(), windows.back().end());
    }
  for (int which = functions.begin; which < functions.end; ++which) {
    p.custom.constants = {
        {"which", which + 0.5}, {"number", std::int64_t{kNumber}}, {"share", std::int64_t{kShare}}};
    std::vector<T> expected;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const float level = result(which, windows[i], levels.level[i]);
      const float inside = std::clamp(level, 0.f, static_cast<float>(most));
      expected.push_back(static_cast<T>(static_cast<int>(inside + 0.5f) << shift));
    }
    ASSERT_TRUE(same(expected, filtered(runner, in, p), size.width))
        << "function " << which << ", window " << p.window_width << " x " << p.window_height
        << ", shape " << p.shape << ", border " << static_cast<int>(p.border) << ", maximum "
        << +maximum << ", frame " << size.width << " x " << size.height;
  }
}

std::string random_mask(std::mt19937 &random) {
  const auto draw = [&](int n) { return static_cast<int>(random() % n); };
  const int width = 2 * draw(8) + 1, height = 2 * draw(8) + 1;
  std::string text = "1";
  for (int i = 1; i < width * height; ++i)
    text += std::string(i % width == 0 ? ";" : "") + (draw(3) ? "1" : "0");
  return text;
}

/// @param runners  take turns
/// @param largest  half the side of some windows
template <typename Runner>
void expect_random(std::vector<Runner *> runners, unsigned seed, int cases, int largest,
                   Range functions = kAll) {
  std::mt19937 random(seed);
  const auto draw = [&](int n) { return static_cast<int>(random() % n); };
  const Size kSizes[] = {{71, 43}, {5, 3}, {19, 150}, {130, 20}, {1, 33}};
  const char *const kShapes[] = {"ellipse", "cross", "octagon", "hexagon", "rectangle"};
  for (int i = 0; i < cases && !testing::Test::HasFatalFailure(); ++i) {
    SwoFilterParams p;
    const int most = draw(4) ? std::min(largest, 12) : largest;
    p.window_width = 2 * draw(most) + 1, p.window_height = 2 * draw(most) + 1;
    p.shape = i % 6 == 5 ? random_mask(random) : kShapes[i % 6];
    p.border = window_oracle::kBorders[draw(2) ? 0 : draw(4)];
    const Size size = kSizes[draw(5)];
    const Content content = draw(2) ? Content::random : Content::text;
    Runner &runner = *runners[i % runners.size()];
    if (i % 2 == 0)
      expect_functions<std::uint8_t>(runner, p, 0xff, size, content, functions);
    else
      expect_functions<std::uint16_t>(runner, p,
                                      i % 4 == 1 ? 0xffff
                                      : draw(2)  ? 0x3ff
                                                 : 0xffc0,
                                      size, content, functions);
  }
}

TEST(GswoShapes, FunctionsAreThoseOfTheSamples) {
  CpuRunner one(1), many(3);
  expect_random<CpuRunner>({&one, &many}, 3, 30, 60);
}
TEST(GswoShapes, WindowsOfOneSample) {
  CpuRunner cpu(1);
  SwoFilterParams p;
  for (const char *shape : {"1", "1;0;0"}) {
    p.shape = shape;
    expect_functions<std::uint8_t>(cpu, p, 0xff, {23, 9}, Content::random);
  }
}
TEST(GswoShapes, LargestWindows) {
  CpuRunner cpu(2);
  SwoFilterParams p;
  p.window_width = p.window_height = 255;
  for (const char *shape : {"ellipse", "octagon"}) {
    p.shape = shape;
    expect_functions<std::uint16_t>(cpu, p, 0xffff, {23, 9}, Content::random);
  }
}
#ifdef HAVE_CUDA
TEST(GswoShapesCuda, FunctionsAreThoseOfTheSamples) {
  NEED_GPU();
  CudaRunner cuda;
  // All functions together are too much code for NVRTC if windows are large.
  expect_random<CudaRunner>({&cuda}, 4, 6, 4);
  expect_random<CudaRunner>({&cuda}, 5, 12, 60, kRanks);
  expect_random<CudaRunner>({&cuda}, 6, 12, 60, kSums);
}
TEST(GswoShapesCuda, LargestWindows) {
  NEED_GPU();
  CudaRunner cuda;
  SwoFilterParams p;
  p.window_width = p.window_height = 255;
  for (const char *shape : {"ellipse", "rectangle"}) {
    p.shape = shape;
    for (const Range functions : {kMedianAndRank, kSums})
      expect_functions<std::uint16_t>(cuda, p, 0xffff, {11, 7}, Content::random, functions);
  }
}
#endif

TEST(GswoShapes, CellsInTheFrameAreCounted) {
  std::mt19937 random(8);
  for (int i = 0; i < 40; ++i) {
    const int width = static_cast<int>(random() % 60 + 1),
              height = static_cast<int>(random() % 200 + 1);
    Mask mask = Mask::make_rectangle(2 * static_cast<int>(random() % 20) + 1,
                                     2 * static_cast<int>(random() % 20) + 1);
    for (Mask::Cell &cell : mask.cells) cell = random() % 3 ? Mask::on : Mask::off;
    constexpr std::uint16_t kUnset = 0xffff;
    std::vector<std::uint16_t> counts(std::size_t(width) * height, kUnset);
    Cpu cpu(i % 3 + 1);
    gswo::count_clipped(cpu, mask,
                        {counts.data(), width, height, width * std::ptrdiff_t{sizeof(counts[0])}});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int count = 0;
        for (int row = 0; row < mask.height; ++row)
          for (int column = 0; column < mask.width; ++column) {
            const int u = x + column - mask.rx(), v = y + row - mask.ry();
            count +=
                mask.at(column, row) == Mask::on && u >= 0 && u < width && v >= 0 && v < height;
          }
        const bool is_inside =
            x >= mask.rx() && x + mask.rx() < width && y >= mask.ry() && y + mask.ry() < height;
        ASSERT_EQ(counts[std::size_t(y) * width + x], is_inside ? kUnset : count)
            << "pixel " << x << ", " << y;
      }
  }
}

}  // namespace
}  // namespace cudascan::test
