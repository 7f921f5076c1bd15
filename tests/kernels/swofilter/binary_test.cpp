// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter.h"

#include <cmath>

#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/binary_oracle.h"

namespace cudascan {
namespace {

using namespace test;

using Op = SwoFilterOperator;
using Thinning = SwoFilterThinning;
using Border = SwoFilterBorder;

const std::string kFullMask =
    "1-----------------------------0;-------------------------------;"
    "-------------------------------;----111111111111111------------;"
    "----111111111111111------------;-------------------------------;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;--0000--------------------1-1--;"
    "--0000--------------------1-1--;--0000--------------------1-1--;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;---------------1---------------;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;-------------------------------;"
    "-------------------------------;-------------------------------;"
    "0-----------------------------1";

std::vector<SwoFilterParams> parameters() {
  std::vector<SwoFilterParams> all;
  for (const Op op : {Op::thin, Op::thicken})
    for (const auto thinning : {Thinning::zhang_suen, Thinning::guo_hall, Thinning::templates})
      for (const int iterations : {0, 1, 5}) {
        if (op == Op::thicken && iterations == 1) continue;
        all.push_back({.op = op, .iterations = iterations, .thinning = thinning});
      }
  // Removes ends of lines; each pass takes away a pixel.
  all.push_back({.op = Op::thin,
                 .shape = "000;010;--- 000;010;0-- 000;-10;-10",
                 .iterations = 7,
                 .thinning = Thinning::templates});
  // A pass with 40 steps.
  std::string shape = "000;-1-;111";
  for (int i = 0; i < 3; ++i) shape += " -00;110;-1- 000;-1-;111 1-0;-10;1--";
  all.push_back({.op = Op::thin, .shape = shape, .thinning = Thinning::templates});
  for (const Border border : {Border::clip, Border::replicate, Border::reflect, Border::constant}) {
    const auto add = [&](const char *shape, int width, int height, int value) {
      SwoFilterParams p{.op = Op::hit_or_miss};
      p.window_width = width;
      p.window_height = height;
      p.shape = shape;
      p.border = border;
      p.border_value = border == Border::constant ? value : 0;
      all.push_back(p);
    };
    add("rectangle", 3, 3, 1);
    add("-1-;011;00- -1-;110;-00 -00;110;-1- 00-;011;-1-", 3, 3, 0);
    add("0;1;0", 3, 3, 1);
    add("101", 3, 3, 0);
    add("00000;01110;01-10;01110;00000", 3, 3, 0);
    add("rectangle", 7, 1, 0);
    add("ellipse", 9, 13, 1);
    add("cross", 41, 5, 0);
  }
  SwoFilterParams p{.op = Op::hit_or_miss, .shape = kFullMask, .border = Border::reflect};
  all.push_back(p);
  p.shape = kFullMask + " 0-1 " + kFullMask;
  p.border = Border::clip;
  all.push_back(p);
  p.shape = "rectangle";
  p.window = 255;
  p.border = Border::reflect;
  all.push_back(p);
  p.shape = "ellipse";
  p.border = Border::clip;
  all.push_back(p);
  return all;
}

/// Masks with many isolated cells.
SwoFilterParams many_cells() {
  SwoFilterParams p{.op = Op::hit_or_miss};
  p.shape.clear();
  for (int i = 0; i < 3; ++i) {
    if (i > 0) p.shape += ' ';
    for (int y = 0; y < 31; ++y) {
      if (y > 0) p.shape += ';';
      for (int x = 0; x < 31; ++x) p.shape += (x + y + i) % 2 ? '-' : x == 10 * i ? '0' : '1';
    }
  }
  return p;
}

/// A part of them that still reaches all code.
std::vector<SwoFilterParams> some_parameters() {
  std::vector<SwoFilterParams> some;
  const auto all = parameters();
  for (std::size_t i = 0; i < all.size(); i += i < 17 ? 3 : 6) some.push_back(all[i]);
  some.insert(some.end(), all.end() - 2, all.end());
  return some;
}

/// Samples of any level above 0 where the drawing is white.
std::vector<std::uint8_t> samples_of(const Drawing &d) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> samples;
  for (const char white : d.pixels)
    samples.push_back(static_cast<std::uint8_t>(white ? 1 + random() % 255 : 0));
  return samples;
}

/// White blobs and lines on black; a larger `roughness` makes them smaller.
Drawing random_drawing(int width, int height, unsigned seed, int roughness = 3, int largest = 19) {
  std::mt19937 random(seed);
  Drawing d{width, height, std::vector<char>(std::size_t(width) * height)};
  const int n = 1 + width * height * roughness * 19 / 600 / largest;
  for (int i = 0; i < n; ++i) {
    const int x = static_cast<int>(random() % width), y = static_cast<int>(random() % height);
    const int w = 1 + static_cast<int>(random() % largest);
    const int h = 1 + static_cast<int>(random() % largest);
    const bool white = random() % 4 > 0;
    for (int py = y; py < std::min(y + h, height); ++py)
      for (int px = x; px < std::min(x + w, width); ++px) d.at(px, py) = white;
  }
  for (int i = 0; i < width * height / 50 * 19 / largest; ++i)
    d.pixels[random() % d.pixels.size()] ^= 1;
  return d;
}

Drawing result_in(const Image<std::uint8_t> &image) {
  Drawing result{image.width(), image.height(), {}};
  for (const std::uint8_t sample : image.samples()) result.pixels.push_back(sample != 0);
  return result;
}

Drawing apply(const Drawing &d, const SwoFilterParams &params, int *passes = nullptr) {
  Cpu cpu(1);
  const Image<std::uint8_t> in(samples_of(d), d.width, d.height);
  Image<std::uint8_t> out(d.width, d.height);
  SwoFilterReport report;
  run(cpu, in.plane(), out.plane(), params, &report);
  if (passes) *passes = report.iterations;
  return result_in(out);
}

CHECK_OPERATOR(SwoFilterBinary, SwoFilterParams, some_parameters());
CHECK_CUDA_OPERATOR(SwoFilterBinaryManyCells, SwoFilterParams, {many_cells()});

TEST(SwoFilterBinary, EqualsTheDefinition) {
  auto all = parameters();
  all.push_back(many_cells());
  unsigned seed = 1;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto [width, height] :
         {Size{1, 1}, {5, 4}, {63, 9}, {64, 33}, {65, 20}, {150, 47}}) {
      SCOPED_TRACE(testing::Message() << describe(all[i], i) << ", " << width << "x" << height);
      const Drawing d = random_drawing(width, height, ++seed);
      int expected_passes = 0, passes = 0;
      const Drawing expected = binary_oracle(d, all[i], expected_passes);
      ASSERT_TRUE(expected == apply(d, all[i], &passes));
      ASSERT_EQ(expected_passes, passes);
    }
}

