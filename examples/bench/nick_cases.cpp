// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/operator_cases.h"

namespace cudascan::bench {
namespace {

constexpr Size kScan{2500, 4000, 8};  // the largest page of Najafi et al.
constexpr int kWindows[] = {3, 5, 9, 15, 19, 25, 33, 49, 75, 101, 151, 201, 255};
constexpr NickMethod kMethods[] = {NickMethod::nick, NickMethod::niblack, NickMethod::sauvola,
                                   NickMethod::wolf, NickMethod::bradley, NickMethod::phansalkar};

const char *name(NickMethod method) {
  switch (method) {
    case NickMethod::nick:
      return "nick";
    case NickMethod::niblack:
      return "niblack";
    case NickMethod::sauvola:
      return "sauvola";
    case NickMethod::wolf:
      return "wolf";
    case NickMethod::bradley:
      return "bradley";
    case NickMethod::phansalkar:
      return "phansalkar";
  }
  return "?";
}

const char *name(NickAlgorithm algorithm) {
  switch (algorithm) {
    case NickAlgorithm::automatic:
      return "";
    case NickAlgorithm::global:
      return " global";
    case NickAlgorithm::global_shared:
      return " global-shared";
    case NickAlgorithm::shared:
      return " shared";
  }
  return "?";
}

/// The method in cv::ximgproc::LocalBinarizationMethods, -1 if OpenCV does not have it.
int opencv_method(NickMethod method) {
  switch (method) {
    case NickMethod::niblack:
      return 0;
    case NickMethod::sauvola:
      return 1;
    case NickMethod::wolf:
      return 2;
    case NickMethod::nick:
      return 3;
    default:
      return -1;
  }
}

Peer opencv_niblack(int window, NickMethod method) {
  NickParams params;
  params.method = method;
  return OpenCv{"niblack", {double(window), k_in_use(params), double(opencv_method(method))}};
}

/// The goals of the project for one H200 at 3840x2160 and for the scan of Najafi et al.
double nick_goal_us(const Case &c, NickMethod method, int window) {
  if (c.size.width == kScan.width && c.size.height == kScan.height && window == 15) return 18;
  if (c.size.width != k4k.width || window > 255 || method == NickMethod::wolf) return kUnknown;
  return c.size.depth == 8 ? 15 : 25;
}

}  // namespace

Case nick_case(Size size, int window, NickMethod method, NickAlgorithm algorithm) {
  NickParams params;
  params.window = window;
  params.method = method;
  params.algorithm = algorithm;
  Case c;
  c.op = "nick";
  c.variant = std::string(name(method)) + " " + std::to_string(window) + name(algorithm);
  c.series = std::string(name(method)) + name(algorithm);
  c.parameter = "window";
  c.value = window;
  c.size = size;
  c.runner = make_runner(params);
  c.two_valued = true;
  return c;
}

Peer nick_peer(bool cuda, Size size, int window, NickMethod method) {
  if (cuda) {
    if (size.depth == 8 && window <= 33) return NppAdaptive{window};
    return {};
  }
  if (size.depth == 8 && opencv_method(method) >= 0) return opencv_niblack(window, method);
  return {};
}

void add_nick_cuda(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](Size size, int window, NickMethod method = NickMethod::nick) -> Case & {
    cases.push_back(nick_case(size, window, method));
    cases.back().cuda_goal_us = nick_goal_us(cases.back(), method, window);
    return cases.back();
  };
  for (int window : kWindows) {
    if (options.quick && window != 3 && window != 15 && window != 75 && window != 255) continue;
    Case &c = add(k4k, window);
    c.spread = "nick 3840x2160 8 bit, windows 3..255";
    c.spread_goal = 1.3;
    if (window <= 33) c.peer = NppAdaptive{window};
  }
  for (int window : {511, 1023}) add(k4k, window);
  for (int window : {15, 75, 255})
    for (NickMethod method : kMethods)
      if (method != NickMethod::nick && (!options.quick || window == 75)) add(k4k, window, method);
  for (NickMethod method : {NickMethod::nick, NickMethod::sauvola})
    for (int window : {3, 15, 75, 255}) {
      Case &c = add(k4k16, window, method);
      c.spread = std::string(name(method)) + " 3840x2160 16 bit, windows 3..255";
      c.spread_goal = 1.3;
    }
  for (int window : {15, 33}) add(kScan, window);
  add({640, 640, 8}, 15);
  add({5120, 2880, 8}, 75);
  add({7016, 9921, 8}, 75);
  for (NickAlgorithm algorithm :
       {NickAlgorithm::global, NickAlgorithm::global_shared, NickAlgorithm::shared})
    for (int window : {9, 15, 33})
      if (window <= 15 || algorithm != NickAlgorithm::shared)
        cases.push_back(nick_case(kScan, window, NickMethod::nick, algorithm));
}

void add_nick_cpu(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](Size size, int window, NickMethod method) -> Case & {
    cases.push_back(nick_case(size, window, method));
    return cases.back();
  };
  for (int window : {3, 15, 75, 255, 1023}) {
    Case &c = add(k4k, window, NickMethod::nick);
    c.cpu_goal_mpx = 700;
    if (window == 15 || window == 75 || window == 255)
      c.peer = opencv_niblack(window, NickMethod::nick);
  }
  if (options.quick) return;
  for (NickMethod method : kMethods)
    if (method != NickMethod::nick) {
      Case &c = add(k4k, 75, method);
      if (opencv_method(method) >= 0) c.peer = opencv_niblack(75, method);
    }
  for (int window : {15, 75, 255}) add(k4k16, window, NickMethod::nick);
}

}  // namespace cudascan::bench
