// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dewarp.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reduce.h"
#include "straighten.h"

namespace cudascan::scan {
namespace {

constexpr int kWindows = 24;     ///< windows of rows; neighbours overlap by half
constexpr double kSharp = 1.4;   ///< least ratio of the largest strength to the median
constexpr double kStiff = 0.02;  ///< weight of the penalty of bending
constexpr double kHuber = 0.02;  ///< slopes that are further away count less
constexpr int kFewest = 60;      ///< slopes, of up to 700
constexpr int kEnough = 400;     ///< of them at first

/// Values of the cubic B-splines on `knots` intervals of -1..1.
template <int knots>
std::array<double, knots + 3> splines(double x) {
  std::array<double, knots + 3> values{};
  const double at = std::clamp((x + 1) / 2 * knots, 0., knots - 1e-9);
  const int first = static_cast<int>(at);
  const double t = at - first, u = 1 - t;
  values[first] = u * u * u / 6;
  values[first + 1] = (3 * t * t * t - 6 * t * t + 4) / 6;
  values[first + 2] = (3 * u * u * u - 6 * u * u + 4) / 6;
  values[first + 3] = t * t * t / 6;
  return values;
}

/// Solves a system of linear equations with a symmetric positive matrix by elimination.
bool solve(std::vector<double> &matrix, std::vector<double> &right, int n) {
  for (int i = 0; i < n; ++i) {
    const double pivot = matrix[i * n + i];
    if (!(pivot > 1e-12)) return false;
    for (int j = i + 1; j < n; ++j) {
      const double by = matrix[j * n + i] / pivot;
      if (by == 0) continue;
      for (int k = i; k < n; ++k) matrix[j * n + k] -= by * matrix[i * n + k];
      right[j] -= by * right[i];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) right[i] -= matrix[i * n + k] * right[k];
    right[i] /= matrix[i * n + i];
  }
  return true;
}

}  // namespace

double Dewarp::slope_at(double x, double y) const {
  const auto across = splines<kKnots>(x);
  double slope = 0;
  for (int i = 0; i < kAcross; ++i)
    slope +=
        across[i] * (terms_[i * kDown] + y * (terms_[i * kDown + 1] + y * terms_[i * kDown + 2]));
  return slope;
}

/// Sets slopes_ to those that the lines have relative to the curves so far.
void Dewarp::measure(int strips, int steps, double step) {
  slopes_.clear();
  const Slopes differences(copy_);
  const int width = copy_.width, height = copy_.height, angles = 2 * steps + 1;
  const int window = 2 * height / kWindows;
  std::vector<std::int32_t> sums(height);
  std::vector<double> strengths(static_cast<std::size_t>(angles) * (height + 1));
  for (int strip = 0; strip < 2 * strips - 1; ++strip) {
    const int begin = strip * width / (2 * strips);
    const int end = std::min(width, begin + width / strips);
    const double middle = (begin + end) / 2.;
    for (int angle = 0; angle < angles; ++angle) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int x = begin; x < end; ++x) {
        const std::int8_t *column = differences.column(x);
        const double aside = (x + 0.5 - middle) * squeeze_ * (angle - steps) * step;
        // The shift changes slowly from row to row.
        constexpr int kPart = 32;
        for (int top = 0; top < height; top += kPart) {
          const double row = top + kPart / 2.;
          const int by =
              static_cast<int>(std::lround(aside + shift_at(x + 0.5, row) - shift_at(middle, row)));
          const int first = std::max(top, -by);
          const int last = std::min({top + kPart, height, height - by});
          for (int y = first; y < last; ++y) sums[y] += column[y + by];
        }
      }
      double *strength = strengths.data() + static_cast<std::size_t>(angle) * (height + 1);
      strength[0] = 0;
      for (int y = 0; y < height; ++y) strength[y + 1] = strength[y] + 1. * sums[y] * sums[y];
    }
    for (int i = 0; i + 2 <= kWindows; ++i) {
      const int top = i * height / kWindows, bottom = std::min(height, top + window);
      std::vector<double> inside(angles);
      for (int angle = 0; angle < angles; ++angle) {
        const double *strength = strengths.data() + static_cast<std::size_t>(angle) * (height + 1);
        inside[angle] = strength[bottom] - strength[top];
      }
      const int best =
          static_cast<int>(std::max_element(inside.begin(), inside.end()) - inside.begin());
      if (best == 0 || best == angles - 1) continue;
      std::vector<double> sorted = inside;
      std::nth_element(sorted.begin(), sorted.begin() + angles / 2, sorted.end());
      const double ratio = inside[best] / std::max(1., sorted[angles / 2]);
      const double least = 30. * (end - begin);  // some lines of letters
      if (ratio < kSharp || inside[best] < least) continue;
      const double bend = inside[best - 1] - 2 * inside[best] + inside[best + 1];
      const double shift = bend < 0 ? (inside[best - 1] - inside[best + 1]) / (2 * bend) : 0;
      const double row = (top + bottom) / 2.;
      slopes_.push_back({2 * middle / width - 1, 2 * (row + shift_at(middle, row)) / height - 1,
                         (best + shift - steps) * step, (ratio - 1) / (ratio + 2)});
    }
  }
}

