// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Each pixel sums its whole window. The CUDA kernels load pixels as the three of Najafi et al. do
/// (baseline.h), but they give the picture that nick.h defines, for every method, window and depth:
/// sums have 64 bits and decisions are exact. So they are several times slower than the published
/// kernels. Tests compare the fast algorithm with them; benchmarks time baseline.h.
#pragma once
#include <cmath>

#include "kernels/nick/formula.h"

namespace cudascan::nick {

/// Adds up one window, clipped to the image, pixel by pixel.
template <typename T>
CUDASCAN_HD WindowSums sum_window(Plane<const T> in, int x, int y, int rx, int ry) {
  const int x0 = x > rx ? x - rx : 0, x1 = x + rx < in.width ? x + rx : in.width - 1;
  const int y0 = y > ry ? y - ry : 0, y1 = y + ry < in.height ? y + ry : in.height - 1;
  WindowSums w{0, 0, static_cast<std::uint32_t>((x1 - x0 + 1) * (y1 - y0 + 1))};
  for (int v = y0; v <= y1; ++v)
    for (int u = x0; u <= x1; ++u) {
      const std::uint64_t p = in.row(v)[u];
      w.sum += p;
      w.squares += p * p;
    }
  return w;
}

/// An estimate of T in double precision, the starting point of rounded_threshold().
CUDASCAN_HD inline double estimate(const WindowSums &w, const Formula &f) {
  const double n = w.n, m = w.sum / n, k = static_cast<double>(f.kn) / kKd;
  const double variance = static_cast<double>(w.v()) / (n * n);
  const double s = sqrt(variance), r = static_cast<double>(f.rn) / kRd;
  switch (f.method) {
    case NickMethod::nick:
      return m + k * sqrt(variance + m * m * (1 - 1 / n));
    case NickMethod::niblack:
      return m + k * s;
    case NickMethod::bradley:
      return m * (1 - k);
    case NickMethod::sauvola:
      return m * (1 + k * (s / r - 1));
    case NickMethod::phansalkar:
      return m * (1 + static_cast<double>(phansalkar_boost(w, f.maximum)) / kKd + k * (s / r - 1));
    case NickMethod::wolf: {
      const double most = static_cast<double>(f.busiest.v()) / f.busiest.n / f.busiest.n;
      return most > 0 ? m - k * (1 - s / sqrt(most)) * (m - f.minimum) : m;
    }
  }
  return 0;
}

/// One pixel of the result.
template <typename T, typename Out>
CUDASCAN_HD Out result(T p, const WindowSums &w, const Formula &f, NickOutput output, Out black,
                       Out white) {
  if (output == NickOutput::threshold)
    return static_cast<Out>(rounded_threshold(estimate(w, f), w, f));
  return above(2 * static_cast<std::int64_t>(p), w, f) ? white : black;
}

/// Pixel by pixel, on the threads of `cpu`. Returns the number of samples
/// of the result that are 0. Instantiated for the sample types of run().
template <typename T, typename Out>
std::int64_t run_serial(Cpu &cpu, Plane<const T> in, Plane<Out> out, const NickParams &params);

}  // namespace cudascan::nick
