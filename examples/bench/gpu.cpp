// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "bench/bench.h"
#include "bench/empty_kernel.h"
#include "bench/gpu_pairs.h"
#include "bench/gpu_timer.h"
#include "bench/npp.h"

namespace cudascan::bench {
namespace {

class Bench {
 public:
  Bench(const Options &options, Report &report)
      : options_(options),
        report_(report),
        timer_(options.repeat, options.quick),
        exec_(timer_.stream()),
        pairs_(options, timer_) {}

  void run() {
    print_device();
    report_.heading("CUDA: references of this run", true);
    references();
    peers();
    report_.heading("CUDA: operators", true);
    const auto cases = cuda_cases(options_);
    std::vector<double> times;
    for (const Case &c : cases) times.push_back(broken_ ? kUnknown : measure(c));
    print_spreads(cases, times);
  }

 private:
  static void print_device() {
    int device = 0;
    cudaDeviceProp properties{};
    BENCH_CUDA(cudaGetDevice(&device));
    BENCH_CUDA(cudaGetDeviceProperties(&properties, device));
    std::printf("%s, compute capability %d.%d, %d multiprocessors, L2 %d MB\n", properties.name,
                properties.major, properties.minor, properties.multiProcessorCount,
                properties.l2CacheSize >> 20);
  }

  bool wanted(const std::string &name) const {
    return options_.filter.empty() || name.find(options_.filter) != std::string::npos;
  }

  /// Measures one piece of work; what goes wrong is written into the row.
  Row time(const std::string &section, const std::string &name, Size size,
           const std::function<void(AnyPlane in, AnyPlane out)> &queue) {
    Row row;
    row.section = section;
    row.name = name;
    row.size = size;
    try {
      pairs_.prepare(size);
      const auto times =
          timer_.time([&](int i) { queue(pairs_.in(i), pairs_.out(i)); }, pairs_.count());
      row.us = times.cold_us;
      row.warm_us = times.warm_us;
      row.single_us = times.single_us;
      row.events_us = times.events_us;
      if (!times.graph) row.note = "no graph";
      if (!pairs_.cold() && size.pixels() > 1)
        row.note += row.note.empty() ? "not cold" : ", not cold";
    } catch (const std::exception &error) {
      row.error = error.what();
      broken_ = timer_.broken();
      if (broken_) row.error += "; the CUDA context is lost, the rest is skipped";
    }
    return row;
  }

  double copy_us(Size size) {
    const std::string key = size.name();
    if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
    const Row row = time("cuda", "copy", size, [&](AnyPlane in, AnyPlane out) {
      BENCH_CUDA(cudaMemcpyAsync(out.data, in.data, pairs_.plane_bytes(), cudaMemcpyDeviceToDevice,
                                 timer_.stream()));
    });
    report_.add(row);
    return copies_[key] = row.us;
  }

  void references() {
    report_.add(time("cuda", "empty kernel", {1, 1, 8}, [&](AnyPlane, AnyPlane) {
      BENCH_CUDA(launch_empty_kernel(timer_.stream()));
    }));
    for (const Case &c : cuda_cases(options_))
      if (!broken_ && wanted(full_name(c))) copy_us(c.size);
  }

