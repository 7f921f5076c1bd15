// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// hit-or-miss, thin and thicken as the papers and kernels/swofilter/binary/binary.h define them,
/// pixel by pixel.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/swofilter.h"

namespace cudascan::test {

/// A black-and-white image; black is false and white is true.
struct Drawing {
  int width, height;
  std::vector<char> pixels;

  bool inside(int x, int y) const { return x >= 0 && x < width && y >= 0 && y < height; }
  char &at(int x, int y) { return pixels[std::size_t(y) * width + x]; }
  bool white(int x, int y, bool outside = false) const {
    return inside(x, y) ? pixels[std::size_t(y) * width + x] : outside;
  }
  Drawing complement() const {
    Drawing result = *this;
    for (char &pixel : result.pixels) pixel = !pixel;
    return result;
  }
  bool operator==(const Drawing &) const = default;
};

inline void PrintTo(const Drawing &d, std::ostream *out) {
  for (int y = 0; y < d.height; ++y) {
    *out << '\n';
    for (int x = 0; x < d.width; ++x) *out << (d.white(x, y) ? '#' : '.');
  }
}

/// Rows of characters; ' ' and '.' are black.
inline Drawing drawing_of(const std::vector<std::string> &rows) {
  Drawing d{static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), {}};
  for (const std::string &row : rows)
    for (const char c : row) d.pixels.push_back(c != ' ' && c != '.');
  return d;
}

/// A mask of the characters 0, 1 and -.
using Pattern = std::vector<std::string>;

inline std::vector<Pattern> patterns_of(const std::string &shape) {
  std::vector<Pattern> patterns;
  std::istringstream words(shape);
  for (std::string word; words >> word;) {
    std::istringstream rows(word);
    Pattern pattern;
    for (std::string row; std::getline(rows, row, ';');) pattern.push_back(row);
    patterns.push_back(pattern);
  }
  return patterns;
}

/// The pattern of a named shape, as rows of 1 and -.
inline Pattern shape_pattern(const std::string &shape, int width, int height) {
  Pattern pattern(height, std::string(width, '-'));
  const double a = width / 2, b = height / 2;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double dx = x - a, dy = y - b;
      bool on = true;
      if (shape == "cross") on = dx == 0 || dy == 0;
      if (shape == "ellipse" && b > 0) {
        const double half = a * std::sqrt(b * b - dy * dy) / b;
        on = std::fabs(dx) <= std::rint(half);
      }
      if (on) pattern[y][x] = '1';
    }
  return pattern;
}

inline Pattern turned(const Pattern &p) {
  const int height = static_cast<int>(p.size()), width = static_cast<int>(p[0].size());
  Pattern result(width, std::string(height, '-'));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) result[x][height - 1 - y] = p[y][x];
  return result;
}

/// The coordinate inside [0, n) whose pixel is used for i. -1 if the pixel is ignored, -2 for the
/// border value.
inline int source(int i, int n, SwoFilterBorder border) {
  if (i >= 0 && i < n) return i;
  if (border == SwoFilterBorder::clip) return -1;
  if (border == SwoFilterBorder::constant) return -2;
  if (border == SwoFilterBorder::replicate) return i < 0 ? 0 : n - 1;
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

inline bool fits_at(const Drawing &d, const Pattern &p, int x, int y, SwoFilterBorder border,
                    bool outside) {
  const int height = static_cast<int>(p.size()), width = static_cast<int>(p[0].size());
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const char cell = p[row][column];
      if (cell != '0' && cell != '1') continue;
      const int sx = source(x + column - width / 2, d.width, border);
      const int sy = source(y + row - height / 2, d.height, border);
      if (sx == -1 || sy == -1) continue;
      const bool white = sx < 0 || sy < 0 ? outside : d.white(sx, sy);
      if (white != (cell == '1')) return false;
    }
  return true;
}

inline Drawing hit_or_miss(const Drawing &d, const std::vector<Pattern> &patterns,
                           SwoFilterBorder border = SwoFilterBorder::clip, bool outside = false) {
  Drawing result = d;
  for (int y = 0; y < d.height; ++y)
    for (int x = 0; x < d.width; ++x) {
      bool any = false;
      for (const Pattern &p : patterns) any = any || fits_at(d, p, x, y, border, outside);
      result.at(x, y) = any;
    }
  return result;
}

/// p[2] to p[9] are p2 to p9; p[10] is p2 again.
inline std::array<int, 11> around(const Drawing &d, int x, int y) {
  constexpr int kX[] = {0, 1, 1, 1, 0, -1, -1, -1}, kY[] = {-1, -1, 0, 1, 1, 1, 0, -1};
  std::array<int, 11> p{};
  for (int i = 0; i < 8; ++i) p[i + 2] = d.white(x + kX[i], y + kY[i]);
  p[10] = p[2];
  return p;
}

