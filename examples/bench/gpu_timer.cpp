// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/gpu_timer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {
namespace {

/// A graph captured from a stream, ready to launch.
class Graph {
 public:
  /// Relaxed mode, because `work` does more than queueing (attributes, occupancy, allocations of a
  /// library), which other modes refuse as unsafe.
  Graph(cudaStream_t stream, const std::function<void()> &work) {
    BENCH_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph_);  // also fails if the capture was invalidated
      clean_up();
      throw;
    }
    const cudaError_t captured = cudaStreamEndCapture(stream, &graph_);
    const cudaError_t made =
        captured == cudaSuccess ? cudaGraphInstantiate(&exec_, graph_, 0) : captured;
    if (made == cudaSuccess) return;
    clean_up();
    check_cuda(made, captured == cudaSuccess ? "cudaGraphInstantiate" : "cudaStreamEndCapture");
  }
  ~Graph() { clean_up(); }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  void launch(cudaStream_t stream) const { BENCH_CUDA(cudaGraphLaunch(exec_, stream)); }

 private:
  void clean_up() {
    if (exec_) cudaGraphExecDestroy(exec_);
    if (graph_) cudaGraphDestroy(graph_);
    exec_ = nullptr;
    graph_ = nullptr;
    cudaGetLastError();
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

constexpr int kMaxPairs = 400;
constexpr double kGraphUs = 500;    // least duration of a replay, so that its start is negligible
constexpr double kLongUs = 5000;    // at this length the host's time for queueing is negligible
constexpr double kOnceUs = 200e3;   // longer work is measured once
constexpr double kFirstUs = 100e3;  // at this length, loading and allocating are negligible

}  // namespace

GpuTimer::GpuTimer(int repeat, bool quick, bool run_once)
    : repeat_(repeat), run_once_(run_once), budget_us_(quick ? 6e3 : 15e3) {
  int device = 0, l2 = 0;
  BENCH_CUDA(cudaGetDevice(&device));
  BENCH_CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
  cold_bytes_ = std::max(160e6, 2.0 * l2);
}

int GpuTimer::pairs(double bytes) const {
  return std::min(static_cast<int>(std::ceil(cold_bytes_ / bytes)) + 1, kMaxPairs);
}

bool GpuTimer::broken() const {
  return cudaStreamSynchronize(stream_.get()) != cudaSuccess;
}

double GpuTimer::between_events_us(const std::function<void()> &work, bool busy) {
  if (busy) work();
  begin_.record(stream_.get());
  work();
  end_.record(stream_.get());
  end_.synchronize();
  return end_.elapsed_ns(begin_) / 1e3;
}

double GpuTimer::median_us(const std::function<void()> &work, double estimate_us, double budget_us,
                           bool busy) {
  const int n =
      repeat_ > 0 ? repeat_ : static_cast<int>(std::clamp(budget_us / estimate_us, 3.0, 25.0));
  std::vector<double> times;
  for (int i = 0; i < n; ++i) times.push_back(between_events_us(work, busy));
  return median(std::move(times));
}

double GpuTimer::graph_us(const Queue &queue, int pairs, double estimate_us) {
  const int rounds = static_cast<int>(std::ceil(kGraphUs / (estimate_us * pairs)));
  const int n = std::clamp(rounds, 1, std::max(1, 1000 / pairs)) * pairs;
  const Graph graph(stream_.get(), [&] {
    for (int i = 0; i < n; ++i) queue(i % pairs);
  });
  const auto replay = [&] { graph.launch(stream_.get()); };
  replay();  // uploads the graph
  const double first_us = between_events_us(replay);
  return median_us(replay, first_us, budget_us_, first_us < kLongUs) / n;
}

double GpuTimer::plain_us(const Queue &queue, int pairs, double estimate_us) {
  const int n = static_cast<int>(std::clamp(kGraphUs / estimate_us, 1.0, 100.0));
  int next = 0;
  const auto work = [&] {
    for (int i = 0; i < n; ++i) queue(next++ % pairs);
  };
  return median_us(work, estimate_us * n, budget_us_, estimate_us * n < kLongUs) / n;
}

GpuTimer::Times GpuTimer::time(const Queue &queue, int pairs, bool cold_only) {
  const auto one = [&] { queue(0); };
  // The first run loads kernels and allocates scratch memory, which is not allowed in a capture.
  const double first_us = between_events_us(one);
  if (run_once_ && first_us > kFirstUs) return {first_us, first_us, kUnknown, first_us, false};
  const double estimate_us = std::max(between_events_us(one), 1.0);

  if (estimate_us > (cold_only ? kLongUs : kOnceUs))
    return {estimate_us, estimate_us, kUnknown, estimate_us, false};
  Times times{kUnknown, kUnknown, kUnknown, kUnknown, false};
  if (!cold_only) times.events_us = median_us(one, estimate_us, budget_us_ / 3);
  double work_us = cold_only ? estimate_us : times.events_us;
  try {
    const Graph graph(stream_.get(), one);
    const auto replay = [&] { graph.launch(stream_.get()); };
    replay();
    work_us =
        cold_only ? between_events_us(replay) : median_us(replay, estimate_us, budget_us_ / 3);
    times.graph = true;
    if (!cold_only) times.single_us = work_us;
  } catch (const Error &) {
    BENCH_CUDA(cudaStreamSynchronize(stream_.get()));
  }
  work_us = std::max(work_us, 1.0);
  const auto replays_us = [&](int over) {
    return times.graph ? graph_us(queue, over, work_us) : plain_us(queue, over, work_us);
  };
  // Only a few launches of work that takes milliseconds: caches do not matter there.
  times.cold_us = replays_us(static_cast<int>(std::clamp(100e3 / work_us, 1.0, double(pairs))));
  if (!cold_only) times.warm_us = replays_us(1);
  BENCH_CUDA(cudaStreamSynchronize(stream_.get()));
  return times;
}

}  // namespace cudascan::bench
