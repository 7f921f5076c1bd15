// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

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

  using QueuePlanes = std::function<void(AnyPlane in, AnyPlane out)>;

  /// Measures one piece of work; what goes wrong is written into the row.
  Row time(const std::string &section, const std::string &name, Size size, const QueuePlanes &queue,
           std::optional<Content> content = {}, bool reads_only = false) {
    Row row;
    row.section = section;
    row.name = name;
    row.size = size;
    row.reads_only = reads_only;
    try {
      pairs_.prepare(size, content, reads_only);
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
      if (!broken_ && wanted(c.name())) copy_us(c.size);
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
    const auto add = [&](const std::string &name, Size size, const QueuePlanes &queue,
                         std::optional<Content> content = {}, bool reads_only = false) {
      Row row = time("npp", name, size, queue, content, reads_only);
      row.copy_us = copy_us(size);
      report_.add(row);
      return row.us;
    };
    for (const Case &c : cuda_cases(options_)) {
      if (broken_ || !wanted(c.name())) continue;
      if (const auto *adaptive = std::get_if<NppAdaptive>(&c.peer)) {
        const int window = adaptive->window;
        npp_us_[c.name()] = add(
            "adaptive box threshold " + std::to_string(window), c.size,
            [&](AnyPlane in, AnyPlane out) { npp->adaptive_threshold(in, out, window); },
            c.content);
      } else if (std::holds_alternative<NppHistogram>(c.peer) && npp->has_histogram()) {
        npp_us_[c.name()] = add(
            c.variant, c.size, [&](AnyPlane in, AnyPlane out) { npp->histogram(in, out); },
            c.content, true);
      }
    }
    if (options_.quick || !options_.filter.empty()) return;
    const Size size{3840, 2160, 8};
    for (int window : {3, 15})
      if (!broken_ && npp->has_box())
        add("box filter " + std::to_string(window), size,
            [&](AnyPlane in, AnyPlane out) { npp->box(in, out, window); });
    if (!broken_ && npp->has_compare())
      add("compare with a constant", size,
          [&](AnyPlane in, AnyPlane out) { npp->compare(in, out, 128); });
  }

  double measure(const Case &c) {
    if (!wanted(c.name())) return kUnknown;
    const double copy = copy_us(c.size);
    Row row = time(
        "cuda", c.variant, c.size,
        [&](AnyPlane in, AnyPlane out) { c.runner.cuda(exec_, in, out); }, c.content, c.reads_only);
    row.copy_us = copy;
    row.goal_us = c.cuda_goal_us;
    row.goal = goal_text(c.cuda_goal_us, "us");
    if (const auto *published = std::get_if<Published>(&c.peer)) {
      row.peer = published->where;
      row.peer_us = published->us;
    } else if (npp_us_.contains(c.name())) {
      row.peer = "NPP";
      row.peer_us = npp_us_[c.name()];
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
      std::vector<std::uint8_t> want(in.size(), kPoison);
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
  std::map<std::string, double> npp_us_;  // by the name of the case
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
