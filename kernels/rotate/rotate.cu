// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/rotate/formula.h"

namespace cudascan {
namespace {

using rotation::RotateJob;
using rotation::SourcePlace;

/// A block computes a tile of pixels. It first copies the samples around their positions to shared
/// memory. Each warp has kLanesDown rows of the tile and computes kLanesAcross columns of them at a
/// time. So the samples that its lanes read at once are close together in all directions, and in
/// different banks at any angle.
constexpr int kAcross = 64, kDown = 32;
constexpr int kLanesAcross = 8, kLanesDown = 32 / kLanesAcross;
constexpr int kWarps = kDown / kLanesDown, kThreads = 32 * kWarps;
constexpr int kPixels = kAcross / kLanesAcross;  // of a thread

/// Most samples along a line across a tile at any angle, with the samples around its ends.
constexpr int kReach = 75;
static_assert((kAcross - 1) * (kAcross - 1) + (kDown - 1) * (kDown - 1) <=
              (kReach - 4) * (kReach - 4));

/// The copy consists of words of so many samples.
template <typename T>
constexpr int kInWord = 4 / sizeof(T);

/// Its rows are a multiple of 4 words long, but not of 8. So the first four words of eight
/// consecutive rows are in 32 different banks.
template <typename T>
constexpr int kRowWords = sizeof(T) == 1 ? 20 : 44;

template <typename T>
constexpr bool fits() {
  constexpr int kWords = kRowWords<T>, kSamples = kWords * kInWord<T>;
  return kSamples >= kReach + kInWord<T> - 1 && kWords % 8 == 4;
}
static_assert(fits<std::uint8_t>() && fits<std::uint16_t>());

/// The part of the image with the samples for a tile; its size is the same for all tiles.
struct Box {
  SourcePlace corner;  ///< its lowest x and y, relative to the position of the tile's first pixel
  int words, rows;     ///< words of a row, which starts at a multiple of four bytes
  bool aligned;        ///< whether rows of the image begin at multiples of four bytes
  int rows_on, words_on;  ///< rows and words to advance for as many words as the block has threads
  std::uint32_t words_inverse;  ///< 2^16 / words, rounded up
};

template <typename T>
Box make_box(const RotateJob<T> &job) {
  const auto range = [](std::int64_t across, std::int64_t down) {
    const std::int64_t ends[] = {across * (kAcross - 1), down * (kDown - 1)};
    const auto low = std::min<std::int64_t>(ends[0], 0) + std::min<std::int64_t>(ends[1], 0);
    const auto high = std::max<std::int64_t>(ends[0], 0) + std::max<std::int64_t>(ends[1], 0);
    // Positions may be anywhere between two samples. Samples at -1, 0, 1 and 2 are needed.
    return std::pair(low, static_cast<int>((high - low + 0xffffffff) >> 32) + 4);
  };
  const auto [left, columns] = range(job.cosine, -job.sine);
  const auto [top, rows] = range(job.sine, job.cosine);
  Box box{};
  box.corner = {left, top};
  box.words = divide_up(columns + kInWord<T> - 1, kInWord<T>);
  box.rows = rows;
  box.aligned = reinterpret_cast<std::uintptr_t>(job.in.data) % 4 == 0 && job.in.stride % 4 == 0;
  box.rows_on = kThreads / box.words;
  box.words_on = kThreads % box.words;
  box.words_inverse = divide_up(1 << 16, box.words);
  return box;
}

/// Copies the box whose first sample is at row y and column x, a multiple of the samples of a word.
template <typename T>
__device__ void copy_box(const RotateJob<T> &job, const Box &box, int x, int y, std::uint32_t *to) {
  const int thread = threadIdx.x;
  int row = thread * box.words_inverse >> 16, word = thread - row * box.words;
  const bool inside = x >= 0 && y >= 0 && x + box.words * kInWord<T> <= job.in.width &&
                      y + box.rows <= job.in.height;
  const bool by_words = inside && box.aligned;
  const unsigned address = shared_address(to);
  for (; row < box.rows; row += box.rows_on) {
    const int column = x + word * kInWord<T>, at = row * kRowWords<T> + word;
    if (by_words) {
      copy_async<4>(address + 4 * at, job.in.row(y + row) + column);
    } else {
      std::uint32_t samples = 0;
#pragma unroll
      for (int i = 0; i < kInWord<T>; ++i)
        samples |= std::uint32_t{job.sample(column + i, y + row)} << (8 * sizeof(T) * i);
      to[at] = samples;
    }
    word += box.words_on;
    if (word >= box.words) {
      word -= box.words;
      ++row;
    }
  }
  commit_copies();
  wait_for_copies<0>();
}

/// The weighted sum of four samples; weights are signed numbers of 16 bits, two in a word.
/// @param words  the word with the first sample, and the following ones
/// @param shift  bits before the first sample, modulo 32
template <typename T>
__device__ int sum_of_four(const std::uint32_t *words, int shift, const uint2 &weights) {
  std::uint32_t four[sizeof(T) + 1];
#pragma unroll
  for (int i = 0; i <= static_cast<int>(sizeof(T)); ++i) four[i] = words[i];
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i)
    four[i] = __funnelshift_r(four[i], four[i + 1], shift);
  if constexpr (sizeof(T) == 1) {
    return add_products<true>(weights.y, four[0], add_products<false>(weights.x, four[0], 0));
  } else {
    const auto product = [](std::uint32_t pair, std::uint32_t weights) {
      return static_cast<std::int16_t>(weights) * static_cast<int>(pair & 0xffff) +
             (static_cast<int>(weights) >> 16) * static_cast<int>(pair >> 16);
    };
    return product(four[0], weights.x) + product(four[1], weights.y);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    rotate_kernel(const __grid_constant__ RotateJob<T> job, const __grid_constant__ Box box) {
  using Pixels = std::conditional_t<sizeof(T) == 1, uint2, uint4>;  // of a thread
  __shared__ std::uint32_t samples[kReach * kRowWords<T>];
  // Neighbours look up different weights, which is slow in constant memory.
  __shared__ uint2 weights[rotation::kPhases];
  // One vector more than a row needs, so that rows are in different banks.
  __shared__ Pixels results[kWarps][kLanesDown][kLanesAcross + 1];

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int left = blockIdx.x * kAcross, top = blockIdx.y * kDown;
  const SourcePlace first = job.place(left, top);
  const int box_x = (SourcePlace::whole(first.x + box.corner.x) - 1) & -kInWord<T>;
  const int box_y = SourcePlace::whole(first.y + box.corner.y) - 1;
  copy_box(job, box, box_x, box_y, samples);
  if (threadIdx.x < rotation::kPhases)
    weights[threadIdx.x] = reinterpret_cast<const uint2 *>(job.weights.of)[threadIdx.x];
  __syncthreads();

  const int x = lane % kLanesAcross, y = lane / kLanesAcross;
  SourcePlace p = job.place(left + x, top + warp * kLanesDown + y);
  p.x -= static_cast<std::int64_t>(box_x + 1) << 32;  // the first of four, relative to the box
  p.y -= static_cast<std::int64_t>(box_y + 1) << 32;
  T *const row = reinterpret_cast<T *>(results[warp][y]);
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    const uint2 across = weights[SourcePlace::phase(p.x)], down = weights[SourcePlace::phase(p.y)];
    const int heights[4] = {static_cast<std::int16_t>(down.x), static_cast<int>(down.x) >> 16,
                            static_cast<std::int16_t>(down.y), static_cast<int>(down.y) >> 16};
    const unsigned at =
        SourcePlace::whole(p.y) * (kRowWords<T> * 4) + SourcePlace::whole(p.x) * sizeof(T);
    const std::uint32_t *const from = samples + at / 4;
    int sum = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      sum += heights[j] *
             RotateJob<T>::round_row(sum_of_four<T>(from + j * kRowWords<T>, at * 8, across));
    row[i * kLanesAcross + x] = job.finish(sum);
    p = {p.x + kLanesAcross * job.cosine, p.y + kLanesAcross * job.sine};
  }
  __syncwarp();

  // Each lane stores adjacent pixels.
  const int out_x = left + x * kPixels, out_y = top + warp * kLanesDown + y;
  if (out_y >= job.out.height) return;
  const Pixels mine = results[warp][y][x];
  T *const to = job.out.row(out_y) + out_x;
  if (out_x + kPixels <= job.out.width &&
      reinterpret_cast<std::uintptr_t>(to) % sizeof(Pixels) == 0) {
    *reinterpret_cast<Pixels *>(to) = mine;
  } else {
    T pixels[kPixels];
    memcpy(pixels, &mine, sizeof pixels);
#pragma unroll
    for (int i = 0; i < kPixels; ++i)
      if (out_x + i < job.out.width) to[i] = pixels[i];
  }
}

template <typename T>
void run_any(Cuda &cuda, Plane<const T> in, Plane<T> out, const RotateParams &params) {
  const RotateJob<T> job = rotation::make_job(params, in, out);
  const dim3 grid(divide_up(out.width, kAcross), divide_up(out.height, kDown));
  launch(cuda, rotate_kernel<T>, {grid, kThreads}, job, make_box(job));
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
