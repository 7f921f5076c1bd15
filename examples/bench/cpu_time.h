// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How loops-bench and functions-bench measure on the CPU.
#pragma once
#include <time.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

/// Milliseconds of a clock.
inline double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

/// The least milliseconds of a run, of those that begin within some seconds.
/// @param runs  at least so many
template <typename Run>
double least(clockid_t clock, double seconds, int runs, const Run &run) {
  double best = HUGE_VAL;
  const double begin = now(CLOCK_MONOTONIC);
  for (int i = 0; i < runs || now(CLOCK_MONOTONIC) - begin < seconds * 1e3; ++i) {
    const double start = now(clock);
    run();
    best = std::min(best, now(clock) - start);
  }
  return best;
}

/// A picture of slopes with noise.
template <typename T>
std::vector<T> picture(int width, int height) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 12);
  std::vector<T> samples;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double level = 128 + 80 * std::sin(x / 37.0) * std::cos(y / 23.0) + noise(random);
      samples.push_back(static_cast<T>(std::clamp(level, 0.0, 255.0) * (sizeof(T) == 1 ? 1 : 257)));
    }
  return samples;
}
