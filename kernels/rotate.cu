// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/rotate_formula.h"

namespace cudascan {
namespace {

using rotation::Job;
using rotation::Place;
using rotation::Weights;

/// Pixels that a thread makes, beside one another, and threads of a block across and down.
constexpr int kPixels = 4, kAcross = 32, kDown = 8;

/// Samples beyond the four of a row that are read with them, and have to be there.
template <typename T>
constexpr int kReadAhead = 4 / sizeof(T) - 1;

/// The samples around places that are inside, read as the aligned words of 32 bits that they are in. Where
/// they are is an offset of 32 bits from an aligned address: registers, and additions, are half as wide.
template <typename T>
class Samples {
 public:
  __device__ explicit Samples(const Plane<const T> &plane)
      : words_(reinterpret_cast<const unsigned char *>(
            reinterpret_cast<std::uintptr_t>(plane.data) & ~std::uintptr_t{3})),
        first_(reinterpret_cast<std::uintptr_t>(plane.data) % 4),
        stride_(static_cast<std::uint32_t>(plane.stride)) {}

  /// Where the sample at this column and row is.
  __device__ std::uint32_t offset(int x, int y) const {
    return first_ + y * stride_ + x * static_cast<std::uint32_t>(sizeof(T));
  }
  __device__ std::uint32_t next_row(std::uint32_t offset) const { return offset + stride_; }

  /// The weighted sum of four samples; weights are signed numbers of 16 bits, two in a word.
  __device__ int sum_of_four(std::uint32_t offset, const uint2 &weights) const {
    std::uint32_t words[sizeof(T) + 1];
    const auto *const from = reinterpret_cast<const std::uint32_t *>(words_ + (offset & ~3u));
#pragma unroll
    for (int i = 0; i <= static_cast<int>(sizeof(T)); ++i) words[i] = __ldg(from + i);
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T)); ++i)  // shifts count modulo 32
      words[i] = __funnelshift_r(words[i], words[i + 1], offset * 8);
    if constexpr (sizeof(T) == 1) {
      return add_products<true>(weights.y, words[0], add_products<false>(weights.x, words[0], 0));
    } else {
      const auto product = [](std::uint32_t pair, std::uint32_t weights) {
        return static_cast<std::int16_t>(weights) * static_cast<int>(pair & 0xffff) +
               (static_cast<int>(weights) >> 16) * static_cast<int>(pair >> 16);
      };
      return product(words[0], weights.x) + product(words[1], weights.y);
    }
  }

 private:
  const unsigned char *words_;
  std::uint32_t first_, stride_;
};

/// Few pixels are at an edge, and their code is long.
template <typename T>
__device__ __noinline__ T blend_at_edge(const Job<T> &job, const Place &p) {
  return job.blend_at_edge(p);
}

template <typename T>
__global__ void __launch_bounds__(kAcross *kDown)
    rotate_kernel(const __grid_constant__ Job<T> job) {
  // Neighbours look up different weights, which is slow in the memory that parameters are in.
  __shared__ uint2 weights[rotation::kPhases];
  const int thread = threadIdx.y * kAcross + threadIdx.x;
  if (thread < rotation::kPhases)
    weights[thread] = reinterpret_cast<const uint2 *>(job.weights.of)[thread];
  __syncthreads();

  const int x = (blockIdx.x * kAcross + threadIdx.x) * kPixels,
            y = blockIdx.y * kDown + threadIdx.y;
  if (x >= job.out.width || y >= job.out.height) return;
  Place p = job.place(x, y);
  const Place last = job.place(x + kPixels - 1, y);
  T results[kPixels];
  if (job.inside(p, kReadAhead<T>) &&
      job.inside(last, kReadAhead<T>)) {  // and so are those between
    const Samples<T> samples(job.in);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const uint2 across = weights[Place::phase(p.x)], down = weights[Place::phase(p.y)];
      const int heights[4] = {static_cast<std::int16_t>(down.x), static_cast<int>(down.x) >> 16,
                              static_cast<std::int16_t>(down.y), static_cast<int>(down.y) >> 16};
      std::uint32_t offset = samples.offset(Place::whole(p.x) - 1, Place::whole(p.y) - 1);
      int sum = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sum += heights[j] * Job<T>::round_row(samples.sum_of_four(offset, across));
        offset = samples.next_row(offset);
      }
      results[i] = job.finish(sum);
      p = {p.x + job.cosine, p.y + job.sine};
    }
  } else {
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      results[i] = blend_at_edge(job, p);
      p = {p.x + job.cosine, p.y + job.sine};
    }
  }

  T *const to = job.out.row(y) + x;
  using Vector = std::conditional_t<sizeof(T) == 1, std::uint32_t, uint2>;
  if (x + kPixels <= job.out.width && reinterpret_cast<std::uintptr_t>(to) % sizeof(Vector) == 0) {
    Vector vector;
    memcpy(&vector, results, sizeof vector);
    *reinterpret_cast<Vector *>(to) = vector;
  } else {
#pragma unroll
    for (int i = 0; i < kPixels; ++i)
      if (x + i < job.out.width) to[i] = results[i];
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
