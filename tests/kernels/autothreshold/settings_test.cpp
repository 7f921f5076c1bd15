// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrong settings of cudaautothreshold's operator.
#include <cmath>
#include <initializer_list>

#include "tests/kernels/autothreshold/result.h"

namespace cudascan {
namespace {

using test::Image;
using test::kMethods;
using test::Method;
using test::result;
using Params = AutothresholdParams;

/// The message with which validate() and run() refuse the parameters; both must be the same.
std::string refusal(const Params &params) {
  std::string of_validate = "accepted", of_run = "accepted";
  try {
    validate(params);
  } catch (const BadSetting &e) {
    of_validate = e.what();
  }
  try {
    result(Image<std::uint8_t>(20, 20), params);
  } catch (const BadSetting &e) {
    of_run = e.what();
  }
  EXPECT_EQ(of_validate, of_run);
  return of_run;
}

/// The message must contain these words: the setting, its value and what is allowed.
void expect_refusal(const Params &params, std::initializer_list<const char *> words) {
  const std::string message = refusal(params);
  for (const char *word : words)
    EXPECT_NE(message.find(word), std::string::npos) << '"' << word << "\" is not in: " << message;
}

TEST(AutothresholdRefuses, NumbersOutOfRange) {
  expect_refusal({.classes = 1}, {"classes = 1", "2 to 4"});
  expect_refusal({.classes = 5}, {"classes = 5", "2 to 4"});
  expect_refusal({.offset = 65536}, {"offset = 65536", "-65535 to 65535"});
  expect_refusal({.offset = -65536}, {"offset = -65536", "-65535 to 65535"});
  expect_refusal({.smoothing = 1}, {"smoothing = 1", "0 to 0.999"});
  expect_refusal({.smoothing = -0.1}, {"smoothing = -0.1", "0 to 0.999"});
  expect_refusal({.smoothing = NAN}, {"smoothing = nan", "0 to 0.999"});
  expect_refusal({.hysteresis = -1}, {"hysteresis = -1", "0 to 65535"});
  expect_refusal({.hysteresis = 65536}, {"hysteresis = 65536", "0 to 65535"});
  expect_refusal({.method = static_cast<Method>(15)}, {"method = 15", "no such method"});
  expect_refusal({.method = static_cast<Method>(-1)}, {"method = -1", "no such method"});
  expect_refusal({.algorithm = static_cast<AutothresholdAlgorithm>(2)},
                 {"algorithm = 2", "no such algorithm"});
  EXPECT_EQ(refusal({.offset = 65535, .smoothing = 0.999, .hysteresis = 65535}), "accepted");
}

TEST(AutothresholdRefuses, WhatDoesNotGoTogether) {
  for (const Method method : kMethods)
    if (method != Method::otsu)
      expect_refusal({.method = method, .classes = 3}, {"classes = 3", "otsu"});
  expect_refusal({.classes = 3, .smoothing = 0.5},
                 {"classes = 3", "smoothing = 0.5", "set it to 0"});
  expect_refusal({.classes = 4, .hysteresis = 2}, {"classes = 4", "hysteresis = 2", "set it to 0"});
  const auto prahara = AutothresholdAlgorithm::prahara;
  expect_refusal({.classes = 3, .algorithm = prahara}, {"classes = 3", "algorithm = prahara"});
  for (const Method method : kMethods) {
    const bool known = method <= Method::mcet;
    if (known)
      EXPECT_EQ(refusal({.method = method, .algorithm = prahara}), "accepted");
    else
      expect_refusal({.method = method, .algorithm = prahara},
                     {"algorithm = prahara", "otsu, isodata and mcet", "auto"});
  }
}

TEST(AutothresholdRefuses, Rois) {
  expect_refusal({.roi = {-1, 0, 5, 5}}, {"roi = <-1, 0, 5, 5>", "0 or more"});
  expect_refusal({.roi = {0, 0, -5, 5}}, {"roi = <0, 0, -5, 5>", "0 or more"});
}

template <typename In, typename Out>
std::string refusal_of_planes(test::Size in_size, test::Size out_size, const Params &params,
                              In in_maximum = std::numeric_limits<In>::max()) {
  const Image<In> in(in_size.width, in_size.height, {}, in_maximum);
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

TEST(AutothresholdRefuses, Planes) {
  using std::uint16_t;
  using std::uint8_t;
  const auto expect = [](const std::string &message, std::initializer_list<const char *> words) {
    for (const char *word : words)
      EXPECT_NE(message.find(word), std::string::npos) << word << ": " << message;
  };
  expect(refusal_of_planes<uint8_t, uint8_t>({20, 10}, {20, 11}, {}),
         {"20x10", "20x11", "same size"});
  expect(refusal_of_planes<uint8_t, uint8_t>({32769, 1}, {32769, 1}, {}), {"32769x1", "32768"});
  expect(refusal_of_planes<uint8_t, uint8_t>({20, 10}, {20, 10}, {.roi = {20, 0, 5, 5}}),
         {"roi = <20, 0, 5, 5>", "20x10"});
  expect(refusal_of_planes<uint16_t, uint8_t>({20, 10}, {20, 10}, {.apply = false}),
         {"apply = false", "depth of the input"});
  expect(refusal_of_planes<uint16_t, uint16_t>({20, 10}, {20, 10}, {.apply = false}, 1023),
         {"apply = false", "depth of the input"});
  expect(refusal_of_planes<uint16_t, uint16_t>({20, 10}, {20, 10},
                                               {.algorithm = AutothresholdAlgorithm::prahara}),
         {"algorithm = prahara", "8-bit", "auto"});
  EXPECT_EQ((refusal_of_planes<uint16_t, uint16_t>({20, 10}, {20, 10}, {.apply = false})),
            "accepted");
}

}  // namespace
}  // namespace cudascan
