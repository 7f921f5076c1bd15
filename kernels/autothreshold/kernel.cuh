// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One launch: histogram/kernel.cuh counts, then each block finds the threshold with a team of its
/// threads and paints its share. With 65536 levels all blocks are one team; blocks also share large
/// amounts of work.
#pragma once
#include "kernels/autothreshold.h"
#include "kernels/autothreshold/decision.h"
#include "kernels/autothreshold/methods.h"
#include "kernels/histogram/grid_team.cuh"
#include "kernels/histogram/launch.cuh"
#include "kernels/histogram/sharing_team.cuh"

namespace cudascan::autothreshold {

using histogram::BlockShare;
using histogram::CountJob;
using histogram::VectorPlace;

/// The result for the report.
struct Found {
  int thresholds[kMaxClasses - 1];  // as applied
};

template <typename T>
struct ThresholdJob {
  CountJob<T> count;
  Plane<T> out;                    // or
  Plane<std::uint8_t> narrow_out;  // for 16-bit samples, if `narrow`
  bool narrow;
  AutothresholdMethod method;
  int classes;
  bool apply;
  Settings settings;
  unsigned values[kMaxClasses];  // of the painted classes
  ThresholdHistory *history;     // two that take turns
  unsigned char *team_values;    // of the GridTeam
  SharingTeam::Mail *mail;       // of the SharingTeam
  Found *found;
  std::uint32_t *report_counts;  // if the histogram is wanted
};

/// The thresholds that the method finds, without history and offset.
/// @tparam small  threshold::is_small(): each kernel has only the code of its own kind of methods
template <typename Counters, bool small, typename T>
__device__ void find_thresholds(const ThresholdJob<T> &job, histogram::Head &head,
                                unsigned char *memory, int (&thresholds)[kMaxClasses - 1]) {
  const int levels = job.count.levels.count;
  auto &team_memory = *reinterpret_cast<BlockTeamMemory *>(memory);
  if constexpr (Counters::kMany && !small) {
    GridTeam team(head.counts.copies, levels, team_memory, head.barrier, job.team_values);
    thresholds[0] = threshold::find(team, job.method);
    return;
  }
  const int each = small ? levels_per_step(levels) : 1, n = small ? steps_of(levels) : levels;
  auto *const own_counts = reinterpret_cast<std::uint32_t *>(memory + sizeof(BlockTeamMemory));
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    std::uint32_t sum = 0;
    for (int k = i * each; k < min((i + 1) * each, levels); ++k) sum += head.counts[k];
    own_counts[i] = sum;
  }
  __syncthreads();
  if constexpr (small) {
    static_assert(Counters::kThreads * SharingTeam::kMostLevels >= kSmallLevels);
    SharingTeam team(own_counts, n, team_memory, *job.mail, head.launch);
    if (job.classes > 2)
      threshold::find_classes(team, job.classes, thresholds);
    else
      thresholds[0] = threshold::find_small(team, job.method);
    for (int i = 0; i < job.classes - 1; ++i) thresholds[i] = last_level(thresholds[i], levels);
  } else {
    BlockTeam team(own_counts, n, team_memory);
    thresholds[0] = threshold::find(team, job.method);
  }
}

/// A mask with all bits set in the samples of a word that are at or above `from`.
template <typename T>
__device__ unsigned from_on(unsigned word, int from) {
  if constexpr (sizeof(T) == 1)
    return from > 0xff ? 0 : __vcmpgeu4(word, from * 0x01010101u);
  else
    return from > 0xffff ? 0 : __vcmpgeu2(word, from * 0x00010001u);
}

template <typename T, typename Counters, bool small>
__global__ void __launch_bounds__(Counters::kThreads, 1)
    autothreshold_kernel(const __grid_constant__ ThresholdJob<T> job) {
  unsigned char *const memory = dynamic_shared_memory();
  Counters counters(memory, job.count.levels);
  BlockShare<T, Counters> share(job.count, memory + Counters::kBytes);
  histogram::Head head = count_image(job.count, counters, share, memory);
  const Levels levels = job.count.levels;

  int thresholds[kMaxClasses - 1]{};
  find_thresholds<Counters, small>(job, head, memory, thresholds);
  if (job.classes == 2) {
    ThresholdHistory after;
    thresholds[0] = step(job.history[head.launch % 2], thresholds[0], job.settings, after);
    if (blockIdx.x == 0 && threadIdx.x == 0) job.history[(head.launch + 1) % 2] = after;
  } else {
    for (int &threshold : thresholds) threshold = with_offset(threshold, job.settings);
    if (blockIdx.x == 0 && threadIdx.x == 0)  // keeps the history for the next frame of two classes
      job.history[(head.launch + 1) % 2] = job.history[head.launch % 2];
  }
  if (job.report_counts) {
    copy_counts(head.counts, job.report_counts);
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
      if ((!small && i == 2) || i == job.classes) break;
      const unsigned above = from_on<T>(word, from[i]);
      result = (result & ~above) | (values[i] & above);
    }
    return result;
  };
  share.for_each([&](const VectorPlace &place, uint4 v) {
    if (job.apply) v = {paint(v.x), paint(v.y), paint(v.z), paint(v.w)};
    if (sizeof(T) == 1 || !job.narrow)
      store(job.out, place, v);
    else
      store_half(job.narrow_out, place,
                 {__byte_perm(v.x, v.y, 0x6420), __byte_perm(v.z, v.w, 0x6420)});
  });
}

/// Queues the kernel with the counters that suit the number of levels.
template <typename T>
void queue(Cuda &cuda, const ThresholdJob<T> &job) {
  const bool small = threshold::is_small(job.method, job.classes);
  const auto choose = [&]<typename Counters>() {
    return small ? autothreshold_kernel<T, Counters, true>
                 : autothreshold_kernel<T, Counters, false>;
  };
  const bool shared = threshold::is_shared(job.method, job.classes);
  histogram::launch_counting(cuda, job.count, choose, job, shared ? kSmallLevels / 2 : 1);
}
extern template void queue(Cuda &, const ThresholdJob<std::uint8_t> &);
extern template void queue(Cuda &, const ThresholdJob<std::uint16_t> &);

}  // namespace cudascan::autothreshold
