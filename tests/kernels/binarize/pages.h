// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages that are drawn for tests of binarization.
#pragma once
#include <algorithm>
#include <random>
#include <vector>

#include "tests/kernels/binarize/oracle.h"

namespace cudascan::test {

/// A page of 8-bit levels.
class Page {
 public:
  Page(int width, int height, int paper)
      : width_(width), height_(height), levels_(std::size_t(width) * height, paper) {}

  int width() const { return width_; }
  int height() const { return height_; }

  Page &fill(int x, int y, int width, int height, int level) {
    for (int j = std::max(y, 0); j < std::min(y + height, height_); ++j)
      for (int i = std::max(x, 0); i < std::min(x + width, width_); ++i)
        levels_[std::size_t(j) * width_ + i] = level;
    return *this;
  }
  /// Vertical strokes 20 pixels long and 12 apart.
  Page &strokes(int x, int y, int width, int height, int stroke, int level) {
    for (int j = y; j + 20 <= y + height; j += 30)
      for (int i = x; i + stroke <= x + width; i += 12) fill(i, j, stroke, 20, level);
    return *this;
  }
  /// Adds noise that is distributed nearly normally.
  Page &noise(int deviation, unsigned seed = 1) {
    std::mt19937 random(seed);
    for (int &level : levels_) {
      int sum = 0;  // of 12 numbers with a deviation of 1/sqrt(12) each
      for (int i = 0; i < 12; ++i) sum += static_cast<int>(random() % 1000);
      level = std::clamp(level + (sum - 6000) * deviation / 1000, 0, 255);
    }
    return *this;
  }
  /// Brightness that falls to a share of it from left to right.
  Page &shade(double share) {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const double x = static_cast<double>(i % width_) / width_;
      levels_[i] = static_cast<int>(levels_[i] * (1 - (1 - share) * x));
    }
    return *this;
  }
  Page &invert() {
    for (int &level : levels_) level = 255 - level;
    return *this;
  }
  Page transposed() const {
    Page page(height_, width_, 0);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x)
        page.levels_[std::size_t(x) * height_ + y] = levels_[std::size_t(y) * width_ + x];
    return page;
  }

  /// The image with this largest sample; or of levels times a factor.
  template <typename T>
  Image<T> image(T maximum, int factor = 0) const {
    std::vector<T> samples;
    const int shift = unused_low_bits(maximum), top = maximum >> shift;
    for (const int level : levels_)
      samples.push_back(
          static_cast<T>(factor ? level * factor : (level * top + 127) / 255 << shift));
    return Image<T>(samples, width_, height_, {}, maximum);
  }
  Image<std::uint8_t> image() const { return image<std::uint8_t>(255); }

 private:
  int width_, height_;
  std::vector<int> levels_;
};

/// A page with what binarization looks for: strokes, pale ones, a dot, a heading, a margin, and a
/// soft shadow.
inline Page rich_page() {
  Page page(244, 190, 210);
  page.strokes(30, 12, 190, 80, 3, 50).strokes(30, 102, 60, 50, 3, 150);
  page.fill(120, 150, 1, 1, 60).fill(110, 104, 70, 36, 40).fill(0, 0, 14, 190, 15);
  for (int i = 0; i < 30; ++i) page.fill(190 + i / 2, 110 + i / 2, 50 - i, 60 - i, 200 - 5 * i);
  return page;
}

/// Dark strokes on the left, pale ones on the right, and a dark last column. The means of 2x2
/// darknesses at the edge have half of its darkness; with all of it, pale strokes would be paper.
inline Page edge_page() {
  Page page(242, 90, 200);
  page.strokes(10, 10, 90, 60, 3, 20).strokes(170, 10, 66, 60, 3, 150).fill(241, 0, 1, 90, 20);
  return page;
}

/// The outcome of a run on the CPU.
template <typename Out>
struct Ran {
  std::vector<Out> samples;
  BinarizeReport report;
};
template <typename Out, typename In>
Ran<Out> binarized(const Image<In> &in, const BinarizeParams &params, Out maximum,
                   int threads = 1) {
  Cpu cpu(threads);
  Image<Out> out(in.width(), in.height(), {}, maximum);
  Ran<Out> ran;
  run(cpu, in.plane(), out.plane(), params, &ran.report);
  ran.samples = out.samples();
  return ran;
}
inline Ran<std::uint8_t> binarized(const Page &page, const BinarizeParams &params = {}) {
  return binarized<std::uint8_t>(page.image(), params, 255);
}

inline std::vector<double> all_of(const BinarizeReport &r) {
  return {double(r.blank), double(r.inverted), r.confidence,   r.stroke_width,
          r.threshold,     r.paper_deviation,  r.ink_darkness, r.ink_ratio};
}

}  // namespace cudascan::test
