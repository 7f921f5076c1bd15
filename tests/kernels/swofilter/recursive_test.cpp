// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "kernels/swofilter/recursive/form.h"
#include "kernels/swofilter/window.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

template <typename T>
std::vector<T> filtered(const std::vector<T> &samples, int width, int height,
                        const SwoFilterParams &params, T maximum = std::numeric_limits<T>::max(),
                        int threads = 1) {
  const Image<T> in(samples, width, height, {}, maximum);
  Image<T> out(width, height, {}, maximum);
  Cpu cpu(threads);
  run(cpu, in.plane(), out.plane(), params);
  EXPECT_TRUE(out.guards_intact());
  return out.samples();
}

using Bytes = std::vector<std::uint8_t>;

/// The loop as it is defined: in place, pixel by pixel.
template <typename T>
std::vector<T> in_place(std::vector<T> image, int width, int height, const SwoFilterParams &params,
                        T maximum) {
  const swo::FilterJob job = swo::make_job(params, maximum, width, height, width, height, true);
  const swo::Mask &mask = job.mask();
  const bool erodes = params.op == Op::recursive_erode;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      unsigned v = erodes ? maximum : 0;
      for (int row = 0; row < mask.height; ++row)
        for (int column = 0; column < mask.width; ++column) {
          if (mask.at(column, row) != swo::Mask::on) continue;
          const int at_x = x + column - mask.rx(), at_y = y + row - mask.ry();
          const bool inside = at_x >= 0 && at_x < width && at_y >= 0 && at_y < height;
          if (!inside && params.border != Border::constant) continue;
          const unsigned sample = inside ? image[at_y * width + at_x] : job.outside;
          v = erodes ? std::min(v, sample) : std::max(v, sample);
        }
      image[y * width + x] = static_cast<T>(v);
    }
  return image;
}

/// A text mask. Half of them are runs across the middle column; others have no cells near the
/// middle, so that results depend on many others and not on the nearest.
std::string random_mask(std::mt19937 &random) {
  const int most = random() % 4 ? 4 : 15;
  const int rx = random() % (most + 1), ry = random() % (most + 1);
  const int share = 1 + random() % 4;  // share of cells that are on, in quarters
  const int kind = random() % 4, far = random() % 4 ? 0 : (rx + 1) / 2;
  std::string mask;
  for (int y = -ry; y <= ry; ++y) {
    if (y > -ry) mask += ';';
    const int first = -static_cast<int>(random() % (rx + 1)), last = random() % (rx + 1);
    for (int x = -rx; x <= rx; ++x) {
      const bool on = kind < 2 ? x >= first && x <= last
                               : static_cast<int>(random() % 4) < share && std::abs(x) >= far;
      mask += on ? '1' : '0';
    }
  }
  return mask.find('1') == std::string::npos ? "101" : mask;
}

/// Extreme masks of 31 rows and columns: the cells that a function of column and row, both from -15
/// to 15, chooses.
std::string mask_of(const std::function<bool(int x, int y)> &is_on) {
  std::string mask;
  for (int y = -15; y <= 15; ++y) {
    if (y > -15) mask += ';';
    for (int x = -15; x <= 15; ++x) mask += is_on(x, y) ? '1' : '0';
  }
  return mask;
}
const std::string kExtremeMasks[] = {
    // Distances to the left whose sums leave large gaps.
    mask_of([](int x, int y) { return y == 0 && x <= -14; }),
    mask_of([](int x, int y) { return y == 0 && (x == -15 || x == -8 || x == 3); }),
    // As far as possible in one direction.
    mask_of([](int x, int y) { return y == -1 && x == 15; }),
    mask_of([](int x, int y) { return y == -1 && x == -15; }),
    mask_of([](int x, int y) { return y == -15 && std::abs(x) == 15; }),
    mask_of([](int x, int y) { return x == 0 && y == -15; }),
    mask_of([](int x, int y) { return y == -2 || (x == -2 && y == 0); }),
    // Lines to the upper right, or none, from where the input has samples with gaps.
    mask_of([](int x, int y) {
      return (y == 0 && x == -1) || (y == -1 && x == 4) || (y > 0 && (x + y) % 3 == 0);
    }),
    mask_of([](int x, int y) {
      return (y == 0 && x == -1) || (y == -1 && x == 15) || (y == 2 && x % 3 == 0);
    }),
    mask_of([](int x, int y) { return (y == 0 && x == -1) || (y == 2 && x % 3 == 0); }),
    // No cell is the sum of others.
    mask_of([](int x, int y) { return y <= 0 && std::abs(x) >= 8; }),
    mask_of([](int x, int y) { return y <= -8 && (x + y) % 2 == 0; }),
};

