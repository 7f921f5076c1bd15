// SPDX-License-Identifier: LGPL-2.1-or-later
// Octagons and hexagons: their cells, the segments that they are sums of, and filters with them.
#include "kernels/swofilter/polygons.h"

#include <set>

#include "kernels/swofilter/window.h"
#include "tests/kernels/swofilter/window_oracle.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
using swo::Mask;
/// Pixels as (x, y).
using Pixels = std::set<std::pair<int, int>>;

// ---- Cells -------------------------------------------------------------------------------------

std::string text_of(const Mask &mask) {
  std::string text;
  for (int row = 0; row < mask.height; ++row) {
    if (row) text += ';';
    for (int column = 0; column < mask.width; ++column)
      text += mask.at(column, row) == Mask::on ? '1' : '0';
  }
  return text;
}

TEST(SwoFilterPolygons, KnownCells) {
  EXPECT_EQ(text_of(swo::make_octagon(1, 1)), "1");
  EXPECT_EQ(text_of(swo::make_octagon(3, 3)), "111;111;111");
  EXPECT_EQ(text_of(swo::make_octagon(5, 5)), "01110;11111;11111;11111;01110");
  EXPECT_EQ(text_of(swo::make_octagon(7, 7)),
            "0011100;0111110;1111111;1111111;1111111;0111110;0011100");
  EXPECT_EQ(text_of(swo::make_octagon(9, 5)), "011111110;111111111;111111111;111111111;011111110");
  EXPECT_EQ(text_of(swo::make_octagon(1, 5)), "1;1;1;1;1");
  EXPECT_EQ(text_of(swo::make_hexagon(1, 1)), "1");
  EXPECT_EQ(text_of(swo::make_hexagon(3, 3)), "111;111;111");
  EXPECT_EQ(text_of(swo::make_hexagon(5, 5)), "01110;11111;11111;11111;01110");
  EXPECT_EQ(text_of(swo::make_hexagon(7, 7)),
            "0111110;0111110;1111111;1111111;1111111;0111110;0111110");
  EXPECT_EQ(text_of(swo::make_hexagon(9, 5)), "001111100;011111110;111111111;011111110;001111100");
  EXPECT_EQ(text_of(swo::make_hexagon(5, 1)), "11111");
  EXPECT_EQ(text_of(swo::make_hexagon(1, 5)), "1;1;1;1;1");
}

TEST(SwoFilterPolygons, KnowWhetherTheyAreRectangles) {
  for (const auto &[width, height] : {std::pair{1, 1}, {3, 3}, {1, 255}, {255, 1}}) {
    EXPECT_TRUE(swo::make_octagon(width, height).rectangle);
    EXPECT_TRUE(swo::make_hexagon(width, height).rectangle);
  }
  EXPECT_FALSE(swo::make_octagon(5, 5).rectangle);
  EXPECT_FALSE(swo::make_hexagon(5, 5).rectangle);
}

Pixels pixels_of(const Mask &mask) {
  Pixels pixels;
  for (int row = 0; row < mask.height; ++row)
    for (int column = 0; column < mask.width; ++column)
      if (mask.at(column, row) == Mask::on) pixels.emplace(column - mask.rx(), row - mask.ry());
  return pixels;
}

TEST(SwoFilterPolygons, AreThoseOfTheOracle) {
  for (const char *shape : {"octagon", "hexagon"})
    for (int width = 1; width <= 255; width += width < 40 ? 2 : 36)
      for (int height = 1; height <= 255; height += height < 40 ? 2 : 36) {
        const SwoFilterParams p{.window_width = width, .window_height = height, .shape = shape};
        const auto cells = window_oracle::cells_of(p);
        ASSERT_EQ(pixels_of(swo::make_job(p, 255, 9, 9, 9, 9, true).mask()),
                  Pixels(cells.begin(), cells.end()))
            << p;
      }
}

// ---- Sums of segments --------------------------------------------------------------------------

Pixels sum(const Pixels &a, const Pixels &b) {
  Pixels pixels;
  for (const auto &[x, y] : a)
    for (const auto &[dx, dy] : b) pixels.emplace(x + dx, y + dy);
  return pixels;
}

/// `count` pixels from (0, 0) on: a step to the side after every `rows` rows.
Pixels segment(int count, int dx, int rows) {
  Pixels pixels;
  for (int i = 0; i < count; ++i) pixels.emplace(i / rows * dx, i);
  return pixels;
}

Pixels level(int count) {
  Pixels pixels;
  for (int i = 0; i < count; ++i) pixels.emplace(i, 0);
  return pixels;
}

/// Moved so that the middle of its columns and rows is (0, 0). Fails if that is not a pixel.
Pixels centred(const Pixels &pixels) {
  int left = 0, right = 0, top = 0, bottom = 0;
  for (const auto &[x, y] : pixels)
    left = std::min(left, x), right = std::max(right, x), top = std::min(top, y),
    bottom = std::max(bottom, y);
  EXPECT_EQ((right - left) % 2, 0);
  EXPECT_EQ((bottom - top) % 2, 0);
  return sum(pixels, {{-(left + right) / 2, -(top + bottom) / 2}});
}

