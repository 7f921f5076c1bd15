// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/rotate.h"

#include "bench/cases.h"

namespace cudascan::bench {
namespace {

constexpr Size kA4{2480, 3508, 8}, kA416{2480, 3508, 16};  // at 300 dpi

Case rotate_case(Size size, double angle, RotateInterpolation interpolation) {
  const char *const name = interpolation == RotateInterpolation::cubic    ? "cubic"
                           : interpolation == RotateInterpolation::linear ? "linear"
                                                                          : "nearest";
  char variant[40];
  std::snprintf(variant, sizeof variant, "rotate %s by %g", name, angle);
  Case c;
  c.op = "rotate";
  c.variant = variant;
  c.size = size;
  c.runner = make_runner(RotateParams{.angle = angle, .interpolation = interpolation});
  return c;
}

std::vector<Case> rotate_cases() {
  constexpr auto kCubic = RotateInterpolation::cubic, kLinear = RotateInterpolation::linear;
  return {rotate_case(k4k, 2, kCubic), rotate_case(k4k, 45, kCubic), rotate_case(k4k16, 2, kCubic),
          rotate_case(kA4, 2, kCubic), rotate_case(kA4, 2, kLinear), rotate_case(kA416, 2, kCubic)};
}

}  // namespace

void add_rotate_cuda(const Options & /*options*/, std::vector<Case> &cases) {
  for (const Case &c : rotate_cases()) cases.push_back(c);
}

void add_rotate_cpu(const Options & /*options*/, std::vector<Case> &cases) {
  for (const Case &c : rotate_cases()) {
    const bool linear = c.variant.find("linear") != std::string::npos;
    const double angle = c.variant.ends_with("45") ? 45 : 2;
    cases.push_back(c);
    cases.back().peer = OpenCv{"rotate", {angle, linear ? 1.0 : 2.0}};
  }
}

}  // namespace cudascan::bench
