// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The threshold methods of cudaautothreshold. Each is a function of a histogram that all members
/// of a team call (team.h); all members get the same result.
///
/// Common rules: T is a level, and white is above it. If several levels are equally good, T is the
/// lowest (but see triangle). Without pixels T is 0. If all pixels have one level, T is that level;
/// otherwise the methods consider only T with pixels on both sides. Histograms have up to 65536
/// levels and 2^30 pixels.
///
/// Members call before() once and reduce() once or twice; li calls it once for each step if there
/// are fewer members than levels. minimum and intermodes synchronise after every few smoothings.
#pragma once
#include "kernels/autothreshold.h"
#include "kernels/autothreshold/entropy.h"
#include "kernels/autothreshold/means.h"
#include "kernels/autothreshold/shape.h"
#include "kernels/autothreshold/small.h"
#include "kernels/histogram/team.h"

namespace cudascan::threshold {

/// Whether a method needs a small team.
CUDASCAN_HD constexpr bool is_small(AutothresholdMethod method, int classes) {
  return classes > 2 || method == AutothresholdMethod::minimum ||
         method == AutothresholdMethod::intermodes || method == AutothresholdMethod::huang ||
         method == AutothresholdMethod::shanbhag;
}

/// Whether a method calls share().
CUDASCAN_HD constexpr bool is_shared(AutothresholdMethod method, int classes) {
  return classes > 2 || method == AutothresholdMethod::huang ||
         method == AutothresholdMethod::shanbhag;
}

/// The threshold of a method that is not small.
template <typename Team>
CUDASCAN_HD int find(Team &team, AutothresholdMethod method) {
  switch (method) {
    case AutothresholdMethod::isodata:
      return isodata(team);
    case AutothresholdMethod::mcet:
      return mcet(team);
    case AutothresholdMethod::triangle:
      return triangle(team);
    case AutothresholdMethod::max_entropy:
      return max_entropy(team);
    case AutothresholdMethod::yen:
      return yen(team);
    case AutothresholdMethod::li:
      return li(team);
    case AutothresholdMethod::moments:
      return moments(team);
    case AutothresholdMethod::renyi_entropy:
      return renyi_entropy(team);
    case AutothresholdMethod::percentile:
      return percentile(team);
    case AutothresholdMethod::mean:
      return mean(team);
    default:
      return otsu(team);
  }
}

/// The threshold of a small method.
template <typename Team>
CUDASCAN_HD int find_small(Team &team, AutothresholdMethod method) {
  switch (method) {
    case AutothresholdMethod::minimum:
      return minimum(team);
    case AutothresholdMethod::intermodes:
      return intermodes(team);
    case AutothresholdMethod::shanbhag:
      return shanbhag(team);
    default:
      return huang(team);
  }
}

/// Otsu's thresholds of several classes.
/// @param classes     2..4
/// @param thresholds  classes - 1 of them, ascending
template <typename Team>
CUDASCAN_HD void find_classes(Team &team, int classes, int *thresholds) {
  if (classes == 2)
    thresholds[0] = otsu(team);
  else
    multi_otsu(team, classes, thresholds);
}

}  // namespace cudascan::threshold
