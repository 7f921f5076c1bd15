// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "bench/bench.h"

namespace cudascan::bench {
namespace {

/// Measures cases on a number of cores, and a copy of the same plane.
class CpuBench {
 public:
  CpuBench(const Options &options, int threads, double budget_us)
      : options_(options), cpu_(threads), budget_us_(budget_us) {}

  int threads() const { return cpu_.threads(); }
  /// @param on_one_core  also measure the peer and check the goals, which are for one core
  Row time(const Case &c, bool on_one_core);

 private:
  AnyPlane plane(std::vector<std::uint8_t> &bytes) const {
    return {bytes.data(), size_.width, size_.height, size_.depth, stride_};
  }
  void prepare(const Case &c);
  /// The time of a copy, always on one core: the least time for reading and writing the plane.
  double copy_us();

  const Options options_;
  Cpu cpu_;
  const double budget_us_;
  // The planes of the last case are kept for the next one.
  Size size_;
  std::optional<Content> content_;
  std::ptrdiff_t stride_ = 0;
  std::vector<std::uint8_t> in_, out_;
  std::map<std::string, double> copies_;  // key: name of the size
};

void CpuBench::prepare(const Case &c) {
  const Content content = c.content.value_or(options_.content);
  if (size_ == c.size && content_ == content) return;
  size_ = c.size;
  content_ = content;
  stride_ = stride_of(size_, options_.align);
  in_ = make_content(content, size_, stride_);
  out_.assign(in_.size(), 0x5a);
}

double CpuBench::copy_us() {
  const std::string key = size_.name();
  if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
  return copies_[key] = time_host([&] { std::memcpy(out_.data(), in_.data(), in_.size()); }, 20e3,
                                  options_.repeat);
}

Row CpuBench::time(const Case &c, bool on_one_core) {
  prepare(c);
  Row row;
  row.section = "cpu " + std::to_string(cpu_.threads());
  row.name = c.variant;
  row.backend = "cpu";
  row.describe(c);
  row.size = c.size;
  row.reads_only = c.reads_only;
  row.copy_us = copy_us();
  try {
    // The first run compiles users' code, which must not be timed.
    if (c.variant.starts_with("custom")) c.runner.cpu(cpu_, plane(in_), plane(out_));
    row.us = time_host([&] { c.runner.cpu(cpu_, plane(in_), plane(out_)); }, budget_us_,
                       options_.repeat);
  } catch (const std::exception &error) {
    row.error = error.what();
  }
  if (!on_one_core) return row;
  if (const auto *peer = std::get_if<OpenCv>(&c.peer)) {
    row.peer = "OpenCV";
    row.peer_us = opencv_us(plane(in_), plane(out_), *peer, options_);
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

TimeCase cpu_timer(const Options &options, int threads) {
  const double budget_us = options.quick || options.run_once ? 20e3 : 50e3;
  return [bench = std::make_shared<CpuBench>(options, threads, budget_us), threads](const Case &c) {
    return bench->time(c, threads == 1);
  };
}

void bench_cpu(const Options &options, Report &report) {
  const double budget_us = options.quick ? 40e3 : 120e3;
  const auto cases = cpu_cases(options);
  for (const int threads : {1, 0}) {
    CpuBench bench(options, threads, budget_us);
    const bool one = threads == 1;
    if (!one && bench.threads() == 1) break;
    report.heading("CPU: " + std::to_string(bench.threads()) + (one ? " core" : " cores"), false);
    for (const Case &c : cases)
      if (options.wants(c.name())) report.add(bench.time(c, one));
  }
}

}  // namespace cudascan::bench
