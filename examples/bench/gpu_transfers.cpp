// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdio>
#include <cstring>

#include "bench/gpu_pairs.h"

namespace cudascan::bench {
namespace {

TransferTimes time_one(const Options &options, Size size, const Runner &runner, GpuTimer &timer,
                       Pairs &pairs) {
  Cuda exec(timer.stream());
  TransferTimes times;
  pairs.prepare(size);
  times.kernel =
      timer.time([&](int i) { runner.cuda(exec, pairs.in(i), pairs.out(i)); }, pairs.count())
          .cold_us;

  const std::size_t bytes = pairs.plane_bytes();
  const AnyPlane in = pairs.in(0), out = pairs.out(0);
  const auto whole = [&](void *host_in, void *host_out) {
    return time_host(
        [&] {
          BENCH_CUDA(
              cudaMemcpyAsync(in.data, host_in, bytes, cudaMemcpyHostToDevice, timer.stream()));
          runner.cuda(exec, in, out);
          BENCH_CUDA(
              cudaMemcpyAsync(host_out, out.data, bytes, cudaMemcpyDeviceToHost, timer.stream()));
          BENCH_CUDA(cudaStreamSynchronize(timer.stream()));
        },
        options.quick ? 5e3 : 30e3, options.repeat);
  };
  auto content = make_content(options.content, size, in.stride);
  std::vector<std::uint8_t> result(bytes, kPoison);
  const auto one_copy = [&](void *to, const void *from, cudaMemcpyKind kind) {
    return time_host(
        [&] {
          BENCH_CUDA(cudaMemcpyAsync(to, from, bytes, kind, timer.stream()));
          BENCH_CUDA(cudaStreamSynchronize(timer.stream()));
        },
        options.quick ? 2e3 : 10e3, options.repeat);
  };
  times.upload = one_copy(in.data, content.data(), cudaMemcpyHostToDevice);
  times.download = one_copy(result.data(), out.data, cudaMemcpyDeviceToHost);
  times.pageable = whole(content.data(), result.data());
  cuda::PinnedBuffer pinned_in(bytes), pinned_out(bytes);
  std::memcpy(pinned_in.data(), content.data(), bytes);
  times.pinned = whole(pinned_in.data(), pinned_out.data());
  return times;
}

}  // namespace

std::vector<TransferTimes> time_transfers(const Options &options, const std::vector<Size> &sizes,
                                          const Runner &runner) {
  try {
    GpuTimer timer(options.repeat, true);
    Pairs pairs(options, timer);
    std::vector<TransferTimes> times;
    for (Size size : sizes) times.push_back(time_one(options, size, runner, timer, pairs));
    return times;
  } catch (const std::exception &error) {
    std::printf("(CUDA: %s)\n", error.what());
    return {};
  }
}

}  // namespace cudascan::bench
