// SPDX-License-Identifier: LGPL-2.1-or-later
// The fast loops with which cudascan-scan measures pages, compared with what they are to compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>

#include "examples/scan/cell_rows.h"
#include "examples/scan/luma.h"
#include "examples/scan/profile.h"
#include "examples/scan/quantile.h"
#include "examples/scan/reduce.h"
#include "examples/scan/sheet.h"

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
    std::vector<std::uint16_t> sums(255 * rows + 1);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<std::uint16_t>(i);
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

TEST(Profiles, ColumnsOfRows) {
  for (const int width : {1, 3, 64, 320, 333}) {
    std::vector<std::int8_t> numbers(16 * width), space(numbers.size());
    for (std::int8_t &number : numbers) number = static_cast<std::int8_t>(below(256));
    const std::vector<std::int8_t> before = numbers;
    transpose_16(numbers.data(), width, space.data());
    for (int i = 0; i < 16 * width; ++i)
      ASSERT_EQ(numbers[i], before[i % 16 * width + i / 16]) << width << ' ' << i;
  }
}

/// Noisy paper with dark lines, in a dark surround or none, with slanted sides and dark columns.
void fill_sheet(Image &page, int width, int height) {
  page.shape(width, height, 8);
  const auto levels = page.plane<std::uint8_t>();
  const bool has_surround = below(3) > 0;
  const int side = below(20), steepness = 3 + below(20), noise = 1 + below(60);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool is_sheet = x >= side + y / steepness && x < width - side && y > x / 4 &&
                            y < height - x / 5 && x % 50 != 30;
      const int level = !has_surround || is_sheet ? (y % 11 < 4 ? 90 : 190) : 5;
      levels.row(y)[x] = static_cast<std::uint8_t>(level + below(noise));
    }
}

/// The level that enough of the values reach, one after the other from the highest.
template <typename Values>
int naive_level(Values values, std::size_t least) {
  std::sort(values.begin(), values.end());
  return least > values.size() ? 0 : least == 0 ? 255 : values[values.size() - least];
}

TEST(Quantile, LevelThatEnoughNumbersReach) {
  for (const int count : {0, 1, 63, 64, 65, 1000, 40000})
    for (const int levels : {1, 3, 256}) {
      std::vector<std::uint8_t> numbers(count);
      for (std::uint8_t &number : numbers) number = static_cast<std::uint8_t>(below(levels));
      for (const int least : {0, 1, count / 3, count / 2, count, count + 1})
        ASSERT_EQ(level_reached(numbers.data(), count, least), naive_level(numbers, least))
            << count << ' ' << least;
    }
}

/// The sides of a sheet, row by row and column by column.
struct NaiveSheet {
  explicit NaiveSheet(const Image &page) {
    const auto levels = page.plane<const std::uint8_t>();
    std::vector<int> sampled;
    for (int y = 0; y < page.height; y += 3)
      sampled.insert(sampled.end(), levels.row(y), levels.row(y) + page.width);
    paper = naive_level(sampled, sampled.size() / 3);
    std::vector<int> lefts, rights;
    for (int y = 0; y < page.height; ++y) {
      int first = 0, end = page.width;
      while (first < page.width && levels.row(y)[first] < paper / 2) ++first;
      while (end > first && levels.row(y)[end - 1] < paper / 2) --end;
      lefts.push_back(first > 0 ? first + 1 : 0);
      rights.push_back(end < page.width ? end - 1 : page.width);
    }
    for (int y = 0; y < page.height; ++y) {
      const int begin = std::max(0, y - 2), end = std::min(page.height, y + 4);
      left.push_back(*std::max_element(lefts.begin() + begin, lefts.begin() + end));
      right.push_back(*std::min_element(rights.begin() + begin, rights.begin() + end));
    }
    for (int x = 0; x < page.width; ++x) {
      int first = 0, end = page.height;
      while (first < page.height && levels.row(first)[x] < paper / 2) ++first;
      while (end > first && levels.row(end - 1)[x] < paper / 2) --end;
      top.push_back(first > 0 ? first + 5 : 0);
      bottom.push_back(end < page.height ? end - 6 : page.height);
    }
  }
  int paper;
  std::vector<int> left, right, top, bottom;
};

TEST(Slopes, DifferencesInsideTheSheet) {
  Slopes slopes;  // keeps its memory
  Sheet sheet;
  for (int i = 0; i < 60; ++i) {
    Image page;
    fill_sheet(page, 1 + below(200), 1 + below(300));
    if (i == 0) fill<std::uint8_t>(page, 90, 200, 8);
    const auto levels = page.plane<const std::uint8_t>();
    const NaiveSheet naive(page);
    sheet.measure(page);
    ASSERT_EQ(sheet.paper(), naive.paper);
    for (int y = 0; y < page.height; ++y)
      ASSERT_TRUE(sheet.left(y) == naive.left[y] && sheet.right(y) == naive.right[y]) << y;
    for (int x = 0; x < page.width; ++x)
      ASSERT_TRUE(sheet.top(x) == naive.top[x] && sheet.bottom(x) == naive.bottom[x]) << x;
    std::vector<int> differences;
    for (int y = 0; y + 1 < page.height; y += 3)
      for (int x = naive.left[y]; x < naive.right[y]; ++x)
        differences.push_back(std::abs(levels.row(y + 1)[x] - levels.row(y)[x]));
    const int noise = 2 * naive_level(differences, differences.size() / 2 + 1);
    slopes.measure(page);
    for (int x = 0; x < page.width; ++x)
      for (int y = -ByColumns::kAround; y < page.height + ByColumns::kAround; ++y) {
        int expected = 0;
        if (y >= 0 && y + 1 < page.height && x >= naive.left[y] && x < naive.right[y] &&
            y >= naive.top[x] && y < naive.bottom[x]) {
          const int difference = levels.row(y + 1)[x] - levels.row(y)[x];
          const int size = std::min(std::max(std::abs(difference) - noise, 0), Slopes::kLimit);
          expected = difference < 0 ? -size : size;
        }
        ASSERT_EQ(slopes.column(x)[y], expected) << x << ' ' << y;
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
