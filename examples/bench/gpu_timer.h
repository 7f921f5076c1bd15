// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times work on a GPU as it costs in a pipeline: many runs are captured into one CUDA graph, so
/// that gaps between the host's launches do not count.
#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <string>

#include "common/error.h"
#include "kernels/cuda_resources.h"

namespace cudascan::bench {

inline void check_cuda(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that a later check does not report this error again
  throw Error(std::string(cudaGetErrorString(error)) + " (in " + what + ")");
}
#define BENCH_CUDA(call) ::cudascan::bench::check_cuda((call), #call)

/// Queues run number `pair` on its own pair of buffers.
using Queue = std::function<void(int pair)>;

class GpuTimer {
 public:
  /// @param repeat  number of measurements, whose median is the result; 0 = as many as fit
  /// @param run_once  if the first run is very slow, its time is the result
  GpuTimer(int repeat, bool quick, bool run_once = false);

  cudaStream_t stream() const { return stream_.get(); }

  /// Number of buffer pairs of `bytes` bytes (in and out together) that cold runs rotate over.
  int pairs(double bytes) const;
  /// Whether this number of pairs flushes the caches between two uses of a pair. It does not for
  /// very small images, as the number of pairs is limited.
  bool is_cold(double bytes, int pairs) const { return bytes * (pairs - 1) >= cold_bytes_; }

  struct Times {
    double cold_us;    ///< one run of a graph that rotates over all pairs
    double warm_us;    ///< one run of a graph that uses the first pair only
    double single_us;  ///< a graph of one run, from event to event
    double events_us;  ///< one run without a graph, from event to event
    bool graph;        ///< false: the work cannot be captured; cold and warm use plain launches
  };

  /// @param cold_only  the other times may be NaN
  /// @throws Error when CUDA fails; the timer can be used again unless the context is broken
  Times time(const Queue &queue, int pairs, bool cold_only = false);

  /// Whether the context has failed permanently, for instance by an invalid address.
  bool broken() const;

 private:
  /// @param busy  queue the work once before, so that the GPU is busy while the host queues and
  ///              only the GPU's time counts
  double between_events_us(const std::function<void()> &work, bool busy = false);
  double median_us(const std::function<void()> &work, double estimate_us, double budget_us,
                   bool busy = false);
  double graph_us(const Queue &queue, int pairs, double estimate_us);
  double plain_us(const Queue &queue, int pairs, double estimate_us);

  cuda::Stream stream_;
  cuda::Event begin_{true}, end_{true};
  /// Bytes that must be accessed between two uses of a buffer, so that it has left all caches.
  double cold_bytes_;
  int repeat_;
  bool run_once_;
  double budget_us_;
};

}  // namespace cudascan::bench
