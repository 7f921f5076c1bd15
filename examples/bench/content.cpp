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

/// Ink, 0..255, of one page: lines of words of glyphs made of two to four strokes each.
std::vector<std::uint8_t> make_ink(int width, int height, Random &random) {
  std::vector<std::uint8_t> ink(static_cast<std::size_t>(width) * height, 0);
  const int em = std::clamp(height / 70, 8, 48), pen = std::max(em / 9, 1);
  const auto dot = [&](int x, int y, int value) {
    for (int v = y; v < std::min(y + pen, height); ++v)
      for (int u = x; u < std::min(x + pen, width); ++u)
        ink[static_cast<std::size_t>(v) * width + u] = static_cast<std::uint8_t>(value);
  };
  for (int line = em; line + em < height; line += em * 5 / 3)
    for (int x = em; x + em < width; x += em * 3 / 4) {
      if (random.below(6) == 0) continue;  // between words
      const int value = 120 + random.below(100);
      for (int stroke = 2 + random.below(3); stroke > 0; --stroke) {
        const int x0 = x + random.below(em / 2), y0 = line + random.below(em);
        const int x1 = x + random.below(em / 2), y1 = line + random.below(em);
        const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
        for (int i = 0; i <= steps; ++i)
          dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, value);
      }
    }
  return ink;
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
  if (content == Content::page) ink = make_ink(size.width, size.height, random);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t *row = bytes.data() + stride * y;
    for (int x = 0; x < size.width; ++x) {
      std::uint32_t sample =
          0x8080;  // 16 bits; 8-bit planes take the high byte, floats are below 1
      if (content != Content::constant) sample = random.next() & 0xffff;
      if (content == Content::page) {
        // A lamp to the upper left, then ink, then noise of +-8 levels.
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