/// Adds to the terms what makes the smooth slope go through slopes_.
bool Dewarp::fit() {
  if (slopes_.size() < kFewest) return false;
  std::array<double, kTerms> added{};
  const auto row_of = [](const Slope &one) {
    std::array<double, kTerms> row{};
    const auto across = splines<kKnots>(one.x);
    for (int i = 0; i < kAcross; ++i)
      for (int j = 0; j < kDown; ++j)
        row[i * kDown + j] = across[i] * (j == 0 ? 1 : j == 1 ? one.y : one.y * one.y);
    return row;
  };
  for (int round = 0; round < 6; ++round) {
    std::vector<double> matrix(kTerms * kTerms, 0), right(kTerms, 0);
    double all = 0;
    for (const Slope &one : slopes_) {
      const auto row = row_of(one);
      double fitted = 0;
      for (int i = 0; i < kTerms; ++i) fitted += row[i] * added[i];
      const double away = std::fabs(one.slope - fitted);
      const double weight = one.weight * (round == 0 || away < kHuber ? 1 : kHuber / away);
      all += weight;
      for (int i = 0; i < kTerms; ++i) {
        if (row[i] == 0) continue;
        right[i] += weight * row[i] * one.slope;
        for (int k = 0; k < kTerms; ++k) matrix[i * kTerms + k] += weight * row[i] * row[k];
      }
    }
    // Second differences across, and everything that changes from top to bottom, a little.
    for (int j = 0; j < kDown; ++j) {
      const double stiff = kStiff * all * (j == 0 ? 0.3 : 1) / kAcross;
      for (int i = 0; i + 2 < kAcross; ++i) {
        const int at[] = {i * kDown + j, (i + 1) * kDown + j, (i + 2) * kDown + j};
        const double by[] = {1, -2, 1};
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) matrix[at[a] * kTerms + at[b]] += stiff * by[a] * by[b];
      }
      for (int i = 0; i < kAcross; ++i)
        matrix[(i * kDown + j) * kTerms + i * kDown + j] += (j == 0 ? 1e-6 : 2e-4 * j) * all;
    }
    if (!solve(matrix, right, kTerms)) return false;
    std::copy(right.begin(), right.end(), added.begin());
  }
  for (int i = 0; i < kTerms; ++i) terms_[i] += added[i];
  return true;
}

/// Follows the curves from the middle of the page to both sides.
void Dewarp::trace() {
  shifts_.assign(std::size_t{kRows} * kColumns, 0);
  const double across = 1. * copy_.width * squeeze_ / (kColumns - 1);
  for (int i = 0; i < kRows; ++i) {
    const double start = i * copy_.height / (kRows - 1.);
    for (const int sign : {-1, 1}) {
      double y = start;
      for (int j = kColumns / 2; j + sign >= 0 && j + sign < kColumns; j += sign) {
        const auto slope = [&](double column, double row) {
          return slope_at(std::clamp(2 * column / (kColumns - 1) - 1, -1., 1.),
                          std::clamp(2 * row / copy_.height - 1, -1.05, 1.05));
        };
        const double half = y + sign * across / 2 * slope(j, y);
        y += sign * across * slope(j + sign / 2., half);
        shifts_[i * kColumns + j + sign] = y - start;
      }
    }
  }
}

/// By how many rows the curve that begins in this row of the middle is further down in a column of
/// the copy.
double Dewarp::shift_at(double column, double row) const {
  if (shifts_.empty()) return 0;
  const double x = std::clamp(column / copy_.width * (kColumns - 1), 0., kColumns - 1.001);
  const double y = std::clamp(row / copy_.height * (kRows - 1), 0., kRows - 1.001);
  const int i = static_cast<int>(y), j = static_cast<int>(x);
  const double *at = shifts_.data() + i * kColumns + j;
  const double dx = x - j, dy = y - i;
  return (at[0] * (1 - dx) + at[1] * dx) * (1 - dy) +
         (at[kColumns] * (1 - dx) + at[kColumns + 1] * dx) * dy;
}