/// Compares run(samples, width, height, params, maximum) with the loop for a random case.
template <typename T, typename Run>
void expect_loop_in_place(std::mt19937 &random, T maximum, int most_columns, const Run &run) {
  const int shift = unused_low_bits(maximum), levels = (maximum >> shift) + 1;
  const int width = 1 + random() % (random() % 4 ? most_columns : 4);
  const int height = 1 + random() % (random() % 4 ? 40 : 4) * (random() % 8 ? 1 : 6);
  std::vector<T> samples;
  const bool sparse = random() % 2;  // if true, extrema do not fill the image at once
  for (int i = 0; i < width * height; ++i) {
    const int noise = random() % levels;
    const int level = sparse && random() % 60 ? levels / 2 + noise / 32 - levels / 64 : noise;
    samples.push_back(static_cast<T>(level << shift));
  }
  SwoFilterParams params{.op = random() % 2 ? Op::recursive_erode : Op::recursive_dilate,
                         .border = random() % 2 ? Border::clip : Border::constant,
                         .border_value = static_cast<int>(random() % levels)};
  const auto side = [&] { return 1 + 2 * static_cast<int>(random() % (random() % 4 ? 5 : 30)); };
  const int kind = random() % 6;
  if (kind < 3) {
    params.shape = std::array{"rectangle", "ellipse", "cross"}[kind];
    params.window_width = side();
    params.window_height = side();
  } else {
    params.shape = random_mask(random);
  }
  SCOPED_TRACE(testing::Message() << width << "x" << height << ", maximum " << +maximum << ", "
                                  << params.shape << " " << params.window_width << "x"
                                  << params.window_height << ", operator "
                                  << static_cast<int>(params.op) << ", border "
                                  << static_cast<int>(params.border));
  ASSERT_TRUE(same(in_place(samples, width, height, params, maximum),
                   run(samples, width, height, params, maximum), width));
}

/// Many random cases, of 8 and 16 bit.
template <typename Run>
void expect_loops_in_place(int cases, int most_columns, const Run &run) {
  std::mt19937 random(1);
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    if (random() % 2)
      expect_loop_in_place<std::uint8_t>(random, 255, most_columns, run);
    else
      expect_loop_in_place<std::uint16_t>(
          random, std::array<std::uint16_t, 3>{0xffff, 0x3ff, 0xffc0}[random() % 3], most_columns,
          run);
  }
}

/// Images with few large samples, of which each reaches far.
template <typename Run>
void expect_extreme_loops_in_place(const Run &run) {
  std::mt19937 random(2);
  for (const std::string &mask : kExtremeMasks)
    for (const int width : {9, 30, 300}) {
      SCOPED_TRACE(mask);
      const int height = 37;
      Bytes samples;
      for (int i = 0; i < width * height; ++i) samples.push_back(random() % 200 ? 0 : random());
      for (const auto border : {Border::clip, Border::constant}) {
        const SwoFilterParams params{
            .op = Op::recursive_dilate, .shape = mask, .border = border, .border_value = 20};
        ASSERT_TRUE(same(in_place<std::uint8_t>(samples, width, height, params, 255),
                         run(samples, width, height, params, std::uint8_t{255}), width));
      }
    }
}

