// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA compared with the CPU, and streams of frames.
#include "tests/kernels/equalize/oracle.h"

namespace cudascan {
namespace {

using test::Image;
using Gray8 = std::vector<std::uint8_t>;
using Gray16 = std::vector<std::uint16_t>;

constexpr auto kClahe = EqualizeMethod::clahe;
constexpr auto kCdf = EqualizeFormula::cdf;

// Few tiles, as each tile costs work for 65536 levels at 16 bits.
CHECK_OPERATOR(Equalize, EqualizeParams, {}, {.formula = kCdf}, {.amount = 0.3}, {.amount = 0},
               {.formula = kCdf, .amount = 0.75}, {.roi = {0, 0, 1, 1}},
               {.formula = kCdf, .roi = {0, 0, 30, 5}}, {.method = kClahe},
               {.method = kClahe, .clip_limit = 2, .tiles_x = 3, .tiles_y = 5},
               {.method = kClahe, .clip_limit = 0, .tiles_x = 1, .tiles_y = 1},
               {.method = kClahe, .clip_limit = 0.5, .tiles_x = 64, .tiles_y = 1},
               {.method = kClahe, .clip_limit = 4, .tiles_x = 2, .tiles_y = 7, .amount = 0.5},
               {.formula = kCdf, .algorithm = EqualizeAlgorithm::naive},
               {.formula = kCdf, .algorithm = EqualizeAlgorithm::shared});

#ifdef HAVE_CUDA
TEST(Equalize, CudaEqualsCpuOnManySamples) {
  NEED_GPU();
  test::expect_cuda_equals_cpu_on_many_samples(EqualizeParams{});
  test::expect_cuda_equals_cpu_on_many_samples(
      EqualizeParams{.method = kClahe, .clip_limit = 3, .tiles_x = 1, .tiles_y = 2});
}

// Tiles with more and with fewer pixels than levels, of all sizes of mappings; pixels that differ
// from tile to tile; rows that begin anywhere; limits that leave one pixel of a level, or more.
TEST(Equalize, CudaClaheOf16BitsEqualsCpu) {
  NEED_GPU();
  Cpu cpu;
  cuda::Stream stream;
  Cuda cuda(stream.get());
  test::DeviceCopy device_in(stream.get()), device_out(stream.get());
  const struct {
    int width, height;
    std::uint16_t maximum, black, white;
    EqualizeParams params;
  } cases[] = {
      {151, 170, 0xffff, 0, 0xffff, {.clip_limit = 2, .tiles_x = 1, .tiles_y = 1}},
      {330, 121, 0xffff, 4096, 60160, {.clip_limit = 0, .tiles_x = 1, .tiles_y = 2}},
      {257, 255, 0xffff, 0, 0xffff, {.clip_limit = 0, .tiles_x = 1, .tiles_y = 1}},
      {151, 170, 0xffc0, 4096, 60160, {.clip_limit = 3, .tiles_x = 3, .tiles_y = 2}},
      {160, 120, 4095, 0, 4095, {.clip_limit = 4, .tiles_x = 2, .tiles_y = 2}},
      {211, 64, 16383, 0, 16383, {.clip_limit = 40, .tiles_x = 1, .tiles_y = 1, .amount = 0.7}},
      {300, 90, 0xffff, 0, 0xffff, {.clip_limit = 40, .tiles_x = 2, .tiles_y = 1}},
      {97, 61, 0xffff, 4096, 60160, {.clip_limit = 5, .tiles_x = 5, .tiles_y = 7}},
      {70, 50, 4095, 0, 4095, {.clip_limit = 0, .tiles_x = 3, .tiles_y = 2, .amount = 0.2}},
      {3, 40, 1023, 64, 940, {.clip_limit = 100, .tiles_x = 8, .tiles_y = 3}},
  };
  for (const auto &[width, height, maximum, black, white, given] : cases)
    for (const auto content : {test::Content::random, test::Content::text, test::Content::white,
                               test::Content::gradient, test::Content::near_white}) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << ", maximum " << maximum
                                      << ", content " << static_cast<int>(content));
      EqualizeParams params = given;
      params.method = kClahe;
      const test::Layout layout{.padding = 3, .offset = 1};
      const Image<std::uint16_t> in(
          test::make_content<std::uint16_t>(content, width, height, maximum), width, height, layout,
          maximum);
      Image<std::uint16_t> expected(width, height, layout, maximum);
      Image<std::uint16_t> out(width, height, layout, maximum);
      run(cpu, test::with_range(in.plane(), black, white), expected.plane(), params);
      const Plane<std::uint16_t> from = device_in.upload(in), to = device_out.upload(out);
      run(cuda, test::with_range(Plane<const std::uint16_t>(from), black, white), to, params);
      device_out.download(out.memory().begin(), out.memory().size());
      cuda.synchronize();
      ASSERT_TRUE(out.guards_intact());
      ASSERT_TRUE(test::same(expected.samples(), out.samples(), width));
    }
}
#endif

// ---- Smoothing ---------------------------------------------------------------------------------

class EqualizeSmoothing : public testing::Test {
 protected:
  /// The new value of 50 in a frame of ten pixels: `pixels` of them are 50, the others 100.
  /// Without smoothing it is 25.5 * pixels, rounded down.
  int level_50(int pixels, double smoothing = 0.5, Rectangle roi = {}) {
    Gray8 samples(10, 100);
    std::fill_n(samples.begin(), pixels, 50);
    const Image<std::uint8_t> in(samples, 10, 1);
    Image<std::uint8_t> out(10, 1);
    run(cpu_, in.plane(), out.plane(), {.formula = kCdf, .smoothing = smoothing, .roi = roi});
    return out.at(0, 0);
  }
  Cpu cpu_;
};

