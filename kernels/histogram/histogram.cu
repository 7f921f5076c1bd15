// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/histogram.h"

#include "kernels/base/refuse.h"
#include "kernels/histogram/launch.cuh"

namespace cudascan {
namespace {

using namespace histogram;

template <typename T>
struct HistogramJob {
  CountJob<T> count;
  std::uint32_t *counts;
};

template <typename T, typename Counters>
__global__ void __launch_bounds__(Counters::kThreads, 1)
    count_kernel(const __grid_constant__ HistogramJob<T> job) {
  unsigned char *const memory = dynamic_shared_memory();
  Counters counters(memory, job.count.levels);
  BlockShare<T, Counters> share(job.count, memory + Counters::kBytes);
  copy_counts(count_image(job.count, counters, share, memory).counts, job.counts);
}

template <typename T>
void queue(Cuda &cuda, Plane<const T> in, const HistogramParams &p, std::uint32_t *counts) {
  check_rows("input", in);
  check_roi(p.roi, in.width, in.height);
  static const char key = 0;
  auto *const state =
      static_cast<State *>(cuda.history(&key, state_bytes<T>(cuda, Levels::of(in.maximum))));
  const HistogramJob<T> job{CountJob<T>(in, p, is_aligned(in, 16), state), counts};
  const auto choose = [&]<typename Counters>() { return count_kernel<T, Counters>; };
  launch_counting(cuda, job.count, choose, job);
}

template <typename T>
void count_any(Cuda &cuda, Plane<const T> in, const HistogramParams &p, Histogram &counts) {
  const int levels = Levels::of(in.maximum).count;
  const std::size_t bytes = levels * sizeof(std::uint32_t);
  auto *const device = static_cast<std::uint32_t *>(cuda.scratch(bytes));
  auto *const host = static_cast<std::uint32_t *>(cuda.report_memory(bytes));
  queue(cuda, in, p, device);
  cuda.fetch(host, device, bytes);
  cuda.on_complete([=, &counts] { counts.assign(host, host + levels); });
}

}  // namespace

void count(Cuda &cuda, Plane<const std::uint8_t> in, const HistogramParams &p, Histogram &counts) {
  count_any(cuda, in, p, counts);
}
void count(Cuda &cuda, Plane<const std::uint16_t> in, const HistogramParams &p, Histogram &counts) {
  count_any(cuda, in, p, counts);
}
void count_on_device(Cuda &cuda, Plane<const std::uint8_t> in, const HistogramParams &p,
                     std::uint32_t *counts) {
  queue(cuda, in, p, counts);
}
void count_on_device(Cuda &cuda, Plane<const std::uint16_t> in, const HistogramParams &p,
                     std::uint32_t *counts) {
  queue(cuda, in, p, counts);
}

}  // namespace cudascan
