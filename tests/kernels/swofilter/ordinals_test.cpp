// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks, trimmed means and modes of 16-bit samples on the GPU, by ordinals, against the CPU.
#include <gtest/gtest.h>

#include <tuple>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

#ifdef HAVE_CUDA
namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

/// Tiles of 16-bit samples next to and below one another.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfSeveralTiles) {
  NEED_GPU();
  for (const Op op : {Op::median, Op::alpha_trimmed_mean, Op::mode})
    for (const char *shape : {"rectangle", "ellipse"}) {
      const SwoFilterParams p{.op = op, .window_width = 13, .window_height = 5, .shape = shape};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {290, 37});
    }
}

/// Large windows, with their cells in one run of each row, of pictures of all kinds.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfLargeWindows) {
  NEED_GPU();
  int i = 0;
  for (const Op op : {Op::rank, Op::alpha_trimmed_mean})
    for (const auto &[width, height, shape] :
         {std::tuple{65, 65, "ellipse"}, std::tuple{11, 75, "ellipse"},
          std::tuple{121, 9, "ellipse"}, std::tuple{7, 67, "rectangle"}})
      for (const Content content :
           {Content::random, Content::text, Content::checkerboard, Content::clipped}) {
        const SwoFilterParams p{.op = op,
                                .window_width = width,
                                .window_height = height,
                                .shape = shape,
                                .border = static_cast<Border>(i % 4),
                                .border_value = 300,
                                .percentile = 33. * (i % 4),
                                .alpha = 0.13 * (i % 5)};
        const Size images[] = {{70, 47}, {131, 5}, {3, 2}};
        const std::uint16_t maxima[] = {0xffff, 1023, 0xffc0};
        expect_cuda_equals_cpu_of<std::uint16_t>(p, images[i % 3], {}, maxima[i / 3 % 3], content);
        ++i;
      }
}

/// Sorted tiles that need more memory than there is for a part.
TEST(SwoFilterOrdinals, InSeveralPartsOnCudaEqualsCpu) {
  NEED_REAL_GPU();
  for (const Op op : {Op::alpha_trimmed_mean, Op::mode}) {
    const SwoFilterParams p{.op = op, .window = 255, .shape = "ellipse"};
    expect_cuda_equals_cpu_of<std::uint16_t>(p, {5000, 2600});
  }
}

/// Several blocks of a tile, and all kinds of windows that are too large for the emulated GPU.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfTheLargestWindows) {
  NEED_REAL_GPU();
  int i = 0;
  for (const Op op : {Op::median, Op::rank, Op::alpha_trimmed_mean})
    for (const auto &[width, height, shape] :
         {std::tuple{255, 255, "ellipse"}, std::tuple{255, 101, "rectangle"},
          std::tuple{99, 255, "ellipse"}, std::tuple{255, 255, "rectangle"}})
      for (const Content content : {Content::random, Content::text, Content::gradient}) {
        const SwoFilterParams p{.op = op,
                                .window_width = width,
                                .window_height = height,
                                .shape = shape,
                                .border = static_cast<Border>(i++ % 4),
                                .border_value = 12345,
                                .percentile = 81,
                                .alpha = 0.07};
        expect_cuda_equals_cpu_of<std::uint16_t>(p, {1100, 700}, {}, 0xffff, content);
      }
}

/// Wide rectangles whose tiles are transposed.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfWideRectangles) {
  NEED_GPU();
  for (const Border border : {Border::clip, Border::replicate, Border::reflect, Border::constant}) {
    const SwoFilterParams p{.op = Op::rank,
                            .window_width = 33,
                            .window_height = 3,
                            .border = border,
                            .border_value = 100,
                            .percentile = 70};
    for (const Size size : {Size{1, 1}, {2, 3}, {151, 40}, {40, 301}})
      expect_cuda_equals_cpu_of<std::uint16_t>(p, size);
  }
}

/// Both ends of trimmed means in one bin, in neighbouring ones, and far apart.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfTrimmedMeans) {
  NEED_GPU();
  for (const double alpha : {0., 0.001, 0.02, 0.3, 0.49, 0.5})
    for (const auto &[width, height, shape] :
         {std::tuple{31, 1, "rectangle"}, std::tuple{43, 15, "ellipse"},
          std::tuple{17, 17, "cross"}}) {
      const SwoFilterParams p{.op = Op::alpha_trimmed_mean,
                              .window_width = width,
                              .window_height = height,
                              .shape = shape,
                              .border = Border::clip,
                              .alpha = alpha};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {130, 9});
    }
}

/// Trimmed means of large rectangles, for which blocks count the bins of columns: high and wide
/// ones, larger than the image, in several tiles next to and below one another.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfTrimmedMeansOfLargeRectangles) {
  NEED_GPU();
  const Size images[] = {{210, 70}, {37, 143}, {70, 5}, {1, 66}, {1, 1}};
  const std::uint16_t maxima[] = {0xffff, 1023, 0xffc0};
  const Content contents[] = {Content::random, Content::text, Content::gradient, Content::white};
  int i = 0;
  for (const auto &[width, height] :
       {std::pair{65, 65}, {67, 71}, {97, 65}, {71, 129}, {255, 67}, {125, 125}, {135, 137}})
    for (const double alpha : {0., 0.01, 0.25, 0.49}) {
      const SwoFilterParams p{.op = Op::alpha_trimmed_mean,
                              .window_width = width,
                              .window_height = height,
                              .border = static_cast<Border>((i / 4 + i) % 4),
                              .border_value = 500,
                              .alpha = alpha};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, images[i % 5],
                                               {.padding = i % 3, .offset = i % 2}, maxima[i % 3],
                                               contents[i / 2 % 4]);
      ++i;
    }
}

/// All borders with parts of windows outside on all sides, and none.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfTrimmedMeansAtBorders) {
  NEED_GPU();
  for (const Border border : {Border::clip, Border::replicate, Border::reflect, Border::constant})
    for (const auto &[width, height] : {std::pair{65, 67}, {69, 65}}) {
      const SwoFilterParams p{.op = Op::alpha_trimmed_mean,
                              .window_width = width,
                              .window_height = height,
                              .border = border,
                              .border_value = 40000,
                              .alpha = 0.1};
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {101, 70});
    }
}

/// The largest sums of a bin of a column, and of a window.
TEST(SwoFilterOrdinals, CudaEqualsCpuOfTheLargestTrimmedMeans) {
  NEED_GPU();
  for (const double alpha : {0., 0.3}) {
    const SwoFilterParams p{.op = Op::alpha_trimmed_mean,
                            .window = 255,
                            .border = Border::constant,
                            .border_value = 0xffff,
                            .alpha = alpha};
    for (const Content content : {Content::white, Content::near_white})
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {19, 6}, {}, 0xffff, content);
  }
}

}  // namespace
}  // namespace cudascan
#endif
