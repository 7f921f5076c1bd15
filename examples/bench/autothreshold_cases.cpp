// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/operator_cases.h"

#include <algorithm>
#include <iterator>

namespace cudascan::bench {
namespace {

using Method = AutothresholdMethod;

struct Named {
  Method method;
  const char *name;
};
constexpr Named kMethods[] = {{Method::otsu, "otsu"},
                              {Method::isodata, "isodata"},
                              {Method::mcet, "mcet"},
                              {Method::triangle, "triangle"},
                              {Method::max_entropy, "max-entropy"},
                              {Method::yen, "yen"},
                              {Method::li, "li"},
                              {Method::minimum, "minimum"},
                              {Method::intermodes, "intermodes"},
                              {Method::moments, "moments"},
                              {Method::huang, "huang"},
                              {Method::renyi_entropy, "renyi-entropy"},
                              {Method::shanbhag, "shanbhag"},
                              {Method::percentile, "percentile"},
                              {Method::mean, "mean"}};
constexpr Named kOtsu = kMethods[0];
/// The methods of Prahara et al.
constexpr int kPublished = 3;
constexpr Size kLargest{4096, 4096, 8};  // of Prahara et al.

Case named_case(Size size, const Named &method,
                AutothresholdAlgorithm algorithm = AutothresholdAlgorithm::automatic) {
  AutothresholdParams params;
  params.method = method.method;
  params.algorithm = algorithm;
  Case c;
  c.op = "autothreshold";
  c.variant = method.name;
  if (algorithm == AutothresholdAlgorithm::prahara) c.variant += " prahara";
  c.series = c.variant;
  c.size = size;
  c.runner = make_runner(params);
  c.two_valued = true;
  return c;
}

/// @param classes  3 or 4
Case classes_case(Size size, int classes) {
  AutothresholdParams params;
  params.classes = classes;
  Case c = named_case(size, kOtsu);
  c.variant += classes == 3 ? " 3 classes" : " 4 classes";
  c.runner = make_runner(params);
  c.two_valued = false;
  return c;
}

/// The cv::ThresholdTypes value for a method that OpenCV supports.
constexpr double kOpenCvOtsu = 8, kOpenCvTriangle = 16;

}  // namespace

Case autothreshold_case(Size size, AutothresholdMethod method, AutothresholdAlgorithm algorithm) {
  const auto *named = std::find_if(std::begin(kMethods), std::end(kMethods),
                                   [&](const Named &m) { return m.method == method; });
  return named_case(size, *named, algorithm);
}

Peer opencv_threshold(AutothresholdMethod method) {
  if (method == Method::otsu) return OpenCv{"threshold", {kOpenCvOtsu}};
  if (method == Method::triangle) return OpenCv{"threshold", {kOpenCvTriangle}};
  return {};
}

void add_autothreshold_cuda(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](const Case &c, double goal_us = kUnknown) -> Case & {
    cases.push_back(c);
    cases.back().cuda_goal_us = goal_us;
    return cases.back();
  };
  for (const Named &method : kMethods) {
    Case &c = add(named_case(k4k, method), 12);
    c.spread = "autothreshold 3840x2160 8 bit, methods";
    c.spread_goal_us = 1;
  }
  for (const Content content : {Content::random, Content::constant})
    add(with_content(named_case(k4k, kOtsu), content), 12);
  for (const int classes : {3, 4}) add(classes_case(k4k, classes));
  add(named_case(k4k16, kOtsu), 80);
  if (!options.quick)
    for (const Named &method : kMethods)
      if (method.method != Method::otsu) add(named_case(k4k16, method));
  add(named_case(kLargest, kOtsu), 18);
  for (const Size size : {k4k, kLargest})
    for (int i = 0; i < kPublished; ++i)
      add(named_case(size, kMethods[i], AutothresholdAlgorithm::prahara));
}

void add_autothreshold_cpu(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](const Case &c, const Peer &peer = {}) {
    cases.push_back(c);
    cases.back().peer = peer;
  };
  for (const Named &method : kMethods) {
    const Peer peer = opencv_threshold(method.method);
    if (peer.index() != 0 || !options.quick) add(named_case(k4k, method), peer);
  }
  if (options.quick) return;
  add(classes_case(k4k, 3));
  add(named_case(k4k16, kOtsu), opencv_threshold(Method::otsu));
}

}  // namespace cudascan::bench
