// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a picture for the programs of gswo_figures.py, the same on every machine: levels 0 to 255
// in 16 bits a sample, with a margin on all sides.
//
//     picture natural|shapes|page WIDTH HEIGHT FILE
#include <cstdint>
#include <numeric>

#include "harness.h"

namespace {

/// xorshift64*
class Random {
 public:
  std::uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1d) >> 32);
  }
  int below(int n) { return static_cast<int>((std::uint64_t{next()} * n) >> 32); }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

struct Picture {
  int width, height;
  std::vector<std::uint16_t> samples;
  std::uint16_t &at(int x, int y) { return samples[static_cast<std::size_t>(y) * width + x]; }
};

/// Linear interpolation of random values on a lattice, in octaves, finer ones weaker; plus noise.
void paint_natural(Picture &p, Random &random) {
  constexpr int kCoarsest = 256, kFinest = 8;
  std::vector<int> sums(p.samples.size(), 0);
  for (int cell = kCoarsest; cell >= kFinest; cell /= 2) {
    const int columns = p.width / cell + 2, rows = p.height / cell + 2;
    std::vector<int> lattice;
    for (int i = 0; i < columns * rows; i++) lattice.push_back(random.below(256) - 128);
    for (int y = 0; y < p.height; y++)
      for (int x = 0; x < p.width; x++) {
        const int *a = &lattice[static_cast<std::size_t>(y / cell) * columns + x / cell],
                  *b = a + columns;
        const int u = x % cell, v = y % cell;
        const int above = a[0] * (cell - u) + a[1] * u, below = b[0] * (cell - u) + b[1] * u;
        // The weights are the cells' sizes; their sum is less than twice the largest.
        sums[static_cast<std::size_t>(y) * p.width + x] += (above * (cell - v) + below * v) / cell;
      }
  }
  for (std::size_t i = 0; i < sums.size(); i++)
    p.samples[i] = static_cast<std::uint16_t>(
        std::clamp(128 + sums[i] * 2 / (2 * kCoarsest) + random.below(17) - 8, 0, 255));
}

/// Dark glyphs of a few strokes, in words and lines, on white.
void paint_page(Picture &p, Random &random) {
  constexpr int kLine = 40, kGlyph = 20, kPen = 3;
  std::fill(p.samples.begin(), p.samples.end(), std::uint16_t(235));
  for (int top = kLine; top + kLine < p.height; top += kLine)
    for (int left = kLine; left + kLine < p.width; left += kGlyph) {
      if (random.below(6) == 0) continue;  // between words
      for (int stroke = 0; stroke < 3; stroke++) {
        const bool upright = random.below(2);
        const int x = left + random.below(kGlyph / 2), y = top + random.below(kGlyph);
        for (int v = 0; v < (upright ? 12 : kPen); v++)
          for (int u = 0; u < (upright ? kPen : 10); u++) p.at(x + u, y + v) = 30;
      }
    }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) figures::fail("picture KIND WIDTH HEIGHT FILE");
  const std::string kind = argv[1];
  Picture p{
      std::atoi(argv[2]) + 2 * figures::kMargin, std::atoi(argv[3]) + 2 * figures::kMargin, {}};
  p.samples.resize(static_cast<std::size_t>(p.width) * p.height);
  Random random;
  if (kind == "page")
    paint_page(p, random);
  else
    paint_natural(p, random);
  if (kind == "shapes") {
    const double mean = std::accumulate(p.samples.begin(), p.samples.end(), 0.) / p.samples.size();
    for (std::uint16_t &sample : p.samples) sample = sample < mean ? 0 : 255;
  }
  std::FILE *file = std::fopen(argv[4], "wb");
  const bool good =
      file && std::fwrite(p.samples.data(), 2, p.samples.size(), file) == p.samples.size();
  if (!good || std::fclose(file)) figures::fail(std::string("cannot write ") + argv[4]);
}
