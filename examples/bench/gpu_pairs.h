// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <vector>

#include "bench/bench.h"
#include "bench/gpu_timer.h"

namespace cudascan::bench {

inline constexpr int kPoison = 0x5a;  // neither black nor white

/// Pairs of input and output planes of one size in device memory, kept for the next case of that
/// size. All inputs have the same content, each its own place in memory.
class Pairs {
 public:
  Pairs(const Options &options, const GpuTimer &timer) : options_(options), timer_(timer) {}

  /// Makes the planes and poisons the outputs.
  void prepare(Size size) {
    if (size.width != size_.width || size.height != size_.height || size.depth != size_.depth)
      make(size);
    for (int i = 0; i < count_; ++i)
      BENCH_CUDA(cudaMemsetAsync(out(i).data, kPoison, plane_bytes(), timer_.stream()));
    BENCH_CUDA(cudaStreamSynchronize(timer_.stream()));
  }

  int count() const { return count_; }
  bool cold() const { return timer_.is_cold(size_.bytes(), count_); }
  std::size_t plane_bytes() const { return static_cast<std::size_t>(stride_) * size_.height; }
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
    return {bytes.data(), size_.width, size_.height, size_.depth, stride_};
  }

 private:
  AnyPlane at(int i) const {
    return {static_cast<std::uint8_t *>(memory_.data()) + i * spacing_, size_.width, size_.height,
            size_.depth, stride_};
  }
  void make(Size size) {
    size_ = {};
    stride_ = stride_of(size, options_.align);
    spacing_ = (static_cast<std::size_t>(stride_) * size.height + 511) / 512 * 512;
    count_ = timer_.pairs(size.bytes());
    memory_.reserve(2 * spacing_ * count_);
    const auto host = make_content(options_.content, size, stride_);
    size_ = size;
    for (int i = 0; i < count_; ++i)
      BENCH_CUDA(cudaMemcpyAsync(in(i).data, host.data(), host.size(), cudaMemcpyHostToDevice,
                                 timer_.stream()));
    BENCH_CUDA(cudaStreamSynchronize(timer_.stream()));
  }

  const Options &options_;
  const GpuTimer &timer_;
  cuda::DeviceBuffer memory_;
  Size size_{};
  std::ptrdiff_t stride_ = 0;
  std::size_t spacing_ = 0;
  int count_ = 0;
};

}  // namespace cudascan::bench