#ifdef HAVE_CUDA
// With many steps, images are divided into tiles that are exchanged several times, and tiles
// without changes are skipped.
TEST(SwoFilterBinary, CudaThinsUntilStable) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  DeviceCopy device_in(stream.get()), device_out(stream.get());
  unsigned seed = 0;
  for (const auto [width, height] : {Size{300, 310}, {700, 100}, {31, 600}})
    for (const int iterations : {0, 11})
      for (const auto thinning : {Thinning::zhang_suen, Thinning::guo_hall, Thinning::templates})
        for (const Op op : {Op::thin, Op::thicken}) {
          const SwoFilterParams params{.op = op, .iterations = iterations, .thinning = thinning};
          SCOPED_TRACE(testing::Message()
                       << describe(params, seed) << ", " << width << "x" << height);
          ++seed;  // the drawings change from large areas to small ones
          const Drawing d =
              random_drawing(width, height, seed, 1 + static_cast<int>(seed % 4), 120);
          int passes = 0;
          const Drawing expected = apply(d, params, &passes);
          const Image<std::uint8_t> in(samples_of(d), width, height);
          Image<std::uint8_t> out(width, height);
          const auto from = device_in.upload(in), to = device_out.upload(out);
          SwoFilterReport report;
          run(cuda, Plane<const std::uint8_t>(from), to, params, &report);
          device_out.download(out.memory().begin(), out.memory().size());
          cuda.synchronize();
          ASSERT_TRUE(expected == result_in(out));
          ASSERT_EQ(passes, report.iterations);
        }
}
#endif

