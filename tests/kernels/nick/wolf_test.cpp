// SPDX-License-Identifier: LGPL-2.1-or-later
// Wolf's method on CUDA: each block needs the largest deviation and the smallest sample of the
// image. And very large windows, of this method and of another one.
#include "tests/kernels/nick/oracle.h"

namespace cudascan {
namespace {

using test::Content;
using test::Image;

#ifdef HAVE_CUDA
/// Windows that start from prefix sums, in images of several parts of rows. Rows begin at multiples
/// of a vector, then anywhere.
TEST(NickVeryLargeWindows, CudaEqualsCpu) {
  NEED_GPU();
  constexpr test::Size kWindows[] = {{513, 129}, {301, 601}, {1023, 1023}};
  for (int turn = 0; const test::Size window : kWindows)
    for (const NickMethod method : {NickMethod::nick, NickMethod::wolf}) {
      const auto layout = ++turn % 3 ? test::Layout{.unit = 256} : test::Layout{0, 1};
      const NickParams p{.method = method,
                         .window_width = window.width,
                         .window_height = window.height,
                         .output = turn % 4 ? NickOutput::binary : NickOutput::threshold};
      test::expect_cuda_equals_cpu_of<std::uint8_t>(p, {700, 411}, layout, 0xff, Content::text);
      test::expect_cuda_equals_cpu_of<std::uint16_t>(p, {523, 333}, layout);
      if (HasFailure()) return;
    }
}

/// Windows whose rows a block holds, and windows whose rows it loads again; sums of 32 and 64 bits.
/// Rows begin where the engine can copy them, then anywhere.
TEST(NickWolf, CudaInSeveralBlocks) {
  NEED_GPU();
  for (const int window : {3, 41, 259, 901})
    for (const NickOutput output : {NickOutput::binary, NickOutput::threshold}) {
      const NickParams params{.method = NickMethod::wolf, .window = window, .output = output};
      for (const test::Layout layout : {test::Layout{.unit = 16}, test::Layout{0, 1}}) {
        test::expect_cuda_equals_cpu_of<std::uint8_t>(params, {1030, 47}, layout, 255,
                                                      Content::text);
        test::expect_cuda_equals_cpu_of<std::uint16_t>(params, {790, 41}, layout, 65535,
                                                       Content::text);
      }
    }
}

/// The busiest window is in each corner in turn.
TEST(NickWolf, CudaFindsTheBusiestWindowAnywhere) {
  NEED_GPU();
  constexpr int kWidth = 530, kHeight = 61;
  for (const int window : {5, 201})
    for (const int corner : {0, 1, 2, 3}) {
      std::vector<std::uint8_t> samples(kWidth * kHeight);
      for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 90 + i * i % 23;
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x) {
          const int row = corner / 2 ? kHeight - 1 - y : y,
                    column = corner % 2 ? kWidth - 1 - x : x;
          samples[row * kWidth + column] = (x + y) % 2 ? 12 : 251;
        }
      for (const double k : {-0.7, 0.5})
        test::expect_cuda_equals_cpu_on<std::uint8_t>(
            NickParams{.method = NickMethod::wolf, .window = window, .k = k},
            Image<std::uint8_t>(samples, kWidth, kHeight, {.unit = 16}));
    }
}

/// Nearly all samples are the smallest one, so that T - p is small. Few are darker or lighter.
template <typename T>
void expect_cuda_equals_cpu_if_nearly_constant(int base) {
  constexpr int kWidth = 520, kHeight = 45;
  for (const int darker : {0, 1}) {
    std::vector<T> samples(kWidth * kHeight, static_cast<T>(base));
    for (std::size_t i = 7; i < samples.size(); i += 97 + i % 331) samples[i] += 1 + i % 2;
    samples[5000] -= darker;
    const Image<T> in(samples, kWidth, kHeight, {.unit = 16});
    for (const double k : {-1.0, -0.000001, 0.0, 0.000001, 0.3, 1.0, 2.0})
      for (const int window : {5, 31, 301})
        test::expect_cuda_equals_cpu_on<T>(
            NickParams{.method = NickMethod::wolf, .window = window, .k = k}, in);
  }
}
TEST(NickWolf, CudaWhereNearlyAllIsTheMinimum) {
  NEED_GPU();
  expect_cuda_equals_cpu_if_nearly_constant<std::uint8_t>(1);
  expect_cuda_equals_cpu_if_nearly_constant<std::uint8_t>(200);
  expect_cuda_equals_cpu_if_nearly_constant<std::uint16_t>(1);
  expect_cuda_equals_cpu_if_nearly_constant<std::uint16_t>(51234);
}

/// With k = 0 T is the mean of the window, and with equal rows of stripes that is a sample.
TEST(NickWolf, CudaWherePixelsEqualTheMean) {
  NEED_GPU();
  constexpr int kWidth = 600, kHeight = 20;
  std::vector<std::uint8_t> samples(kWidth * kHeight);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 40 + 50 * (i % kWidth % 3);
  for (const int window : {3, 15, 255})
    for (const NickOutput output : {NickOutput::binary, NickOutput::threshold})
      for (const double k : {0.0, 0.25})
        test::expect_cuda_equals_cpu_on<std::uint8_t>(
            NickParams{.method = NickMethod::wolf, .window = window, .k = k, .output = output},
            Image<std::uint8_t>(samples, kWidth, kHeight, {.unit = 16}));
}
#endif

}  // namespace
}  // namespace cudascan
