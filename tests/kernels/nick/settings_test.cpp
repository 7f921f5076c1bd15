// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings and planes that the local thresholds refuse, and unusual planes that they take.
#include <cmath>
#include <string>

#include "kernels/nick.h"
#include "tests/kernels/nick/oracle.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;
using test::page;
using test::result;

/// The message with which validate() and run() refuse the parameters; both must be the same.
std::string refusal(const NickParams &params) {
  const auto in = page<std::uint8_t>(20, 20);
  std::string of_validate = "accepted", of_run = "accepted";
  try {
    validate(params);
  } catch (const BadSetting &e) {
    of_validate = e.what();
  }
  try {
    result(in, params);
  } catch (const BadSetting &e) {
    of_run = e.what();
  }
  EXPECT_EQ(of_validate, of_run);
  return of_run;
}

/// The message must contain the setting, its value and the allowed values.
#define EXPECT_REFUSAL(params, setting, remedy)                     \
  do {                                                              \
    const std::string message = refusal(params);                    \
    EXPECT_NE(message.find(setting), std::string::npos) << message; \
    EXPECT_NE(message.find(remedy), std::string::npos) << message;  \
  } while (false)

TEST(NickRefuses, Windows) {
  const char *const remedy = "odd number of pixels from 3 to 1023";
  for (const int side : {-3, 0, 1, 2, 4, 74, 1022, 1024, 1025, 100'001}) {
    EXPECT_REFUSAL(NickParams{.window = side}, "window = " + std::to_string(side), remedy);
    if (side == 0) continue;  // unset
    EXPECT_REFUSAL(NickParams{.window_width = side}, "window-width = " + std::to_string(side),
                   remedy);
    EXPECT_REFUSAL(NickParams{.window_height = side}, "window-height = " + std::to_string(side),
                   remedy);
  }
  EXPECT_REFUSAL(NickParams{.window = 74}, "window = 74", "75");
  EXPECT_EQ(refusal({.window = 3}), "accepted");
  EXPECT_EQ(refusal({.window = 1023}), "accepted");
}

TEST(NickRefuses, Weights) {
  const char *const remedy = "from -2 to 2";
  EXPECT_REFUSAL(NickParams{.k = 3}, "k = 3", remedy);
  EXPECT_REFUSAL(NickParams{.k = -2.5}, "k = -2.5", remedy);
  EXPECT_REFUSAL(NickParams{.k = NAN}, "k = nan", remedy);
  EXPECT_REFUSAL(NickParams{.k = INFINITY}, "k = inf", remedy);
  EXPECT_REFUSAL(NickParams{.k = -INFINITY}, "k = -inf", remedy);
  EXPECT_EQ(refusal({.k = 2}), "accepted");
  EXPECT_EQ(refusal({.k = -2}), "accepted");
}

TEST(NickRefuses, DynamicRanges) {
  const char *const remedy = "from 1 to 1024";
  EXPECT_REFUSAL(NickParams{.r = 0}, "r = 0", remedy);
  EXPECT_REFUSAL(NickParams{.r = -128}, "r = -128", remedy);
  EXPECT_REFUSAL(NickParams{.r = 1024.5}, "r = 1024.5", remedy);
  EXPECT_REFUSAL(NickParams{.r = NAN}, "r = nan", remedy);
  EXPECT_EQ(refusal({.r = 1}), "accepted");
  EXPECT_EQ(refusal({.r = 1024}), "accepted");
}

TEST(NickRefuses, SharedAlgorithmWithLargeWindows) {
  const auto shared = [](NickParams params) {
    params.algorithm = NickAlgorithm::shared;
    return params;
  };
  EXPECT_REFUSAL(shared({.window = 17}), "algorithm = shared", "at most 15");
  EXPECT_REFUSAL(shared({.window = 17}), "window = 17", "another algorithm");
  EXPECT_REFUSAL(shared({.window = 3, .window_width = 17}), "17", "at most 15");
  EXPECT_REFUSAL(shared({.window = 3, .window_height = 17}), "17", "at most 15");
  EXPECT_EQ(refusal(shared({.window = 15})), "accepted");
  EXPECT_EQ(refusal(shared({.window = 17, .window_width = 15, .window_height = 3})), "accepted");
}

TEST(NickRefuses, UnknownMethods) {
  const auto unknown = static_cast<NickMethod>(6);
  EXPECT_REFUSAL(NickParams{.method = unknown}, "method = 6", "no such method");
  EXPECT_REFUSAL((NickParams{.method = unknown, .k = 0.1}), "method = 6", "no such method");
}

template <typename Out>
std::string refusal_of_planes(test::Size in_size, test::Size out_size,
                              const NickParams &params = {}) {
  const Image<std::uint16_t> in(in_size.width, in_size.height);
  Image<Out> out(out_size.width, out_size.height);
  const auto before = out.samples();
  Cpu cpu;
  try {
    run(cpu, in.plane(), out.plane(), params);
  } catch (const BadSetting &e) {
    EXPECT_EQ(out.samples(), before) << "the output was written";
    return e.what();
  }
  return "accepted";
}

TEST(NickRefuses, Planes) {
  const std::string sizes = refusal_of_planes<std::uint16_t>({20, 10}, {20, 11});
  EXPECT_NE(sizes.find("20x10"), std::string::npos) << sizes;
  EXPECT_NE(sizes.find("20x11"), std::string::npos) << sizes;
  EXPECT_NE(sizes.find("same size"), std::string::npos) << sizes;
  const std::string large = refusal_of_planes<std::uint16_t>({32769, 1}, {32769, 1});
  EXPECT_NE(large.find("32769x1"), std::string::npos) << large;
  EXPECT_NE(large.find("1 to 32768"), std::string::npos) << large;
  EXPECT_NE(refusal_of_planes<std::uint16_t>({1, 32769}, {1, 32769}), "accepted");
  EXPECT_EQ(refusal_of_planes<std::uint16_t>({1, 32768}, {1, 32768}), "accepted");

  const NickParams surface = {.output = NickOutput::threshold};
  const std::string depth = refusal_of_planes<std::uint8_t>({20, 10}, {20, 10}, surface);
  EXPECT_NE(depth.find("output = threshold"), std::string::npos) << depth;
  EXPECT_NE(depth.find("depth of the input"), std::string::npos) << depth;
  EXPECT_EQ(refusal_of_planes<std::uint16_t>({20, 10}, {20, 10}, surface), "accepted");
}

TEST(NickRefuses, EmptyPlanes) {
  std::uint8_t sample = 0;
  Cpu cpu;
  for (const auto &[width, height] : {test::Size{0, 1}, test::Size{1, 0}, test::Size{-1, -1}})
    EXPECT_THROW(run(cpu, Plane<const std::uint8_t>{&sample, width, height, 1},
                     Plane<std::uint8_t>{&sample, width, height, 1}, NickParams{}),
                 BadSetting);
}

}  // namespace
#ifdef HAVE_CUDA
/// Rows so far apart that the plane has more than 4 GiB.
TEST(Nick, CudaStoresRowsThatAreFarApart) {
  NEED_REAL_GPU();
  constexpr int kWidth = 300, kHeight = 2200;
  constexpr std::ptrdiff_t kStride = 2 << 20;
  const auto samples = test::make_content<std::uint8_t>(test::Content::text, kWidth, kHeight, 255);
  const Image<std::uint8_t> in(samples, kWidth, kHeight);
  Image<std::uint8_t> expected(kWidth, kHeight), got(kWidth, kHeight);
  const NickParams params{.window = 15};
  Cpu cpu;
  run(cpu, in.plane(), expected.plane(), params);

  cuda::DeviceBuffer from(kWidth * kHeight), to(kStride * kHeight);
  cuda::Stream stream;
  Cuda cuda(stream.get());
  cuda::copy_rows(from.data(), kWidth, samples.data(), kWidth, kWidth, kHeight, stream.get());
  run(cuda,
      Plane<const std::uint8_t>{static_cast<const std::uint8_t *>(from.data()), kWidth, kHeight,
                                kWidth},
      Plane<std::uint8_t>{static_cast<std::uint8_t *>(to.data()), kWidth, kHeight, kStride},
      params);
  const Plane<std::uint8_t> result = got.plane();
  cuda::copy_rows(result.data, result.stride, to.data(), kStride, kWidth, kHeight, stream.get());
  cuda.synchronize();
  EXPECT_TRUE(test::same(expected.samples(), got.samples(), kWidth));
}
#endif

}  // namespace cudascan