/// The segments of an octagon: level, upright, and both diagonals.
std::vector<Pixels> segments_of_octagon(int width, int height) {
  const int n = std::min(width, height);
  const int diagonal = n - static_cast<int>(n / std::sqrt(2.0));
  return {level(width - 2 * (diagonal - 1)), segment(height - 2 * (diagonal - 1), 0, 1),
          segment(diagonal, 1, 1), segment(diagonal, -1, 1)};
}

std::vector<Pixels> segments_of_hexagon(int n) {
  return {level((n + 3) / 2), segment((n + 1) / 2, 1, 2), segment((n + 1) / 2, -1, 2)};
}

Pixels sum(const std::vector<Pixels> &segments) {
  Pixels all{{0, 0}};
  for (const Pixels &one : segments) all = sum(all, one);
  return centred(all);
}

TEST(SwoFilterPolygons, OctagonsAreSumsOfFourSegments) {
  for (int n = 1; n <= 255; n += n < 60 ? 2 : 62)
    EXPECT_EQ(pixels_of(swo::make_octagon(n, n)), sum(segments_of_octagon(n, n))) << n;
  for (const auto &[width, height] : {std::pair{9, 5}, {7, 31}, {41, 13}, {3, 255}, {99, 15}})
    EXPECT_EQ(pixels_of(swo::make_octagon(width, height)), sum(segments_of_octagon(width, height)));
}

TEST(SwoFilterPolygons, HexagonsAreSumsOfThreeSegments) {
  for (int n = 3; n <= 255; n += n < 60 ? 4 : 64)
    EXPECT_EQ(pixels_of(swo::make_hexagon(n, n)), sum(segments_of_hexagon(n))) << n;
}

/// Those of `pixels` that are in a translate of `part` inside them.
Pixels opened(const Pixels &pixels, const Pixels &part) {
  Pixels places;
  for (const auto &[x, y] : pixels)
    if (std::all_of(part.begin(), part.end(), [&](const auto &p) {
          return pixels.contains({x + p.first, y + p.second});
        }))
      places.emplace(x, y);
  return sum(places, part);
}

/// So their openings are a granulometry.
TEST(SwoFilterPolygons, LargerOnesAreUnionsOfSmallerOnes) {
  for (int n = 1; n < 50; n += 2) {
    const Pixels next = pixels_of(swo::make_octagon(n + 2, n + 2));
    EXPECT_EQ(opened(next, pixels_of(swo::make_octagon(n, n))), next) << n;
  }
  for (int n = 3; n < 50; n += 4) {
    const Pixels next = pixels_of(swo::make_hexagon(n + 4, n + 4));
    EXPECT_EQ(opened(next, pixels_of(swo::make_hexagon(n, n))), next) << n;
  }
}

// ---- Filters -----------------------------------------------------------------------------------

/// The mask of some pixels as text, with its middle at (0, 0).
std::string mask_of(const Pixels &pixels) {
  int rx = 0, ry = 0;
  for (const auto &[x, y] : pixels) rx = std::max(rx, std::abs(x)), ry = std::max(ry, std::abs(y));
  std::string text;
  for (int y = -ry; y <= ry; ++y) {
    if (y > -ry) text += ';';
    for (int x = -rx; x <= rx; ++x) text += pixels.contains({x, y}) ? '1' : '0';
  }
  return text;
}

template <typename Runner>
std::vector<std::uint8_t> result(Runner &runner, const SwoFilterParams &p,
                                 const std::vector<std::uint8_t> &samples, Size size) {
  const Image<std::uint8_t> in(samples, size.width, size.height);
  return outcome<std::uint8_t>(runner, in, {}, std::uint8_t{255}, p, 0).samples;
}

/// The opening as a chain of an erosion by each segment, then a dilation by each of them turned by
/// 180 degrees, in the opposite order.
template <typename Runner>
std::vector<std::uint8_t> opened_by(Runner &runner, const std::vector<Pixels> &segments,
                                    std::vector<std::uint8_t> samples, Size size) {
  std::vector<std::string> turned;
  for (const Pixels &segment : segments) {
    // As near to (0, 0) as whole pixels allow, so that masks are small.
    int reach_x = 0, reach_y = 0;
    for (const auto &[x, y] : segment) {
      if (std::abs(x) > std::abs(reach_x)) reach_x = x;
      reach_y = std::max(reach_y, y);
    }
    const Pixels middle = sum(segment, {{-reach_x / 2, -reach_y / 2}});
    samples = result(runner, {.op = Op::erode, .shape = mask_of(middle)}, samples, size);
    Pixels back;
    for (const auto &[x, y] : middle) back.emplace(-x, -y);
    turned.push_back(mask_of(back));
  }
  for (auto mask = turned.rbegin(); mask != turned.rend(); ++mask)
    samples = result(runner, {.op = Op::dilate, .shape = *mask}, samples, size);
  return samples;
}

