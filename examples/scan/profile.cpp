// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "clones.h"

namespace cudascan::scan {
namespace {

using Levels = Plane<const std::uint8_t>;

constexpr int kSampledRows = 3;  ///< every third row is enough for levels and noise

/// The part of each row and column that is inside the dark surround of a sheet, if it has one.
class Sheet {
 public:
  explicit Sheet(const Levels &page)
      : left_(page.height), right_(page.height), top_(page.width, 0), bottom_(page.width, 0) {
    const int dark = paper_level(page) / 2;
    for (int y = 0; y < page.height; ++y) {
      const std::uint8_t *row = page.row(y);
      int left = 0, right = page.width;
      while (left < page.width && row[left] < dark) ++left;
      while (right > left && row[right - 1] < dark) --right;
      left_[y] = left > 0 ? left + 1 : 0;
      right_[y] = right < page.width ? right - 1 : page.width;
    }
    for (int x = 0; x < page.width; ++x) {
      int top = 0, bottom = page.height;
      while (top < page.height && page.row(top)[x] < dark) ++top;
      while (bottom > top && page.row(bottom - 1)[x] < dark) --bottom;
      top_[x] = top > 0 ? top + kEdgeBelow : 0;
      bottom_[x] = bottom < page.height ? bottom - kEdgeAbove : page.height;
    }
    left_ = extremes(left_, [](int a, int b) { return std::max(a, b); });
    right_ = extremes(right_, [](int a, int b) { return std::min(a, b); });
  }

  int left(int y) const { return left_[y]; }
  int right(int y) const { return right_[y]; }
  bool has(int x, int y) const { return y >= top_[x] && y < bottom_[x]; }

 private:
  /// Rows at the edge of the sheet that are left out: edges are blurred.
  static constexpr int kEdgeBelow = 5, kEdgeAbove = 6;

  /// A level that a third of the page reaches.
  static int paper_level(const Levels &page) {
    std::array<long, 256> counts{};
    long all = 0;
    for (int y = 0; y < page.height; y += kSampledRows, all += page.width)
      for (int x = 0; x < page.width; ++x) ++counts[page.row(y)[x]];
    int level = 255;
    for (long above = counts[255]; level > 0 && above < all / 3; above += counts[level]) --level;
    return level;
  }

  /// The extreme of each value and its neighbours.
  template <typename F>
  static std::vector<int> extremes(const std::vector<int> &values, F better) {
    std::vector<int> result(values);
    const int last = static_cast<int>(values.size()) - 1;
    for (int y = 0; y <= last; ++y)
      for (int near = std::max(0, y - 2); near <= std::min(last, y + 3); ++near)
        result[y] = better(result[y], values[near]);
    return result;
  }

  std::vector<int> left_, right_, top_, bottom_;
};

/// Twice the median difference of neighbours: differences up to it are noise and paper.
int noise_of(const Levels &page, const Sheet &sheet) {
  std::array<long, 256> counts{};
  long all = 0;
  for (int y = 0; y + 1 < page.height; y += kSampledRows)
    for (int x = sheet.left(y); x < sheet.right(y); ++x, ++all)
      ++counts[std::abs(page.row(y + 1)[x] - page.row(y)[x])];
  int median = 0;
  for (long below = counts[0]; median < 255 && below < (all + 1) / 2; below += counts[median])
    ++median;
  return 2 * median;
}

CUDASCAN_CLONES void differences(const std::uint8_t *above, const std::uint8_t *below, int noise,
                                 int count, std::int8_t *to) {
  for (int x = 0; x < count; ++x) {
    const int difference = below[x] - above[x];
    const int size = std::min(std::max(std::abs(difference) - noise, 0), Slopes::kLimit);
    to[x] = static_cast<std::int8_t>(difference < 0 ? -size : size);
  }
}

CUDASCAN_CLONES void add(const std::int8_t *numbers, int count, std::int16_t *sums) {
  for (int y = 0; y < count; ++y) sums[y] = static_cast<std::int16_t>(sums[y] + numbers[y]);
}

CUDASCAN_CLONES void add(const std::int16_t *numbers, int count, std::int16_t *sums) {
  for (int y = 0; y < count; ++y) sums[y] = static_cast<std::int16_t>(sums[y] + numbers[y]);
}

CUDASCAN_CLONES std::int64_t squares(const std::int16_t *numbers, int count) {
  std::int64_t sum = 0;
  for (int y = 0; y < count; ++y) sum += std::int32_t{numbers[y]} * numbers[y];
  return sum;
}

}  // namespace

Slopes::Slopes(const Image &page)
    : width_(page.width),
      height_(page.height),
      slopes_(static_cast<std::size_t>(page.width) * page.height) {
  const Levels levels = page.plane<const std::uint8_t>();
  const Sheet sheet(levels);
  const int noise = noise_of(levels, sheet);
  // Some rows at a time, so that rows and columns stay in the cache.
  constexpr int kRows = 64;
  std::vector<std::int8_t> block(static_cast<std::size_t>(kRows) * width_);
  for (int begin = 0; begin + 1 < height_; begin += kRows) {
    const int rows = std::min(kRows, height_ - 1 - begin);
    std::fill(block.begin(), block.end(), std::int8_t{0});
    for (int y = begin; y < begin + rows; ++y) {
      const int left = sheet.left(y), right = sheet.right(y);
      std::int8_t *const to = block.data() + static_cast<std::size_t>(y - begin) * width_;
      if (left < right)
        differences(levels.row(y) + left, levels.row(y + 1) + left, noise, right - left, to + left);
      for (int x = left; x < right; ++x)
        if (!sheet.has(x, y)) to[x] = 0;
    }
    for (int x = 0; x < width_; ++x) {
      std::int8_t *const to = slopes_.data() + static_cast<std::size_t>(x) * height_ + begin;
      for (int y = 0; y < rows; ++y) to[y] = block[static_cast<std::size_t>(y) * width_ + x];
    }
  }
}

Profiles::Profiles(const Slopes &slopes, int squeeze, double steepest)
    : slopes_(slopes),
      squeeze_(squeeze),
      margin_(2 + static_cast<int>(0.5 * slopes.width() * squeeze *
                                   std::tan(steepest * std::numbers::pi / 180))),
      rows_(slopes.height() + 2 * margin_) {}

void Profiles::sum(double angle, int strips) {
  strips_.resize(strips);
  for (auto &strip : strips_) strip.assign(rows_, 0);
  const double rise = squeeze_ * std::tan(angle * std::numbers::pi / 180);
  for (int x = 0; x < slopes_.width(); ++x) {
    const int shift = static_cast<int>(std::lround((x - 0.5 * slopes_.width()) * rise));
    std::int16_t *const to = strips_[x * strips / slopes_.width()].data() + margin_ + shift;
    add(slopes_.column(x), slopes_.height(), to);
  }
}

void Profiles::pair_up() {
  const int pairs = strips() / 2;
  for (int i = 0; i < pairs; ++i) {
    if (i > 0) std::swap(strips_[i], strips_[2 * i]);
    add(strips_[2 * i + 1].data(), rows_, strips_[i].data());
  }
  strips_.resize(pairs);
}

double sum_of_squares(const std::int16_t *numbers, int count) {
  return static_cast<double>(squares(numbers, count));
}

}  // namespace cudascan::scan