TEST(SwoFilterRecursive, EqualsTheLoopInPlace) {
  const auto run = [](const auto &...of_run) {
    static int threads = 0;
    return filtered(of_run..., 1 + ++threads % 3);
  };
  expect_loops_in_place(1500, 60, run);
  expect_extreme_loops_in_place(run);
}

TEST(SwoFilterRecursive, CudaEqualsTheLoopInPlace) {
  if (!Cuda::available()) GTEST_SKIP() << "no CUDA device";
  CudaRunner runner;
  const auto run = [&](const auto &samples, int width, int height, const SwoFilterParams &params,
                       auto maximum) {
    using T = decltype(maximum);
    const Image<T> in(samples, width, height, {}, maximum);
    Image<T> out(width, height, {}, maximum);
    runner(in, out, params);
    EXPECT_TRUE(out.guards_intact());
    return out.samples();
  };
  expect_loops_in_place(gpu_is_emulated() ? 100 : 1500, 400, run);
  expect_extreme_loops_in_place(run);
}

#ifdef HAVE_CUDA
/// Few cells in images of several warps and of the most, and in those that are too wide for
/// recursive_row_by_row().
TEST(SwoFilterRecursive, CudaEqualsCpuOfWideImages) {
  NEED_GPU();
  int i = 0;
  for (const char *mask :
       {"011;010;011", "1011010;0011110;1100101;1010100;0000000", "00000;10000;01100",
        "100010000;000000000;100100000;000000000;000000000", "111;110;000", "0100110010000"})
    for (const int width : {1, 127, 128, 260, 1000, 4096, 4097}) {
      const SwoFilterParams params{.op = i % 2 ? Op::recursive_erode : Op::recursive_dilate,
                                   .shape = mask,
                                   .border = i / 2 % 2 ? Border::clip : Border::constant,
                                   .border_value = 100};
      const Layout layout = kLayouts[i % std::size(kLayouts)];
      expect_cuda_equals_cpu_of<std::uint8_t>(params, {width, 11}, layout);
      expect_cuda_equals_cpu_of<std::uint16_t>(params, {width, 7}, layout, 0xffc0,
                                               Content::gradient);
      ++i;
    }
}

/// Rows that do not depend on others, more than the GPU has multiprocessors.
TEST(SwoFilterRecursive, CudaEqualsCpuOfManyRows) {
  NEED_GPU();
  for (const char *mask : {"010001000", "1000100000000", "100000000;000000000;000001000"})
    for (const auto op : {Op::recursive_erode, Op::recursive_dilate}) {
      const SwoFilterParams params{
          .op = op, .shape = mask, .border = Border::constant, .border_value = 100};
      expect_cuda_equals_cpu_of<std::uint8_t>(params, {270, 303}, {.unit = 16});
      expect_cuda_equals_cpu_of<std::uint16_t>(params, {131, 303}, {});
    }
}
#endif

/// Only text masks, which are small, may need recursive_wave() and the like.
TEST(SwoFilterRecursive, NamedShapesHaveAForm) {
  for (const int width : {1, 3, 5, 7, 9, 11, 31, 33, 63, 127, 181, 253, 255})
    for (const int height : {1, 3, 5, 7, 9, 11, 31, 33, 63, 127, 181, 253, 255})
      for (const swo::Mask &mask :
           {swo::Mask::make_rectangle(width, height), swo::Mask::make_ellipse(width, height),
            swo::Mask::make_cross(width, height)})
        for (const auto border : {Border::clip, Border::constant})
          EXPECT_TRUE(swo::RecursiveForm(mask, border).exists || width * height == 1)
              << width << "x" << height;
}

