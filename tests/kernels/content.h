// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Contents of test images.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace cudascan::test {

enum class Content {
  random,
  black,
  white,
  gray,
  gradient,
  text,          ///< dark strokes on uneven, noisy paper
  checkerboard,  ///< 0 and maximum
  clipped,       ///< noise in which large areas are 0 or maximum
  near_white,    ///< the three highest levels: a tiny deviation and a large mean
};
inline constexpr Content kContents[] = {
    Content::random, Content::black,        Content::white,   Content::gray,      Content::gradient,
    Content::text,   Content::checkerboard, Content::clipped, Content::near_white};

template <typename T>
std::vector<T> make_integer_content(Content content, int width, int height, T maximum,
                                    unsigned seed) {
  std::mt19937 random(seed);
  const int shift = std::countr_zero(maximum);
  const int top = maximum >> shift;
  std::vector<T> samples;
  samples.reserve(std::size_t(width) * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const unsigned noise = random();
      int level = 0;
      switch (content) {
        case Content::random:
          level = noise % (top + 1);
          break;
        case Content::black:
          break;
        case Content::white:
          level = top;
          break;
        case Content::gray:
          level = top / 2;
          break;
        case Content::gradient:
          level = static_cast<int>(std::int64_t{top} * (x + y) / std::max(width + height - 2, 1));
          break;
        case Content::text: {
          const bool ink = y % 12 < 7 && ((x / 3 * 2654435761u) ^ (y / 3 * 40503u)) % 5 < 2;
          level = top * (ink ? 25 : 80) / 100 + top * (x % 97) / 900 +
                  static_cast<int>(noise % (top / 20 + 1));
          break;
        }
        case Content::checkerboard:
          level = (x + y) % 2 ? top : 0;
          break;
        case Content::clipped:
          level = std::clamp(static_cast<int>(noise % (2 * top)) - top / 2, 0, top);
          break;
        case Content::near_white:
          level = top - static_cast<int>(noise % 3);
          break;
      }
      samples.push_back(static_cast<T>(std::min(level, top) << shift));
    }
  return samples;
}

/// Samples of a format whose largest sample is `maximum`. Unused low bits are 0. Floating-point
/// samples are scaled 16-bit samples.
template <typename T>
std::vector<T> make_content(Content content, int width, int height, T maximum, unsigned seed = 1) {
  if constexpr (std::is_floating_point_v<T>) {
    std::vector<T> samples;
    for (const auto v : make_content<std::uint16_t>(content, width, height, 0xffff, seed))
      samples.push_back(static_cast<T>(v) / 0xffff * maximum);
    return samples;
  } else {
    return make_integer_content(content, width, height, maximum, seed);
  }
}

}  // namespace cudascan::test
