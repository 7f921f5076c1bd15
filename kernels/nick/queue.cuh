// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Queues the local thresholds of one image; each sample type is compiled in its own file.
#pragma once
#include "kernels/base/cuda_check.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/nick/decisions.cuh"
#include "kernels/nick/surface.cuh"
#include "kernels/nick/wolf_kernel.cuh"

namespace cudascan::nick {

/// @tparam from_prefix  whether windows start from PrefixSums
template <NickMethod method, bool from_prefix, typename SumS, typename SumQ, typename T,
          typename Out>
void queue(Cuda &cuda, NickJob<T> job, Plane<const T> in, Plane<Out> out, const NickParams &params,
           NickReport *report) {
  constexpr bool wolf = method == NickMethod::wolf;
  const windowsums::RowShape shape = windowsums::Planner<true, T>(cuda, in, job).plan(from_prefix);

  // Scratch memory: the prefix sums, the statistics of the blocks, then the count of black pixels.
  auto *const memory = static_cast<unsigned char *>(cuda.scratch(
      shape.scratch + shape.blocks * sizeof(WolfStatistics) + sizeof(unsigned long long)));
  job.wolf = reinterpret_cast<WolfStatistics *>(memory + shape.scratch);
  auto *black_count = reinterpret_cast<unsigned long long *>(job.wolf + shape.blocks);
  if (report) {
    job.black_count = black_count;
    cuda.clear(black_count, sizeof *black_count);
  }
  static const char key = 0;
  if constexpr (wolf) job.wolf_barrier = static_cast<unsigned *>(cuda.history(&key, 4));
  const auto launch_rows = [&]<typename Result>(bool naive) {
    if (wolf || !naive) windowsums::use_prefix(cuda, shape, job, memory);
    if constexpr (wolf)
      launch_wolf<WolfDecision<T, SumS, SumQ>, Result, from_prefix>(
          cuda, shape, job, naive ? WolfPart::statistics : WolfPart::all);
    else if (!naive)
      windowsums::launch_rows<Result, from_prefix>(cuda, shape, job);
  };
  // The single precision of the decision needs a window of at least two pixels.
  const bool naive =
      params.algorithm != NickAlgorithm::automatic || (in.width == 1 && in.height == 1);
  if (params.output == NickOutput::threshold && !naive)
    launch_rows.template operator()<SurfaceDecision<T, SumS, SumQ, method>>(false);
  else
    launch_rows.template operator()<BinaryDecision<T, SumS, SumQ, method>>(naive);
  if (naive) {
    if constexpr (wolf) launch(cuda, merge_kernel, {1, 256}, job.wolf, shape.blocks);
    run_naive(cuda, in, out, params, wolf ? job.wolf : nullptr, job.black_count);
  }

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
  if (sizeof(T) == 1 && static_cast<std::uint64_t>(out.stride) * out.height > kMostOutBytes) {
    // The rows are too far apart for OutPosition. Any image is small enough without gaps.
    static const char key = 0;
    const std::size_t row = out.width * sizeof(Out), stride = (row + 255) / 256 * 256;
    Plane<Out> dense = out;
    dense.data = static_cast<Out *>(cuda.history(&key, stride * out.height));
    dense.stride = static_cast<std::ptrdiff_t>(stride);
    queue(cuda, in, dense, p, report);
    if (cuda.only_loads()) return;
    return cuda::copy_rows(out.data, out.stride, dense.data, dense.stride, row, out.height,
                           cuda.stream());
  }
  const auto go = [&]<bool from_prefix, typename SumS, typename SumQ>() {
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
        return queue<NickMethod::nick, from_prefix, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::niblack:
        return queue<NickMethod::niblack, from_prefix, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::sauvola:
        return queue<NickMethod::sauvola, from_prefix, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::wolf:
        return queue<NickMethod::wolf, from_prefix, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::bradley:
        return queue<NickMethod::bradley, from_prefix, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::phansalkar:
        return queue<NickMethod::phansalkar, from_prefix, SumS, SumQ>(cuda, job, in, out, p,
                                                                      report);
    }
  };
  const int width = window_width(p), height = window_height(p);
  const std::int64_t area = std::int64_t{width} * height;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  // What is faster was measured on an H200.
  if constexpr (sizeof(T) == 1) {
    // |p^2 - 127 p| 255^2 < 2^31; the 32-bit sums are for narrow windows.
    if ((width > 512 && height > 128) || (width > 256 && height > 512))
      go.template operator()<true, U32, U64>();
    else if (area <= 255 * 255 && width <= windowsums::kStageColumns)
      go.template operator()<false, U32, U32>();
    else
      go.template operator()<false, U32, U64>();
  } else {  // 65535 * 2^16 < 2^32
    if (area > 65536 || width > 512)
      go.template operator()<true, U64, U64>();
    else
      go.template operator()<false, U32, U64>();
  }
}

}  // namespace cudascan::nick
