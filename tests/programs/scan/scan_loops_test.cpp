// SPDX-License-Identifier: LGPL-2.1-or-later
// The fast loops with which cudascan-scan measures pages, compared with what they are to compute.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "examples/scan/cell_rows.h"
#include "examples/scan/luma.h"
#include "examples/scan/profile.h"
#include "examples/scan/reduce.h"

namespace cudascan::scan {
namespace {

std::mt19937 random_bits(3);

int below(int limit) {
  return static_cast<int>(random_bits() % static_cast<unsigned>(limit));
}

template <typename T>
void fill(Image &image, int width, int height, int depth) {
  image.shape(width, height, depth);
  const auto plane = image.plane<T>();
  const int kind = below(3);  // extremes, or all levels
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      plane.row(y)[x] = static_cast<T>(kind == 0 ? plane.maximum : below(plane.maximum + 1));
}

template <typename T>
void check_reduced(int depth) {
  for (const auto &[by_x, by_y] : {std::pair{1, 1},
                                   {2, 1},
                                   {8, 2},
                                   {12, 3},
                                   {16, 16},
                                   {28, 7},
                                   {64, 64},
                                   {64, 16},
                                   {5, 4},
                                   {6, 64}}) {
    SCOPED_TRACE(std::to_string(by_x) + "x" + std::to_string(by_y));
    Image page, made;
    fill<T>(page, by_x * (1 + below(40)) + below(by_x), by_y * 3 + below(by_y), depth);
    reduce(page, by_x, by_y, made);
    ASSERT_EQ(made.width, page.width / by_x);
    ASSERT_EQ(made.height, page.height / by_y);
    for (int y = 0; y < made.height; ++y)
      for (int x = 0; x < made.width; ++x) {
        int sum = 0;
        for (int i = 0; i < by_x * by_y; ++i)
          sum += page.plane<const T>().row(y * by_y + i / by_x)[x * by_x + i % by_x] >> (depth - 8);
        ASSERT_EQ(made.plane<const std::uint8_t>().row(y)[x], sum / (by_x * by_y));
      }
  }
}

TEST(Reduce, MeansOfBlocks) {
  check_reduced<std::uint8_t>(8);
  check_reduced<std::uint16_t>(16);
}

TEST(CellRows, MeansAreExact) {
  for (int rows = 1; rows <= 16; ++rows) {
    std::vector<int> sums(255 * rows + 1);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<int>(i);
    std::vector<std::uint8_t> means(sums.size());
    mean_rows(sums.data(), static_cast<int>(sums.size()), rows, means.data());
    for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(means[i], sums[i] / rows) << rows;
  }
}

TEST(Profiles, SumsAlongLines) {
  for (const auto &[width, height, squeeze, strips] :
       {std::array{310, 90, 4, 2}, {61, 40, 1, 8}, {7, 33, 4, 1}, {130, 200, 2, 4}}) {
    ByColumns page(width, height);
    for (int x = 0; x < width; ++x)
      for (int y = 0; y < height; ++y) page.column(x)[y] = static_cast<std::int8_t>(below(65) - 32);
    Profiles profiles(page, squeeze, 12);
    for (const double angle : {-11., -3.3, 0., 0.05, 7.9, 11.95}) {
      profiles.sum(angle, strips);
      const double slope = squeeze * std::tan(angle * std::numbers::pi / 180);
      const int margin = (profiles.rows() - height) / 2;
      std::vector<std::vector<int>> sums(strips, std::vector<int>(profiles.rows(), 0));
      for (int x = 0; x < width; ++x)
        for (int y = 0; y < height; ++y)
          sums[x * strips / width][margin + y + std::lround((x - 0.5 * width) * slope)] +=
              page.column(x)[y];
      for (int i = 0; i < strips; ++i)
        for (int y = 0; y < profiles.rows(); ++y)
          ASSERT_EQ(profiles.strip(i)[y], sums[i][y]) << width << ' ' << angle << ' ' << i;
    }
  }
}

template <typename T>
void check_luma(int most) {
  for (const int width : {1, 17, 300}) {
    std::vector<T> samples(3 * width), gray(width);
    for (T &sample : samples) sample = static_cast<T>(below(4) ? below(most + 1) : most);
    luma_row(samples.data(), 3, width, gray.data());
    for (int x = 0; x < width; ++x) {
      const T *rgb = samples.data() + 3 * x;
      ASSERT_EQ(gray[x],
                std::floor((19595. * rgb[0] + 38470. * rgb[1] + 7471. * rgb[2]) / 65536 + 0.5));
    }
  }
}

TEST(Luma, Rec601) {
  check_luma<std::uint8_t>(255);
  check_luma<std::uint16_t>(65535);
}

}  // namespace
}  // namespace cudascan::scan
