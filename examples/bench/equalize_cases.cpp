// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/operator_cases.h"
#include "kernels/used_bits.h"

namespace cudascan::bench {
namespace {

constexpr Size kLargest{5120, 2880, 8};  // of Dobreanu and Chelaru

Case named_case(Size size, const std::string &variant, const EqualizeParams &params = {}) {
  Case c;
  c.op = "equalize";
  c.series = variant;
  c.variant = variant;
  c.size = size;
  c.runner = make_runner(params);
  return c;
}

Case clahe_case(Size size) {
  EqualizeParams params;
  params.method = EqualizeMethod::clahe;
  return named_case(size, "clahe 8x8", params);
}

/// The same for samples of 12 bits in words of 16, whose histograms have 4096 bins.
Case clahe_of_12_bits(Size size) {
  EqualizeParams params;
  params.method = EqualizeMethod::clahe;
  Case c = named_case(size, "clahe 8x8, 12 bits", params);
  const auto on = [params](auto &exec, AnyPlane in, AnyPlane out) {
    constexpr BitRange kBits{12, true};
    run(exec, with_bits(in.as<const std::uint16_t>(), kBits),
        with_bits(out.as<std::uint16_t>(), kBits), params);
  };
#ifdef HAVE_CUDA
  c.runner.cuda = [on](Cuda &exec, AnyPlane in, AnyPlane out) { on(exec, in, out); };
#endif
  c.runner.cpu = [on](Cpu &exec, AnyPlane in, AnyPlane out) { on(exec, in, out); };
  return c;
}

/// OpenCV's equivalent of clahe_case().
Peer opencv_clahe() {
  const EqualizeParams params;
  return OpenCv{"clahe", {params.clip_limit, double(params.tiles_x), double(params.tiles_y)}};
}

}  // namespace

Case equalize_case(Size size, EqualizeAlgorithm algorithm) {
  if (algorithm == EqualizeAlgorithm::automatic) return named_case(size, "equalize");
  EqualizeParams params;
  params.formula = EqualizeFormula::cdf;
  params.algorithm = algorithm;
  const bool naive = algorithm == EqualizeAlgorithm::naive;
  return named_case(size, naive ? "equalize naive" : "equalize shared", params);
}

void add_equalize_cuda(const Options & /*options*/, std::vector<Case> &cases) {
  const auto add = [&](const Case &c, double goal_us = kUnknown) -> Case & {
    cases.push_back(c);
    cases.back().cuda_goal_us = goal_us;
    return cases.back();
  };
  for (const Content content : kAllContents) {
    Case &c = add(with_content(equalize_case(k4k), content), 12);
    c.spread = "equalize 3840x2160 8 bit, contents";
    c.spread_goal = 1.3;
  }
  EqualizeParams cdf;
  cdf.formula = EqualizeFormula::cdf;
  add(named_case(k4k, "equalize cdf", cdf), 12);
  add(equalize_case(k4k16));
  add(equalize_case(kLargest), 18).peer = Published{"GTX 1650", 11958};
  for (const Content content : kAllContents)
    add(with_content(clahe_case(k4k), content), content == Content::page ? 22 : kUnknown);
  add(clahe_case(k4k16));
  add(clahe_of_12_bits(k4k16), 60);
  for (const Size size : {k4k, kLargest})
    for (const auto algorithm : {EqualizeAlgorithm::naive, EqualizeAlgorithm::shared})
      add(equalize_case(size, algorithm));
}

void add_equalize_cpu(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](const Case &c, const Peer &peer = {}) {
    cases.push_back(c);
    cases.back().peer = peer;
  };
  add(equalize_case(k4k), OpenCv{"equalize"});
  add(clahe_case(k4k), opencv_clahe());
  if (options.quick) return;
  add(equalize_case(k4k16));
  add(clahe_case(k4k16), opencv_clahe());
  add(clahe_of_12_bits(k4k16));
  add(equalize_case(k4k, EqualizeAlgorithm::shared));
}

}  // namespace cudascan::bench
