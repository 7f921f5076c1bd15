// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/link.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels/cuda_resources.h"

namespace cudascan::bench {

Link measure_link(std::size_t frame_bytes) try {
  if (!Cuda::available()) return {};
  using namespace cudascan::cuda;
  PinnedBuffer host_in(frame_bytes), host_out(frame_bytes);
  DeviceBuffer device_in(frame_bytes), device_out(frame_bytes);
  std::memset(host_in.data(), 0x5a, frame_bytes);
  std::memset(host_out.data(), 0xa5, frame_bytes);
  Stream up, down;
  const auto bytes = static_cast<std::ptrdiff_t>(frame_bytes);
  const auto time = [&](bool with_up, bool with_down) {
    constexpr int kFrames = 20;
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      const double begin = now_us();
      for (int frame = 0; frame < kFrames; ++frame) {
        if (with_up) copy_rows(device_in.data(), bytes, host_in.data(), bytes, bytes, 1, up.get());
        if (with_down)
          copy_rows(host_out.data(), bytes, device_out.data(), bytes, bytes, 1, down.get());
      }
      up.synchronize();
      down.synchronize();
      times.push_back((now_us() - begin) / kFrames);
    }
    return median(std::move(times));
  };
  return {time(true, false), time(false, true), time(true, true)};
} catch (const std::exception &error) {
  std::printf("(the PCIe link was not measured: %s)\n", error.what());
  return {};
}

void print(const Link &link, std::size_t frame_bytes) {
  if (std::isnan(link.up)) return;
  const auto bytes = static_cast<double>(frame_bytes);
  std::printf(
      "PCIe link, pinned memory, %.1f MB: up %.1f us (%.1f GB/s), down %.1f us (%.1f GB/s), "
      "both at once %.1f us\n",
      bytes / 1e6, link.up, bytes / link.up / 1e3, link.down, bytes / link.down / 1e3, link.both);
}

}  // namespace cudascan::bench
