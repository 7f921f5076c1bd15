// SPDX-License-Identifier: LGPL-2.1-or-later
#include "enlarge.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "clones.h"
#include "page_size.h"

namespace cudascan::scan {
namespace {

constexpr int kPhaseBits = 8, kPhases = 1 << kPhaseBits;
constexpr int kWeightBits = 11, kOne = 1 << kWeightBits;
/// Sums over rows of 16-bit samples are rounded to quarters, so that the next sums fit into 32
/// bits: sums of absolute weights are at most 1.25.
template <typename T>
constexpr int kRowShift = sizeof(T) == 1 ? 0 : kWeightBits - 2;

/// Where the four samples of a row or column of the result are, and their weights.
struct Tap {
  int at[4];
  int weight[4];
};

/// n / d, rounded, where d > 0.
std::int64_t rounded(std::int64_t n, std::int64_t d) {
  return (n >= 0 ? n + d / 2 : n - d / 2) / d;
}

/// The taps of all columns, or rows, of the result.
std::vector<Tap> taps(int from, int to) {
  std::vector<Tap> list(to);
  for (int i = 0; i < to; ++i) {
    // Half a pixel more, so that it is not negative.
    const std::int64_t place =
        rounded((2 * std::int64_t{i} + 1) * from * kPhases, 2 * std::int64_t{to}) + kPhases / 2;
    const int whole = static_cast<int>(place >> kPhaseBits) - 1;
    const std::int64_t k = place & (kPhases - 1);
    // f = k / 256: (-f^3 + 2 f^2 - f) / 2, (-3 f^3 + 4 f^2 + f) / 2, (f^3 - f^2) / 2
    constexpr std::int64_t kUnit = std::int64_t{2} * kPhases * kPhases * kPhases / kOne;
    Tap &tap = list[i];
    tap.weight[0] = static_cast<int>(rounded(-k * (kPhases - k) * (kPhases - k), kUnit));
    tap.weight[2] = static_cast<int>(
        rounded(k * (k * (4 * kPhases - 3 * k) + std::int64_t{kPhases} * kPhases), kUnit));
    tap.weight[3] = static_cast<int>(rounded(k * k * (k - kPhases), kUnit));
    tap.weight[1] = kOne - tap.weight[0] - tap.weight[2] - tap.weight[3];
    for (int j = 0; j < 4; ++j) tap.at[j] = std::clamp(whole - 1 + j, 0, from - 1);
  }
  return list;
}

template <typename T>
[[gnu::always_inline]] inline void mix_rows_of(const T *const (&rows)[4], const int (&w)[4],
                                               int width, int *sums) {
  constexpr int kShift = kRowShift<T>;
  const T *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
  for (int x = 0; x < width; ++x) {
    const int sum = w[0] * a[x] + w[1] * b[x] + w[2] * c[x] + w[3] * d[x];
    sums[x] = kShift == 0 ? sum : (sum + ((1 << kShift) >> 1)) >> kShift;
  }
}
CUDASCAN_CLONES void mix_rows(const std::uint8_t *const (&rows)[4], const int (&w)[4], int width,
                              int *sums) {
  mix_rows_of(rows, w, width, sums);
}
CUDASCAN_CLONES void mix_rows(const std::uint16_t *const (&rows)[4], const int (&w)[4], int width,
                              int *sums) {
  mix_rows_of(rows, w, width, sums);
}

template <typename T>
void enlarge(const Plane<const T> &from, const Plane<T> &to) {
  constexpr int kShift = 2 * kWeightBits - kRowShift<T>;
  const std::vector<Tap> across = taps(from.width, to.width), down = taps(from.height, to.height);
  std::vector<int> sums(from.width);
  for (int y = 0; y < to.height; ++y) {
    const Tap &tap = down[y];
    const T *const rows[4] = {from.row(tap.at[0]), from.row(tap.at[1]), from.row(tap.at[2]),
                              from.row(tap.at[3])};
    mix_rows(rows, tap.weight, from.width, sums.data());
    T *const row = to.row(y);
    for (int x = 0; x < to.width; ++x) {
      const auto &[at, w] = across[x];
      const int sum =
          w[0] * sums[at[0]] + w[1] * sums[at[1]] + w[2] * sums[at[2]] + w[3] * sums[at[3]];
      row[x] = static_cast<T>(
          std::clamp((sum + (1 << (kShift - 1))) >> kShift, 0, static_cast<int>(to.maximum)));
    }
  }
}

int scaled(int side, double factor) {
  return std::max(side, static_cast<int>(std::lround(side * factor)));
}

}  // namespace

double enlargement(const Image &page) {
  constexpr double kMostPixels = 1 << 28;
  const double dpi = std::max(page.resolution.x, page.resolution.y);
  if (!(dpi > 0 && dpi < kLowDpi)) return 1;
  const double most =
      std::min(1. * kLongestSide / std::max(page.width, page.height),
               std::sqrt(kMostPixels / (static_cast<double>(page.width) * page.height)));
  return std::max(1., std::min(kUsualDpi / dpi, most));
}

void enlarge(const Image &from, double factor, Image &to) {
  to.shape(scaled(from.width, factor), scaled(from.height, factor), from.depth);
  to.content = from.content;
  to.resolution = {from.resolution.x * factor, from.resolution.y * factor};
  if (from.depth == 8)
    enlarge(from.plane<const std::uint8_t>(), to.plane<std::uint8_t>());
  else
    enlarge(from.plane<const std::uint16_t>(), to.plane<std::uint16_t>());
}

}  // namespace cudascan::scan
