// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pictures for the geodesic operators, and a naive version of these operators.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test::geodesic {

using Op = SwoFilterOperator;
using Marker = SwoFilterMarker;

inline constexpr Op kDilating[] = {Op::geodesic_dilate, Op::reconstruct, Op::h_dome,
                                   Op::clear_border};
inline constexpr Op kAll[] = {Op::geodesic_erode, Op::geodesic_dilate, Op::reconstruct, Op::h_dome,
                              Op::h_basin,        Op::fill_holes,      Op::clear_border};

struct Result {
  std::vector<int> samples;
  int iterations;
  bool operator==(const Result &) const = default;
};

/// A picture as rows of samples.
struct Picture {
  int width, height;
  std::vector<int> samples;

  int at(int x, int y) const { return samples[y * width + x]; }
};

/// A picture from rows of characters; each digit is a sample with this value.
inline Picture drawn(const std::vector<std::string> &rows) {
  Picture p{static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), {}};
  for (const std::string &row : rows)
    for (const char c : row) p.samples.push_back(c - '0');
  return p;
}
inline std::vector<std::string> drawing(const std::vector<int> &samples, int width) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < samples.size(); i += width) {
    rows.emplace_back();
    for (int x = 0; x < width; ++x) rows.back() += static_cast<char>('0' + samples[i + x]);
  }
  return rows;
}

template <typename T>
Result filtered(const Picture &p, const SwoFilterParams &params, T maximum, int threads = 1) {
  const Image<T> in(std::vector<T>(p.samples.begin(), p.samples.end()), p.width, p.height, {},
                    maximum);
  Image<T> out(p.width, p.height, {}, maximum);
  Cpu cpu(threads);
  SwoFilterReport report{-1};
  run(cpu, in.plane(), out.plane(), params, &report);
  EXPECT_TRUE(out.guards_intact());
  const auto samples = out.samples();
  return {{samples.begin(), samples.end()}, report.iterations};
}
inline Result filtered(const Picture &p, const SwoFilterParams &params) {
  return filtered<std::uint8_t>(p, params, 255);
}

/// Passes as swofilter/geodesic.h defines them. Without a given number, they end when a pass
/// changes nothing.
inline Result naive(const Picture &p, const SwoFilterParams &params, int maximum) {
  const bool dilates =
      std::find(std::begin(kDilating), std::end(kDilating), params.op) != std::end(kDilating);
  const bool by_marker = params.op == Op::geodesic_dilate || params.op == Op::geodesic_erode ||
                         params.op == Op::reconstruct;
  const bool border = by_marker ? params.marker == Marker::border
                                : params.op == Op::fill_holes || params.op == Op::clear_border;
  const int shift = unused_low_bits(maximum);
  const auto limit = [&](int grown, int mask) {
    return dilates ? std::min(grown, mask) : std::max(grown, mask);
  };
  Picture marker = p;
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      int &v = marker.samples[y * p.width + x];
      const bool edge = x == 0 || y == 0 || x == p.width - 1 || y == p.height - 1;
      const int height = params.height << shift;
      if (border && !edge) v = dilates ? 0 : maximum;
      if (!border) v = dilates ? std::max(v - height, 0) : std::min(v + height, maximum);
    }
  int passes = 0;
  for (bool change = true; change && (params.iterations == 0 || passes < params.iterations);
       ++passes) {
    Picture next = marker;
    for (int y = 0; y < p.height; ++y)
      for (int x = 0; x < p.width; ++x) {
        int v = marker.at(x, y);
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            if (params.connectivity == 4 && dx != 0 && dy != 0) continue;
            if (x + dx < 0 || x + dx >= p.width || y + dy < 0 || y + dy >= p.height) continue;
            const int other = marker.at(x + dx, y + dy);
            v = dilates ? std::max(v, other) : std::min(v, other);
          }
        next.samples[y * p.width + x] = limit(v, p.at(x, y));
      }
    change = next.samples != marker.samples;
    marker = next;
  }
  Result result{marker.samples, params.iterations == 0 ? 0 : passes};
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    if (params.op == Op::h_dome || params.op == Op::clear_border)
      result.samples[i] = p.samples[i] - result.samples[i];
    if (params.op == Op::h_basin) result.samples[i] -= p.samples[i];
  }
  return result;
}

/// A corridor, one pixel wide, that winds inwards from the upper left corner. The walls are as
/// wide.
inline Picture spiral(int width, int height, int corridor, int wall, int *length = nullptr) {
  Picture p{width, height, std::vector<int>(std::size_t(width) * height, wall)};
  int left = 0, top = 2, right = width - 1, bottom = height - 1, x = 0, y = 0, n = 1;
  p.samples[0] = corridor;
  const auto go = [&](int to_x, int to_y) {
    for (; x != to_x || y != to_y; ++n) {
      x += (to_x > x) - (to_x < x);
      y += (to_y > y) - (to_y < y);
      p.samples[y * width + x] = corridor;
    }
  };
  for (;;) {
    if (right <= x) break;
    go(right, y), right -= 2;
    if (bottom <= y) break;
    go(x, bottom), bottom -= 2;
    if (left >= x) break;
    go(left, y), left += 2;
    if (top >= y) break;
    go(x, top), top += 2;
  }
  if (length) *length = n;
  return p;
}

/// The same spiral with walls all around, except for the pixel where it begins.
inline Picture walled_spiral(int width, int height, int corridor, int wall, int *length) {
  const Picture inner = spiral(width - 2, height - 2, corridor, wall, length);
  Picture p{width, height, std::vector<int>(std::size_t(width) * height, wall)};
  for (int y = 0; y < inner.height; ++y)
    std::copy_n(inner.samples.begin() + y * inner.width, inner.width,
                p.samples.begin() + (y + 1) * width + 1);
  p.samples[1] = corridor;
  ++*length;
  return p;
}

inline Picture random_picture(std::mt19937 &random, int width, int height, int levels, int shift) {
  Picture p{width, height, {}};
  const int kind = random() % 3, few = 1 + random() % levels;
  for (int i = 0; i < width * height; ++i) {
    const int v = random() % levels;
    p.samples.push_back((kind == 0 ? v : kind == 1 ? v % few : v % 4 ? few - 1 : v) << shift);
  }
  return p;
}

}  // namespace cudascan::test::geodesic
