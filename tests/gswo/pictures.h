// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random images in one memory, for tests of regions with an emulated device.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "emulated/cuda_runtime.h"
#include "gswo_region.h"

namespace cudascan::gswo::test {

using ::gswo::Area;

inline Area any_area(std::mt19937 &random, int most) {
  const auto end = [&] { return static_cast<int>(random() % most); };
  return {end(), end(), end(), end()};
}

using Pixel = std::uint16_t;

/// An image in a common memory: equal distances between the rows, or any rows.
struct Picture {
  std::vector<std::ptrdiff_t> rows;  ///< where rows -2, -1, ... begin
  Pixel *row(std::vector<Pixel> &memory, int y) const { return memory.data() + rows[y + 2]; }
};

constexpr int kHeight = 7, kWidth = 6, kMargin = 2;

inline Picture any_picture(std::mt19937 &random, std::size_t memory) {
  constexpr int rows = kHeight + 2 * kMargin, columns = kWidth + 2 * kMargin;
  Picture p;
  const int distance = columns + static_cast<int>(random() % 14);
  const auto most = static_cast<int>(memory) - columns;
  const int first = static_cast<int>(random() % (most - rows * distance));
  std::vector<int> mixed;
  for (int k = 0; k < most / columns; ++k) mixed.push_back(k * columns);
  std::shuffle(mixed.begin(), mixed.end(), random);
  const bool is_table = random() % 3 == 0, is_even = random() % 2;
  for (int k = 0; k < rows; ++k)
    p.rows.push_back(kMargin + (is_table  ? mixed[k]
                                : is_even ? first / columns * columns + k * distance
                                          : first + k * distance));
  return p;
}

inline Pixel &at(const ::gswo::Plane &p, int y, int x) {
  if (y < p.oy || y >= p.oy + p.height || x < p.ox || x >= p.ox + p.width) ADD_FAILURE();
  return reinterpret_cast<Pixel *>(static_cast<char *>(p.data) + (y - p.oy) * p.pitch)[x - p.ox];
}

}  // namespace cudascan::gswo::test
