// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank.h"

#include <algorithm>

#include "kernels/launch.cuh"
#include "kernels/swofilter/rank_histogram.cuh"
#include "kernels/swofilter/rank_network.cuh"
#include "kernels/swofilter/rank_selection.cuh"

namespace cudascan::swo {
namespace {

using Op = SwoFilterOperator;

int divide_up(std::int64_t x, int by) {
  return static_cast<int>((x + by - 1) / by);
}

/// Windows of more samples go by histograms.
constexpr int kMostSelected = 81;

template <typename T>
class Rank {
 public:
  Rank(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job)
      : cuda_(cuda), job_(job), in_(in), out_(out), source_(in, job) {}

  void operator()() {
    const Mask &mask = job_.mask();
    const SelectionJob<T> all{source_,    out_,
                              job_.op,    bit_depth(job_.maximum),
                              job_.shift, job_.percentile,
                              job_.alpha, 0,
                              0,          mask.rx(),
                              mask.ry()};
    if (job_.op == Op::directional_median)
      launch(directional_kernel<T>, whole(), cuda_.stream(), all);
    else if (has_network())
      median_of_square(all);
    else if (mask.count() <= kMostSelected)
      launch(selection_kernel<T>, whole(), cuda_.stream(), all, Cells(mask));
    else
      by_histogram(all);
  }

 private:
  LaunchShape whole() const {
    return {dim3(divide_up(out_.width, 32), divide_up(out_.height, 8)), 256};
  }

  bool has_network() const {
    const Mask &mask = job_.mask();
    return job_.op == Op::median && mask.rectangle && mask.width == mask.height &&
           mask.width >= 3 && mask.width <= 9;
  }

  /// With clip, the network does the windows that lie in the image.
  void median_of_square(SelectionJob<T> all) {
    const int r = job_.mask().rx();
    const bool clip = job_.border == SwoFilterBorder::clip;
    const int inside = clip ? r : 0;
    const NetworkJob<T> job{source_, out_, inside, inside, in_.width - inside, in_.height - inside};
    if (job.x1 > job.x0 && job.y1 > job.y0) {
      switch (r) {
        case 1:
          network<3>(job);
          break;
        case 2:
          network<5>(job);
          break;
        case 3:
          network<7>(job);
          break;
        default:
          network<9>(job);
          break;
      }
    }
    if (!clip) return;
    all.frame_x = all.frame_y = r;
    const int rows = std::min(2 * r, in_.height);
    const std::int64_t pixels = std::int64_t{rows} * in_.width +
                                std::int64_t{in_.height - rows} * std::min(2 * r, in_.width);
    launch(selection_kernel<T>, {divide_up(pixels, 256), 256}, cuda_.stream(), all,
           Cells(job_.mask()));
  }

  template <int k>
  void network(const NetworkJob<T> &job) {
    const dim3 blocks(divide_up(job.x1 - job.x0, kNetworkColumns<k>),
                      divide_up(job.y1 - job.y0, 2 * kRowPairs));
    launch(network_kernel<T, k>, {blocks, kNetworkThreads}, cuda_.stream(), job);
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
