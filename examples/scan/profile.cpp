// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "clones.h"
#include "sheet.h"

namespace cudascan::scan {
namespace {

using Levels = Plane<const std::uint8_t>;

constexpr int kSampledRows = 3;  ///< every third row is enough for the noise

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

/// Adds four columns.
CUDASCAN_CLONES void add(const std::int8_t *const *columns, int count, std::int16_t *sums) {
  const std::int8_t *const first = columns[0], *const second = columns[1];
  const std::int8_t *const third = columns[2], *const fourth = columns[3];
  for (int y = 0; y < count; ++y)
    sums[y] = static_cast<std::int16_t>(sums[y] + first[y] + second[y] + third[y] + fourth[y]);
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

ByColumns::ByColumns(int width, int height)
    : width_(width), height_(height), numbers_(begin_of(width)) {}

Slopes::Slopes(const Image &page) : ByColumns(page.width, page.height) {
  const Levels levels = page.plane<const std::uint8_t>();
  const Sheet sheet(levels);
  const int noise = noise_of(levels, sheet);
  // Some rows at a time, so that rows and columns stay in the cache.
  constexpr int kRows = 64;
  const int width = page.width;
  std::vector<std::int8_t> block(static_cast<std::size_t>(kRows) * width);
  for (int begin = 0; begin + 1 < page.height; begin += kRows) {
    const int rows = std::min(kRows, page.height - 1 - begin);
    std::fill(block.begin(), block.end(), std::int8_t{0});
    for (int y = begin; y < begin + rows; ++y) {
      const int left = sheet.left(y), right = sheet.right(y);
      std::int8_t *const to = block.data() + static_cast<std::size_t>(y - begin) * width;
      if (left < right)
        differences(levels.row(y) + left, levels.row(y + 1) + left, noise, right - left, to + left);
      for (int x = left; x < right && !sheet.has_row(y); ++x)
        if (!sheet.has(x, y)) to[x] = 0;
    }
    for (int x = 0; x < width; ++x) {
      std::int8_t *const to = column(x) + begin;
      for (int y = 0; y < rows; ++y) to[y] = block[static_cast<std::size_t>(y) * width + x];
    }
  }
}

double slope_of(int squeeze, double angle) {
  return squeeze * std::tan(angle * std::numbers::pi / 180);
}

int margin_of(int width, int squeeze, double steepest) {
  return 2 + static_cast<int>(0.5 * width * squeeze * std::tan(steepest * std::numbers::pi / 180));
}

Profiles::Profiles(const ByColumns &page, int squeeze, double steepest)
    : page_(page),
      squeeze_(squeeze),
      margin_(margin_of(page.width(), squeeze, steepest)),
      rows_(page.height() + 2 * margin_) {}

void Profiles::sum(double angle, int strips) {
  strips_.resize(strips);
  for (auto &strip : strips_) strip.assign(rows_, 0);
  const double rise = slope_of(squeeze_, angle);
  const int width = page_.width(), height = page_.height();
  const auto shift_of = [&](int x) {
    return static_cast<int>(std::lround((x - 0.5 * width) * rise));
  };
  // Four columns at a time, so that sums are loaded and stored less often.
  constexpr int kTogether = 4;
  for (int x = 0, count = 1; x < width; x += count) {
    const int strip = x * strips / width, last = std::min(x + kTogether, width) - 1;
    const int shift = shift_of(x), least = std::min(shift, shift_of(last));
    const int spread = std::max(shift, shift_of(last)) - least;
    std::int16_t *const to = strips_[strip].data() + margin_ + least;
    const bool together =
        last - x + 1 == kTogether && last * strips / width == strip && spread <= ByColumns::kAround;
    count = together ? kTogether : 1;
    if (!together) {
      add(page_.column(x), height, strips_[strip].data() + margin_ + shift);
      continue;
    }
    const std::int8_t *columns[kTogether];
    for (int i = 0; i < kTogether; ++i)
      columns[i] = page_.column(x + i) - (shift_of(x + i) - least);
    add(columns, height + spread, to);
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
