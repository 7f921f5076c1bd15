// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/launch.cuh"
#include "kernels/rotate_formula.h"

namespace cudascan {
namespace {

using rotation::Job;
using rotation::Place;
using rotation::Weights;

/// Pixels that a thread makes, beside one another, and threads of a block across and down.
constexpr int kPixels = 4, kAcross = 32, kDown = 8;

/// Four samples of a row.
struct Four {
  int sample[4];
};

/// Samples beyond the four that are read with them, and have to be there.
template <typename T>
constexpr int kReadAhead = sizeof(T) == 1 ? 3 : 0;

/// Reads them as the aligned words of 32 bits that they are in.
__device__ Four read_four(const std::uint8_t *from) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const auto *const words = reinterpret_cast<const std::uint32_t *>(address & ~std::uintptr_t{3});
  const unsigned bits = address % 4 * 8;
  std::uint32_t four = __ldg(words);
  if (bits) four = __funnelshift_r(four, __ldg(words + 1), bits);
  return {{int(four & 0xff), int(four >> 8 & 0xff), int(four >> 16 & 0xff), int(four >> 24)}};
}
__device__ Four read_four(const std::uint16_t *from) {
  return {{__ldg(from), __ldg(from + 1), __ldg(from + 2), __ldg(from + 3)}};
}

template <typename T>
__global__ void __launch_bounds__(kAcross *kDown)
    rotate_kernel(const __grid_constant__ Job<T> job) {
  // Neighbours look up different weights, which is slow in the memory that parameters are in.
  __shared__ short4 weights[rotation::kPhases];
  const int thread = threadIdx.y * kAcross + threadIdx.x;
  if (thread < rotation::kPhases) {
    const std::int16_t *const w = job.weights.of[thread];
    weights[thread] = {w[0], w[1], w[2], w[3]};
  }
  __syncthreads();

  const int x = (blockIdx.x * kAcross + threadIdx.x) * kPixels,
            y = blockIdx.y * kDown + threadIdx.y;
  if (x >= job.out.width || y >= job.out.height) return;
  const int n = min(kPixels, job.out.width - x);
  Place p = job.place(x, y);
  const Place last = job.place(x + n - 1, y);
  T results[kPixels] = {};
  if (job.inside(p, kReadAhead<T>) &&
      job.inside(last, kReadAhead<T>)) {  // and so are those between
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      if (i < n) {
        const short4 across = weights[Place::phase(p.x)], down = weights[Place::phase(p.y)];
        const int heights[4] = {down.x, down.y, down.z, down.w};
        const int column = Place::whole(p.x) - 1, line = Place::whole(p.y) - 1;
        int sum = 0;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const Four four = read_four(job.in.row(line + j) + column);
          sum +=
              heights[j] * Job<T>::round_row(across.x * four.sample[0] + across.y * four.sample[1] +
                                             across.z * four.sample[2] + across.w * four.sample[3]);
        }
        results[i] = job.finish(sum);
      }
      p = {p.x + job.cosine, p.y + job.sine};
    }
  } else {
    for (int i = 0; i < n; ++i) {
      results[i] = job.blend_at_edge(p);
      p = {p.x + job.cosine, p.y + job.sine};
    }
  }

  T *const to = job.out.row(y) + x;
  using Vector = std::conditional_t<sizeof(T) == 1, std::uint32_t, uint2>;
  if (n == kPixels && reinterpret_cast<std::uintptr_t>(to) % sizeof(Vector) == 0) {
    Vector vector;
    memcpy(&vector, results, sizeof vector);
    *reinterpret_cast<Vector *>(to) = vector;
  } else {
    for (int i = 0; i < n; ++i) to[i] = results[i];
  }
}

template <typename T>
void run_any(Cuda &cuda, Plane<const T> in, Plane<T> out, const RotateParams &params) {
  const Job<T> job = rotation::make_job(params, in, out);
  const dim3 block(kAcross, kDown);
  const dim3 grid(divide_up(out.width, kAcross * kPixels), divide_up(out.height, kDown));
  launch(rotate_kernel<T>, {grid, block}, cuda.stream(), job);
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const RotateParams &params) {
  run_any(cuda, in, out, params);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const RotateParams &params) {
  run_any(cuda, in, out, params);
}

}  // namespace cudascan
