// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/autothreshold/baseline.h"

#include <numeric>

namespace cudascan::threshold {
namespace {

/// Runs the threads of a block one after another.
struct SerialBlock {
  template <typename Step>
  void each(int threads, const Step &step) const {
    for (int t = 0; t < threads; ++t) step(t);
  }
};

}  // namespace

int prahara_threshold(const std::uint32_t *counts, AutothresholdMethod method) {
  using namespace prahara;
  check_method(method);
  const SerialBlock block;
  const std::uint32_t pixels = std::accumulate(counts, counts + kLevels, std::uint32_t{0});
  Shared shared;
  Moments moments, sums;
  weigh(block, counts, pixels, method, moments);
  scan(block, shared.a, moments.order0, sums.order0);
  scan(block, shared.a, moments.order1, sums.order1);
  if (method == AutothresholdMethod::otsu) return otsu(block, shared, sums);
  if (method == AutothresholdMethod::isodata) return isodata(block, shared, sums);
  scan(block, shared.a, moments.entropy, sums.entropy);
  float values[kLevels];
  for (int b = 0; b < kLevels; ++b) cross_entropy(block, shared, b, moments, sums, values);
  return minimum(block, shared, values);
}

}  // namespace cudascan::threshold
