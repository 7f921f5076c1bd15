// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/camera.h"

#include <algorithm>
#include <cstdio>

#include "bench/pipelines/measure.h"

namespace cudascan::bench {
namespace {

constexpr int kMostThreads = 4;
constexpr char kNothing[] = "identity";  // an element that does nothing

PipelineRow measure(const CameraTable &table, const std::string &chain, int threads) {
  PipelineRow row;
  row.table = "camera";
  row.name = chain;
  row.where = "system";
  row.backend = table.backend;
  row.size = {table.size.width, table.size.height, 8};
  row.fps_in = table.fps;
  row.threads = threads;
  Launch launch;
  launch.chain = chain;
  launch.width = table.size.width;
  launch.height = table.size.height;
  launch.fps = table.fps;
  launch.backend = table.backend;
  launch.threads = threads;
  try {
    const Live live = measure_live(launch, table.seconds, table.traced);
    row.frames = live.sent;
    row.dropped = live.dropped;
    row.latency = live.latency;
    row.sensor = live.sensor;
    row.cpu_us = live.cpu_us;
  } catch (const std::exception &error) {
    row.error = error.what();
  }
  return row;
}

void print(const PipelineRow &row) {
  if (!row.error.empty()) {
    std::printf(" not measured: %s\n", row.error.c_str());
    return;
  }
  for (const double us : {row.latency.p50, row.latency.p99, row.latency.max, row.added.p50,
                          row.added.p99, row.sensor.p50, row.sensor.p99, row.sensor.max})
    std::printf(" %8s", number(us / 1e3, 2).c_str());
  std::printf(" %8d\n", static_cast<int>(row.dropped));
}

}  // namespace

std::vector<PipelineRow> print_camera_table(const CameraTable &table) {
  const bool cpu = table.backend == "cpu";
  const int threads = cpu ? std::min(kMostThreads, this_machine().cores) : 0;
  std::vector<std::string> chains{kNothing};
  int width = 0;
  for (const Chain &chain : table.chains) {
    chains.push_back(chain.text);
    width = std::max(width, static_cast<int>(chain.text.size()));
  }
  std::printf(
      "\nA camera of %s at %d frames/s, system memory, %s: milliseconds from the source's push to "
      "the sink,\nby the latency tracer, what the elements add to them, and milliseconds from the "
      "frame's timestamp to the sink\n",
      table.size.name.c_str(), table.fps,
      cpu ? ("CPU with " + std::to_string(threads) + " threads").c_str() : "CUDA");
  std::printf("  %*s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", width, "", "50 %", "99 %", "most",
              "+ 50 %", "+ 99 %", "stamp 50", "99 %", "most", "dropped");
  std::vector<PipelineRow> rows;
  for (const std::string &chain : chains) {
    std::printf("  %-*s", width, chain == kNothing ? "no elements" : chain.c_str());
    std::fflush(stdout);
    PipelineRow row = measure(table, chain, threads);
    if (!rows.empty())
      row.added = {row.latency.p50 - rows[0].latency.p50, row.latency.p99 - rows[0].latency.p99};
    print(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cudascan::bench
