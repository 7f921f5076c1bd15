// SPDX-License-Identifier: LGPL-2.1-or-later
// One launch: histogram_kernel.cuh counts, then each block finds the threshold for itself, by a team of
// its threads (with 65536 levels all blocks are one team), and paints its share.
#include "kernels/autothreshold.h"

#include "kernels/autothreshold_baseline.cuh"
#include "kernels/autothreshold_decision.h"
#include "kernels/histogram_launch.cuh"
#include "kernels/threshold_methods.h"

namespace cudascan {
namespace {

using namespace autothreshold;
using histogram::CountJob;
using histogram::HalfCounters;
using histogram::Place;
using histogram::Share;
using histogram::Vectors;

/// What goes to the report.
struct Found {
  int thresholds[kMaxClasses - 1];  // as applied
};

template <typename T, typename Out>
struct Job {
  CountJob<T> count;
  Vectors<Out> out;
  AutothresholdMethod method;
  int classes;
  bool apply;
  Settings settings;
  unsigned values[kMaxClasses];  // that the classes are painted with
  History *history;              // two that take turns
  unsigned char *team_values;    // of the GridTeam
  Found *found;
  std::uint32_t *report_counts;  // where the histogram is wanted
};

/// The thresholds that the method finds, without history and offset.
template <typename Counters, typename T, typename Out>
__device__ void find_thresholds(const Job<T, Out> &job, const std::uint32_t *counts,
                                unsigned char *memory, int (&thresholds)[kMaxClasses - 1]) {
  const int levels = job.count.levels.count;
  const bool small = threshold::is_small(job.method, job.classes);
  auto &team_memory = *reinterpret_cast<BlockTeamMemory *>(memory);
  if constexpr (std::is_same_v<Counters, HalfCounters>)
    if (!small) {
      GridTeam team(counts, levels, team_memory, &job.count.state->barrier, job.team_values);
      thresholds[0] = threshold::find(team, job.method);
      return;
    }
  const int each = small ? levels_per_step(levels) : 1, n = small ? steps_of(levels) : levels;
  auto *const own_counts = reinterpret_cast<std::uint32_t *>(memory + sizeof(BlockTeamMemory));
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    std::uint32_t sum = 0;
    for (int k = i * each; k < min((i + 1) * each, levels); ++k) sum += counts[k];
    own_counts[i] = sum;
  }
  __syncthreads();
  BlockTeam team(own_counts, n, team_memory);
  if (job.classes > 2)
    threshold::find_classes(team, job.classes, thresholds);
  else
    thresholds[0] =
        small ? threshold::find_small(team, job.method) : threshold::find(team, job.method);
  if (small)
    for (int i = 0; i < job.classes - 1; ++i) thresholds[i] = last_level(thresholds[i], levels);
}

/// The samples of a word that are at or above `from`, as all bits of these samples.
template <typename T>
__device__ unsigned from_on(unsigned word, int from) {
  if constexpr (sizeof(T) == 1)
    return from > 0xff ? 0 : __vcmpgeu4(word, from * 0x01010101u);
  else
    return from > 0xffff ? 0 : __vcmpgeu2(word, from * 0x00010001u);
}

template <typename T, typename Out, typename Counters>
__global__ void __launch_bounds__(Counters::kThreads, 1)
    autothreshold_kernel(const __grid_constant__ Job<T, Out> job) {
  unsigned char *const memory = dynamic_shared_memory();
  Counters counters(memory, job.count.levels);
  Share<T, Counters> share(job.count);
  const unsigned launch = count_image(job.count, counters, share);
  const Levels levels = job.count.levels;
  const std::uint32_t *const counts = job.count.state->counts(launch, levels.count);

  int thresholds[kMaxClasses - 1]{};
  find_thresholds<Counters>(job, counts, memory, thresholds);
  if (job.classes == 2) {
    History after;
    thresholds[0] = step(job.history[launch % 2], thresholds[0], job.settings, after);
    if (blockIdx.x == 0 && threadIdx.x == 0) job.history[(launch + 1) % 2] = after;
  } else {
    for (int &threshold : thresholds) threshold = with_offset(threshold, job.settings);
  }
  if (job.report_counts) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
         i < static_cast<unsigned>(levels.count); i += gridDim.x * blockDim.x)
      job.report_counts[i] = counts[i];
    if (blockIdx.x == 0 && threadIdx.x == 0)
      for (int i = 0; i < kMaxClasses - 1; ++i) job.found->thresholds[i] = thresholds[i];
  }

  constexpr unsigned kRepeat = sizeof(T) == 1 ? 0x01010101 : 0x00010001;
  unsigned values[kMaxClasses];
  int from[kMaxClasses];