  void peers() {
    if (broken_) return;
    std::string why;
    std::unique_ptr<Npp> npp;
    try {
      npp = Npp::load(timer_.stream(), why);
    } catch (const std::exception &error) {
      why = error.what();
    }
    if (!npp) {
      std::printf("(no rows of NPP: %s)\n", why.c_str());
      return;
    }
    report_.heading("CUDA: " + npp->origin(), true);
    const Size size{3840, 2160, 8};
    const auto add = [&](const std::string &name,
                         const std::function<void(AnyPlane in, AnyPlane out)> &queue) {
      Row row = time("npp", name, size, queue);
      row.copy_us = copy_us(size);
      report_.add(row);
      return row.us;
    };
    const auto cases = cuda_cases(options_);
    for (const Case &c : cases)
      if (!broken_ && c.peer == Peer::npp_adaptive && wanted(full_name(c)))
        npp_us_[c.peer_window] = add(
            "adaptive box threshold " + std::to_string(c.peer_window),
            [&](AnyPlane in, AnyPlane out) { npp->adaptive_threshold(in, out, c.peer_window); });
    if (options_.quick || !options_.filter.empty()) return;
    for (int window : {3, 15})
      if (!broken_ && npp->has_box())
        add("box filter " + std::to_string(window),
            [&](AnyPlane in, AnyPlane out) { npp->box(in, out, window); });
    if (!broken_ && npp->has_compare())
      add("compare with a constant",
          [&](AnyPlane in, AnyPlane out) { npp->compare(in, out, 128); });
  }

  static std::string full_name(const Case &c) {
    return c.op + " " + c.variant + ", " + c.size.name();
  }

  double measure(const Case &c) {
    if (!wanted(full_name(c))) return kUnknown;
    const double copy = copy_us(c.size);
    Row row = time("cuda", c.variant, c.size,
                   [&](AnyPlane in, AnyPlane out) { c.runner.cuda(exec_, in, out); });
    row.copy_us = copy;
    row.goal_us = c.cuda_goal_us;
    row.goal = goal_text(c.cuda_goal_us, "us");
    if (c.peer == Peer::npp_adaptive && npp_us_.contains(c.peer_window)) {
      row.peer = "NPP";
      row.peer_us = npp_us_[c.peer_window];
    }
    if (row.error.empty()) check_output(c, row);
    report_.add(row);
    return row.error.empty() ? row.us : kUnknown;
  }

  /// A result that is fast because it is not there is no result.
  void check_output(const Case &c, Row &row) {
    try {
      auto got = pairs_.download(pairs_.out(0));
      const std::size_t row_bytes = c.size.width * c.size.sample_bytes();
      const std::ptrdiff_t stride = pairs_.out(0).stride;
      const auto row_of = [&](const std::vector<std::uint8_t> &bytes, int y) {
        return bytes.begin() + stride * y;
      };
      if (c.two_valued)
        for (int y = 0; y < c.size.height; ++y)
          if (!std::all_of(row_of(got, y), row_of(got, y) + row_bytes,
                           [](std::uint8_t b) { return b == 0 || b == 255; })) {
            row.error = "row " + std::to_string(y) + " of the result is not black and white";
            return;
          }
      if (!options_.verify) return;
      auto in = pairs_.download(pairs_.in(0));
      std::vector<std::uint8_t> want(in.size());
      Cpu cpu;
      c.runner.cpu(cpu, pairs_.host_plane(in), pairs_.host_plane(want));
      for (int y = 0; y < c.size.height; ++y)
        if (!std::equal(row_of(got, y), row_of(got, y) + row_bytes, row_of(want, y))) {
          row.error = "row " + std::to_string(y) + " differs from the CPU's";
          return;
        }
      row.note += row.note.empty() ? "= CPU" : ", = CPU";
    } catch (const std::exception &error) {
      row.error = error.what();
      broken_ = timer_.broken();
    }
  }

  const Options &options_;
  Report &report_;
  GpuTimer timer_;
  Cuda exec_;
  Pairs pairs_;
  std::map<std::string, double> copies_;
  std::map<int, double> npp_us_;
  bool broken_ = false;
};

}  // namespace

bool bench_cuda(const Options &options, Report &report) {
  if (!Cuda::available()) {
    std::printf("(no CUDA rows: no CUDA device can be used here)\n");
    return false;
  }
  try {
    Bench(options, report).run();
    return true;
  } catch (const std::exception &error) {
    std::printf("(no more CUDA rows: %s)\n", error.what());
    return false;
  }
}

}  // namespace cudascan::bench
