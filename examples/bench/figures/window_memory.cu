// SPDX-License-Identifier: LGPL-2.1-or-later
// The experiment of the paper's section 5.3: kernels as in its Table 7, whose threads keep the
// samples of a window in an array, which is in local memory or, by hand, in shared memory.
//
//     window_memory local|shared --width ...
//
// Compiled with -DFIGURES_WINDOW=5, the type of samples -DFIGURES_TYPE=double and one of
// -DFIGURES_MEDIAN, -DFIGURES_MODE and -DFIGURES_ALPHA_TRIMMED_MEAN.
#include "cuda_times.h"

namespace {

using figures::need;
using Pixel = FIGURES_TYPE;

constexpr int kWindow = FIGURES_WINDOW, kSize = kWindow * kWindow, kRadius = kWindow / 2;
constexpr int kThreadsX = 16, kThreadsY = 8;  // of a block; the shared arrays fit into 48 KB

/// An array of the window whose elements are `step` apart.
template <int step>
struct Window {
  Pixel *samples;
  __device__ Pixel &operator[](int k) const { return samples[k * step]; }
};

/// Sorts the first `count` samples.
template <class V>
__device__ void sort(const V &v, int count) {
#pragma unroll 1
  for (int m = 0; m < count; m++)
#pragma unroll 1
    for (int t = m + 1; t < kSize; t++)
      if (v[m] > v[t]) {
        const Pixel least = v[t];
        v[t] = v[m];
        v[m] = least;
      }
}

template <class V>
__device__ Pixel result(const V &v) {
#if defined(FIGURES_MEDIAN)
  sort(v, kSize / 2 + 1);
  return v[kSize / 2];
#elif defined(FIGURES_MODE)
  sort(v, kSize);
  Pixel mode = v[0];
  int like = 1, most = 1;
#pragma unroll 1
  for (int m = 1; m < kSize; m++) {
    like = 1 + like * (v[m] == v[m - 1]);
    if (like > most) mode = v[m], most = like;
  }
  return mode;
#else
  sort(v, kSize);
  constexpr int trimmed = kSize / 4;
  constexpr bool real = Pixel(0.5) != Pixel(0);
  using Sum = std::conditional_t<real, double, unsigned>;
  Sum sum = 0;
#pragma unroll 1
  for (int m = trimmed; m < kSize - trimmed; m++) sum += v[m];
  const Sum n = kSize - 2 * trimmed;
  return real ? sum / n : (sum + n / 2) / n;
#endif
}

template <class V>
__device__ void filter(const V &v, const Pixel *in, Pixel *out, int pitch, int width, int height) {
  const int x = blockIdx.x * kThreadsX + threadIdx.x, y = blockIdx.y * kThreadsY + threadIdx.y;
  if (x >= width || y >= height) return;
  int n = 0;
#pragma unroll 1
  for (int dy = -kRadius; dy <= kRadius; dy++)
#pragma unroll 1
    for (int dx = -kRadius; dx <= kRadius; dx++) v[n++] = in[(y + dy) * pitch + x + dx];
  out[y * pitch + x] = result(v);
}

__global__ void in_local_memory(const Pixel *in, Pixel *out, int pitch, int width, int height) {
  Pixel samples[kSize];
  filter(Window<1>{samples}, in, out, pitch, width, height);
}

__global__ void in_shared_memory(const Pixel *in, Pixel *out, int pitch, int width, int height) {
  constexpr int threads = kThreadsX * kThreadsY;
  __shared__ Pixel samples[kSize * threads];
  const int k = threadIdx.y * kThreadsX + threadIdx.x;
  filter(Window<threads>{samples + k}, in, out, pitch, width, height);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) figures::fail("window_memory local|shared --width ...");
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) figures::fail("no GPU");
  const bool shared = std::string(argv[1]) == "shared";
  const auto apply = [&](figures::Images<Pixel> &images, int rows) {
    const int pitch = images.width() + 2 * figures::kMargin, all = rows + 2 * figures::kMargin;
    const std::size_t bytes = static_cast<std::size_t>(pitch) * all * sizeof(Pixel);
    Pixel *in = nullptr, *out = nullptr;
    need(cudaMalloc(&in, bytes), "cudaMalloc");
    need(cudaMalloc(&out, bytes), "cudaMalloc");
    need(cudaMemcpy(in, images.flat(0), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    const int first = figures::kMargin * pitch + figures::kMargin;
    const dim3 block(kThreadsX, kThreadsY),
        grid((images.width() + kThreadsX - 1) / kThreadsX, (rows + kThreadsY - 1) / kThreadsY);
    figures::launch([&] {
      if (shared)
        in_shared_memory<<<grid, block>>>(in + first, out + first, pitch, images.width(), rows);
      else
        in_local_memory<<<grid, block>>>(in + first, out + first, pitch, images.width(), rows);
    });
    const std::size_t row = static_cast<std::size_t>(images.width()) * sizeof(Pixel);
    need(cudaMemcpy2D(images.row(1, 0), pitch * sizeof(Pixel), out + first, pitch * sizeof(Pixel),
                      row, rows, cudaMemcpyDeviceToHost),
         "cudaMemcpy2D");
    cudaFree(in);
    cudaFree(out);
  };
  return figures::run_cuda<Pixel>(argc - 1, argv + 1, 2, false, apply);
}
