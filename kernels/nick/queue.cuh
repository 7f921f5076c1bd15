// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Queues the local thresholds of one image; each sample type is compiled in its own file.
#pragma once
#include "kernels/base/cuda_check.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/nick/decisions.cuh"
#include "kernels/nick/surface.cuh"
#include "kernels/nick/wolf.cuh"

namespace cudascan::nick {

template <NickMethod method, typename SumS, typename SumQ, typename T, typename Out>
void queue(Cuda &cuda, NickJob<T> job, Plane<const T> in, Plane<Out> out, const NickParams &params,
           NickReport *report) {
  constexpr bool wolf = method == NickMethod::wolf;
  const windowsums::RowShape shape =
      windowsums::Planner<true, T>(cuda, in, job, wolf ? sizeof(WolfStatistics) : 0).plan();
  const int blocks = shape.blocks;

  // Scratch memory: the statistics of the blocks, then the count of black pixels.
  auto *statistics = static_cast<WolfStatistics *>(
      cuda.scratch(blocks * sizeof(WolfStatistics) + sizeof(unsigned long long)));
  auto *black_count = reinterpret_cast<unsigned long long *>(statistics + blocks);
  if (report) {
    job.black_count = black_count;
    cuda.clear(black_count, sizeof *black_count);
  }
  if constexpr (wolf) {
    job.wolf_partial = statistics;
    windowsums::launch_rows<WolfDecision<T, SumS, SumQ>>(cuda, shape, job);
    launch(cuda, wolf_kernel, {1, 256}, statistics, blocks);
    job.wolf = statistics;
  }
  // The single precision of the decision needs a window of at least two pixels.
  if (params.algorithm != NickAlgorithm::automatic || (in.width == 1 && in.height == 1))
    run_baseline(cuda, in, out, params, job.wolf, job.black_count);
  else if (params.output == NickOutput::threshold)
    windowsums::launch_rows<SurfaceDecision<T, SumS, SumQ, method>>(cuda, shape, job);
  else
    windowsums::launch_rows<BinaryDecision<T, SumS, SumQ, method>>(cuda, shape, job);

  if (report) {
    auto *host_count = static_cast<unsigned long long *>(cuda.report_memory(sizeof *black_count));
    cuda.fetch(host_count, black_count, sizeof *black_count);
    const double pixels = static_cast<double>(in.width) * in.height;
    const bool counted = params.output == NickOutput::binary;
    cuda.on_complete([=] { report->black_ratio = counted ? *host_count / pixels : 0; });
  }
}

/// Queues everything for one image.
template <typename T, typename Out>
void queue(Cuda &cuda, Plane<const T> in, Plane<Out> out, const NickParams &p, NickReport *report) {
  check_call(p, in, out);
  const auto go = [&]<typename SumS, typename SumQ>() {
    NickJob<T> job(out, window_width(p) / 2, window_height(p) / 2);
    const std::uint32_t white = out.maximum * (sizeof(Out) == 1 ? 0x01010101u : 0x00010001u);
    job.black = p.invert ? white : 0;
    job.white = p.invert ? 0 : white;
    job.formula = make_formula(p, in.maximum);
    if (p.method != NickMethod::wolf) {
      job.filter = Filter(job.formula);
      job.weights = SurfaceWeights(job.formula);
    }
    switch (p.method) {
      case NickMethod::nick:
        return queue<NickMethod::nick, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::niblack:
        return queue<NickMethod::niblack, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::sauvola:
        return queue<NickMethod::sauvola, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::wolf:
        return queue<NickMethod::wolf, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::bradley:
        return queue<NickMethod::bradley, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::phansalkar:
        return queue<NickMethod::phansalkar, SumS, SumQ>(cuda, job, in, out, p, report);
    }
  };
  const std::int64_t area = std::int64_t{window_width(p)} * window_height(p);
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if constexpr (sizeof(T) == 1) {
    // |p^2 - 127 p| 255^2 < 2^31; the 32-bit sums are for narrow windows.
    area <= 255 * 255 && window_width(p) <= windowsums::kStageColumns
        ? go.template operator()<U32, U32>()
        : go.template operator()<U32, U64>();
  } else {  // 65535 * 2^16 < 2^32
    area <= 65536 ? go.template operator()<U32, U64>() : go.template operator()<U64, U64>();
  }
}

}  // namespace cudascan::nick
