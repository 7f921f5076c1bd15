// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/rank.h"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/planes.h"
#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/columns.cuh"
#include "kernels/swofilter/rank/digits.cuh"
#include "kernels/swofilter/rank/launches.cuh"
#include "kernels/swofilter/rank/lines.h"
#include "kernels/swofilter/rank/median3.cuh"
#include "kernels/swofilter/rank/network.cuh"
#include "kernels/swofilter/rank/selection.cuh"

namespace cudascan::swo {
namespace {

using Op = SwoFilterOperator;

/// Windows with more samples use histograms; medians and ranks of bytes use digits earlier.
constexpr int kMostSelected = 9, kFewestDigits = 6;
/// Widest windows whose modes and trimmed means sliding_kernel finds faster than columns_kernel:
/// its steps cost as much as the window has columns, those of columns_kernel do not.
constexpr int kWidestSlidingMode = 95, kWidestSlidingMean = 151;
/// Columns of the narrowest crosses of bytes, for each 32 samples of reach, whose ranks and trimmed
/// means sliding_kernel finds slower than rank_of_cross(), for the same reason.
constexpr int kNarrowCrossRank = 8, kNarrowCrossMean = 20;
/// The smallest windows of 16 bits whose modes mode_by_frequency() finds faster.
constexpr int kFewestOfFrequent = 1000, kNarrowestOfFrequent = 13;
/// Samples of the largest crosses of 16 bits whose trimmed means rank_by_ordinals() finds faster.
constexpr int kMostShortCross = 15;

/// The widest squares whose ranks network_kernel finds faster than the methods for all windows.
template <typename T>
constexpr int kWidestRank = sizeof(T) == 1 ? 5 : 9;

/// The blocks of columns_kernel. None if the device has too little shared memory for the window.
std::optional<RankBlocks> columns_blocks(Cuda &cuda, int width, int height, int rx) {
  const auto columns_of = [&](int resident) {
    return shared_memory_each(cuda, resident) / columns_bytes(kGroupColumns) * kGroupColumns;
  };
  // Two blocks hide more latency; in a single block, wide windows share more columns.
  const int resident = columns_of(2) < 8 * rx ? 1 : 2;
  if (columns_of(resident) < 2 * rx + 4 * kColumnsWarps) return {};
  return rank_blocks(cuda, width, height, rx, columns_of(resident), kGroupColumns, resident);
}

template <typename T>
class Rank {
 public:
  Rank(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job)
      : cuda_(cuda), job_(job), in_(in), out_(out), source_(in, job) {}

  void operator()() {
    const Mask &mask = job_.mask();
    const SelectionJob<T> all{
        source_,    out_,      job_.op,  bit_depth(job_.maximum), job_.shift, job_.percentile,
        job_.alpha, mask.rx(), mask.ry()};
    if (mask.rectangle && mask.count() == 1) return copy(cuda_, in_, out_);
    if (job_.op == Op::directional_median) return ask_lines(cuda_, in_, out_, job_);
    if (has_network()) return by_network();
    const bool of_rank = job_.op == Op::median || job_.op == Op::rank;
    if (of_rank && mask.count() >= kFewestDigits && by_digits(all)) return;
    if (of_rank && rank_of_few(cuda_, all, job_)) return;
    if (has_cross()) return rank_of_cross(cuda_, all);
    if (of_rank && rank_by_bit_planes(cuda_, all, mask)) return;
    if (mask.count() <= kMostSelected)
      return launch(cuda_, selection_kernel<T>, whole(), all, WindowCells(mask));
    const int widest = job_.op == Op::mode ? kWidestSlidingMode : kWidestSlidingMean;
    if (!of_rank && mask.width > widest && by_columns(all)) return;
    if constexpr (sizeof(T) == 1)
      rank_by_sliding(cuda_, all, mask);
    else if (job_.op == Op::mode)
      deep_mode(all);
    else
      rank_by_ordinals(cuda_, all, mask);
  }

 private:
  LaunchShape whole() const {
    return {dim3(divide_up(out_.width, 32), divide_up(out_.height, 8)), 256};
  }

  bool has_network() const {
    const Mask &mask = job_.mask();
    const int most = job_.op == Op::median                                      ? 9
                     : job_.op == Op::rank                                      ? kWidestRank<T>
                     : job_.op == Op::mode || job_.op == Op::alpha_trimmed_mean ? 5
                                                                                : 0;
    return mask.rectangle && mask.width == mask.height && mask.width >= 3 && mask.width <= most &&
           in_.width >= mask.width && in_.height >= mask.height;
  }