inline bool zhang_suen_takes(const Drawing &d, int x, int y, int step) {
  const auto p = around(d, x, y);
  int a = 0, b = 0;
  for (int i = 2; i <= 9; ++i) {
    b += p[i];
    a += p[i] == 0 && p[i + 1] == 1;
  }
  if (b < 2 || b > 6 || a != 1) return false;
  return step == 0 ? p[2] * p[4] * p[6] == 0 && p[4] * p[6] * p[8] == 0
                   : p[2] * p[4] * p[8] == 0 && p[2] * p[6] * p[8] == 0;
}

inline bool guo_hall_takes(const Drawing &d, int x, int y, int step) {
  const auto p = around(d, x, y);
  const int c = (!p[2] && (p[3] || p[4])) + (!p[4] && (p[5] || p[6])) + (!p[6] && (p[7] || p[8])) +
                (!p[8] && (p[9] || p[2]));
  const int n1 = (p[9] || p[2]) + (p[3] || p[4]) + (p[5] || p[6]) + (p[7] || p[8]);
  const int n2 = (p[2] || p[3]) + (p[4] || p[5]) + (p[6] || p[7]) + (p[8] || p[9]);
  const int n = std::min(n1, n2);
  const bool kept = step == 0 ? (p[6] || p[7] || !p[9]) && p[8] : (p[2] || p[3] || !p[5]) && p[4];
  return c == 1 && n >= 2 && n <= 3 && !kept;
}

/// Thins until nothing changes, or for a number of passes. Returns the number of passes.
inline int thin(Drawing &d, SwoFilterThinning method, const std::string &shape, int iterations) {
  std::vector<Pattern> templates =
      patterns_of(shape == "rectangle" ? "000;-1-;111 -00;110;-1-" : shape);
  const std::size_t n = templates.size();
  for (std::size_t i = 0; i < 3 * n; ++i) templates.push_back(turned(templates[i]));
  const int steps = method == SwoFilterThinning::templates ? static_cast<int>(templates.size()) : 2;
  for (int pass = 1;; ++pass) {
    bool changed = false;
    for (int step = 0; step < steps; ++step) {
      const Drawing before = d;
      for (int y = 0; y < d.height; ++y)
        for (int x = 0; x < d.width; ++x) {
          if (!before.white(x, y)) continue;
          bool goes = false;
          if (method == SwoFilterThinning::zhang_suen)
            goes = zhang_suen_takes(before, x, y, step);
          else if (method == SwoFilterThinning::guo_hall)
            goes = guo_hall_takes(before, x, y, step);
          else
            goes = fits_at(before, templates[step], x, y, SwoFilterBorder::constant, false);
          if (goes) d.at(x, y) = 0, changed = true;
        }
    }
    if (!changed || pass == iterations) return pass;
  }
}

/// The expected result of the operator.
/// @param passes  receives the number of passes
inline Drawing binary_oracle(const Drawing &d, const SwoFilterParams &p, int &passes) {
  passes = 0;
  if (p.op == SwoFilterOperator::hit_or_miss) {
    const bool named = p.shape == "rectangle" || p.shape == "ellipse" || p.shape == "cross";
    const int width = p.window_width ? p.window_width : p.window;
    const int height = p.window_height ? p.window_height : p.window;
    std::vector<Pattern> patterns;
    if (named)
      patterns.push_back(shape_pattern(p.shape, width, height));
    else
      patterns = patterns_of(p.shape);
    return hit_or_miss(d, patterns, p.border, p.border_value != 0);
  }
  const bool thickens = p.op == SwoFilterOperator::thicken;
  Drawing result = thickens ? d.complement() : d;
  passes = thin(result, p.thinning, p.shape, p.iterations);
  return thickens ? result.complement() : result;
}

/// The number of 8-connected white components.
inline int components(Drawing d) {
  int n = 0;
  for (int y = 0; y < d.height; ++y)
    for (int x = 0; x < d.width; ++x) {
      if (!d.at(x, y)) continue;
      ++n;
      std::vector<std::pair<int, int>> left{{x, y}};
      d.at(x, y) = 0;
      while (!left.empty()) {
        const auto [px, py] = left.back();
        left.pop_back();
        for (int qy = py - 1; qy <= py + 1; ++qy)
          for (int qx = px - 1; qx <= px + 1; ++qx)
            if (d.inside(qx, qy) && d.at(qx, qy)) {
              d.at(qx, qy) = 0;
              left.emplace_back(qx, qy);
            }
      }
    }
  return n;
}

}  // namespace cudascan::test
