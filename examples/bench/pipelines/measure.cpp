// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

namespace cudascan::bench {
namespace {

constexpr double kPatience = 20;  ///< seconds for a first frame, and for the last of a live stream
constexpr double kWarmUp = 0.25;  ///< seconds at most after the first frame

double process_cpu_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

void sleep(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Streams that run at the same time. All of them pause before any of them ends: the driver frees
/// memory only when the GPU is idle, and it never is while others run at full speed.
class Pipelines : public std::vector<std::unique_ptr<Pipeline>> {
 public:
  Pipelines() = default;
  Pipelines(Pipelines &&) = default;
  ~Pipelines() {
    for (const auto &pipeline : *this) pipeline->rest();
  }
};

/// Watches all pipelines until `enough` or for so many seconds.
/// @return whether `enough` was reached
template <typename Enough>
bool watch(const Pipelines &pipelines, double seconds, Enough enough) {
  const double end = now_us() + seconds * 1e6;
  for (;;) {
    for (const auto &pipeline : pipelines)
      if (pipeline->check()) throw Error("the stream ended");
    if (enough()) return true;
    const double left = end - now_us();
    if (left <= 0) return false;
    sleep(std::min(left / 1e6, 0.01));
  }
}

/// Starts so many pipelines and waits until each has warmed up. Several pipelines start running
/// together, after one frame each: pipelines at full speed would keep the driver busy for minutes
/// while the others are being set up.
Pipelines start(Launch launch, int streams, int gpus) {
  Pipelines pipelines;
  const auto all = [&](std::uint64_t frames) {
    return std::all_of(pipelines.begin(), pipelines.end(),
                       [&](const auto &pipeline) { return pipeline->frames() >= frames; });
  };
  const auto wait_for_first = [&] {
    if (!watch(pipelines, kPatience, [&] { return all(1); }))
      throw Error("no frame arrived in " + number(kPatience, 0) + " seconds");
  };
  for (int i = 0; i < streams; ++i) {
    if (gpus > 0) launch.gpu = i % gpus;
    pipelines.push_back(std::make_unique<Pipeline>(launch));
    if (streams == 1) break;
    pipelines.back()->pause();
    wait_for_first();  // the first pipeline of a GPU makes the context that the others share
  }
  for (const auto &pipeline : pipelines) pipeline->play();
  wait_for_first();
  watch(pipelines, kWarmUp, [&] { return all(20); });
  return pipelines;
}

std::uint64_t frames_of(const Pipelines &pipelines) {
  std::uint64_t frames = 0;
  for (const auto &pipeline : pipelines) frames += pipeline->frames();
  return frames;
}

Counts counts_of(const Pipelines &pipelines) {
  Counts sum;
  for (const auto &pipeline : pipelines) {
    const Counts counts = pipeline->counts();
    sum.host_synchronisations += counts.host_synchronisations;
    sum.throttled += counts.throttled;
    sum.peer_copies += counts.peer_copies;
  }
  return sum;
}

/// Continues for `seconds`, or for longer if there are few frames by then.
void run(const Pipelines &pipelines, double seconds) {
  const std::uint64_t frames = frames_of(pipelines);
  watch(pipelines, seconds, [] { return false; });
  watch(pipelines, kPatience, [&] { return frames_of(pipelines) >= frames + 3; });
}

/// Median of the mean time between two arrivals in each of a few parts of the run.
double time_of_frame(const Pipelines &pipelines, double begin) {
  std::vector<double> times;
  for (const auto &pipeline : pipelines)
    for (const Arrival &arrival : pipeline->arrivals()) times.push_back(arrival.us);
  std::sort(times.begin(), times.end());
  if (times.empty()) throw Error("no frame arrived while measuring");
  if (times.size() == 1) return times[0] - begin;
  constexpr std::size_t kParts = 7;
  const std::size_t intervals = times.size() - 1, parts = std::min(kParts, intervals);
  std::vector<double> means;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t first = intervals * i / parts, last = intervals * (i + 1) / parts;
    means.push_back((times[last] - times[first]) / static_cast<double>(last - first));
  }
  return median(std::move(means));
}

}  // namespace

Throughput measure_throughput(const Launch &launch, int streams, double seconds, int gpus) {
  const Pipelines pipelines = start(launch, streams, gpus);
  for (const auto &pipeline : pipelines) pipeline->clear();
  const double begin = now_us(), cpu_begin = process_cpu_us();
  const Counts counts_begin = counts_of(pipelines);
  const std::uint64_t frames_begin = frames_of(pipelines);
  run(pipelines, seconds);
  const double cpu = process_cpu_us() - cpu_begin;
  const Counts counts = counts_of(pipelines);
  const std::uint64_t frames = frames_of(pipelines) - frames_begin;

  Throughput result;
  result.us = time_of_frame(pipelines, begin);
  result.frames = frames;
  const auto per_frame = [&](double sum) { return sum / static_cast<double>(frames); };
  result.cpu_us = per_frame(cpu);
  result.syncs = per_frame(counts.host_synchronisations - counts_begin.host_synchronisations);
  result.throttled = per_frame(counts.throttled - counts_begin.throttled);
  result.peer_copies = per_frame(counts.peer_copies - counts_begin.peer_copies);
  result.backend = pipelines[0]->backend();
  result.memory = pipelines[0]->memory();
  if (pipelines[0]->unreadable()) throw Error("the results could not be mapped");
  result.stats = pipelines[0]->stats();
  return result;
}

Latency measure_latency(Launch launch, int streams, double seconds, int gpus) {
  launch.map = true;
  std::vector<double> latencies;
  {
    const Pipelines pipelines = start(launch, streams, gpus);
    clear_latencies();
    run(pipelines, seconds);
    latencies = take_latencies();
  }
  if (latencies.empty()) throw Error("the tracer reported no latency");
  return latency_of(std::move(latencies));
}

Live measure_live(Launch launch, double seconds, bool traced) {
  // Contexts, kernels and pools make the first frames slower than all others.
  const auto warm_up = static_cast<std::uint64_t>(launch.fps * 0.5 + 1);
  launch.chain = std::string(kLeakyQueue) + " ! " + launch.chain;
  launch.map = true;
  launch.source.live = true;
  launch.source.frames = warm_up + static_cast<std::uint64_t>(std::max(1., launch.fps * seconds));

  Pipeline pipeline(launch);
  pipeline.play();
  const double end = now_us() + (seconds + 0.5 + kPatience) * 1e6;
  double cpu_begin = kUnknown;
  while (!pipeline.check()) {
    if (now_us() > end) throw Error("the live stream did not end");
    const auto arrivals = pipeline.arrivals();
    if (std::isnan(cpu_begin) && !arrivals.empty() && arrivals.back().frame >= warm_up) {
      cpu_begin = process_cpu_us();
      clear_latencies();
    }
    sleep(0.005);
  }
  Live live;
  live.sent = launch.source.frames - warm_up;
  live.cpu_us = (process_cpu_us() - cpu_begin) / static_cast<double>(live.sent);
  const auto arrivals = pipeline.arrivals();
  std::vector<double> sensor;
  for (const Arrival &arrival : arrivals)
    if (arrival.frame >= warm_up) sensor.push_back(arrival.sensor_us);
  live.dropped = live.sent - sensor.size();
  if (!sensor.empty()) live.sensor = latency_of(std::move(sensor));
  live.backend = pipeline.backend();
  auto latencies = take_latencies();
  if (traced && !latencies.empty()) live.latency = latency_of(std::move(latencies));
  return live;
}

}  // namespace cudascan::bench
