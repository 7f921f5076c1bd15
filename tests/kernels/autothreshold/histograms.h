// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Histograms for tests of the threshold methods, and functions that run the methods in one thread.
#pragma once
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/autothreshold/methods.h"
#include "tests/kernels/autothreshold/oracle.h"

namespace cudascan::threshold {

using oracle::Counts;
using Method = AutothresholdMethod;

inline constexpr Method kMethods[] = {
    Method::otsu,        Method::isodata,    Method::mcet,  Method::triangle,
    Method::max_entropy, Method::yen,        Method::li,    Method::minimum,
    Method::intermodes,  Method::moments,    Method::huang, Method::renyi_entropy,
    Method::shanbhag,    Method::percentile, Method::mean,
};

template <typename Team>
int find_any(Team &team, Method method) {
  return is_small(method, 2) ? find_small(team, method) : find(team, method);
}
inline int on_host(const Counts &h, Method method) {
  HostTeam team(h.data(), static_cast<int>(h.size()));
  return find_any(team, method);
}
inline std::vector<int> classes_on_host(const Counts &h, int classes) {
  HostTeam team(h.data(), static_cast<int>(h.size()));
  std::vector<int> thresholds(classes - 1);
  find_classes(team, classes, thresholds.data());
  return thresholds;
}
inline std::string name(Method method, const Counts &h) {
  return "method " + std::to_string(static_cast<int>(method)) + ", " + std::to_string(h.size()) +
         " levels";
}

inline Counts with(int levels, std::initializer_list<std::pair<int, std::uint32_t>> pixels) {
  Counts h(levels);
  for (const auto &[level, count] : pixels) h[level] = count;
  return h;
}

/// Histograms of many shapes; each seed gives another one.
inline Counts random_histogram(unsigned seed, int levels) {
  std::mt19937 random(seed);
  Counts h(levels);
  const auto hump = [&](int pixels, double centre, double width) {
    std::normal_distribution<double> normal(centre * levels, width * levels);
    for (int i = 0; i < pixels; ++i) {
      const double level = normal(random);
      if (level >= 0 && level < levels) ++h[static_cast<int>(level)];
    }
  };
  const auto share = [&] { return random() % 1000 / 1000.0; };
  switch (seed % 8) {
    case 0:
      for (auto &c : h) c = random() % 1000;
      break;
    case 1:
      hump(20000, share() / 2, 0.02 + share() / 10);
      hump(5000, 0.5 + share() / 2, 0.02 + share() / 10);
      break;
    case 2:
      for (int i = 0; i < 3; ++i) hump(10000, (i + share()) / 3, 0.01 + share() / 15);
      break;
    case 3:
      for (int i = 0; i < 2 + levels / 16; ++i) h[random() % levels] = random() % 10000;
      break;
    case 4:  // A total of up to 2^30 pixels, most of them white.
      hump(30000, share() / 2, 0.05);
      for (auto &c : h) c *= 800;
      h[levels - 1 - random() % 2] += 1'000'000'000;
      break;
    case 5:
      h[random() % levels] = 1 + random() % 1000;
      h[random() % levels] = 1 + random() % 1000;
      break;
    case 6:
      for (int i = 0; i < 5; ++i) ++h[random() % levels];
      break;
    default:
      h[random() % levels] = random() % 2 ? 1 : random() % 1'000'000;
      break;
  }
  if (oracle::pixels(h, 0, levels - 1) == 0) h[levels / 2] = 1;
  return h;
}

}  // namespace cudascan::threshold
