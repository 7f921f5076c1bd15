// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/suite.h"

#include <gst/gst.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <tuple>

#include "bench/pipelines/apart.h"
#include "bench/pipelines/camera.h"
#include "bench/pipelines/chains.h"
#include "bench/pipelines/link.h"
#include "bench/pipelines/measure.h"
#include "kernels/devices.h"

namespace cudascan::bench {
namespace {

/// Goal for all elements in a row in CUDAMemory: time over the sum of their kernels' times.
constexpr double kGoalOverKernels = 1.15;

constexpr char kSystem[] = "system", kCuda[] = "cudamemory", kKernel[] = "kernel";

class Suite {
 public:
  Suite(const SuiteSettings &settings, const OnRows &on_rows)
      : settings_(settings),
        on_rows_(on_rows),
        cuda_(settings.backend != "cpu" && Cuda::available()) {}

  std::vector<PipelineRow> run() {
    // The latency tracer cannot be turned off and costs time, so timed measurements come first.
    if (wants("pipelines"))
      for (const NamedSize &size : settings_.sizes) pipelines(size);
    on_rows_(rows_);
    if (wants("streams")) streams();
    if (wants("gpus")) gpus();
    if (wants("peers")) peers();
    on_rows_(rows_);
    latencies();
    if (wants("live")) live();
    if (wants("camera")) camera();
    on_rows_(rows_);
    drop_shared_contexts();
    return std::move(rows_);
  }

 private:
  bool wants(const std::string &table) const {
    return std::find(settings_.tables.begin(), settings_.tables.end(), table) !=
           settings_.tables.end();
  }

  std::vector<Chain> wanted_chains() const {
    if (!settings_.chain.empty()) return {{settings_.chain, {}}};
    std::vector<Chain> wanted;
    for (const Chain &chain : chains(settings_.quick))
      if (chain.text.find(settings_.filter) != std::string::npos) wanted.push_back(chain);
    return wanted;
  }
  /// The chain for streams and live feeding.
  Chain usual_chain() const {
    return settings_.chain.empty() ? longest_chain() : Chain{settings_.chain, {}};
  }

  Launch launch_of(const PipelineRow &row) const {
    Launch launch;
    launch.chain = row.name;
    if (row.queues) {
      Chain chain;
      chain.text = row.name;
      launch.chain = chain.with_queues();
    }
    launch.width = row.size.width;
    launch.height = row.size.height;
    if (row.size.depth == 16) launch.format = "GRAY16_LE";
    launch.backend = row.backend.empty() ? settings_.backend : row.backend;
    if (row.where == kCuda) launch.in = launch.out = kCudaMemory;
    if (!row.peer.empty()) launch.chain = row.peer;
    return launch;
  }
  Launch timed_launch_of(const PipelineRow &row) const {
    const Launch launch = launch_of(row);
    return row.where == kSystem ? read_behind_queue(launch) : launch;
  }

  PipelineRow row_of(const std::string &table, const Chain &chain, const char *where, Size size) {
    PipelineRow row;
    row.table = table;
    row.name = chain.text;
    row.where = where;
    row.size = size;
    row.backend = settings_.backend == "auto" ? "" : settings_.backend;
    return row;
  }

  /// Fills in the throughput. Foreign elements are measured in a process of their own.
  void time(PipelineRow &row) {
    try {
      const Throughput t = row.peer.empty() ? measure_throughput(timed_launch_of(row), row.streams,
                                                                 settings_.seconds, row.gpus)
                                            : measure_apart(launch_of(row), settings_.seconds);
      row.us = t.us;
      row.cpu_us = t.cpu_us;
      row.frames = t.frames;
      if (!t.backend.empty()) {
        row.backend = t.backend;
        row.syncs = t.syncs;
        row.throttled = t.throttled;
        row.peer_copies = t.peer_copies;
      }
    } catch (const std::exception &error) {
      row.error = error.what();
    }
  }

  static void heading(const std::string &title) {
    std::printf("\n%s\n%-22s %10s %10s %8s %10s %7s %9s\n", title.c_str(), "", "us/frame",
                "frames/s", "x floor", "CPU us", "syncs", "throttled");
  }

