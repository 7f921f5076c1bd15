// SPDX-License-Identifier: LGPL-2.1-or-later
// Variances: a multiplication with a correction gives the same as a division, for all possible
// windows, and all backends give the same bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

/// The same as divide_exactly() of kernels/gswo/window.h on GPUs.
template <typename T>
T corrected_quotient(T a, T n) {
  const T reciprocal = 1 / n, quotient = a * reciprocal;
  return std::fma(std::fma(-quotient, n, a), reciprocal, quotient);
}

TEST(GswoVariance, FloatsAreDividedAsByADivision) {
  // All 8-bit windows whose variance is computed in float, with all sums that they can have.
  for (int cells = 1; cells <= 32; cells += cells < 9 ? 1 : 2) {
    const auto n = static_cast<float>(cells * cells);
    const int most = cells * cells * 255 * 255 / 4;
    int wrong = 0;
    for (int a = 0; a <= most; ++a) {
      const auto x = static_cast<float>(a);
      wrong += corrected_quotient(x, n) != x / n;
      if (a % 16 == 0)
        wrong += static_cast<float>(static_cast<double>(a) / (cells * cells)) != x / n;
    }
    EXPECT_EQ(wrong, 0) << cells << " cells";
  }
}

TEST(GswoVariance, DoublesAreDividedAsByADivision) {
  std::mt19937_64 random(7);
  for (int side = 1; side <= 255; side += side < 63 ? 2 : 8) {
    const std::uint64_t n = std::uint64_t{1} * side * side * side * side;
    const auto divisor = static_cast<double>(n);
    int wrong = 0;
    const auto look = [&](std::uint64_t a) {
      const auto x = static_cast<double>(a);
      wrong += corrected_quotient(x, divisor) != x / divisor;
    };
    for (int i = 0; i < 20000; ++i) look(random() >> (2 + random() % 60));
    // Quotients, from 2^e on, whose digits after the last one of a double are just below or above a
    // half: a 2^(52 - e) = (n - 1) / 2 or (n + 1) / 2 modulo n.
    for (int e = 0; e < 30; ++e) {
      std::uint64_t half = n / 2, more = (n / 2 + 1) % n;  // there are none for n = 1
      for (int t = 0; t < 52 - e; ++t)
        for (std::uint64_t *a : {&half, &more}) *a = *a % 2 ? (*a + n) / 2 : *a / 2;
      for (int i = 0; i < 50; ++i) {
        const std::uint64_t k = (std::uint64_t{1} << e) + random() % (std::uint64_t{1} << e);
        look(half + k * n);
        look(more + k * n);
      }
    }
    EXPECT_EQ(wrong, 0) << "windows of " << side << " x " << side;
  }
}

/// Compares the variance of an image's windows, different digits of it in turn.
template <typename T>
std::vector<T> variances(const Image<T> &in, int window, float scale, float modulus,
                         bool deviation) {
  const int radius = window / 2, shift = std::countr_zero(in.plane().maximum);
  std::vector<T> result;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x) {
      double s = 0, squares = 0, n = 0;
      for (int v = std::max(y - radius, 0); v <= std::min(y + radius, in.height() - 1); ++v)
        for (int u = std::max(x - radius, 0); u <= std::min(x + radius, in.width() - 1); ++u) {
          const double level = in.at(u, v) >> shift;
          s += level;
          squares += level * level;
          ++n;
        }
      const auto variance = static_cast<float>((n * squares - s * s) / (n * n));
      const float value = deviation ? std::sqrt(variance) : variance;
      result.push_back(
          static_cast<T>(static_cast<unsigned>(std::fmod(value * scale, modulus)) << shift));
    }
  return result;
}

template <typename T, typename Runner>
void expect_variances(Runner &runner, T maximum) {
  constexpr Size kSize{97, 45};
  const int levels = maximum >> std::countr_zero(maximum);
  // Cases that are computed in float, in double from 32 bits, and in double from 64 bits; on the
  // GPU for a pixel alone, or from one pixel of a chunk to the next.
  for (const int window :
       sizeof(T) == 1 ? std::vector{1, 3, 5, 7, 9, 15, 17, 33} : std::vector{3, 9, 31})
    for (const bool deviation : {false, true})
      for (const Content content : {Content::random, Content::checkerboard, Content::near_white}) {
        const Image<T> in(make_content<T>(content, kSize.width, kSize.height, maximum), kSize.width,
                          kSize.height, {}, maximum);
        // The integer digits, or those after the point. Scaling by powers of two does not change
        // digits.
        const float modulus = static_cast<float>(levels) + 1;
        const float scale = levels > 255 ? (deviation ? 256 : 1.f / 64) : deviation ? 4096 : 1024;
        SwoFilterParams p{.op = SwoFilterOperator::custom, .window = window};
        p.custom.expression = std::string("floor(fmod(") +
                              (deviation ? "p.deviation()" : "p.variance()") +
                              " * scale, p.maximum + 1.f))";
        p.custom.constants = {{"scale", static_cast<double>(scale)}};
        p.custom.cache_dir = "";
        EXPECT_TRUE(same(variances(in, window, scale, modulus, deviation), filtered(runner, in, p),
                         kSize.width))
            << p.custom.expression << ", window " << window << ", maximum " << +maximum
            << ", content " << static_cast<int>(content);
      }
}
TEST(GswoVariance, HasTheSameBitsEverywhere) {
  CpuRunner cpu(2);
  expect_variances<std::uint8_t>(cpu, 0xff);
  expect_variances<std::uint16_t>(cpu, 0xffc0);
  expect_variances<std::uint16_t>(cpu, 0xffff);
}
#ifdef HAVE_CUDA
TEST(GswoVarianceCuda, HasTheSameBitsEverywhere) {
  NEED_GPU();
  CudaRunner cuda;
  expect_variances<std::uint8_t>(cuda, 0xff);
  expect_variances<std::uint16_t>(cuda, 0xffc0);
  expect_variances<std::uint16_t>(cuda, 0xffff);
}
#endif

}  // namespace
}  // namespace cudascan::test
