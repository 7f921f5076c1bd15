// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings by line segments as the text of kernels/linearopen.h defines them: every segment has
/// all its pixels, and every pixel takes all segments that contain it. For each pixel, rounded real
/// numbers decide whether it is on a line.
#pragma once
#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <numbers>
#include <ostream>
#include <span>
#include <vector>

#include "kernels/linearopen.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {

inline std::ostream &operator<<(std::ostream &s, const LinearOpenParams &p) {
  constexpr const char *kOperations[] = {"opening", "closing", "top-hat", "black-hat"};
  s << kOperations[static_cast<int>(p.operation)] << ", length " << p.length << ", angle "
    << p.angle;
  if (p.directions != 1) s << ", " << p.directions << " directions over " << p.span;
  if (p.output == LinearOpenOutput::orientation) s << ", orientation";
  if (p.lines == LinearOpenLines::invariant) s << ", invariant";
  if (p.algorithm != LinearOpenAlgorithm::automatic)
    s << ", algorithm " << static_cast<int>(p.algorithm);
  return s;
}

namespace test {

/// An emulated GPU leaves out the last one, a row of 32768 pixels: it is divided into thousands of
/// lines, and each takes time.
template <>
inline std::span<const Size> sizes_of<LinearOpenParams>() {
  return std::span(kSizes).first(std::size(kSizes) - (gpu_is_emulated() ? 1 : 0));
}

struct Pixel {
  int x, y;
};

/// The lines of a direction.
class OracleLines {
 public:
  explicit OracleLines(double angle) {
    double degrees = angle;
    while (degrees < 0) degrees += 180;
    while (degrees >= 180) degrees -= 180;
    steep_ = degrees >= 45 && degrees < 135;
    // y grows downwards.
    const long double radians = degrees * (std::numbers::pi_v<long double> / 180);
    const long double dx = std::cos(radians), dy = -std::sin(radians);
    slope_ = std::round((steep_ ? dx / dy : dy / dx) * (1 << 20)) / (1 << 20);
  }

  bool steep() const { return steep_; }
  int along(Pixel p) const { return steep_ ? p.y : p.x; }
  int across(Pixel p) const { return steep_ ? p.x : p.y; }
  int shift(int t) const { return static_cast<int>(std::lround(t * slope_)); }
  /// The number of the line that contains a pixel.
  int number(Pixel p) const { return across(p) - shift(along(p)); }
  /// Whether a pixel is on the line through the origin.
  bool on_origin(Pixel p) const { return number(p) == 0; }

 private:
  bool steep_;
  long double slope_;
};

/// The order of samples; for floating-point samples, totalOrder.
template <typename T>
bool below(T a, T b) {
  return std::strong_order(a, b) < 0;
}

/// The segments of one direction in an image. Each pixel is the centre of one segment.
class OracleSegments {
 public:
  OracleSegments(int width, int height, double angle, int length, LinearOpenLines kind)
      : segments_(std::size_t(width) * height) {
    const OracleLines lines(angle);
    const int before = length / 2, behind = (length - 1) / 2;
    const auto index = [&](Pixel p) { return std::size_t(p.y) * width + p.x; };
    if (kind == LinearOpenLines::partition) {
      std::map<int, std::vector<Pixel>> by_number;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) by_number[lines.number({x, y})].push_back({x, y});
      for (const auto &[number, line] : by_number)
        for (const Pixel centre : line)
          for (const Pixel p : line) {
            const int t = lines.along(p) - lines.along(centre);
            if (t >= -before && t <= behind) segments_[index(centre)].push_back(index(p));
          }
      return;
    }
    // The segment around the origin, as large as the image can contain.
    std::vector<Pixel> mask;
    for (int y = -height; y <= height; ++y)
      for (int x = -width; x <= width; ++x) {
        const int t = lines.along({x, y});
        if (t >= -before && t <= behind && lines.on_origin({x, y})) mask.push_back({x, y});
      }
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (const Pixel d : mask)
          if (x + d.x >= 0 && x + d.x < width && y + d.y >= 0 && y + d.y < height)
            segments_[index({x, y})].push_back(index({x + d.x, y + d.y}));
  }

  /// The opening or the closing.
  template <typename T>
  std::vector<T> filter(const std::vector<T> &in, bool closing) const {
    const auto lower = [&](T a, T b) { return closing ? below(b, a) : below(a, b); };
    std::vector<T> out(in.size());
    std::vector<bool> written(in.size());
    for (const auto &segment : segments_) {
      T least = in[segment.front()];
      for (const std::size_t p : segment)
        if (lower(in[p], least)) least = in[p];
      for (const std::size_t p : segment)
        if (!written[p] || lower(out[p], least)) {
          out[p] = least;
          written[p] = true;
        }
    }
    return out;
  }

 private:
  std::vector<std::vector<std::size_t>> segments_;
};

template <typename T>
struct OracleResult {
  std::vector<T> samples;
  std::vector<double> angles;
  std::vector<std::int64_t> spectrum;
};

/// The result of run() for an image, and the report without the parts that linearopen/spectrum.h
/// computes.
template <typename T>
OracleResult<T> linear_open_oracle(const std::vector<T> &in, int width, int height,
                                   const LinearOpenParams &p) {
  const bool closing =
      p.operation == LinearOpenOperation::closing || p.operation == LinearOpenOperation::black_hat;
  const bool hat =
      p.operation == LinearOpenOperation::top_hat || p.operation == LinearOpenOperation::black_hat;
  const auto result = [&](T filtered, T input) {
    return !hat ? filtered : static_cast<T>(closing ? filtered - input : input - filtered);
  };
  const auto units = [](T v) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<std::int64_t>(std::floor(v * 65536.0 + 0.5));
    else
      return static_cast<std::int64_t>(v);
  };
  OracleResult<T> r;
  std::vector<T> best;
  std::vector<double> best_angle(in.size());
  for (int k = 0; k < p.directions; ++k) {
    const int steps = p.span == 180 ? p.directions : std::max(p.directions - 1, 1);
    const double angle = p.angle + p.span * k / steps;
    r.angles.push_back(angle);
    const auto filtered =
        OracleSegments(width, height, angle, p.length, p.lines).filter(in, closing);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) sum += units(result(filtered[i], in[i]));
    r.spectrum.push_back(sum);
    if (k == 0) best = filtered;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (k == 0 || (closing ? below(filtered[i], best[i]) : below(best[i], filtered[i]))) {
        best[i] = filtered[i];
        best_angle[i] = angle;
      }
  }
  for (std::size_t i = 0; i < in.size(); ++i)
    r.samples.push_back(
        p.output == LinearOpenOutput::filtered
            ? result(best[i], in[i])
            : static_cast<T>((static_cast<int>(std::lround(best_angle[i])) + 720) % 180));
  return r;
}

/// The result for one image on the CPU.
template <typename T>
std::vector<T> linear_opened(const Image<T> &in, const LinearOpenParams &params,
                             LinearOpenReport *report = nullptr, int threads = 0) {
  Image<T> out(in.width(), in.height(), {}, in.plane().maximum);
  Cpu cpu(threads);
  run(cpu, in.plane(), out.plane(), params, report);
  return out.samples();
}
template <typename T>
std::vector<T> linear_opened(const std::vector<T> &in, int width, int height,
                             const LinearOpenParams &params) {
  return linear_opened(Image<T>(in, width, height), params);
}

}  // namespace test
}  // namespace cudascan
