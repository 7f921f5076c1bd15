// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstdio>

#include "bench/bench.h"

namespace cudascan::bench {

void bench_cpu(const Options &options, Report &report) {
  const double budget_us = options.quick ? 60e3 : 200e3;
  const auto cases = cpu_cases(options);
  Cpu one(1), all(0);
  for (Cpu *cpu : {&one, &all}) {
    if (cpu == &all && all.threads() == 1) break;
    const std::string threads = std::to_string(cpu->threads());
    report.heading("CPU: " + threads + (cpu == &one ? " core" : " cores"), false);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case &c = cases[i];
      if (c.name().find(options.filter) == std::string::npos) continue;
      Row row;
      row.section = "cpu " + threads;
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
        row.us = time_host([&] { c.runner.cpu(*cpu, plane(in), plane(out)); }, budget_us,
                           options.repeat);
      } catch (const std::exception &error) {
        row.error = error.what();
      }
      if (cpu == &one) {
        row.goal_us = c.size.pixels() / c.cpu_goal_mpx;
        row.goal = goal_text(c.cpu_goal_mpx, "Mpx/s");
        if (const auto *peer = std::get_if<OpenCv>(&c.peer)) {
          row.peer = "OpenCV";
          row.peer_us = opencv_us(plane(in), plane(out), *peer, options);
        }
      }
      report.add(row);
    }
  }
}

}  // namespace cudascan::bench