  /// Windows that rank_of_cross() is the fastest for.
  bool has_cross() const {
    const Mask &mask = job_.mask();
    if (job_.op == Op::mode) return false;
    const bool is_line = mask.rectangle && (mask.width == 1 || mask.height == 1);
    if (!is_line && !mask.is_cross()) return false;
    if (sizeof(T) > 1) return job_.op != Op::alpha_trimmed_mean || mask.count() > kMostShortCross;
    const int reach = std::max(divide_up(std::max(mask.rx(), mask.ry()), 32), 1);
    return mask.width >=
           reach * (job_.op == Op::alpha_trimmed_mean ? kNarrowCrossMean : kNarrowCrossRank);
  }

  void deep_mode(const SelectionJob<std::uint16_t> &all) {
    const Mask &mask = job_.mask();
    if (mask.is_cross()) return mode_of_cross(cuda_, all);
    const bool is_large = mask.count() >= kFewestOfFrequent &&
                          std::min(mask.width, mask.height) >= kNarrowestOfFrequent;
    if (is_large && mode_by_frequency(cuda_, all, mask)) return;
    mode_by_codes(cuda_, all, mask);
  }

  void by_network() {
    const bool aligned = (reinterpret_cast<std::uintptr_t>(in_.data) | in_.stride) % 4 == 0;
    const NetworkJob<T> job{source_, out_, aligned, job_.percentile, job_.alpha, job_.shift};
    switch (job_.mask().width) {
      case 3:
        return job_.op == Op::median ? median3(job) : network<3>(job);
      case 5:
        return job_.op == Op::median ? network<5, Taken::median>(job) : network<5>(job);
      case 7:
        return median_or_rank<7>(job);
      default:
        return median_or_rank<9>(job);
    }
  }
  template <int k>
  void median_or_rank(const NetworkJob<T> &job) {
    if constexpr (k <= kWidestRank<T>)
      if (job_.op == Op::rank) return network<k, Taken::rank>(job);
    network<k, Taken::median>(job);
  }
  /// Anything but the median.
  template <int k>
  void network(const NetworkJob<T> &job) {
    return job_.op == Op::rank   ? network<k, Taken::rank>(job)
           : job_.op == Op::mode ? network<k, Taken::mode>(job)
                                 : network<k, Taken::trimmed_mean>(job);
  }

  void median3(const NetworkJob<T> &job) {
    const dim3 blocks(divide_up(in_.width, kMedian3Columns),
                      divide_up(in_.height, kNetworkWarps * kNetworkRows));
    launch(cuda_, median3_kernel<T>,
           {blocks, 32 * kNetworkWarps, 0, cuda_.code_architecture() >= 90}, job);
  }

  template <int k, Taken taken>
  void network(const NetworkJob<T> &job) {
    const dim3 blocks(divide_up(in_.width, kNetworkColumns<k>),
                      divide_up(in_.height, kNetworkWarps * kNetworkRows));
    launch(cuda_, network_kernel<T, k, taken>,
           {blocks, 32 * kNetworkWarps, 0, cuda_.code_architecture() >= 90}, job);
  }

  /// @return false for unsupported windows and devices
  bool by_digits(const SelectionJob<T> &all) {
    if constexpr (sizeof(T) > 1) {
      return false;
    } else {
      if (!job_.mask().rectangle) return false;
      if (rank_by_digit_scans(cuda_, all)) return true;
      const auto blocks = digits_blocks(cuda_, in_.width, in_.height, job_.mask().rx());
      if (!blocks) return false;
      launch(cuda_, digits_kernel_for<DigitsJob>(job_.mask().height),
             {blocks->blocks, blocks->columns, blocks->columns * kDigitsColumnBytes},
             DigitsJob{all, blocks->results});
      return true;
    }
  }

  /// @return false for unsupported windows and devices
  bool by_columns(const SelectionJob<T> &all) {
    if constexpr (sizeof(T) > 1) {
      return false;
    } else {
      const auto blocks = columns_blocks(cuda_, in_.width, in_.height, job_.mask().rx());
      if (!job_.mask().rectangle || !blocks) return false;
      launch(cuda_, columns_kernel,
             {blocks->blocks, kColumnsThreads, columns_bytes(blocks->columns)},
             RankColumnsJob{all, blocks->columns, blocks->results.width, blocks->results.height});
      return true;
    }
  }

  Cuda &cuda_;
  const FilterJob &job_;
  Plane<const T> in_;
  Plane<T> out_;
  Source<T> source_;
};

}  // namespace

template <typename T>
void rank(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  Rank<T>(cuda, in, out, job)();
}

template void rank(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void rank(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