TEST(SwoFilterRecursive, SpreadsToTheRightAndDownwards) {
  const Bytes in = {9, 9, 9, 9, 9,  //
                    9, 9, 1, 9, 9,  //
                    9, 9, 9, 9, 9,  //
                    9, 9, 9, 9, 9};
  EXPECT_EQ(filtered(in, 5, 4, {.op = Op::recursive_erode, .shape = "010;110;000"}),
            (Bytes{9, 9, 9, 9, 9,  //
                   9, 9, 1, 1, 1,  //
                   9, 9, 1, 1, 1,  //
                   9, 9, 1, 1, 1}));
  EXPECT_EQ(filtered(in, 5, 4, {.op = Op::recursive_erode, .window = 3}), (Bytes{9, 1, 1, 1, 1,  //
                                                                                 1, 1, 1, 1, 1,  //
                                                                                 1, 1, 1, 1, 1,  //
                                                                                 1, 1, 1, 1, 1}));
}

TEST(SwoFilterRecursive, StepsOverPixels) {
  EXPECT_EQ(filtered<std::uint8_t>({1, 5, 2, 3, 4, 0, 0}, 7, 1,
                                   {.op = Op::recursive_dilate, .shape = "10100"}),
            (Bytes{1, 5, 2, 5, 4, 5, 4}));
}

TEST(SwoFilterRecursive, TakesWhatIsOutside) {
  const Bytes in = {5, 6, 7, 8};
  SwoFilterParams params{
      .op = Op::recursive_erode, .window = 3, .border = Border::constant, .border_value = 6};
  EXPECT_EQ(filtered(in, 4, 1, params), (Bytes{5, 5, 5, 5}));
  params.border_value = 2;
  EXPECT_EQ(filtered(in, 4, 1, params), (Bytes{2, 2, 2, 2}));
  params.shape = "001";
  EXPECT_EQ(filtered(in, 4, 1, params), (Bytes{6, 7, 8, 2}));
  params.border = Border::clip;  // the window has no samples at the end of the row
  EXPECT_EQ(filtered(in, 4, 1, params), (Bytes{6, 7, 8, 255}));
  params.op = Op::recursive_dilate;
  EXPECT_EQ(filtered(in, 4, 1, params), (Bytes{6, 7, 8, 0}));
}

TEST(SwoFilterRecursive, DilationIsDual) {
  const auto in = make_content<std::uint16_t>(Content::text, 61, 47, 1023);
  auto complement = in;
  for (auto &v : complement) v = 1023 - v;
  for (const char *const shape : {"rectangle", "cross", "ellipse", "01010;10001"}) {
    SwoFilterParams params{.op = Op::recursive_erode, .window = 5, .shape = shape};
    if (params.shape[0] == '0') params.shape += ";00100";
    auto eroded = filtered<std::uint16_t>(in, 61, 47, params, 1023);
    params.op = Op::recursive_dilate;
    for (auto &v : eroded) v = 1023 - v;
    EXPECT_TRUE(same(filtered<std::uint16_t>(complement, 61, 47, params, 1023), eroded, 61))
        << shape;
  }
}

TEST(SwoFilterRecursive, RefusesBordersThatChange) {
  for (const auto border : {Border::replicate, Border::reflect})
    EXPECT_THROW(filtered<std::uint8_t>({1}, 1, 1, {.op = Op::recursive_erode, .border = border}),
                 BadSetting);
}

CHECK_OPERATOR(
    SwoFilterRecursiveOperator, SwoFilterParams, {.op = Op::recursive_erode},
    {.op = Op::recursive_dilate, .window = 15},
    {.op = Op::recursive_erode, .window_width = 1, .window_height = 7},
    {.op = Op::recursive_erode, .window = 255, .shape = "ellipse"},
    {.op = Op::recursive_dilate, .window = 31, .shape = "cross"},
    {.op = Op::recursive_erode, .window = 5, .border = Border::constant, .border_value = 90},
    {.op = Op::recursive_dilate, .shape = "101;000;011"},
    {.op = Op::recursive_erode, .shape = "1010000;0001000;0000001"},
    {.op = Op::recursive_dilate,
     .shape = "00100;10011;00110",
     .border = Border::constant,
     .border_value = 60});

}  // namespace
}  // namespace cudascan::test
