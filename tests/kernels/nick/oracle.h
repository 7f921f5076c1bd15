// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The thresholds of kernels/nick.h in long double, computed as in the table there. The exact
/// decisions in integers are compared with them.
#pragma once
#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/nick.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {

namespace test {

inline constexpr NickMethod kNickMethods[] = {NickMethod::nick,    NickMethod::niblack,
                                              NickMethod::sauvola, NickMethod::wolf,
                                              NickMethod::bradley, NickMethod::phansalkar};

inline std::string name_of(NickMethod method) {
  constexpr const char *names[] = {"nick", "niblack", "sauvola", "wolf", "bradley", "phansalkar"};
  const auto i = static_cast<std::size_t>(method);
  return i < std::size(names) ? names[i] : "method " + std::to_string(i);
}

}  // namespace test

inline std::ostream &operator<<(std::ostream &s, const NickParams &p) {
  s << test::name_of(p.method) << ", window " << (p.window_width ? p.window_width : p.window) << "x"
    << (p.window_height ? p.window_height : p.window) << ", k " << k_in_use(p) << ", r " << p.r;
  if (p.invert) s << ", inverted";
  if (p.output == NickOutput::threshold) s << ", surface";
  if (p.algorithm != NickAlgorithm::automatic) s << ", algorithm " << static_cast<int>(p.algorithm);
  return s;
}

namespace test {

/// The result for one image on the CPU.
template <typename Out = void, typename T,
          typename Sample = std::conditional_t<std::is_void_v<Out>, T, Out>>
std::vector<Sample> result(const Image<T> &in, const NickParams &params,
                           Sample white = std::numeric_limits<Sample>::max(),
                           NickReport *report = nullptr) {
  Image<Sample> out(in.width(), in.height(), {}, white);
  Cpu cpu;
  run(cpu, in.plane(), out.plane(), params, report);
  return out.samples();
}

using Gray8 = std::vector<std::uint8_t>;
using Gray16 = std::vector<std::uint16_t>;

/// Values of the window around a pixel that the formulas need.
struct Moments {
  long double n, mean, deviation;
  long double power;  ///< mean of the squares
};

/// The window's size in the parameters.
inline int window_width(const NickParams &p) {
  return p.window_width ? p.window_width : p.window;
}
inline int window_height(const NickParams &p) {
  return p.window_height ? p.window_height : p.window;
}

/// The moments of one window, computed pixel by pixel: first the mean, then the distances from it.
template <typename T>
Moments moments_at(Plane<const T> in, int x, int y, int window_width, int window_height) {
  const int left = std::max(x - window_width / 2, 0);
  const int right = std::min(x + window_width / 2, in.width - 1);
  const int top = std::max(y - window_height / 2, 0);
  const int bottom = std::min(y + window_height / 2, in.height - 1);
  const long double n = static_cast<long double>(right - left + 1) * (bottom - top + 1);
  long double sum = 0, squares = 0, distances = 0;
  for (int v = top; v <= bottom; ++v)
    for (int u = left; u <= right; ++u) {
      const long double p = in.row(v)[u];
      sum += p;
      squares += p * p;
    }
  for (int v = top; v <= bottom; ++v)
    for (int u = left; u <= right; ++u) {
      const long double d = in.row(v)[u] - sum / n;
      distances += d * d;
    }
  return {n, sum / n, std::sqrt(distances / n), squares / n};
}

template <typename T>
std::vector<Moments> moments_by_loops(Plane<const T> in, int window_width, int window_height) {
  std::vector<Moments> all;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      all.push_back(moments_at(in, x, y, window_width, window_height));
  return all;
}

/// The same from tables of the sums above and left of each pixel, for images where loops are too
/// slow. N^2 s^2 = N sum p^2 - (sum p)^2 is an integer below 2^72.
template <typename T>
std::vector<Moments> moments_by_tables(Plane<const T> in, int window_width, int window_height) {
  const std::size_t pitch = in.width + 1;
  std::vector<std::uint64_t> sums(pitch * (in.height + 1)), squares(sums.size());
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      const std::size_t at = (y + 1) * pitch + x + 1;
      const std::uint64_t p = in.row(y)[x];
      sums[at] = p + sums[at - 1] + sums[at - pitch] - sums[at - pitch - 1];
      squares[at] = p * p + squares[at - 1] + squares[at - pitch] - squares[at - pitch - 1];
    }
  std::vector<Moments> all;
  all.reserve(std::size_t(in.width) * in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      const std::size_t left = std::max(x - window_width / 2, 0);
      const std::size_t right = std::min(x + window_width / 2 + 1, in.width);
      const std::size_t top = std::max(y - window_height / 2, 0) * pitch;
      const std::size_t bottom = std::min(y + window_height / 2 + 1, in.height) * pitch;
      const auto box = [&](const std::vector<std::uint64_t> &table) {
        return table[bottom + right] - table[bottom + left] - table[top + right] +
               table[top + left];
      };
      const std::uint64_t s = box(sums), q = box(squares);
      const std::uint64_t n = (right - left) * ((bottom - top) / pitch);
      const long double v =
          static_cast<unsigned __int128>(q) * n - static_cast<unsigned __int128>(s) * s;
      all.push_back({static_cast<long double>(n), static_cast<long double>(s) / n, std::sqrt(v) / n,
                     static_cast<long double>(q) / n});
    }
  return all;
}

/// Values of the whole image that wolf needs.
struct ImageExtremes {
  long double minimum, deviation;
};
template <typename T>
ImageExtremes extremes(Plane<const T> in, const std::vector<Moments> &moments) {
  ImageExtremes e{static_cast<long double>(in.maximum), 0};
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) e.minimum = std::min<long double>(e.minimum, in.row(y)[x]);
  for (const Moments &m : moments) e.deviation = std::max(e.deviation, m.deviation);
  return e;
}

/// T of one window. If the deviation is 0 everywhere, the image is constant and wolf's m - min p is
/// 0.
inline long double threshold(const Moments &w, const ImageExtremes &image, const NickParams &p,
                             unsigned maximum) {
  const long double m = w.mean, s = w.deviation, k = k_in_use(p);
  const long double r = std::ldexp(p.r, std::max(bit_depth(maximum) - 8, 0));
  switch (p.method) {
    case NickMethod::nick:
      return m + k * std::sqrt(std::max(w.power - m * m / w.n, 0.0L));
    case NickMethod::niblack:
      return m + k * s;
    case NickMethod::sauvola:
      return m * (1 + k * (s / r - 1));
    case NickMethod::wolf:
      return image.deviation > 0 ? m - k * (1 - s / image.deviation) * (m - image.minimum) : m;
    case NickMethod::bradley:
      return m * (1 - k);
    case NickMethod::phansalkar: {
      // The exponential is defined with six digits.
      const long double boost = std::floor(2e6L * std::exp(-10 * m / maximum) + 0.5L) / 1e6L;
      return m * (1 + boost + k * (s / r - 1));
    }
  }
  return NAN;
}

/// If
/// p - T
/// is smaller, long double cannot distinguish p > T from a tie.
inline long double tolerance(unsigned maximum) {
  return 1e-13L * maximum;
}

template <typename T>
Image<T> page(int width = 160, int height = 90, T maximum = std::numeric_limits<T>::max()) {
  return {make_content(Content::text, width, height, maximum), width, height, {}, maximum};
}

}  // namespace test
}  // namespace cudascan
