// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstdio>

#include "bench/bench.h"

namespace cudascan::bench {
namespace {

/// @param on_one_core  with the peer and the goals, which are of one core
Row time_case(const Options &options, Cpu &cpu, const Case &c, double budget_us, bool on_one_core) {
  Row row;
  row.section = "cpu " + std::to_string(cpu.threads());
  row.name = c.variant;
  row.size = c.size;
  row.reads_only = c.reads_only;
  const std::ptrdiff_t stride = stride_of(c.size, options.align);
  auto in = make_content(c.content.value_or(options.content), c.size, stride);
  std::vector<std::uint8_t> out(in.size(), 0x5a);
  const auto plane = [&](std::vector<std::uint8_t> &bytes) {
    return AnyPlane{bytes.data(), c.size.width, c.size.height, c.size.depth, stride};
  };
  try {
    // Not to time the compiler of users' code.
    if (c.variant.starts_with("custom")) c.runner.cpu(cpu, plane(in), plane(out));
    row.us =
        time_host([&] { c.runner.cpu(cpu, plane(in), plane(out)); }, budget_us, options.repeat);
  } catch (const std::exception &error) {
    row.error = error.what();
  }
  if (!on_one_core) return row;
  if (const auto *peer = std::get_if<OpenCv>(&c.peer)) {
    row.peer = "OpenCV";
    row.peer_us = opencv_us(plane(in), plane(out), *peer, options);
  }
  if (!std::isnan(c.cpu_goal_mpx)) {
    row.goal_us = c.size.pixels() / c.cpu_goal_mpx;
    row.goal = goal_text(c.cpu_goal_mpx, "Mpx/s");
  } else if (!std::isnan(c.cpu_goal_us)) {
    row.goal_us = c.cpu_goal_us;
    row.goal = goal_text(c.cpu_goal_us, "us");
  } else if (!std::isnan(c.cpu_goal_ratio)) {
    row.goal_us = row.peer_us / c.cpu_goal_ratio;
    row.goal = goal_text(c.cpu_goal_ratio, "times the speed");
  }
  return row;
}

}  // namespace

TimeCase cpu_timer(const Options &options) {
  return [options, cpu = std::make_shared<Cpu>(1)](const Case &c) {
    return time_case(options, *cpu, c, options.quick ? 20e3 : 50e3, true);
  };
}

void bench_cpu(const Options &options, Report &report) {
  const double budget_us = options.quick ? 60e3 : 200e3;
  const auto cases = cpu_cases(options);
  Cpu one(1), all(0);
  for (Cpu *cpu : {&one, &all}) {
    if (cpu == &all && all.threads() == 1) break;
    report.heading("CPU: " + std::to_string(cpu->threads()) + (cpu == &one ? " core" : " cores"),
                   false);
    for (const Case &c : cases)
      if (options.wants(c.name())) report.add(time_case(options, *cpu, c, budget_us, cpu == &one));
  }
}

}  // namespace cudascan::bench
