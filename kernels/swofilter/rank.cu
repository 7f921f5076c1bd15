// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank.h"

#include <algorithm>

#include "kernels/launch.cuh"
#include "kernels/swofilter/rank_columns.cuh"
#include "kernels/swofilter/rank_histogram.cuh"
#include "kernels/swofilter/rank_network.cuh"
#include "kernels/swofilter/rank_selection.cuh"

namespace cudascan::swo {
namespace {

using Op = SwoFilterOperator;

int divide_up(std::int64_t x, int by) {
  return static_cast<int>((x + by - 1) / by);
}

/// Windows of more samples go by histograms; those that give modes and trimmed means sooner, as these
/// visit the samples more often.
constexpr int kMostSelected = 81, kMostCounted = 25;

template <typename T>
class Rank {
 public:
  Rank(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job)
      : cuda_(cuda), job_(job), in_(in), out_(out), source_(in, job) {}

  void operator()() {
    const Mask &mask = job_.mask();
    const SelectionJob<T> all{
        source_,    out_,      job_.op,  bit_depth(job_.maximum), job_.shift, job_.percentile,
        job_.alpha, mask.rx(), mask.ry()};
    if (job_.op == Op::directional_median)
      launch(directional_kernel<T>, whole(), cuda_.stream(), all);
    else if (has_network())
      by_network();
    else if (mask.count() <=
             (job_.op == Op::median || job_.op == Op::rank ? kMostSelected : kMostCounted))
      launch(selection_kernel<T>, whole(), cuda_.stream(), all, Cells(mask));
    else if (!by_columns(all))
      by_histogram(all);
  }

 private:
  LaunchShape whole() const {
    return {dim3(divide_up(out_.width, 32), divide_up(out_.height, 8)), 256};
  }

  bool has_network() const {
    const Mask &mask = job_.mask();
    const int most = job_.op == Op::median                                      ? 9
                     : job_.op == Op::mode || job_.op == Op::alpha_trimmed_mean ? 5
                                                                                : 0;
    return mask.rectangle && mask.width == mask.height && mask.width >= 3 && mask.width <= most &&
           in_.width >= mask.width && in_.height >= mask.height;
  }

  void by_network() {
    const bool aligned = (reinterpret_cast<std::uintptr_t>(in_.data) | in_.stride) % 4 == 0;
    const NetworkJob<T> job{source_, out_, aligned, job_.alpha, job_.shift};
    switch (job_.mask().width) {
      case 3:
        return job_.op == Op::median ? network<3, Taken::median>(job)
               : job_.op == Op::mode ? network<3, Taken::mode>(job)
                                     : network<3, Taken::trimmed_mean>(job);
      case 5:
        return job_.op == Op::median ? network<5, Taken::median>(job)
               : job_.op == Op::mode ? network<5, Taken::mode>(job)
                                     : network<5, Taken::trimmed_mean>(job);
      case 7:
        return network<7, Taken::median>(job);
      default:
        return network<9, Taken::median>(job);
    }
  }

  template <int k, Taken taken>
  void network(const NetworkJob<T> &job) {
    const dim3 blocks(divide_up(in_.width, kNetworkColumns<k>),
                      divide_up(in_.height, kNetworkWarps * kNetworkRows<k>));
    launch(network_kernel<T, k, taken>,
           {blocks, 32 * kNetworkWarps, 0, cuda_.code_architecture() >= 90}, cuda_.stream(), job);
  }

  /// @return false for windows, samples and devices for which it cannot be
  bool by_columns(const SelectionJob<T> &all) {
    const Mask &mask = job_.mask();
    if constexpr (sizeof(T) > 1) {
      return false;
    } else {
      if (!mask.rectangle) return false;
      const int beside = 2 * mask.rx();
      const auto columns_in = [](int bytes) {
        return (bytes - columns_bytes(0)) / (columns_bytes(kGroupColumns) - columns_bytes(0)) *
               kGroupColumns;
      };
      // Two blocks hide more of their waiting; wide windows share more columns in a single one.
      const int most = cuda_.most_shared_memory();
      int columns = columns_in(most / 2 - 1024);
      if (columns < 4 * beside) columns = columns_in(most);
      if (columns < beside + 4 * kColumnsWarps) return false;
      const int strips = divide_up(in_.width, columns - beside);
      const int width = divide_up(in_.width, strips);
      columns = divide_up(width + beside, kGroupColumns) * kGroupColumns;
      const int resident = columns_bytes(columns) <= most / 2 - 1024 ? 2 : 1;
      // Blocks of the same height that run at the same time, as high as the window or more.
      const int at_once = std::max(resident * cuda_.multiprocessors() / strips, 1);
      const int rounds = std::max(in_.height / (at_once * std::max(mask.height, 16)), 1);
      const int height = divide_up(in_.height, at_once * rounds);
      CUDA_CHECK(cudaFuncSetAttribute(columns_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      columns_bytes(columns)));
      launch(columns_kernel,
             {dim3(divide_up(in_.width, width), divide_up(in_.height, height)), kColumnsThreads,
              columns_bytes(columns)},
             cuda_.stream(), ColumnsJob{all, columns, width, height});
      return true;
    }
  }

  void by_histogram(const SelectionJob<T> &all) {
    constexpr int kBytes = SlidingHistogram<T>::kFineBytes;
    constexpr int kBeside = 4096;  // shared memory beside the histogram
    const bool shared = kBytes + kBeside <= cuda_.most_shared_memory();
    const int resident = shared ? std::clamp((224 << 10) / (kBytes + kBeside), 1, 8) : 4;
    const int blocks =
        static_cast<int>(std::min(std::int64_t{divide_up(in_.width, kHistogramPixels)} * in_.height,
                                  std::int64_t{cuda_.multiprocessors()} * resident));
    auto *const fine =
        shared ? nullptr : static_cast<unsigned *>(cuda_.scratch(std::size_t(blocks) * kBytes));
    if (shared)
      CUDA_CHECK(cudaFuncSetAttribute(histogram_kernel<T>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    launch(histogram_kernel<T>, {blocks, kHistogramThreads, shared ? kBytes : 0}, cuda_.stream(),
           all, Cells(job_.mask()), fine);
  }

  Cuda &cuda_;
  const Job &job_;
  Plane<const T> in_;
  Plane<T> out_;
  Source<T> source_;
};

}  // namespace

template <typename T>
void rank(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job) {
  Rank<T>(cuda, in, out, job)();
}

template void rank(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void rank(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
