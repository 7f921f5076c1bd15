// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times a filter on the CPU, on one core or with OpenMP. A slow filter is timed on the first rows
/// of the picture only; the work per pixel is the same.
#pragma once
#ifdef _OPENMP
#include <omp.h>
#endif

#include "harness.h"

namespace figures {

/// @param apply  apply(images, rows) filters the first rows, as a picture of that height
template <class T, class Apply>
int run_host(int argc, char **argv, int count, bool flat, const Apply &apply) {
  Options o = parse(argc, argv);
  Images<T> images(o, count, flat);
  if (o.threads.empty()) o.threads.push_back(1);
  std::string runs;
  Comparison comparison;
  for (const int threads : o.threads) {
#ifdef _OPENMP
    omp_set_num_threads(threads);
#endif
    images.spoil_output();
    const int probe = std::min(o.height, std::max(32, o.height / 128));
    const auto call = [&](int rows) { images.each([&] { apply(images, rows); }); };
    call(probe);  // starts threads and touches memory pages
    const double start = milliseconds();
    call(probe);
    const double all = (milliseconds() - start) / probe * o.height, third = o.seconds * 1e3 / 3;
    int rows = o.height;
    if (!o.whole && all > third)
      rows = std::clamp(static_cast<int>(o.height * third / all), probe, o.height);
    images.spoil_output();
    const std::vector<double> times = repeat([&] { call(rows); }, o.seconds);
    runs += (runs.empty() ? "" : ", ") + std::string("{\"threads\": ") + std::to_string(threads) +
            ", \"rows\": " + std::to_string(rows) + ", \"ms\": " + list(times) + "}";
    compare(o, images, rows, comparison);
  }
  if (!o.result.empty()) images.save(o.result);
  std::printf("{\"runs\": [%s], %s}\n", runs.c_str(), comparison.json().c_str());
  return 0;
}

}  // namespace figures
