// SPDX-License-Identifier: LGPL-2.1-or-later
// Thresholds as near to halfway between two levels as they can be: a half is rounded up.
#include "tests/kernels/nick/oracle.h"

namespace cudascan {
namespace {

using test::Gray8;
using test::Image;
using test::result;

/// An image of one window, whose threshold by Bradley's method is level + 0.5 + step 10^-6 / N.
struct NearHalf {
  Image<std::uint8_t> in;
  NickParams params;
  int rounded;
};
NearHalf bradley_near_half(test::Size size, int step) {
  // S (10^6 - kn) = N (2 level + 1) 10^6 / 2 + step
  const std::int64_t n = std::int64_t{size.width} * size.height;
  for (int level = 100;; ++level) {
    const std::int64_t product = n * (2 * level + 1) * 500'000 + step;
    for (std::int64_t factor = 700'000; factor < 3'000'000; ++factor) {
      const std::int64_t sum = product / factor;
      if (sum * factor != product || sum > 255 * n) continue;
      Gray8 samples(n, static_cast<std::uint8_t>(sum / n));
      for (int i = 0; i < sum % n; ++i) ++samples[i];
      return {{samples, size.width, size.height, {.unit = 16}},
              {.method = NickMethod::bradley,
               .window = 2 * std::max(size.width, size.height) - 1,
               .k = (1'000'000 - factor) / 1e6,
               .output = NickOutput::threshold},
              step < 0 ? level : level + 1};
    }
  }
}
constexpr test::Size kNearHalves[] = {{16, 2}, {128, 127}, {501, 64}, {301, 500}};

TEST(NickHalves, BradleySurface) {
  for (const test::Size size : kNearHalves)
    for (const int step : {-1, 0, 1}) {
      const NearHalf near = bradley_near_half(size, step);
      EXPECT_EQ(result(near.in, near.params), Gray8(size.width * size.height, near.rounded))
          << near.params << ", step " << step;
    }
}

#ifdef HAVE_CUDA
TEST(NickHalves, CudaBradleySurface) {
  NEED_GPU();
  for (const test::Size size : kNearHalves)
    for (const int step : {-1, 0, 1}) {
      const NearHalf near = bradley_near_half(size, step);
      test::expect_cuda_equals_cpu_on<std::uint8_t>(near.params, near.in);
    }
}
#endif

}  // namespace
}  // namespace cudascan