  void add(const PipelineRow &row, const std::string &label) {
    rows_.push_back(row);
    std::printf("  %-20s", label.c_str());
    if (row.error.empty()) {
      std::printf(" %10s %10s %8s %10s %7s %9s", time_text(row.us).c_str(),
                  number(1e6 / row.us, 1).c_str(), number(row.us / row.floor_us, 2).c_str(),
                  number(row.cpu_us, 0).c_str(), number(row.syncs, 2).c_str(),
                  number(row.throttled, 2).c_str());
      if (!std::isnan(row.goal_us))
        std::printf("  goal %.2f x the kernels: %s", row.goal_us / row.kernels_us,
                    row.us <= row.goal_us ? "reached" : "MISSED");
      if (!std::isnan(row.peer_us))
        std::printf("  %sx as fast as the peer", number(row.peer_us / row.us, 1).c_str());
    } else {
      std::printf(" not measured: %s", row.error.c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  KernelTimes kernels(const Chain &chain, Size size) {
    if (chain.kernels.empty()) return {};
    try {
      if (!kernels_) kernels_.emplace(cuda_, settings_.quick);
      return kernels_->time(chain, size);
    } catch (const std::exception &error) {
      std::printf("(the kernels were not measured: %s)\n", error.what());
      return {};
    }
  }

  void pipelines(const NamedSize &named) {
    const Size size{named.width, named.height, 8};
    heading(named.name + ", " + size.name());
    const std::size_t bytes = std::size_t(size.width) * size.height;
    const Link link = cuda_ ? measure_link(bytes) : Link{};
    print(link, bytes);
    for (const Chain &chain : wanted_chains()) {
      std::printf("%s\n", chain.text.c_str());
      const KernelTimes times = kernels(chain, size);
      if (!std::isnan(times.sum)) {
        PipelineRow row = row_of("pipelines", chain, kKernel, size);
        row.backend = cuda_ ? "cuda" : "cpu";
        row.us = row.kernels_us = row.floor_us = times.sum;
        row.chained_us = times.chained;
        add(row, "kernels, added up");
        if (chain.elements() > 1)
          std::printf("  %-20s %10s\n", "kernels in a row", time_text(times.chained).c_str());
      }
      const bool longest = chain.elements() == 5;
      if (cuda_ && settings_.chain.empty()) {
        PipelineRow row = row_of("pipelines", chain, kCuda, size);
        row.kernels_us = row.floor_us = times.sum;
        row.chained_us = times.chained;
        if (longest && size.width == 3840) row.goal_us = kGoalOverKernels * times.sum;
        PipelineRow queued = row;
        time(row);
        add(row, "CUDA memory");
        if (longest) {
          queued.queues = true;
          time(queued);
          add(queued, "the same, queues");
        }
      }
      PipelineRow row = row_of("pipelines", chain, kSystem, size);
      row.kernels_us = times.sum;
      row.chained_us = times.chained;
      row.link_us = link.both;
      row.floor_us = cuda_ ? std::fmax(times.sum, link.both) : times.sum;
      time(row);
      add(row, "system memory");
    }
  }

  void streams() {
    const NamedSize named = middle_size();
    const Chain chain = usual_chain();
    const Size size{named.width, named.height, 8};
    heading("Streams at once, " + named.name + ", times and frames of all together: " + chain.text);
    const double kernels_us = kernels(chain, size).sum;
    for (const char *where : {kCuda, kSystem}) {
      if (where == kCuda && (!cuda_ || !settings_.chain.empty())) continue;
      for (const int n : settings_.streams) {
        PipelineRow row = row_of("streams", chain, where, size);
        row.streams = n;
        row.kernels_us = row.floor_us = kernels_us;
        time(row);
        add(row, std::to_string(n) + (where == kCuda ? " in CUDA memory" : " in system memory"));
      }
    }
  }

  /// What more GPUs add, if each has pipelines of its own; and what a chain across two costs.
  void gpus() {
    const std::size_t most = cuda_ ? Devices::all().size() : 0;
    if (most < 2) {
      std::printf("\n(no table of several GPUs: fewer than two can be used)\n");
      return;
    }
    const NamedSize named = middle_size();
    const Chain chain = usual_chain();
    const Size size{named.width, named.height, 8};
    const double kernels_us = kernels(chain, size).sum;
    heading("Several GPUs, " + named.name + ", frames of all together: " + chain.text);
    for (const char *where : {kCuda, kSystem})
      for (const int on_each : {1, 4})
        for (std::size_t n = 1; n <= most; n = n < most ? std::min(2 * n, most) : n + 1) {
          PipelineRow row = row_of("gpus", chain, where, size);
          row.gpus = static_cast<int>(n);
          row.streams = on_each * row.gpus;
          row.kernels_us = kernels_us;
          row.floor_us = kernels_us / row.gpus;
          time(row);
          add(row, std::to_string(n) + " x " + std::to_string(on_each) + ", " + where);
        }
    for (const Spread &spread : chain.over_gpus()) {
      PipelineRow row = row_of("gpus", {spread.text, {}}, kCuda, size);
      row.kernels_us = row.floor_us = kernels_us;
      time(row);
      add(row, spread.label);
    }
  }

  void peers() {
    for (const NamedSize &named : settings_.sizes) {
      if (named.name != "1080p" && named.name != "4k" && settings_.sizes.size() > 1) continue;
      heading("Other elements that do the same, system memory, " + named.name);
      for (const ElementPeer &peer : element_peers()) {
        if (peer.name.find(settings_.filter) == std::string::npos) continue;
        if (!peer.is_installed()) {
          std::printf("  %s: no element %s; it comes with gstreamer1.0-opencv\n", peer.name.c_str(),
                      peer.element.c_str());
          continue;
        }
        PipelineRow theirs = row_of("peers", peer.chain, kSystem,
                                    {named.width, named.height, peer.format == "GRAY8" ? 8 : 16});
        theirs.name = peer.name;
        theirs.peer = peer.element;
        time(theirs);
        add(theirs, peer.element.substr(0, peer.element.find(' ')));
        for (const char *backend : {"cuda", "cpu"}) {
          if (backend == std::string("cuda") && !cuda_) continue;
          PipelineRow ours = row_of("peers", peer.chain, kSystem, theirs.size);
          ours.backend = backend;
          time(ours);
          ours.name = peer.name;
          ours.peer_us = theirs.us;
          add(ours, peer.name + ", " + backend);
        }
      }
    }
  }

  /// Latencies of every timed pipeline.
  void latencies() {
    const bool any = std::any_of(rows_.begin(), rows_.end(),
                                 [](const auto &row) { return row.table != "peers"; });
    if (!any && !wants("live") && !wants("camera")) return;
    const std::string why = start_latency_tracer();
    traced_ = why.empty();
    if (!traced_) {
      std::printf("\n(no latencies: %s)\n", why.c_str());
      return;
    }
    if (!any) return;
    std::printf(
        "\nLatency: microseconds from the source until the sink has the result, frames as fast as "
        "they "
        "go,\none at a time in each stream\n");
    std::printf("%-36s %10s %10s %10s %10s\n", "", "50 %", "95 %", "99 %", "most");
    std::string title;
    for (PipelineRow &row : rows_) {
      if (row.table == "peers" || row.where == kKernel || !row.error.empty() || row.queues)
        continue;
      if (const std::string text = row.size.name() + " " + row.name; text != title) {
        title = text;
        std::printf("%s\n", title.c_str());
      }
      const std::string label =
          std::string(row.where == kCuda ? "CUDA memory" : "system memory") +
          (row.table == "streams" || row.gpus > 0 ? ", " + std::to_string(row.streams) + " streams"
                                                  : "") +
          (row.gpus > 0 ? ", " + std::to_string(row.gpus) + " GPUs" : "");
      std::printf("  %-34s", label.c_str());
      try {
        row.latency = measure_latency(launch_of(row), row.streams, settings_.seconds / 2, row.gpus);
        print_latency(row.latency);
      } catch (const std::exception &error) {
        std::printf(" not measured: %s\n", error.what());
        row.error = std::string("latency: ") + error.what();
      }
      std::fflush(stdout);
    }
  }

  static void print_latency(const Latency &latency) {
    for (const double us : {latency.p50, latency.p95, latency.p99, latency.max})
      std::printf(" %10s", time_text(us).c_str());
    std::printf("\n");
  }

  void live() {
    const Chain chain = usual_chain();
    std::printf(
        "\nFed live, system memory, a queue that drops frames in front: %s\n%-18s %8s %8s %8s",
        chain.text.c_str(), "", "frames/s", "sent", "dropped");
    for (const char *share : {"50 %", "95 %", "99 %", "most us"}) std::printf(" %10s", share);
    std::printf("\n");
    for (const NamedSize &named : settings_.sizes)
      for (const int fps : settings_.rates) {
        PipelineRow row = row_of("live", chain, kSystem, {named.width, named.height, 8});
        row.fps_in = fps;
        std::printf("  %-16s %8d", named.name.c_str(), fps);
        std::fflush(stdout);
        try {
          Launch launch = launch_of(row);
          launch.fps = fps;
          const Live live = measure_live(launch, 3 * settings_.seconds, traced_);
          row.frames = live.sent;
          row.dropped = live.dropped;
          row.latency = live.latency;
          row.cpu_us = live.cpu_us;
          if (!live.backend.empty()) row.backend = live.backend;
          std::printf(" %8d %8d", static_cast<int>(live.sent), static_cast<int>(live.dropped));
          print_latency(live.latency);
        } catch (const std::exception &error) {
          row.error = error.what();
          std::printf(" not measured: %s\n", error.what());
        }
        rows_.push_back(row);
      }
  }

  void camera() {
    std::vector<const char *> backends;
    if (cuda_) backends.push_back("cuda");
    if (settings_.backend != "cuda") backends.push_back("cpu");
    const NamedSize size = middle_size();
    for (const char *backend : backends)
      for (const int fps : settings_.camera_rates) {
        CameraTable table;
        table.size = size;
        table.fps = fps;
        table.backend = backend;
        table.chains = settings_.chain.empty() ? camera_chains() : wanted_chains();
        table.seconds = 10 * settings_.seconds;
        table.traced = traced_;
        const std::vector<PipelineRow> rows = print_camera_table(table);
        rows_.insert(rows_.end(), rows.begin(), rows.end());
      }
  }

  /// 1080p if it is wanted.
  NamedSize middle_size() const {
    for (const NamedSize &size : settings_.sizes)
      if (size.name == "1080p") return size;
    return settings_.sizes.front();
  }

  const SuiteSettings &settings_;
  const OnRows &on_rows_;
  const bool cuda_;
  bool traced_ = false;
  std::optional<KernelTimer> kernels_;
  std::vector<PipelineRow> rows_;
};

}  // namespace

std::vector<PipelineRow> run_suite(const SuiteSettings &settings, const OnRows &on_rows) {
  return Suite(settings, on_rows).run();
}

}  // namespace cudascan::bench
