// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <optional>
#include <vector>

#include "bench/bench.h"
#include "bench/gpu_timer.h"

namespace cudascan::bench {

inline constexpr int kPoison = 0x5a;  // neither black nor white

/// Pairs of input and output planes with one size in device memory. They are kept while the size
/// and content stay the same. All inputs have the same content at different addresses.
class Pairs {
 public:
  Pairs(const Options &options, const GpuTimer &timer) : options_(options), timer_(timer) {}

  /// Makes the planes and poisons the outputs.
  void prepare(Size size, std::optional<Content> content = {}, bool reads_only = false) {
    const Contents wanted{size, content.value_or(options_.content), reads_only};
    if (wanted != contents_) make(wanted);
    for (int i = 0; i < count_; ++i)
      BENCH_CUDA(cudaMemsetAsync(out(i).data, kPoison, plane_bytes(), timer_.stream()));
    BENCH_CUDA(cudaStreamSynchronize(timer_.stream()));
  }

  int count() const { return count_; }
  bool cold() const { return timer_.is_cold(contents_.bytes(), count_); }
  std::size_t plane_bytes() const {
    return static_cast<std::size_t>(stride_) * contents_.size.height;
  }
  AnyPlane in(int i) const { return at(2 * i); }
  AnyPlane out(int i) const { return at(2 * i + 1); }

  std::vector<std::uint8_t> download(AnyPlane plane) const {
    std::vector<std::uint8_t> host(plane_bytes());
    BENCH_CUDA(cudaMemcpyAsync(host.data(), plane.data, host.size(), cudaMemcpyDeviceToHost,
                               timer_.stream()));
    BENCH_CUDA(cudaStreamSynchronize(timer_.stream()));
    return host;
  }
  AnyPlane host_plane(std::vector<std::uint8_t> &bytes) const {
    return contents_.plane(bytes.data(), stride_);
  }

 private:
  struct Contents {
    Size size{};
    Content content{};
    bool reads_only = false;

    friend bool operator==(const Contents &, const Contents &) = default;
    double bytes() const { return size.bytes(reads_only); }
    AnyPlane plane(void *data, std::ptrdiff_t stride) const {
      return {data, size.width, size.height, size.depth, stride};
    }
  };

  AnyPlane at(int i) const {
    return contents_.plane(static_cast<std::uint8_t *>(memory_.data()) + i * spacing_, stride_);
  }
  void make(const Contents &wanted) {
    contents_ = {};
    const Size size = wanted.size;
    stride_ = stride_of(size, options_.align);
    spacing_ = (static_cast<std::size_t>(stride_) * size.height + 511) / 512 * 512;
    count_ = timer_.pairs(wanted.bytes());
    memory_.reserve(2 * spacing_ * count_);
    const auto host = make_content(wanted.content, size, stride_);
    contents_ = wanted;
    for (int i = 0; i < count_; ++i)
      BENCH_CUDA(cudaMemcpyAsync(in(i).data, host.data(), host.size(), cudaMemcpyHostToDevice,
                                 timer_.stream()));
    BENCH_CUDA(cudaStreamSynchronize(timer_.stream()));
  }

  const Options &options_;
  const GpuTimer &timer_;
  cuda::DeviceBuffer memory_;
  Contents contents_;
  std::ptrdiff_t stride_ = 0;
  std::size_t spacing_ = 0;
  int count_ = 0;
};

}  // namespace cudascan::bench
