// SPDX-License-Identifier: LGPL-2.1-or-later
// Rotating an image: compared with interpolation in floating point and with the formula in
// integers; rotations that only move samples; borders; and CUDA compared with the CPU.
#include "kernels/rotate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/rotate/formula.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {

static std::ostream &operator<<(std::ostream &s, const RotateParams &p) {
  return s << p.angle << " degrees, interpolation " << static_cast<int>(p.interpolation)
           << ", border " << static_cast<int>(p.border) << " " << p.border_value;
}

namespace {

using test::Content;
using test::Image;
using test::Layout;
using test::make_content;

constexpr auto kNearest = RotateInterpolation::nearest, kLinear = RotateInterpolation::linear,
               kCubic = RotateInterpolation::cubic;
constexpr auto kConstant = RotateBorder::constant;

CHECK_OPERATOR(Rotate, RotateParams, {}, {.angle = 3.7},
               {.angle = -12.25, .interpolation = kLinear}, {.angle = 45, .border = kConstant},
               {.angle = 101.5, .interpolation = kNearest},
               {.angle = -0.05, .border = kConstant, .border_value = 7},
               {.angle = 359, .border = kConstant, .border_value = 0}, {.angle = 90},
               {.angle = 180}, {.angle = 26.2, .border = kConstant, .border_value = 100});

template <typename T>
std::vector<T> rotated(const std::vector<T> &samples, int width, int height,
                       const RotateParams &params, T maximum = std::numeric_limits<T>::max()) {
  Cpu cpu(2);
  const Image<T> in(samples, width, height, {}, maximum);
  Image<T> out(width, height, {}, maximum);
  run(cpu, in.plane(), out.plane(), params);
  return out.samples();
}

/// The kernels as functions of the distance: for cubic interpolation, Keys' kernel with a = -1/2.
double kernel(RotateInterpolation interpolation, double t) {
  t = std::abs(t);
  if (interpolation == kLinear) return t < 1 ? 1 - t : 0;
  if (t < 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
  return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
}

/// The expected pixel: the sum over all samples of the image that are near enough.
template <typename T>
double expected(const std::vector<T> &samples, int width, int height, const RotateParams &params,
                int x, int y, T outside) {
  const double radians = params.angle * std::numbers::pi / 180;
  const double from_x = x - (width - 1) / 2.0, from_y = y - (height - 1) / 2.0;
  // y grows downwards on the screen. To rotate to the left, the lookup position rotates to the
  // right.
  const double place_x =
      (width - 1) / 2.0 + std::cos(radians) * from_x - std::sin(radians) * from_y;
  const double place_y =
      (height - 1) / 2.0 + std::sin(radians) * from_x + std::cos(radians) * from_y;
  double sum = 0;
  for (int row = int(std::floor(place_y)) - 1; row <= std::floor(place_y) + 2; ++row)
    for (int column = int(std::floor(place_x)) - 1; column <= std::floor(place_x) + 2; ++column) {
      const int near_x = std::clamp(column, 0, width - 1), near_y = std::clamp(row, 0, height - 1);
      const bool out = near_x != column || near_y != row;
      const double sample = out && params.border == kConstant
                                ? outside
                                : samples[static_cast<std::size_t>(near_y) * width + near_x];
      sum += sample * kernel(params.interpolation, place_x - column) *
             kernel(params.interpolation, place_y - row);
    }
  return sum;
}

/// A picture without edges. An error of 1/128 pixel in the position changes it little.
template <typename T>
std::vector<T> soft_picture(int width, int height, T maximum) {
  std::vector<T> samples;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      samples.push_back(static_cast<T>(
          maximum * (0.5 + 0.2 * std::sin(x * 0.21 + 1) + 0.25 * std::cos(y * 0.17 - x * 0.05))));
  return samples;
}

template <typename T>
void check_against_floating_point(T maximum, double tolerance) {
  constexpr int kWidth = 61, kHeight = 47;
  const std::vector<T> samples = soft_picture<T>(kWidth, kHeight, maximum);
  for (const auto interpolation : {kLinear, kCubic})
    for (const double angle : {0.31, -2.5, 7.0, 33.3, -90.0, 135.0, 270.4})
      for (const auto border : {RotateBorder::replicate, kConstant}) {
        const RotateParams params{.angle = angle,
                                  .interpolation = interpolation,
                                  .border = border,
                                  .border_value = maximum / 2};
        SCOPED_TRACE(testing::Message() << params << ", maximum " << +maximum);
        const std::vector<T> got = rotated(samples, kWidth, kHeight, params, maximum);
        for (int y = 0; y < kHeight; ++y)
          for (int x = 0; x < kWidth; ++x) {
            const double want = expected<T>(samples, kWidth, kHeight, params, x, y, maximum / 2);
            // There is an edge where the constant border begins, so small errors of the position
            // are visible.
            const bool edge = border == kConstant;
            ASSERT_NEAR(got[y * kWidth + x], std::clamp<double>(want, 0, maximum),
                        tolerance * (edge ? 4 : 1))
                << x << ", " << y;
          }
      }
}

TEST(Rotate, FollowsTheDefinition) {
  check_against_floating_point<std::uint8_t>(0xff, 1.6);
  check_against_floating_point<std::uint16_t>(0xffff, 300);
  check_against_floating_point<std::uint16_t>(0x3ff, 5);
}

template <RotateInterpolation kInterpolation>
void fill(rotation::PhaseWeights &weights) {
  for (int phase = 0; phase < rotation::kPhases; ++phase) {
    int w[4];
    rotation::make_weights<kInterpolation>(phase, w);
    std::copy_n(w, 4, weights.of[phase]);
  }
}

/// Computes the formula pixel by pixel.
template <typename T>
std::vector<T> by_formula(const Image<T> &in, const RotateParams &params) {
  const double radians = params.angle * std::numbers::pi / 180;
  rotation::RotateJob<T> job{};
  job.in = in.plane();
  job.cosine = std::llround(std::cos(radians) * 0x1p32);
  job.sine = std::llround(std::sin(radians) * 0x1p32);
  // The centre stays in place. Adding half of 1/64 pixel turns truncation into rounding.
  const std::int64_t right = in.width() - 1, bottom = in.height() - 1;
  job.first.x = (((right << 32) - right * job.cosine + bottom * job.sine) >> 1) + (1 << 25);
  job.first.y = (((bottom << 32) - right * job.sine - bottom * job.cosine) >> 1) + (1 << 25);
  job.constant = params.border == kConstant;
  job.outside = static_cast<T>(params.border_value);
  job.low_bits = unused_low_bits(in.plane().maximum);
  if (params.interpolation == kNearest) fill<kNearest>(job.weights);
  if (params.interpolation == kLinear) fill<kLinear>(job.weights);
  if (params.interpolation == kCubic) fill<kCubic>(job.weights);
  std::vector<T> result;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x) result.push_back(job.blend_at_edge(job.place(x, y)));
  return result;
}

template <typename T>
void check_against_formula(T maximum) {
  constexpr int kWidth = 203, kHeight = 67;
  const auto samples = make_content<T>(Content::random, kWidth, kHeight, maximum);
  const Image<T> in(samples, kWidth, kHeight, {}, maximum);
  for (const auto interpolation : {kNearest, kLinear, kCubic})
    for (const double angle : {0.2, -1.3, 8.5, -9.5, 45.0, 101.5, -160.0})
      for (const auto border : {RotateBorder::replicate, kConstant}) {
        const RotateParams params{
            .angle = angle, .interpolation = interpolation, .border = border, .border_value = 0};
        ASSERT_EQ(rotated(samples, kWidth, kHeight, params, maximum), by_formula(in, params))
            << params << ", maximum " << +maximum;
      }
}

TEST(Rotate, EqualsTheFormula) {
  check_against_formula<std::uint8_t>(0xff);
  check_against_formula<std::uint16_t>(0xffff);
  check_against_formula<std::uint16_t>(0x3ff);
  check_against_formula<std::uint16_t>(0xffc0);
}

TEST(Rotate, ByNothingCopies) {
  const auto samples = make_content<std::uint8_t>(Content::random, 67, 35, 0xff);
  for (const double angle : {0.0, 360.0, -360.0})
    for (const auto interpolation : {kNearest, kLinear, kCubic})
      EXPECT_EQ(rotated(samples, 67, 35, {.angle = angle, .interpolation = interpolation}),
                samples);
}

TEST(Rotate, CounterClockwiseByRightAngles) {
  // The left half is dark. A rotation by 90 degrees to the left moves it to the bottom.
  const std::vector<std::uint8_t> samples = {0, 10, 200, 210,  //
                                             1, 11, 201, 211,  //
                                             2, 12, 202, 212,  //
                                             3, 13, 203, 213};
  const std::vector<std::uint8_t> left = {210, 211, 212, 213,  //
                                          200, 201, 202, 203,  //
                                          10,  11,  12,  13,   //
                                          0,   1,   2,   3};
  EXPECT_EQ(rotated(samples, 4, 4, {.angle = 90}), left);
  EXPECT_EQ(rotated(samples, 4, 4, {.angle = -270}), left);
  EXPECT_EQ(rotated(rotated(samples, 4, 4, {.angle = 90}), 4, 4, {.angle = -90}), samples);
  const std::vector<std::uint8_t> reversed(samples.rbegin(), samples.rend());
  EXPECT_EQ(rotated(samples, 4, 4, {.angle = 180}), reversed);
}

TEST(Rotate, ThereAndBackIsAlmostTheSame) {
  constexpr int kSide = 301;
  const auto samples = soft_picture<std::uint8_t>(kSide, kSide, 0xff);
  const auto back =
      rotated(rotated(samples, kSide, kSide, {.angle = 5.3}), kSide, kSide, {.angle = -5.3});
  for (int y = 40; y < kSide - 40; ++y)
    for (int x = 40; x < kSide - 40; ++x)
      ASSERT_NEAR(back[y * kSide + x], samples[y * kSide + x], 2) << x << ", " << y;
}

TEST(Rotate, CubicKeepsSlopesAndStopsAtTheEndsOfTheRange) {
  constexpr int kSide = 40;
  std::vector<std::uint8_t> slope, edge;
  for (int i = 0; i < kSide * kSide; ++i) {
    slope.push_back(static_cast<std::uint8_t>(5 * (i % kSide) + i / kSide));
    edge.push_back(i % kSide < kSide / 2 ? 0 : 255);
  }
  const auto got = rotated(slope, kSide, kSide, {.angle = 10});
  const double c = std::cos(10 * std::numbers::pi / 180), s = std::sin(10 * std::numbers::pi / 180);
  for (int y = 12; y < 28; ++y)
    for (int x = 12; x < 28; ++x) {
      const double from_x = x - 19.5, from_y = y - 19.5;
      const double want = 5 * (19.5 + c * from_x - s * from_y) + 19.5 + s * from_x + c * from_y;
      ASSERT_NEAR(got[y * kSide + x], want, 0.6);
    }
  // Next to an edge the sum is below 0 or above 255: it must not wrap around.
  const auto turned = rotated(edge, kSide, kSide, {.angle = 20});
  EXPECT_LE(turned[20 * kSide + 12], 1);
  EXPECT_GE(turned[20 * kSide + 27], 254);
}

TEST(Rotate, NearestMakesNoNewLevels) {
  const auto samples = make_content<std::uint8_t>(Content::checkerboard, 99, 80, 0xff);
  for (const auto level : rotated(samples, 99, 80, {.angle = 17, .interpolation = kNearest}))
    ASSERT_TRUE(level == 0 || level == 255);
}

TEST(Rotate, Borders) {
  const std::vector<std::uint8_t> gray(50 * 50, 100);
  const auto corner = [&](const RotateParams &params) { return rotated(gray, 50, 50, params)[0]; };
  EXPECT_EQ(corner({.angle = 45}), 100);
  EXPECT_EQ(corner({.angle = 45, .border = kConstant}), 255);
  EXPECT_EQ(corner({.angle = 45, .border = kConstant, .border_value = 3}), 3);
  const std::vector<std::uint16_t> deep(50 * 50, 640);
  const auto deep_corner = [&](std::uint16_t maximum) {
    return rotated<std::uint16_t>(deep, 50, 50, {.angle = 45, .border = kConstant}, maximum)[0];
  };
  EXPECT_EQ(deep_corner(1023), 1023);
  EXPECT_EQ(deep_corner(0xffc0), 0xffc0);
}

/// The image ends at the last byte of accessible memory.
template <typename T>
void rotate_at_the_end_of_memory() {
  test::CpuRunner runner(1);
  for (int width = 24; width < 72; ++width)
    for (double angle = -9; angle < 9; angle += 0.3) {
      const Layout flush{.flush = true};
      const Image<T> in(width, 24, flush);
      Image<T> out(width, 24, flush);
      runner(in, out, RotateParams{.angle = angle});
      EXPECT_TRUE(out.guards_intact());
    }
}
TEST(Rotate, ReadsNothingBehindTheImage) {
  rotate_at_the_end_of_memory<std::uint8_t>();
  rotate_at_the_end_of_memory<std::uint16_t>();
}

TEST(Rotate, BitsThatTheFormatDoesNotHaveStayZero) {
  const auto samples = make_content<std::uint16_t>(Content::random, 120, 90, 0xffc0);
  for (const auto border : {RotateBorder::replicate, kConstant})
    for (const auto level : rotated<std::uint16_t>(
             samples, 120, 90, {.angle = 40, .border = border, .border_value = 1000}, 0xffc0))
      ASSERT_EQ(level % 64, 0);
}

#ifdef HAVE_CUDA
template <typename T>
void expect_cuda_turns_as_cpu(double angle) {
  constexpr int kWidth = 300, kHeight = 210;
  constexpr T kMaximum = std::numeric_limits<T>::max();
  const auto samples = make_content<T>(Content::random, kWidth, kHeight, kMaximum);
  test::CpuRunner cpu;
  test::CudaRunner cuda;
  for (const Layout layout : {Layout{.unit = 4}, Layout{.offset = 2, .unit = 4}}) {
    SCOPED_TRACE(testing::Message() << angle << " degrees, offset " << layout.offset);
    const Image<T> in(samples, kWidth, kHeight, layout, kMaximum);
    const RotateParams params{.angle = angle};
    const auto expected = test::outcome<T>(cpu, in, layout, kMaximum, params, 0x5a);
    const auto got = test::outcome<T>(cuda, in, layout, kMaximum, params, 0xc3);
    ASSERT_TRUE(test::same(expected.samples, got.samples, kWidth));
  }
}

// If a block reads only samples inside the image, it copies them word by word, provided that rows
// begin with words.
TEST(Rotate, CudaEqualsCpuFarFromTheEdges) {
  NEED_GPU();
  for (const double angle : {0.0, 26.2, 45.0, 116.2, -90.0}) {
    expect_cuda_turns_as_cpu<std::uint8_t>(angle);
    expect_cuda_turns_as_cpu<std::uint16_t>(angle);
  }
}
#endif

TEST(Rotate, RefusesWhatMakesNoSense) {
  Cpu cpu;
  Image<std::uint8_t> in(4, 4), out(4, 4), other(5, 4);
  const auto refusal = [&](const RotateParams &params, Image<std::uint8_t> &to) -> std::string {
    try {
      run(cpu, Plane<const std::uint8_t>(in.plane()), to.plane(), params);
    } catch (const BadSetting &e) {
      return e.what();
    }
    return "";
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal({}, out), "");
  EXPECT_EQ(refusal({.angle = 361}, out), "angle 361: must be from -360 to 360 degrees");
  EXPECT_NE(refusal({.angle = kNan}, out).find("angle nan"), std::string::npos);
  EXPECT_NE(refusal({.border_value = -2}, out).find("border-value -2"), std::string::npos);
  EXPECT_NE(refusal({.border_value = 256}, out).find("above the largest level of the format, 255"),
            std::string::npos);
  EXPECT_NE(refusal({}, other).find("5x4"), std::string::npos);
}

}  // namespace
}  // namespace cudascan
