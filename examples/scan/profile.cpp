// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "clones.h"
#include "quantile.h"

namespace cudascan::scan {
namespace {

constexpr int kSampledRows = 3;  ///< every third row is enough for the noise

CUDASCAN_CLONES void sizes(const std::uint8_t *above, const std::uint8_t *below, int count,
                           std::uint8_t *to) {
  for (int x = 0; x < count; ++x)
    to[x] = static_cast<std::uint8_t>(std::max(above[x], below[x]) - std::min(above[x], below[x]));
}

CUDASCAN_CLONES void differences(const std::uint8_t *above, const std::uint8_t *below,
                                 std::uint8_t noise, int count, std::int8_t *to) {
  for (int x = 0; x < count; ++x) {
    const auto up = static_cast<std::uint8_t>(std::max(above[x], below[x]) - below[x]);
    const auto down = static_cast<std::uint8_t>(std::max(above[x], below[x]) - above[x]);
    const std::uint8_t size = std::max(up, down);  // the other one is 0
    const auto rest = static_cast<std::uint8_t>(std::max(size, noise) - noise);
    const auto limited = static_cast<std::int8_t>(std::min<std::uint8_t>(rest, Slopes::kLimit));
    to[x] = up > down ? static_cast<std::int8_t>(-limited) : limited;
  }
}

/// Clears the numbers before `begin` and from `end` on.
template <typename T>
void keep(T *numbers, int begin, int end, int count) {
  begin = std::min(begin, count);
  end = std::max(begin, end);
  std::fill(numbers, numbers + begin, T{0});
  std::fill(numbers + end, numbers + count, T{0});
}

/// Puts numbers of 4 rows next to each other: to[4x + i] is number x of row i.
/// @param step  bytes to the next row
CUDASCAN_CLONES void interleave(const std::int8_t *__restrict rows, std::ptrdiff_t step, int count,
                                std::int8_t *__restrict to) {
  const std::int8_t *const second = rows + step, *const third = rows + 2 * step;
  const std::int8_t *const fourth = rows + 3 * step;
  for (int x = 0; x < count; ++x) {
    to[4 * x] = rows[x];
    to[4 * x + 1] = second[x];
    to[4 * x + 2] = third[x];
    to[4 * x + 3] = fourth[x];
  }
}

/// The same with 4 numbers at a time.
CUDASCAN_CLONES void interleave_fours(const std::int8_t *__restrict rows, std::ptrdiff_t step,
                                      int count, std::int8_t *__restrict to) {
  const std::int8_t *const second = rows + step, *const third = rows + 2 * step;
  const std::int8_t *const fourth = rows + 3 * step;
  for (int x = 0; x < count; ++x) {
    std::memcpy(to + 16 * x, rows + 4 * x, 4);
    std::memcpy(to + 16 * x + 4, second + 4 * x, 4);
    std::memcpy(to + 16 * x + 8, third + 4 * x, 4);
    std::memcpy(to + 16 * x + 12, fourth + 4 * x, 4);
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

void ByColumns::shape(int width, int height) {
  width_ = width;
  height_ = height;
  numbers_.resize(begin_of(width));
  for (int x = 0; x <= width; ++x) std::fill_n(column(x) - kAround, kAround, std::int8_t{0});
}

/// Twice the median difference of neighbours: differences up to it are noise and paper.
int Slopes::noise_of(const Image &page) {
  const auto levels = page.plane<const std::uint8_t>();
  const int stride = static_cast<int>(page.stride());
  const int rows = (page.height - 1 + kSampledRows - 1) / kSampledRows;
  sampled_.resize(std::size_t{1} * stride * rows);
  std::size_t all = 0;
  for (int i = 0; i < rows; ++i) {
    const int y = kSampledRows * i, left = sheet_.left(y), right = sheet_.right(y);
    std::uint8_t *const to = sampled_.data() + std::size_t{1} * stride * i;
    sizes(levels.row(y), levels.row(y + 1), stride, to);
    keep(to, left, right, stride);
    all += std::max(0, right - left);
  }
  return 2 * level_reached(sampled_.data(), sampled_.size(), all / 2 + 1);
}

void Slopes::measure(const Image &page) {
  shape(page.width, page.height);
  sheet_.measure(page);
  const auto noise = static_cast<std::uint8_t>(std::min(255, noise_of(page)));
  const auto levels = page.plane<const std::uint8_t>();
  const int stride = static_cast<int>(page.stride());
  // Some rows at a time, so that rows and columns stay in the cache.
  constexpr int kRows = 16;
  rows_.resize(std::size_t{kRows} * stride);
  space_.resize(rows_.size());
  for (int begin = 0; begin < page.height; begin += kRows) {
    const int end = std::min(begin + kRows, page.height);
    for (int y = begin; y < std::min(end, page.height - 1); ++y) {
      std::int8_t *const to = rows_.data() + std::size_t{1} * stride * (y - begin);
      differences(levels.row(y), levels.row(y + 1), noise, stride, to);
      keep(to, sheet_.left(y), sheet_.right(y), stride);
    }
    transpose_16(rows_.data(), stride, space_.data());
    const std::int8_t *from = rows_.data();
    for (int x = 0; x < page.width; ++x, from += kRows)
      if (end - begin == kRows)  // whose size the compiler knows
        std::memcpy(column(x) + begin, from, kRows);
      else
        std::memcpy(column(x) + begin, from, end - begin);
  }
  // The last row has no differences.
  for (int x = 0; x < page.width; ++x)
    keep(column(x), sheet_.top(x), std::min(sheet_.bottom(x), page.height - 1), page.height);
}

void transpose_16(std::int8_t *numbers, int width, std::int8_t *space) {
  const std::ptrdiff_t fours = std::ptrdiff_t{4} * width;
  for (int i = 0; i < 4; ++i) interleave(numbers + i * fours, width, width, space + i * fours);
  interleave_fours(space, fours, width, numbers);
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
