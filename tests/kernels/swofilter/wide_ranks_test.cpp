// SPDX-License-Identifier: LGPL-2.1-or-later
// Medians and ranks of wide rectangles on the GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

#ifdef HAVE_CUDA
namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

/// Columns of equal samples, so that the ranks of a window are those of its columns. All levels
/// occur in a row of results: more prefixes than there is room for at the same time.
template <typename T>
void expect_ranks_of_columns(int width, int window, const std::vector<T> &levels) {
  std::vector<T> samples;
  for (int y = 0; y < 4; ++y) samples.insert(samples.end(), levels.begin(), levels.end());
  const Image<T> in(samples, width, 4);
  CudaRunner cuda;
  for (const double percentile : {0., 25., 50., 100.}) {
    const SwoFilterParams p{.op = Op::rank,
                            .window_width = window,
                            .window_height = 3,
                            .border = Border::replicate,
                            .percentile = percentile};
    std::vector<T> expected;
    for (int x = 0; x < width; ++x) {
      std::vector<T> columns;
      for (int i = x - window / 2; i <= x + window / 2; ++i)
        columns.insert(columns.end(), 3, levels[std::clamp(i, 0, width - 1)]);
      std::ranges::sort(columns);
      const auto n = static_cast<double>(columns.size());
      expected.push_back(columns[std::min<std::size_t>(
          static_cast<std::size_t>(n * percentile / 100), columns.size() - 1)]);
    }
    SCOPED_TRACE(testing::Message() << p);
    const std::vector<T> got =
        outcome<T>(cuda, in, {}, std::numeric_limits<T>::max(), p, 0xc3).samples;
    for (int y = 0; y < 4; ++y)
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin() + y * width));
  }
}

TEST(SwoFilterWideRanks, KnownValues) {
  NEED_GPU();
  std::vector<std::uint8_t> bytes;
  for (int x = 0; x < 256; ++x) bytes.push_back(static_cast<std::uint8_t>(x));
  expect_ranks_of_columns(256, 111, bytes);
  bytes.clear();
  // As many columns as a block has room for.
  for (int x = 0; x < 530; ++x) bytes.push_back(static_cast<std::uint8_t>(77 * x));
  expect_ranks_of_columns(530, 141, bytes);
  for (int x = 0; x < 530; ++x) bytes[x] = static_cast<std::uint8_t>(x / 2);
  expect_ranks_of_columns(530, 139, bytes);
  std::vector<std::uint16_t> words;
  for (int x = 0; x < 300; ++x) words.push_back(static_cast<std::uint16_t>(211 * x + x % 2));
  expect_ranks_of_columns(300, 115, words);
}

/// Windows of all widths from the first one on that sums are stored for, with different numbers of
/// columns in the last group; several blocks; windows larger than the image.
template <typename T>
void expect_equal_of_wide(const std::vector<std::tuple<int, int>> &windows,
                          const std::vector<Size> &images) {
  constexpr Content kFew[] = {Content::random, Content::gradient, Content::text, Content::clipped,
                              Content::checkerboard};
  int i = 0;
  for (const auto &[width, height] : windows)
    for (const Size image : images) {
      const SwoFilterParams p{.op = i % 3 == 0 ? Op::median : Op::rank,
                              .window_width = width,
                              .window_height = height,
                              .border = static_cast<Border>(i % 4),
                              .border_value = 90,
                              .percentile = 23. * (i % 5)};
      expect_cuda_equals_cpu_of<T>(p, image, {i % 3, i % 2}, std::numeric_limits<T>::max(),
                                   kFew[i % std::size(kFew)]);
      ++i;
    }
}

TEST(SwoFilterWideRanks, CudaEqualsCpuOfBytes) {
  NEED_GPU();
  expect_equal_of_wide<std::uint8_t>(
      {{111, 1}, {113, 5}, {127, 63}, {137, 3}, {139, 31}, {165, 255}, {255, 9}, {255, 255}},
      {{301, 9}, {37, 40}, {1, 1}, {2, 70}});
}

TEST(SwoFilterWideRanks, CudaEqualsCpuOfWords) {
  NEED_GPU();
  expect_equal_of_wide<std::uint16_t>({{111, 47}, {159, 27}, {163, 5}, {255, 255}},
                                      {{301, 5}, {37, 40}, {1, 1}, {2, 70}});
}

/// Blocks next to and below one another.
TEST(SwoFilterWideRanks, CudaEqualsCpuOfManyBlocks) {
  NEED_REAL_GPU();
  expect_equal_of_wide<std::uint8_t>({{111, 47}, {137, 9}, {139, 255}, {255, 255}},
                                     {{3001, 700}, {1400, 1301}});
  expect_equal_of_wide<std::uint16_t>({{111, 47}, {139, 255}, {255, 255}},
                                      {{3001, 700}, {1400, 1301}});
}

}  // namespace
}  // namespace cudascan
#endif
