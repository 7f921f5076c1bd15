// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "bench/bench.h"
#include "bench/empty_kernel.h"
#include "bench/gpu_pairs.h"
#include "bench/gpu_timer.h"
#include "bench/line_mask.h"
#include "bench/npp.h"

namespace cudascan::bench {
namespace {

class Bench {
 public:
  /// @param cold_only  measure only with cold caches in a graph
  explicit Bench(const Options &options, bool cold_only = false)
      : options_(options),
        cold_only_(cold_only),
        timer_(options.repeat, options.quick || cold_only, options.run_once),
        exec_(timer_.stream()),
        pairs_(options_, timer_) {
    load_npp();
  }

  void run(Report &report) {
    print_device();
    report.heading("CUDA: references of this run", true);
    references(report);
    peers(report);
    report.heading("CUDA: operators", true);
    const auto cases = cuda_cases(options_);
    std::vector<double> times(cases.size(), kUnknown);
    for (std::size_t i = 0; i < cases.size() && !broken_; ++i) {
      if (!options_.wants(cases[i].name())) continue;
      const Row row = time(cases[i]);
      report.add(row);
      if (row.error.empty()) times[i] = row.us;
    }
    print_spreads(cases, times, report);
  }

  /// Measures a case, a copy of its plane, and NPP's equivalent.
  Row time(const Case &c) {
    const double copy_us = copy(c.size).us;
    Row row = time(
        "cuda", c.variant, c.size,
        [&](AnyPlane in, AnyPlane out) { c.runner.cuda(exec_, in, out); }, c.content, c.reads_only);
    row.describe(c);
    row.copy_us = copy_us;
    row.goal_us = c.cuda_goal_us;
    row.goal = goal_text(c.cuda_goal_us, "us");
    if (row.error.empty()) check_output(c, row);
    if (const auto *published = std::get_if<Published>(&c.peer)) {
      row.peer = published->where;
      row.peer_us = row.published_us = published->us;
      row.published = published->where;
    } else if (const Row *npp = npp_row(c)) {
      row.peer = "NPP";
      row.peer_us = npp->us;
    }
    return row;
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

  using QueuePlanes = std::function<void(AnyPlane in, AnyPlane out)>;

  /// Measures one piece of work; errors are written into the row.
  Row time(const std::string &section, const std::string &name, Size size, const QueuePlanes &queue,
           std::optional<Content> content = {}, bool reads_only = false) {
    Row row;
    row.section = section;
    row.name = name;
    row.backend = "cuda";
    row.size = size;
    row.reads_only = reads_only;
    if (broken_) {
      row.error = kLost;
      return row;
    }
    try {
      pairs_.prepare(size, content, reads_only);
      const auto times = timer_.time([&](int i) { queue(pairs_.in(i), pairs_.out(i)); },
                                     pairs_.count(), cold_only_);
      exec_.synchronize();  // fills in reports; they belong to the case
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
      if (broken_) row.error += std::string("; ") + kLost;
    }
    return row;
  }

  const Row &copy(Size size) {
    const std::string key = size.name();
    if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
    const Row row = time("cuda", "copy", size, [&](AnyPlane in, AnyPlane out) {
      BENCH_CUDA(cudaMemcpyAsync(out.data, in.data, pairs_.plane_bytes(), cudaMemcpyDeviceToDevice,
                                 timer_.stream()));
    });
    return copies_[key] = row;
  }

  void references(Report &report) {
    report.add(time("cuda", "empty kernel", {1, 1, 8},
                    [&](AnyPlane, AnyPlane) { BENCH_CUDA(launch_empty_kernel(timer_.stream())); }));
    for (const Case &c : cuda_cases(options_))
      if (!broken_ && options_.wants(c.name()) && !copies_.contains(c.size.name()))
        report.add(copy(c.size));
  }

  void load_npp() {
    try {
      npp_ = Npp::load(timer_.stream(), no_npp_);
    } catch (const std::exception &error) {
      no_npp_ = error.what();
    }
  }

  Row time_npp(const std::string &name, Size size, const QueuePlanes &queue,
               std::optional<Content> content = {}, bool reads_only = false) {
    const double copy_us = copy(size).us;
    Row row = time("npp", name, size, queue, content, reads_only);
    row.copy_us = copy_us;
    return row;
  }

  /// NPP's time for the case, which is measured only once; nullptr if NPP has no equivalent.
  const Row *npp_row(const Case &c) {
    if (const auto found = npp_rows_.find(c.name()); found != npp_rows_.end())
      return &found->second;
    if (!npp_has(c)) return nullptr;
    Row &row = npp_rows_[c.name()];
    if (const auto *adaptive = std::get_if<NppAdaptive>(&c.peer)) {
      row = time_npp(
          "adaptive box threshold " + std::to_string(adaptive->window), c.size,
          [&](AnyPlane in, AnyPlane out) { npp_->adaptive_threshold(in, out, adaptive->window); },
          c.content);
    } else if (const auto *line = std::get_if<NppLineOpening>(&c.peer)) {
      const LineMask mask = line_mask(line->length, line->angle);
      row = time_npp(
          "line " + c.variant, c.size,
          [&](AnyPlane in, AnyPlane out) { npp_->open(in, out, mask); }, c.content);
    } else if (const auto *window = std::get_if<NppWindow>(&c.peer)) {
      row = time_npp(
          c.variant, c.size, [&](AnyPlane in, AnyPlane out) { npp_->filter(in, out, *window); },
          c.content);
    } else if (const auto *luma = std::get_if<NppLuma>(&c.peer)) {
      row = time_npp(
          c.variant, c.size, [&](AnyPlane in, AnyPlane out) { npp_->luma(in, out, *luma); },
          c.content, true);
    } else {
      row = time_npp(
          c.variant, c.size, [&](AnyPlane in, AnyPlane out) { npp_->histogram(in, out); },
          c.content, true);
    }
    return &row;
  }
  bool npp_has(const Case &c) const {
    if (!npp_) return false;
    if (std::holds_alternative<NppHistogram>(c.peer)) return npp_->has_histogram();
    if (std::holds_alternative<NppLineOpening>(c.peer)) return npp_->has_morphology();
    if (const auto *window = std::get_if<NppWindow>(&c.peer))
      return npp_->has(*window, c.size.depth);
    if (const auto *luma = std::get_if<NppLuma>(&c.peer)) return npp_->has(*luma);
    return std::holds_alternative<NppAdaptive>(c.peer);
  }

  void peers(Report &report) {
    if (broken_) return;
    if (!npp_) {
      std::printf("(no rows of NPP: %s)\n", no_npp_.c_str());
      return;
    }
    report.heading("CUDA: " + npp_->origin(), true);
    for (const Case &c : cuda_cases(options_))
      if (!broken_ && options_.wants(c.name()))
        if (const Row *row = npp_row(c)) report.add(*row);
    if (options_.quick || !options_.filter.empty()) return;
    const Size size{3840, 2160, 8};
    for (int window : {3, 15})
      if (!broken_ && npp_->has_box())
        report.add(time_npp("box filter " + std::to_string(window), size,
                            [&](AnyPlane in, AnyPlane out) { npp_->box(in, out, window); }));
    if (!broken_ && npp_->has_compare())
      report.add(time_npp("compare with a constant", size,
                          [&](AnyPlane in, AnyPlane out) { npp_->compare(in, out, 128); }));
  }

  /// Checks that there is a result, as doing nothing is also fast.
  void check_output(const Case &c, Row &row) {
    try {
      if (!c.two_valued && !options_.verify) return;
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

  static constexpr char kLost[] = "the CUDA context is lost, the rest is skipped";

  const Options options_;
  const bool cold_only_;
  GpuTimer timer_;
  Cuda exec_;
  Pairs pairs_;
  std::unique_ptr<Npp> npp_;             // nullptr if NPP is not installed
  std::string no_npp_;                   // the reason
  std::map<std::string, Row> copies_;    // key: name of the size
  std::map<std::string, Row> npp_rows_;  // key: name of the case
  bool broken_ = false;
};

}  // namespace

bool bench_cuda(const Options &options, Report &report) {
  if (!Cuda::available()) {
    std::printf("(no CUDA rows: no CUDA device can be used here)\n");
    return false;
  }
  try {
    Bench(options).run(report);
    return true;
  } catch (const std::exception &error) {
    std::printf("(no more CUDA rows: %s)\n", error.what());
    return false;
  }
}

void describe_gpu(Machine &machine) {
  int device = 0, driver = 0, runtime = 0;
  cudaDeviceProp properties{};
  if (!Cuda::available() || cudaGetDevice(&device) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return;
  machine.gpu = properties.name;
  const auto version = [](int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  };
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) machine.cuda = version(runtime);
  // The driver's own version, or else the CUDA version it supports.
  std::ifstream file("/sys/module/nvidia/version");
  if (std::getline(file, machine.driver)) return;
  if (cudaDriverGetVersion(&driver) == cudaSuccess) machine.driver = "CUDA " + version(driver);
}

TimeCase cuda_timer(const Options &options) {
  try {
    return
        [bench = std::make_shared<Bench>(options, true)](const Case &c) { return bench->time(c); };
  } catch (const std::exception &error) {
    std::printf("(no CUDA: %s)\n", error.what());
    return {};
  }
}

}  // namespace cudascan::bench
