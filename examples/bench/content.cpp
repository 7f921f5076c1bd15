// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/bench.h"

namespace cudascan::bench {
namespace {

/// xorshift64*, so that every machine measures the same picture.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1d) >> 32);
  }
  int below(int n) { return static_cast<int>((std::uint64_t{next()} * n) >> 32); }

 private:
  std::uint64_t state_;
};

/// Writes lines of words of glyphs made of two to four strokes each on rows [top, bottom).
void write_text(std::vector<std::uint8_t> &ink, int width, int top, int bottom, int em,
                Random &random) {
  const int pen = std::max(em / 9, 1);
  const auto dot = [&](int x, int y, int value) {
    for (int v = y; v < std::min(y + pen, bottom); ++v)
      for (int u = x; u < std::min(x + pen, width); ++u)
        ink[static_cast<std::size_t>(v) * width + u] = static_cast<std::uint8_t>(value);
  };
  for (int line = top + em; line + em < bottom; line += em * 5 / 3)
    for (int x = em; x + em < width; x += em * 3 / 4) {
      if (random.below(6) == 0) continue;  // a space between words
      const int value = 120 + random.below(100);
      for (int stroke = 2 + random.below(3); stroke > 0; --stroke) {
        const int x0 = x + random.below(em / 2), y0 = line + random.below(em);
        const int x1 = x + random.below(em / 2), y1 = line + random.below(em);
        const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
        for (int i = 0; i <= steps; ++i)
          dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, value);
      }
    }
}

int em_of(int height) {
  return std::clamp(height / 70, 8, 48);
}

/// The ink of one page, 0..255.
std::vector<std::uint8_t> make_ink(int width, int height, Random &random) {
  std::vector<std::uint8_t> ink(static_cast<std::size_t>(width) * height, 0);
  const int em = em_of(height);
  write_text(ink, width, 0, height, em, random);
  return ink;
}

/// White ink on black, under headings four times as large.
std::vector<std::uint16_t> make_negative(int width, int height, Random &random) {
  std::vector<std::uint8_t> ink(static_cast<std::size_t>(width) * height, 0);
  const int em = em_of(height), heading = 4 * em, headings = height / 5;
  write_text(ink, width, 0, headings, heading, random);
  write_text(ink, width, headings, height, em, random);
  std::vector<std::uint16_t> picture;
  for (const std::uint8_t v : ink) picture.push_back(v ? 0xffff : 0);
  return picture;
}

/// Smooth noise in octaves and sensor noise. Finer octaves are weaker, as in natural pictures.
std::vector<std::uint16_t> make_natural(int width, int height, Random &random) {
  constexpr int kCoarsest = 512, kFinest = 4;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(width) * height, 0);
  for (int cell = kCoarsest; cell >= kFinest; cell /= 2) {
    const int columns = width / cell + 2, rows = height / cell + 2;
    std::vector<std::int64_t> lattice;
    for (int i = 0; i < columns * rows; ++i) lattice.push_back(random.below(0x10000) - 0x8000);
    // Rises from 0 to the cell's size, with zero slope at both ends.
    const auto ease = [&](int t) { return std::int64_t{t} * t * (3 * cell - 2 * t) / cell / cell; };
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const std::int64_t *corner = &lattice[y / cell * columns + x / cell];
        const std::int64_t u = ease(x % cell), v = ease(y % cell);
        const auto blend = [&](const std::int64_t *ends) {
          return ends[0] * (cell - u) + ends[1] * u;
        };
        // The weights are the cells' sizes; their sum is a little less than 2 kCoarsest.
        sums[static_cast<std::size_t>(y) * width + x] +=
            (blend(corner) * (cell - v) + blend(corner + columns) * v) / cell / (2 * kCoarsest);
      }
  }
  std::vector<std::uint16_t> picture;
  for (const std::int64_t sum : sums) {
    const std::int64_t sample = 0x8000 + 2 * sum + random.below(0x400) - 0x200;
    picture.push_back(static_cast<std::uint16_t>(std::clamp<std::int64_t>(sample, 0, 0xffff)));
  }
  return picture;
}

/// A black corridor between white walls: a spiral from the upper left corner to the middle.
std::vector<std::uint16_t> make_spiral(int width, int height) {
  constexpr int kCorridor = 8, kPitch = 16;
  std::vector<std::uint16_t> picture(static_cast<std::size_t>(width) * height, 0xffff);
  const auto clear = [&](int left, int top, int right, int bottom) {
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) picture[static_cast<std::size_t>(y) * width + x] = 0;
  };
  int left = 0, top = 0, right = width, bottom = height;
  while (right - left >= kPitch && bottom - top >= kPitch) {
    clear(std::max(left - kPitch, 0), top, right,
          top + kCorridor);  // starts where the last turn ends
    clear(right - kCorridor, top, right, bottom);
    clear(left, bottom - kCorridor, right, bottom);
    clear(left, top + kPitch, left + kCorridor, bottom);
    left += kPitch;
    top += kPitch;
    right -= kPitch;
    bottom -= kPitch;
  }
  return picture;
}

}  // namespace

std::ptrdiff_t stride_of(Size size, int align) {
  const std::ptrdiff_t row = std::ptrdiff_t{size.width} * size.sample_bytes();
  return (row + align - 1) / align * align;
}

std::vector<std::uint8_t> make_content(Content content, Size size, std::ptrdiff_t stride) {
  Random random(0x9e3779b97f4a7c15);
  std::vector<std::uint8_t> bytes(stride * size.height);
  std::vector<std::uint8_t> ink;
  std::vector<std::uint16_t> picture;
  if (content == Content::page) ink = make_ink(size.width, size.height, random);
  if (content == Content::negative) picture = make_negative(size.width, size.height, random);
  if (content == Content::natural) picture = make_natural(size.width, size.height, random);
  if (content == Content::spiral) picture = make_spiral(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t *row = bytes.data() + stride * y;
    for (int x = 0; x < size.width; ++x) {
      std::uint32_t sample =
          0x8080;  // 16 bits; 8-bit planes take the high byte, floats are below 1
      if (content == Content::page || content == Content::random) sample = random.next() & 0xffff;
      if (!picture.empty()) sample = picture[static_cast<std::size_t>(y) * size.width + x];
      if (content == Content::page) {
        // A lamp at the upper left, then ink, then noise of +-8 levels.
        const int paper = 235 - 60 * x / size.width - 50 * y / size.height;
        const int level = paper - ink[static_cast<std::size_t>(y) * size.width + x] * paper / 256;
        const int noise = static_cast<int>(sample & 0xfff) - 0x800;
        sample = static_cast<std::uint32_t>(std::clamp(level * 256 + noise, 0, 0xffff));
      }
      if (size.depth == 8) {
        row[x] = static_cast<std::uint8_t>(sample >> 8);
      } else if (size.depth == 16) {
        const auto value = static_cast<std::uint16_t>(sample);
        std::memcpy(row + 2 * x, &value, 2);
      } else {
        const float value = static_cast<float>(sample) / 65536;
        std::memcpy(row + 4 * x, &value, 4);
      }
    }
  }
  return bytes;
}

}  // namespace cudascan::bench