TEST(SwoFilterBinary, WhiteIsWhatHasALevel) {
  // Bits below the format's lowest bit do not count. The image has whole words of pixels and a part
  // of one.
  std::vector<std::uint16_t> samples = {0x0040, 0x003f, 0x0000, 0xffff}, wide;
  std::mt19937 random(1);
  while (samples.size() < 203) samples.push_back(static_cast<std::uint16_t>(random() % 0x80));
  std::vector<std::uint8_t> narrow;
  for (const std::uint16_t sample : samples) {
    wide.push_back(sample > 0x3f ? 0xffc0 : 0);
    narrow.push_back(sample > 0x3f ? 255 : 0);
  }
  const int width = static_cast<int>(samples.size());
  const Image<std::uint16_t> in(samples, width, 1, {}, 0xffc0);
  Image<std::uint16_t> out(width, 1, {}, 0xffc0);
  Image<std::uint8_t> narrow_out(width, 1);
  Cpu cpu;
  const SwoFilterParams params{.op = Op::hit_or_miss, .window = 1};
  run(cpu, in.plane(), out.plane(), params);
  run(cpu, in.plane(), narrow_out.plane(), params);
  EXPECT_EQ(out.samples(), wide);
  EXPECT_EQ(narrow_out.samples(), narrow);
}

TEST(SwoFilterBinary, ThinsAsThePapersSay) {
  const Drawing bar = drawing_of({
      "..........",
      ".########.",
      ".########.",
      ".########.",
      "..........",
  });
  int passes = 0;
  EXPECT_EQ(apply(bar, {.op = Op::thin, .thinning = Thinning::zhang_suen}, &passes),
            drawing_of({
                "..........",
                "..........",
                "..#####...",
                "..........",
                "..........",
            }));
  EXPECT_EQ(passes, 2);
}

TEST(SwoFilterBinary, ShapesAreErosions) {
  const Drawing d = random_drawing(90, 70, 5, 6);
  for (const char *shape : {"rectangle", "ellipse", "cross"})
    for (const int window : {1, 3, 5, 11}) {
      SwoFilterParams p{.op = Op::hit_or_miss, .window = window, .shape = shape};
      EXPECT_EQ(apply(d, p), hit_or_miss(d, {shape_pattern(shape, window, window)}));
    }
}

TEST(SwoFilterBinary, ThinningIsIdempotentAndTakesAwayOnly) {
  for (const auto thinning : {Thinning::zhang_suen, Thinning::guo_hall, Thinning::templates})
    for (unsigned seed = 1; seed < 6; ++seed) {
      const Drawing d = random_drawing(200, 110, seed);
      const SwoFilterParams p{.op = Op::thin, .thinning = thinning};
      int passes = 0;
      const Drawing thinned = apply(d, p, &passes);
      EXPECT_GT(passes, 1);
      for (std::size_t i = 0; i < d.pixels.size(); ++i) ASSERT_LE(thinned.pixels[i], d.pixels[i]);
      EXPECT_EQ(apply(thinned, p, &passes), thinned);
      EXPECT_EQ(passes, 1);
      SwoFilterParams thicken = p;
      thicken.op = Op::thicken;
      EXPECT_EQ(apply(d.complement(), thicken), thinned.complement());
    }
}

TEST(SwoFilterBinary, PassesAddUp) {
  const Drawing d = random_drawing(150, 90, 3);
  for (const auto thinning : {Thinning::zhang_suen, Thinning::guo_hall, Thinning::templates}) {
    int all = 0;
    const Drawing stable = apply(d, {.op = Op::thin, .thinning = thinning}, &all);
    Drawing step = d;
    for (int i = 1; i <= all; ++i) {
      int passes = 0;
      step = apply(step, {.op = Op::thin, .iterations = 1, .thinning = thinning});
      EXPECT_EQ(apply(d, {.op = Op::thin, .iterations = i, .thinning = thinning}, &passes), step);
      EXPECT_EQ(passes, i);
      EXPECT_EQ(step == stable, i >= all - 1);
    }
    EXPECT_EQ(apply(d, {.op = Op::thin, .iterations = all + 9, .thinning = thinning}), stable);
  }
}

TEST(SwoFilterBinary, ThinningKeepsWhatIsConnected) {
  for (unsigned seed = 1; seed < 9; ++seed) {
    // zhang-suen, as published, removes squares of 2x2 pixels. The drawing must not contain any.
    Drawing d = random_drawing(120, 100, seed, 1);
    const SwoFilterParams erosion{.op = Op::hit_or_miss, .window = 5};
    d = apply(d, erosion).complement();
    d = apply(d, erosion).complement();  // leaves no parts that are smaller than the window
    EXPECT_EQ(components(apply(d, {.op = Op::thin, .thinning = Thinning::guo_hall})),
              components(d));
    EXPECT_EQ(components(apply(d, {.op = Op::thin, .thinning = Thinning::zhang_suen})),
              components(d));
  }
}

}  // namespace
}  // namespace cudascan