TEST_F(EqualizeSmoothing, MovesAlong) {
  EXPECT_EQ(level_50(5), 127);
  EXPECT_EQ(level_50(8), 166);        // (127 + 204) / 2 = 165.5
  EXPECT_EQ(level_50(8), 185);        // (165.5 + 204) / 2 = 184.75
  EXPECT_EQ(level_50(8), 194);        // 194.375
  EXPECT_EQ(level_50(8, 0.75), 197);  // 194.375 + 9.625 / 4 = 196.78
}
TEST_F(EqualizeSmoothing, StartsAnewWhenMoreThanAThirdMoves) {
  EXPECT_EQ(level_50(4), 102);
  EXPECT_EQ(level_50(8), 204);
  EXPECT_EQ(level_50(5), 166);
  EXPECT_EQ(level_50(9), 229);
}
TEST_F(EqualizeSmoothing, StartsAnewAfterForget) {
  EXPECT_EQ(level_50(5), 127);
  cpu_.forget();
  EXPECT_EQ(level_50(8), 204);
}
TEST_F(EqualizeSmoothing, StartsAnewAfterAFrameWithoutIt) {
  EXPECT_EQ(level_50(5), 127);
  EXPECT_EQ(level_50(7, 0), 178);
  EXPECT_EQ(level_50(8), 204);
}
TEST_F(EqualizeSmoothing, WaitsForFramesOfOtherMethods) {
  EXPECT_EQ(level_50(5), 127);
  const Image<std::uint8_t> in(10, 1);
  Image<std::uint8_t> out(10, 1);
  run(cpu_, in.plane(), out.plane(), {.method = EqualizeMethod::clahe, .tiles_x = 2, .tiles_y = 1});
  EXPECT_EQ(level_50(8), 166);
}
TEST_F(EqualizeSmoothing, StartsAnewWithStatisticsFromMoreOrFewerPixels) {
  EXPECT_EQ(level_50(5), 127);
  EXPECT_EQ(level_50(8, 0.5, {0, 0, 9, 1}), 226);  // 255 * 8 / 9
  EXPECT_EQ(level_50(8), 204);
}
TEST_F(EqualizeSmoothing, ComesToRestAtTheMapping) {
  level_50(6);
  for (int frame = 0; frame < 20000; ++frame) level_50(7, 0.999);
  EXPECT_EQ(level_50(7, 0.999), 178);
  level_50(8, 0);
  level_50(8);
  for (int frame = 0; frame < 20000; ++frame) level_50(7, 0.999);
  EXPECT_EQ(level_50(7, 0.999), 178);
}
TEST_F(EqualizeSmoothing, IsOfTheMappingNotOfTheAmount) {
  level_50(5);
  const Image<std::uint8_t> in({50, 50, 50, 50, 50, 50, 50, 50, 100, 100}, 10, 1);
  Image<std::uint8_t> out(10, 1);
  run(cpu_, in.plane(), out.plane(), {.formula = kCdf, .amount = 0, .smoothing = 0.5});
  EXPECT_EQ(out.samples(), in.samples());
  EXPECT_EQ(level_50(8), 185);
}
TEST_F(EqualizeSmoothing, OfManyLevels) {
  const auto run_sixteen = [&](std::vector<std::uint16_t> samples, double smoothing) {
    const int width = static_cast<int>(samples.size());
    const Image<std::uint16_t> in(samples, width, 1);
    Image<std::uint16_t> out(width, 1);
    run(cpu_, in.plane(), out.plane(), {.formula = kCdf, .smoothing = smoothing});
    return out.samples();
  };
  EXPECT_EQ(run_sixteen({0, 1, 2, 65535}, 0.5), (Gray16{16383, 32767, 49151, 65535}));
  // one of four samples has moved to level 0: (16383 + 32767) / 2
  EXPECT_EQ(run_sixteen({0, 0, 2, 65535}, 0.5), (Gray16{24575, 24575, 49151, 65535}));
}

#ifdef HAVE_CUDA
TEST_F(EqualizeSmoothing, CudaHasThatOfTheCpu) {
  NEED_GPU();
  // The noise differs in all frames; every four frames the scene changes.
  const auto content_of = [](int frame) {
    return frame / 4 % 2 ? test::Content::gradient : test::Content::text;
  };
  const auto check = [](const EqualizeReport &wanted, const EqualizeReport &got) {
    EXPECT_EQ(wanted.histogram, got.histogram);
    EXPECT_EQ(wanted.minimum, got.minimum);
    EXPECT_EQ(wanted.maximum, got.maximum);
    EXPECT_EQ(wanted.mean, got.mean);
  };
  for (const EqualizeParams &params :
       {EqualizeParams{.smoothing = 0.5},
        EqualizeParams{.formula = kCdf, .amount = 0.75, .smoothing = 0.9, .roi = {3, 2, 50, 30}},
        EqualizeParams{.method = kClahe, .tiles_x = 3, .tiles_y = 2}}) {
    SCOPED_TRACE(testing::Message() << params);
    const auto follow = [&]<typename T>(T maximum, int frames, int forget_at) {
      test::expect_cuda_follows_cpu<EqualizeReport>(params, maximum, frames, forget_at, content_of,
                                                    check);
    };
    follow(std::uint8_t{255}, 14, 10);
    follow(std::uint16_t{1023}, 8, 6);
    follow(std::uint16_t{0xffff}, 8, 6);
  }
}
#endif

}  // namespace
}  // namespace cudascan
