// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times a filter that gswo-cc translated: whole calls of the user's function, and its kernels
/// alone. The script has wrapped each launch of the generated program in figures::launch().
#pragma once
#include <cuda_runtime.h>

#include "harness.h"

namespace figures {

inline void need(cudaError_t error, const char *what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Microseconds of all kernels of one call together, measured several times.
class Kernels {
 public:
  static constexpr int kSamples = 7;

  Kernels() : warm(kSamples, 0), cold(kSamples, 0) {
    int device = 0, l2 = 0;
    need(cudaGetDevice(&device), "cudaGetDevice");
    need(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
    other_bytes_ = std::max<std::size_t>(160 << 20, 3 * static_cast<std::size_t>(l2));
    need(cudaMalloc(&other_, other_bytes_), "cudaMalloc");
    need(cudaEventCreate(&begin_), "cudaEventCreate");
    need(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Kernels() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaFree(other_);
  }
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  /// Adds a launch. Windows read one image and write another, so they can be run repeatedly.
  template <class Launch>
  void add(const Launch &launch) {
    launch();
    const double once = between([&] { launch(); });
    const int turns = std::clamp(static_cast<int>(300 / std::max(once, 1.)), 1, 100);
    for (int i = 0; i < kSamples; i++) {
      warm[i] += between([&] {
                   for (int t = 0; t < turns; t++) launch();
                 }) /
                 turns;
      // Fills the caches with other data. That takes longer than queueing the launches that follow.
      need(cudaMemsetAsync(other_, i, other_bytes_), "cudaMemsetAsync");
      cold[i] += between([&] { launch(); });
    }
    launches++;
  }

  std::vector<double> warm, cold;
  int launches = 0;

 private:
  template <class Work>
  double between(const Work &work) {
    need(cudaEventRecord(begin_), "cudaEventRecord");
    work();
    need(cudaEventRecord(end_), "cudaEventRecord");
    need(cudaEventSynchronize(end_), "a kernel");
    float ms = 0;
    need(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
    return ms * 1e3;
  }

  void *other_ = nullptr;
  std::size_t other_bytes_ = 0;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

inline Kernels *kernels = nullptr;  ///< measures launches, if not null

template <class Launch>
void launch(const Launch &launch) {
  kernels ? kernels->add(launch) : launch();
}

/// @param apply  apply(images, rows) filters the first rows, as a picture of that height
template <class T, class Apply>
int run_cuda(int argc, char **argv, int count, bool flat, const Apply &apply) {
  const Options o = parse(argc, argv);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) fail("no GPU");
  need(cudaFree(nullptr), "the CUDA context");
  Images<T> images(o, count, flat);
  images.spoil_output();
  const auto call = [&] { images.each([&] { apply(images, o.height); }); };
  std::vector<double> whole = repeat(call, 0);  // the first call loads the code
  Comparison comparison;
  compare(o, images, o.height, comparison);
  if (whole[0] < o.seconds * 1e3) whole = repeat(call, o.seconds);
  Kernels all;
  kernels = &all;
  call();
  kernels = nullptr;
  cudaDeviceProp properties;
  need(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf(
      "{\"device\": \"%s\", \"launches\": %d, \"warm_us\": %s, \"cold_us\": %s, \"ms\": %s, %s}\n",
      properties.name, all.launches, list(all.warm).c_str(), list(all.cold).c_str(),
      list(whole).c_str(), comparison.json().c_str());
  return 0;
}

}  // namespace figures