/// @param by  pixels of `from` on a row of the copy
template <typename T>
void Dewarp::shift_columns(const Plane<const T> &from, double by, const Plane<T> &to) const {
  constexpr int kFine = 64, kStep = 8;
  // Catmull-Rom splines: R. Keys, "Cubic convolution interpolation for digital image processing",
  // IEEE Trans. ASSP 29(6), 1981.
  std::array<std::array<int, 4>, kFine> weights;
  for (int i = 0; i < kFine; ++i) {
    const double t = 1. * i / kFine;
    const double w[] = {((2 - t) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2,
                        ((4 - 3 * t) * t + 1) * t / 2, (t - 1) * t * t / 2};
    int rest = 1 << 14;
    for (int k : {0, 2, 3}) rest -= weights[i][k] = static_cast<int>(std::lround(w[k] * (1 << 14)));
    weights[i][1] = rest;
  }
  const int last = from.height - 1;
  std::vector<int> rows(from.width);  // in 1 / kFine
  std::vector<const T *> lines(from.height);
  for (int y = 0; y < from.height; ++y) lines[y] = from.row(y);
  const double columns = 1. * from.width / copy_.width;
  for (int y = 0; y < to.height; ++y) {
    std::vector<int> shifts(from.width / kStep + 2);
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const double shift = shift_at(i * kStep / columns, y / by) * by;
      shifts[i] = static_cast<int>(std::lround(shift * kFine));
    }
    T *out = to.row(y);
    for (int x = 0; x < from.width; ++x) {
      const int *near = shifts.data() + x / kStep;
      const int shift = near[0] + (near[1] - near[0]) * (x % kStep) / kStep;
      const int at = y * kFine + shift;
      const int row = at >= 0 ? at / kFine : -((kFine - 1 - at) / kFine);
      const auto &w = weights[at - row * kFine];
      std::int64_t sum = 1 << 13;
      for (int k = 0; k < 4; ++k)
        sum += std::int64_t{w[k]} * lines[std::clamp(row + k - 1, 0, last)][x];
      out[x] = static_cast<T>(std::clamp<std::int64_t>(sum >> 14, 0, to.maximum));
    }
  }
}

/// How much stronger the sums along the lines of the straightened copy are.
double Dewarp::gain() {
  space_.shape(copy_.width, copy_.height, 8);
  shift_columns<std::uint8_t>(static_cast<const Image &>(copy_).plane<const std::uint8_t>(), 1,
                              space_.plane<std::uint8_t>());
  const auto strongest = [&](const Image &page) {
    const Slopes slopes(page);
    Profiles profiles(slopes, squeeze_, 11);
    double most = 0;
    for (double angle = -10; angle <= 10; angle += 0.1) {
      profiles.sum(angle, 1);
      most = std::max(most, sum_of_squares(profiles.strip(0).data(), profiles.rows()));
    }
    return most;
  };
  return strongest(space_) / std::max(1., strongest(copy_));
}

bool Dewarp::straighten(Image &page) {
  constexpr double kLeastGain = 1.15;
  why_not_.clear();
  largest_ = 0;
  terms_ = {};
  shifts_.clear();
  const SkewScale scale(page.width, page.height);
  if (!scale.enough) {
    why_not_ = "the page is too small to measure";
    return false;
  }
  squeeze_ = scale.squeeze;
  by_ = scale.by;
  reduce(page, scale.by * squeeze_, scale.by, copy_);
  constexpr struct {
    int strips, steps;
    double step;
  } kPasses[] = {{16, 24, 0.0125}, {8, 16, 0.004}, {5, 16, 0.002}};
  for (const auto &pass : kPasses) {
    measure(pass.strips, pass.steps, pass.step);
    if ((shifts_.empty() && slopes_.size() < kEnough) || !fit()) break;
    trace();
  }
  if (shifts_.empty()) {
    why_not_ = "too few lines of text";
    return false;
  }
  // The slope that most lines have, and how far they bend away from it.
  std::vector<double> slopes;
  for (const Slope &one : slopes_) slopes.push_back(slope_at(one.x, one.y));
  std::nth_element(slopes.begin(), slopes.begin() + slopes.size() / 2, slopes.end());
  const double tilt = slopes[slopes.size() / 2];
  for (const Slope &one : slopes_) {
    const double column = (one.x + 1) / 2 * copy_.width;
    const double tilted = tilt * (column - copy_.width / 2.) * squeeze_;
    largest_ = std::max(
        largest_, scale.by * std::fabs(shift_at(column, (one.y + 1) / 2 * copy_.height) - tilted));
  }
  const double millimetres = largest_ / (page.height / 297.);
  if (largest_ < 2 || millimetres < 0.3) {
    why_not_ = "the lines are straight";
    return false;
  }
  if (gain() < kLeastGain) {
    why_not_ = "the lines do not become straighter";
    return false;
  }
  apply(page);
  return true;
}

void Dewarp::apply(Image &plane) {
  space_.shape(plane.width, plane.height, plane.depth);
  const Image &from = plane;
  if (plane.depth == 8)
    shift_columns<std::uint8_t>(from.plane<const std::uint8_t>(), by_,
                                space_.plane<std::uint8_t>());
  else
    shift_columns<std::uint16_t>(from.plane<const std::uint16_t>(), by_,
                                 space_.plane<std::uint16_t>());
  std::memcpy(plane.memory.data(), space_.memory.data(), plane.bytes());
}

}  // namespace cudascan::scan
