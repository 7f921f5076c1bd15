// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Equalization as the text of kernels/equalize.h defines it, pixel by pixel on sorted samples. The
/// reference for the library's tables.
#pragma once
#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "kernels/equalize.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {

inline std::ostream &operator<<(std::ostream &s, const EqualizeParams &p) {
  if (p.method == EqualizeMethod::clahe)
    s << "clahe, clip limit " << p.clip_limit << ", tiles " << p.tiles_x << "x" << p.tiles_y;
  else
    s << "global, formula " << (p.formula == EqualizeFormula::cdf ? "cdf" : "opencv");
  if (p.amount != 1) s << ", amount " << p.amount;
  if (p.smoothing != 0) s << ", smoothing " << p.smoothing;
  if (p.roi != Rectangle{})
    s << ", roi <" << p.roi.x << ", " << p.roi.y << ", " << p.roi.width << ", " << p.roi.height
      << ">";
  if (p.algorithm != EqualizeAlgorithm::automatic)
    s << ", algorithm " << static_cast<int>(p.algorithm);
  return s;
}

namespace test {

/// A copy of a plane with another nominal range.
template <typename T>
Plane<T> with_range(Plane<T> plane, unsigned black, unsigned white) {
  plane.black = static_cast<typename Plane<T>::Sample>(black);
  plane.white = static_cast<typename Plane<T>::Sample>(white);
  return plane;
}

/// The result for one plane on the CPU.
template <typename T>
std::vector<T> equalized(Plane<const T> in, const EqualizeParams &params,
                         EqualizeReport *report = nullptr, int threads = 0) {
  Image<T> out(in.width, in.height, {}, in.maximum);
  Cpu cpu(threads);
  run(cpu, in, out.plane(), params, report);
  return out.samples();
}
template <typename T>
std::vector<T> equalized(const Image<T> &in, const EqualizeParams &params,
                         EqualizeReport *report = nullptr) {
  return equalized(in.plane(), params, report);
}

/// The levels of a plane relative to black, limited to black and white.
class Indices {
 public:
  template <typename T>
  explicit Indices(Plane<const T> in)
      : width(in.width),
        height(in.height),
        shift_(std::countr_zero(in.maximum)),
        black_(in.black >> shift_),
        top((in.white >> shift_) - black_),
        single_precision(in.maximum >> shift_ <= 255) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        values.push_back(std::clamp((in.row(y)[x] >> shift_) - black_, 0, top));
  }
  /// The sample that belongs to an index.
  template <typename T>
  T sample(long index) const {
    return static_cast<T>((index + black_) << shift_);
  }
  long at(int x, int y) const { return values[std::size_t(y) * width + x]; }

  const int width, height;

 private:
  int shift_, black_;

 public:
  const int top;
  const bool single_precision;
  std::vector<long> values;
};

inline long blended(long before, long after, double amount) {
  return std::lround(std::floor(amount * after + (1 - amount) * before + 0.5));
}

/// The method global without smoothing. `amount` should be a multiple of 1/65536.
template <typename T>
std::vector<T> oracle_global(Plane<const T> in, const EqualizeParams &p) {
  const Indices indices(in);
  const bool whole = p.roi.width == 0 || p.roi.height == 0;
  std::vector<long> sorted;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      if (whole ||
          (x >= p.roi.x && x - p.roi.x < p.roi.width && y >= p.roi.y && y - p.roi.y < p.roi.height))
        sorted.push_back(indices.at(x, y));
  std::sort(sorted.begin(), sorted.end());
  const auto up_to = [&](long i) {
    return std::upper_bound(sorted.begin(), sorted.end(), i) - sorted.begin();
  };
  const std::ptrdiff_t n = sorted.size(), lowest = up_to(sorted.front());
  const long top = indices.top;
  std::vector<T> result;
  for (const long i : indices.values) {
    long mapped;
    if (p.formula == EqualizeFormula::cdf)
      mapped = static_cast<long>(std::floor(static_cast<long double>(up_to(i)) * top / n));
    else if (n == lowest)
      mapped = i;
    else if (indices.single_precision)
      mapped = std::lrint(std::max<std::ptrdiff_t>(up_to(i) - lowest, 0) *
                          (static_cast<float>(top) / (n - lowest)));
    else
      mapped = static_cast<long>(
          std::floor(static_cast<long double>(std::max<std::ptrdiff_t>(up_to(i) - lowest, 0)) *
                         top / (n - lowest) +
                     0.5L));
    result.push_back(indices.sample<T>(blended(i, mapped, p.amount)));
  }
  return result;
}

/// The method clahe in double precision. Results in single precision differ by at most one level.
template <typename T>
std::vector<T> oracle_clahe(Plane<const T> in, const EqualizeParams &p) {
  const Indices indices(in);
  const bool divided = in.width % p.tiles_x == 0 && in.height % p.tiles_y == 0;
  const int tile_width = in.width / p.tiles_x + !divided;
  const int tile_height = in.height / p.tiles_y + !divided;
  const int bins = indices.top + 1;
  const double pixels = static_cast<double>(tile_width) * tile_height;
  // Reflected: 0 1 2 3 2 1 0 1 ...
  const auto reflected = [](int i, int size) {
    int at = 0, step = 1;
    for (; i > 0 && size > 1; --i) {
      if (at + step < 0 || at + step >= size) step = -step;
      at += step;
    }
    return at;
  };
  std::vector<std::vector<double>> mappings;
  for (int ty = 0; ty < p.tiles_y; ++ty)
    for (int tx = 0; tx < p.tiles_x; ++tx) {
      std::vector<long> counts(bins);
      for (int y = ty * tile_height; y < (ty + 1) * tile_height; ++y)
        for (int x = tx * tile_width; x < (tx + 1) * tile_width; ++x)
          ++counts[indices.at(reflected(x, in.width), reflected(y, in.height))];
      if (p.clip_limit > 0) {
        const long limit = std::max<long>(1, static_cast<long>(p.clip_limit * pixels / bins));
        long clipped = 0;
        for (long &count : counts)
          for (; count > limit; --count) ++clipped;
        const long rest = clipped % bins;
        for (long &count : counts) count += clipped / bins;
        for (long i = 0; i < rest; ++i) ++counts[i * (bins / rest)];
      }
      std::vector<double> mapping;
      long sum = 0;
      for (const long count : counts)
        mapping.push_back(std::round((sum += count) * (bins - 1) / pixels));
      mappings.push_back(std::move(mapping));
    }
  std::vector<T> result;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      const double u = double(x) / tile_width - 0.5, v = double(y) / tile_height - 0.5;
      double sum = 0;
      for (const int dy : {0, 1})
        for (const int dx : {0, 1}) {
          const int tx = static_cast<int>(std::floor(u)) + dx;
          const int ty = static_cast<int>(std::floor(v)) + dy;
          const auto &mapping = mappings[std::clamp(ty, 0, p.tiles_y - 1) * p.tiles_x +
                                         std::clamp(tx, 0, p.tiles_x - 1)];
          sum += mapping[indices.at(x, y)] * (1 - std::abs(u - tx)) * (1 - std::abs(v - ty));
        }
      result.push_back(indices.sample<T>(blended(indices.at(x, y), std::lround(sum), p.amount)));
    }
  return result;
}

}  // namespace test
}  // namespace cudascan
