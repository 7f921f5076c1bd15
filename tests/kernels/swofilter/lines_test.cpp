// SPDX-License-Identifier: LGPL-2.1-or-later
// Directional medians of long lines on the CPU against sorting, and each way of computing them on
// the GPU against the CPU. rank_test.cpp compares short ones with an oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

/// The column or row of the image at position i, if there is one.
std::optional<int> place(int i, int n, Border border) {
  if (border == Border::replicate) return std::clamp(i, 0, n - 1);
  if (border == Border::reflect) {
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
  }
  return i >= 0 && i < n ? std::optional(i) : std::nullopt;
}

template <typename T>
T by_sorting(const Image<T> &in, const SwoFilterParams &p, int x, int y) {
  const int rx = p.window_width / 2, ry = p.window_height / 2, r = std::min(rx, ry);
  std::vector<T> medians;
  for (const auto &[dx, dy, reach] : {std::array{1, 0, rx}, {0, 1, ry}, {1, 1, r}, {1, -1, r}}) {
    std::vector<T> line;
    for (int i = -reach; i <= reach; ++i) {
      const auto column = place(x + i * dx, in.width(), p.border),
                 row = place(y + i * dy, in.height(), p.border);
      if (column && row)
        line.push_back(in.at(*column, *row));
      else if (p.border == Border::constant)
        line.push_back(static_cast<T>(p.border_value << unused_low_bits(in.plane().maximum)));
    }
    std::sort(line.begin(), line.end());
    medians.push_back(line[line.size() / 2]);
  }
  std::sort(medians.begin(), medians.end());
  return std::clamp(in.at(x, y), medians.front(), medians.back());
}

TEST(SwoFilterLines, LongOnesEqualSorting) {
  for_each_format<SwoFilterParams>(
      [&]<typename In, typename Out>(In maximum, Out, const char *name) {
        if constexpr (std::is_same_v<In, Out>) {
          int i = 0;
          for (const auto &[width, height] : {Size{19, 23},
                                              {45, 45},
                                              {65, 63},
                                              {131, 131},
                                              {255, 255},
                                              {255, 59},
                                              {1, 99},
                                              {201, 3},
                                              {3, 97}})
            for (const auto &[columns, rows] : {Size{190, 70}, {40, 130}, {7, 300}, {1, 1}}) {
              const SwoFilterParams p{.op = Op::directional_median,
                                      .window_width = width,
                                      .window_height = height,
                                      .border = static_cast<Border>(i % 4),
                                      .border_value = 100};
              const Content content = kContents[i % std::size(kContents)];
              ++i;
              const Image<In> in(make_content(content, columns, rows, maximum, i), columns, rows,
                                 {5, 3}, maximum);
              Image<Out> out(columns, rows, {3, 1}, maximum);
              CpuRunner runner(1 + i % 3);
              runner(in, out, p);
              ASSERT_TRUE(out.guards_intact());
              for (int y = 0; y < rows; ++y)
                for (int x = i % 5; x < columns; x += 5)
                  ASSERT_EQ(out.at(x, y), by_sorting(in, p, x, y))
                      << name << ", " << x << ", " << y << ", window " << width << "x" << height
                      << ", border " << static_cast<int>(p.border);
            }
        }
      });
}

#ifdef HAVE_CUDA
void expect_cuda_equals_cpu_everywhere(std::span<const Size> windows,
                                       std::span<const Size> images) {
  CpuRunner cpu;
  CudaRunner cuda;
  int i = 0;
  for_each_format<SwoFilterParams>([&]<typename In, typename Out>(In maximum, Out,
                                                                  const char *name) {
    if constexpr (std::is_same_v<In, Out>)
      for (const auto &[width, height] : windows)
        for (const Border border :
             {Border::clip, Border::replicate, Border::reflect, Border::constant})
          for (const auto &[columns, rows] : images) {
            const SwoFilterParams p{.op = Op::directional_median,
                                    .window_width = width,
                                    .window_height = height,
                                    .border = border,
                                    .border_value = 77};
            const auto samples =
                make_content(kContents[i % std::size(kContents)], columns, rows, maximum, i);
            const Image<In> in(samples, columns, rows, kLayouts[i % std::size(kLayouts)], maximum);
            Image<Out> wanted(columns, rows, {}, maximum),
                got(columns, rows, kLayouts[(i + 1) % std::size(kLayouts)], maximum);
            ++i;
            cpu(in, wanted, p);
            cuda(in, got, p);
            ASSERT_TRUE(got.guards_intact());
            ASSERT_TRUE(same(wanted.samples(), got.samples(), columns))
                << name << ", window " << width << "x" << height << ", border "
                << static_cast<int>(border) << ", image " << columns << "x" << rows;
          }
  });
}
#endif

/// Short lines of different lengths, clipped on one side or on both.
TEST(SwoFilterLines, ShortOnesOnCudaEqualCpu) {
  NEED_GPU();
#ifdef HAVE_CUDA
  constexpr Size kWindows[] = {{3, 3}, {5, 5}, {7, 7}, {9, 9}, {9, 3}, {1, 7}, {5, 1}, {1, 1}},
                 kImages[] = {{1, 1}, {2, 5}, {5, 2}, {67, 35}};
  expect_cuda_equals_cpu_everywhere(kWindows, kImages);
#endif
}

/// Lines of one to nine words, in images of several tiles and in images that are shorter.
TEST(SwoFilterLines, LongOnesOnCudaEqualCpu) {
  NEED_GPU();
#ifdef HAVE_CUDA
  constexpr Size kWindows[] = {{11, 11},  {65, 65}, {67, 67}, {255, 255},
                               {15, 131}, {193, 1}, {1, 33},  {195, 13}};
  constexpr Size kFew[] = {{1, 1}, {3, 34}, {70, 37}};
  constexpr Size kMore[] = {{1, 1}, {3, 200}, {400, 7}, {301, 333}, {32, 32}, {640, 480}};
  expect_cuda_equals_cpu_everywhere(kWindows,
                                    gpu_is_emulated() ? std::span<const Size>(kFew) : kMore);
#endif
}

TEST(SwoFilterLines, InSeveralBandsOnCudaEqualCpu) {
  NEED_REAL_GPU();
#ifdef HAVE_CUDA
  for (const Border border : {Border::clip, Border::reflect})
    expect_cuda_equals_cpu_on_many_samples(
        SwoFilterParams{.op = Op::directional_median, .window = 255, .border = border});
#endif
}

}  // namespace
}  // namespace cudascan