#pragma unroll
  for (int i = 0; i < kMaxClasses; ++i) {
    values[i] = job.values[i] * kRepeat;
    from[i] = i == 0 ? 0 : last_sample_below(thresholds[i - 1], levels) + 1;
  }
  const auto paint = [&](unsigned word) {
    unsigned result = values[0];
#pragma unroll
    for (int i = 1; i < kMaxClasses; ++i) {
      if (i == job.classes) break;
      const unsigned above = from_on<T>(word, from[i]);
      result = (result & ~above) | (values[i] & above);
    }
    return result;
  };
  share.for_each([&](const Place &place, uint4 v) {
    if (job.apply) v = {paint(v.x), paint(v.y), paint(v.z), paint(v.w)};
    if constexpr (sizeof(T) == sizeof(Out))
      job.out.store(place, v);
    else
      job.out.store_half(place, {__byte_perm(v.x, v.y, 0x6420), __byte_perm(v.z, v.w, 0x6420)});
  });
}

template <typename T, typename Out>
void run_any(Cuda &cuda, Plane<const T> in, Plane<Out> out, const AutothresholdParams &p,
             AutothresholdReport *report) {
  check_call(p, in, out);
  Job<T, Out> job{};
  const Levels levels = Levels::of(in.maximum);
  const std::size_t state_bytes = histogram::State::bytes(levels.count);
  static const char key = 0;
  auto *const state =
      static_cast<unsigned char *>(cuda.history(&key, state_bytes + 2 * sizeof(History)));
  job.count = CountJob<T>(in, {p.roi, p.ignore_black, p.ignore_white},
                          reinterpret_cast<histogram::State *>(state));
  job.out = Vectors<Out>(out);
  job.method = p.method;
  job.classes = p.classes;
  job.apply = p.apply;
  job.settings = make_settings(p, levels.count);
  for (int i = 0; i < p.classes; ++i)
    job.values[i] = value_of_class(i, p.classes, p.invert, out.maximum);
  job.history = reinterpret_cast<History *>(state + state_bytes);

  static const char found_key = 0;
  job.found = static_cast<Found *>(
      cuda.history(&found_key, sizeof(Found) + levels.count * sizeof(std::uint32_t)));
  auto *const found_counts = reinterpret_cast<std::uint32_t *>(job.found + 1);
  if (report) job.report_counts = found_counts;

  if (p.algorithm == AutothresholdAlgorithm::prahara) {
    if constexpr (sizeof(T) == 1 && sizeof(Out) == 1) {
      threshold::run_prahara(cuda, in, out, p, job.found->thresholds, found_counts);
    }
  } else {
    job.team_values =
        static_cast<unsigned char *>(cuda.scratch(GridTeam::bytes(cuda.multiprocessors())));
    const auto choose = [&]<typename Counters>() { return autothreshold_kernel<T, Out, Counters>; };
    histogram::launch_for_levels(cuda, job.count, choose, job);
  }
  if (report) {
    const std::size_t bytes = sizeof(Found) + levels.count * sizeof(std::uint32_t);
    auto *const host = static_cast<unsigned char *>(cuda.report_memory(bytes));
    CUDA_CHECK(cudaMemcpyAsync(host, job.found, bytes, cudaMemcpyDeviceToHost, cuda.stream()));
    cuda.on_complete([=, classes = p.classes] {
      const auto *const found = reinterpret_cast<const Found *>(host);
      const auto *const counts = reinterpret_cast<const std::uint32_t *>(found + 1);
      fill_report(Histogram(counts, counts + levels.count), found->thresholds, classes, *report);
    });
  }
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const AutothresholdParams &p, AutothresholdReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const AutothresholdParams &p, AutothresholdReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const AutothresholdParams &p, AutothresholdReport *report) {
  run_any(cuda, in, out, p, report);
}

}  // namespace cudascan
