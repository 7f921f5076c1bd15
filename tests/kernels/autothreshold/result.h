// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the tests of cudaautothreshold's operator.
#pragma once
#include <numeric>

#include "kernels/autothreshold.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {

using Gray8 = std::vector<std::uint8_t>;
using Gray16 = std::vector<std::uint16_t>;
using Method = AutothresholdMethod;

inline constexpr Method kMethods[] = {Method::otsu,     Method::isodata,     Method::mcet,
                                      Method::triangle, Method::max_entropy, Method::yen,
                                      Method::li,       Method::minimum,     Method::intermodes,
                                      Method::moments,  Method::huang,       Method::renyi_entropy,
                                      Method::shanbhag, Method::percentile,  Method::mean};

template <typename Out>
struct Result {
  std::vector<Out> samples;
  AutothresholdReport report;
};

/// Runs one frame on the CPU as a stream of its own.
template <typename Out = std::uint8_t, typename In>
Result<Out> result(const Image<In> &in, const AutothresholdParams &params,
                   Out maximum = std::numeric_limits<Out>::max()) {
  Image<Out> out(in.width(), in.height(), {}, maximum);
  Result<Out> r;
  Cpu cpu;
  run(cpu, in.plane(), out.plane(), params, &r.report);
  r.samples = out.samples();
  return r;
}

inline Image<std::uint8_t> row(const Gray8 &samples) {
  return {samples, static_cast<int>(samples.size()), 1};
}
inline Image<std::uint16_t> row(const Gray16 &samples, std::uint16_t maximum = 65535) {
  return {samples, static_cast<int>(samples.size()), 1, {}, maximum};
}

/// Otsu's threshold by its definition, with exact counts and quadruple precision.
template <typename T>
int otsu_by_hand(const std::vector<T> &samples) {
  std::vector<std::int64_t> counts(std::numeric_limits<T>::max() + 1);
  for (const T sample : samples) ++counts[sample];
  __float128 best = -1, n = 0, sum = 0, all = samples.size();
  const __float128 total = std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
  int threshold = *std::min_element(samples.begin(), samples.end());
  for (int t = 0; t < static_cast<int>(counts.size()); ++t) {
    n += counts[t], sum += static_cast<__float128>(counts[t]) * t;
    if (n == 0 || n == all) continue;
    const __float128 distance = sum / n - (total - sum) / (all - n);
    const __float128 variance = n * (all - n) * distance * distance;
    if (variance > best) best = variance, threshold = t;
  }
  return threshold;
}

}  // namespace cudascan::test