/// An image with a margin that does not change what is opened inside it: black, so that nothing
/// outside the image belongs to what is bright.
std::vector<std::uint8_t> content_with_margin(Size size, int margin) {
  auto samples = make_content<std::uint8_t>(Content::text, size.width, size.height, 255);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (std::min({x, y, size.width - 1 - x, size.height - 1 - y}) < margin)
        samples[std::size_t(y) * size.width + x] = 0;
  return samples;
}

template <typename Runner>
void expect_chains_of_segments_to_open_as_polygons(Runner &runner) {
  constexpr Size kSize{131, 97};
  const auto samples = content_with_margin(kSize, 32);
  for (const int n : {5, 7, 11, 15}) {
    auto expected =
        result(runner, {.op = Op::open, .window = n, .shape = "octagon"}, samples, kSize);
    EXPECT_NE(expected, std::vector<std::uint8_t>(samples.size())) << n;
    EXPECT_NE(expected, samples) << n;
    EXPECT_TRUE(
        same(expected, opened_by(runner, segments_of_octagon(n, n), samples, kSize), kSize.width))
        << "octagon of " << n;
    if (n % 4 != 3) continue;
    expected = result(runner, {.op = Op::open, .window = n, .shape = "hexagon"}, samples, kSize);
    EXPECT_TRUE(
        same(expected, opened_by(runner, segments_of_hexagon(n), samples, kSize), kSize.width))
        << "hexagon of " << n;
  }
}

TEST(SwoFilterPolygons, ChainsOfSegmentsOpenAsThePolygon) {
  CpuRunner runner(2);
  expect_chains_of_segments_to_open_as_polygons(runner);
}

/// Each pixel of an opening is the largest minimum of the octagons that contain it, as sets of
/// pixels that are sums of segments. Outside there is nothing, and octagons have their middle
/// inside.
TEST(SwoFilterPolygons, OpeningsAreTheLargestMinimaOfPolygons) {
  CpuRunner runner(1);
  constexpr Size kSize{37, 29};
  const auto samples = make_content<std::uint8_t>(Content::random, kSize.width, kSize.height, 255);
  const auto inside = [&](int x, int y) {
    return x >= 0 && x < kSize.width && y >= 0 && y < kSize.height;
  };
  for (const bool is_octagon : {true, false})
    for (const int n : {3, 7, 11}) {
      const Pixels polygon = sum(is_octagon ? segments_of_octagon(n, n) : segments_of_hexagon(n));
      std::vector<std::uint8_t> expected(samples.size());
      for (int y = 0; y < kSize.height; ++y)
        for (int x = 0; x < kSize.width; ++x) {
          int least = 255;
          for (const auto &[dx, dy] : polygon)
            if (inside(x + dx, y + dy))
              least = std::min<int>(least, samples[(y + dy) * kSize.width + x + dx]);
          for (const auto &[dx, dy] : polygon)
            if (inside(x + dx, y + dy)) {
              auto &pixel = expected[(y + dy) * kSize.width + x + dx];
              pixel = static_cast<std::uint8_t>(std::max<int>(pixel, least));
            }
        }
      const SwoFilterParams p{
          .op = Op::open, .window = n, .shape = is_octagon ? "octagon" : "hexagon"};
      EXPECT_TRUE(same(expected, result(runner, p, samples, kSize), kSize.width)) << p;
    }
}

#ifdef HAVE_CUDA
TEST(SwoFilterPolygons, ChainsOfSegmentsOpenAsThePolygonOnCuda) {
  NEED_GPU();
  CudaRunner runner;
  expect_chains_of_segments_to_open_as_polygons(runner);
}

/// Families of operators that treat windows in different ways.
TEST(SwoFilterPolygons, CudaEqualsCpuOfFamilies) {
  NEED_GPU();
  for (const char *shape : {"octagon", "hexagon"})
    for (const Op op : {Op::open, Op::gradient, Op::mean, Op::standard_deviation, Op::median,
                        Op::mode, Op::recursive_erode, Op::hit_or_miss})
      for (const Size window : {Size{7, 7}, Size{21, 13}, Size{9, 41}}) {
        const SwoFilterParams p{
            .op = op, .window_width = window.width, .window_height = window.height, .shape = shape};
        expect_cuda_equals_cpu_of<std::uint8_t>(p, {130, 41}, {.unit = 256});
        expect_cuda_equals_cpu_of<std::uint16_t>(p, {41, 77}, {});
        if (HasFailure()) return;
      }
}
#endif

CHECK_OPERATOR(SwoFilterPolygons, SwoFilterParams,
               {.op = SwoFilterOperator::open, .window = 15, .shape = "octagon"},
               {.op = SwoFilterOperator::close,
                .window = 63,
                .shape = "octagon",
                .border = SwoFilterBorder::replicate},
               {.op = SwoFilterOperator::top_hat,
                .window_width = 31,
                .window_height = 27,
                .shape = "hexagon",
                .border = SwoFilterBorder::reflect});

}  // namespace
}  // namespace cudascan::test
