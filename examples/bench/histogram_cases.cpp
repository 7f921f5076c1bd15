// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <memory>

#include "bench/operator_cases.h"
#include "kernels/histogram.h"
#include "kernels/runlengths.h"
#include "kernels/used_bits.h"

namespace cudascan::bench {
namespace {

/// Counts at the start of the output plane.
Runner histogram_runner() {
  Runner runner;
#ifdef HAVE_CUDA
  runner.cuda = [](Cuda &exec, AnyPlane in, AnyPlane out) {
    const auto counts = static_cast<std::uint32_t *>(out.data);
    if (in.depth == 8)
      count_on_device(exec, in.as<const std::uint8_t>(), {}, counts);
    else
      count_on_device(exec, in.as<const std::uint16_t>(), {}, counts);
  };
#endif
  runner.cpu = [](Cpu &exec, AnyPlane in, AnyPlane out) {
    Histogram counts;
    if (in.depth == 8)
      count(exec, in.as<const std::uint8_t>(), {}, counts);
    else
      count(exec, in.as<const std::uint16_t>(), {}, counts);
    std::memcpy(out.data, counts.data(), counts.size() * sizeof counts[0]);
  };
  return runner;
}

/// Lengths of the runs of ink; levels are those of text.
Case run_lengths_case(Size size) {
  const RunLengthParams params{.level = size.depth == 8 ? 100u : 100u * 257};
  const auto counts = std::make_shared<RunLengths>();
  const auto on = [=](auto &exec, AnyPlane in, AnyPlane /*out*/) {
    if (in.depth == 8)
      count_runs(exec, in.as<const std::uint8_t>(), params, *counts);
    else
      count_runs(exec, in.as<const std::uint16_t>(), params, *counts);
  };
  Case c;
  c.op = "runlengths";
  c.variant = "run lengths";
  c.size = size;
#ifdef HAVE_CUDA
  c.runner.cuda = [on](Cuda &exec, AnyPlane in, AnyPlane out) { on(exec, in, out); };
#endif
  c.runner.cpu = [on](Cpu &exec, AnyPlane in, AnyPlane out) { on(exec, in, out); };
  c.reads_only = true;
  c.report_only = true;
  return c;
}

/// One read of the samples.
Case used_bits_case() {
  Case c;
  c.op = "used_bits";
  c.variant = "used bits";
  c.size = k4k16;
#ifdef HAVE_CUDA
  c.runner.cuda = [](Cuda &exec, AnyPlane in, AnyPlane /*out*/) {
    find_used_bits(exec, in.as<const std::uint16_t>());
  };
#endif
  c.runner.cpu = [](Cpu &exec, AnyPlane in, AnyPlane /*out*/) {
    // On the CPU it ends with the row that has all bits; here no sample has all of them.
    find_used_bits(exec, in.as<const std::uint16_t>());
  };
  c.reads_only = true;
  c.report_only = true;
  return c;
}

}  // namespace

Case histogram_case(Size size) {
  Case c;
  c.op = "histogram";
  c.variant = "histogram";
  c.size = size;
  c.runner = histogram_runner();
  c.reads_only = true;
  return c;
}

void add_histogram_cuda(const Options & /*options*/, std::vector<Case> &cases) {
  for (const Content content : kAllContents) {
    Case c = with_content(histogram_case(k4k), content);
    c.cuda_goal_us = 5;
    c.spread = "histogram 3840x2160 8 bit, contents";
    c.spread_goal = 1.3;
    c.peer = NppHistogram{};
    cases.push_back(c);
  }
  cases.push_back(histogram_case({7016, 9921, 8}));
  cases.push_back(histogram_case(k4k16));
  for (const Content content : kAllContents)
    cases.push_back(with_content(run_lengths_case(k4k), content));
  cases.push_back(run_lengths_case(k4k16));
  cases.push_back(with_content(used_bits_case(), Content::constant));
}

void add_histogram_cpu(const Options &options, std::vector<Case> &cases) {
  for (const Content content : kAllContents) {
    Case c = with_content(histogram_case(k4k), content);
    c.cpu_goal_mpx = 3500;
    c.peer = OpenCv{"histogram"};
    cases.push_back(c);
  }
  for (const Content content : kAllContents)
    cases.push_back(with_content(run_lengths_case(k4k), content));
  if (options.quick) return;
  cases.push_back(with_content(used_bits_case(), Content::constant));
  cases.push_back(run_lengths_case(k4k16));
  cases.push_back(histogram_case(k4k16));
  cases.back().peer = OpenCv{"histogram"};
}

}  // namespace cudascan::bench
