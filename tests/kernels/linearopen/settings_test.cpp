// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrong settings of cudalinearopen's operator, and the angles of the directions.
#include <cmath>
#include <initializer_list>

#include "tests/kernels/linearopen/oracle.h"

namespace cudascan {
namespace {

using test::Image;
using Params = LinearOpenParams;
using enum LinearOpenAlgorithm;
constexpr auto kInvariant = LinearOpenLines::invariant;

/// The message with which validate() and run() refuse the parameters; both must be the same.
std::string refusal(const Params &params) {
  std::string of_validate = "accepted", of_run = "accepted";
  try {
    validate(params);
  } catch (const BadSetting &e) {
    of_validate = e.what();
  }
  try {
    test::linear_opened(Image<std::uint8_t>(20, 20), params);
  } catch (const BadSetting &e) {
    of_run = e.what();
  }
  EXPECT_EQ(of_validate, of_run);
  return of_run;
}

/// The message must begin with the setting and its value, and contain these words.
void expect_refusal(const Params &params, const char *begin,
                    std::initializer_list<const char *> words) {
  const std::string message = refusal(params);
  EXPECT_TRUE(message.starts_with(begin)) << '"' << begin << "\" does not begin: " << message;
  for (const char *word : words)
    EXPECT_NE(message.find(word), std::string::npos) << '"' << word << "\" is not in: " << message;
}

TEST(LinearOpenRefuses, NumbersOutOfRange) {
  expect_refusal({.length = 0}, "length = 0: ", {"1 to 4096"});
  expect_refusal({.length = -3}, "length = -3: ", {"1 to 4096"});
  expect_refusal({.length = 4097}, "length = 4097: ", {"1 to 4096"});
  expect_refusal({.angle = NAN}, "angle = nan: ", {"-360 to 360"});
  expect_refusal({.angle = INFINITY}, "angle = inf: ", {"-360 to 360"});
  expect_refusal({.angle = 360.5}, "angle = 360.5: ", {"-360 to 360"});
  expect_refusal({.angle = -361}, "angle = -361: ", {"-360 to 360"});
  expect_refusal({.directions = 0}, "directions = 0: ", {"1 to 1024"});
  expect_refusal({.directions = 1025}, "directions = 1025: ", {"1 to 1024"});
  expect_refusal({.directions = 2, .span = 0}, "span = 0: ", {"180"});
  expect_refusal({.directions = 2, .span = -10}, "span = -10: ", {"180"});
  expect_refusal({.directions = 2, .span = 180.5}, "span = 180.5: ", {"180"});
  expect_refusal({.span = NAN}, "span = nan: ", {"180"});
}

TEST(LinearOpenRefuses, UnknownChoices) {
  expect_refusal({.operation = LinearOpenOperation{4}}, "operation = 4", {});
  expect_refusal({.operation = static_cast<LinearOpenOperation>(-1)}, "operation = -1", {});
  expect_refusal({.output = LinearOpenOutput{2}}, "output = 2", {});
  expect_refusal({.lines = LinearOpenLines{2}}, "lines = 2", {});
  expect_refusal({.algorithm = LinearOpenAlgorithm{4}}, "algorithm = 4", {});
}

TEST(LinearOpenRefuses, PublishedAlgorithmsWithTheSameSegmentAtEveryPixel) {
  expect_refusal({.lines = kInvariant, .algorithm = morard}, "algorithm = morard",
                 {"lines = invariant", "lines = partition", "auto"});
  expect_refusal({.lines = kInvariant, .algorithm = bartovsky}, "algorithm = bartovsky with",
                 {"lines = invariant", "lines = partition", "auto"});
  expect_refusal({.lines = kInvariant, .algorithm = bartovsky_zones},
                 "algorithm = bartovsky-zones with",
                 {"lines = invariant", "lines = partition", "auto"});
}

TEST(LinearOpenRefuses, NothingWithinTheRanges) {
  for (const Params &params :
       {Params{.length = 1, .angle = -360}, Params{.length = 4096, .angle = 360},
        Params{.length = 2, .directions = 1024, .span = 1e-9},
        Params{.directions = 2, .span = 180, .lines = kInvariant},
        Params{.directions = 1, .span = 0.5, .algorithm = morard}})
    EXPECT_EQ(refusal(params), "accepted") << params;
}

template <typename T>
void expect_planes_refused() {
  Cpu cpu;
  const Image<T> in(20, 10);
  Image<T> wider(21, 10), higher(20, 11);
  EXPECT_THROW(run(cpu, in.plane(), wider.plane(), Params{}), BadSetting);
  EXPECT_THROW(run(cpu, in.plane(), higher.plane(), Params{}), BadSetting);
}
TEST(LinearOpenRefuses, PlanesOfDifferentSizes) {
  expect_planes_refused<std::uint8_t>();
  expect_planes_refused<std::uint16_t>();
  expect_planes_refused<float>();
}

#ifdef HAVE_CUDA
TEST(LinearOpenRefuses, CudaTheSame) {
  NEED_GPU();
  test::CudaRunner cuda;
  const Image<std::uint8_t> in(20, 20);
  for (const Params &params : {Params{.length = 0}, Params{.angle = NAN}, Params{.directions = 0},
                               Params{.span = 0}, Params{.lines = kInvariant, .algorithm = morard}})
    EXPECT_EQ(test::outcome<std::uint8_t>(cuda, in, {}, std::uint8_t{255}, params, 0).refused,
              refusal(params));
}
#else
TEST(LinearOpenRefuses, TheGpuInABuildWithoutIt) {
  Cuda cuda;
  float in = 1, out = 2;
  EXPECT_THROW(run(cuda, Plane<const float>{&in, 1, 1, 4}, Plane<float>{&out, 1, 1, 4}, Params{}),
               Error);
}
#endif

// ---- Directions ---------------------------------------------------------------------------------

TEST(LinearOpenDirections, SpreadOverTheSpan) {
  using Angles = std::vector<double>;
  EXPECT_EQ(directions_of({}), Angles{0});
  EXPECT_EQ(directions_of({.angle = 17, .span = 20}), Angles{17});
  EXPECT_EQ(directions_of({.directions = 2}), (Angles{0, 90}));
  EXPECT_EQ(directions_of({.angle = 30, .directions = 3}), (Angles{30, 90, 150}));
  EXPECT_EQ(directions_of({.angle = -30, .directions = 2, .span = 60}), (Angles{-30, 30}));
  EXPECT_EQ(directions_of({.angle = 350, .directions = 3, .span = 20}), (Angles{350, 360, 370}));
  const Angles music = directions_of({.angle = -10, .directions = 81, .span = 20});
  ASSERT_EQ(music.size(), 81u);
  for (int i = 0; i < 81; ++i) EXPECT_EQ(music[i], -10 + i * 0.25);
  const Angles all = directions_of({.directions = 180});
  for (int i = 0; i < 180; ++i) EXPECT_EQ(all[i], i);
}

}  // namespace
}  // namespace cudascan
