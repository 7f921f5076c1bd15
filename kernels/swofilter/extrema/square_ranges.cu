// SPDX-License-Identifier: LGPL-2.1-or-later
// Both extrema of squares of 3x3 and 5x5, of 16-bit samples. A thread computes a small piece of the
// results. It reads each row of the piece once, as words, and computes the extrema along the row
// from them, as they are and shifted by one sample; then those along the columns. Nothing goes
// through shared memory: the words that neighbouring threads read as well come from the first-level
// cache. With 8-bit samples there are more shifts, and with one extremum less work for the same
// reads: for these the kernels of rectangles.cu are faster.
#include "kernels/swofilter/extrema/kernels.cuh"

#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/extrema/windows.cuh"

namespace cudascan::swo::extremes {
namespace {

using Sample = std::uint16_t;
constexpr int kSamples = Packed<Sample>::kSamples;

/// The piece of a thread, and the threads of a block. With more rows, samples would be read less
/// often, but fewer threads would run at the same time.
constexpr int kWords = 2, kRows = 4, kWide = kWords * kSamples;
constexpr int kAcross = 32, kDown = 8;
/// The words that a piece needs of a row: one more at each side.
constexpr int kReadWords = kWords + 2;

/// Both extrema of the windows of a row around the samples of words[1].
template <int side>
__device__ MinMax<Sample> along_row(const unsigned *words) {
  MinMax<Sample> shifted[side];
#pragma unroll
  for (int i = 0; i < side; ++i) {
    const int first = kSamples - side / 2 + i, k = first / kSamples;
    const auto samples = Packed<Sample>::of(
        first % kSamples == 0 ? words[k] : __funnelshift_r(words[k], words[k + 1], 16));
    shifted[i] = {samples, samples};
  }
  MinMax<Sample> result = three(Both{}, shifted[0], shifted[1], shifted[2]);
  if constexpr (side == 5) result = three(Both{}, result, shifted[3], shifted[4]);
  return result;
}

/// The word of samples from column x on. A sample outside the row is the same as the nearest one
/// inside. Kept apart from the other code, as few threads need it.
__device__ __noinline__ unsigned nearest_word(const Sample *row, int width, int x) {
  const auto sample = [&](int x) { return unsigned{row[min(max(x, 0), width - 1)]}; };
  return sample(x) | sample(x + 1) << 16;
}

/// Reads the words for a piece that begins at column x.
/// @tparam whole  all of them are inside the row
template <bool whole>
__device__ void read_words(const Sample *row, int width, int x, unsigned (&words)[kReadWords]) {
  if constexpr (whole) {
    const Sample *const piece = row + x;
    const auto own = *reinterpret_cast<const uint2 *>(piece);
    words[0] = *reinterpret_cast<const unsigned *>(piece - kSamples);
    words[1] = own.x;
    words[2] = own.y;
    words[3] = *reinterpret_cast<const unsigned *>(piece + kWide);
  } else {
#pragma unroll
    for (int k = 0; k < kReadWords; ++k) {
      const int at = x + (k - 1) * kSamples;
      words[k] = at >= 0 && at + kSamples <= width ? *reinterpret_cast<const unsigned *>(row + at)
                                                   : nearest_word(row, width, at);
    }
  }
}

/// Both extrema of the windows of a piece. Rows outside the image are the same as the nearest ones
/// inside.
/// @tparam whole  all windows are inside the image
template <int side, bool whole>
__device__ void range_of_piece(const Plane<const Sample> &in, int x, int y,
                               MinMax<Sample> (&result)[kWords][kRows]) {
  constexpr int kReadRows = kRows + side - 1;
  MinMax<Sample> rows[kWords][kReadRows];
#pragma unroll
  for (int i = 0; i < kReadRows; ++i) {
    const int row = y - side / 2 + i;
    unsigned words[kReadWords];
    read_words<whole>(in.row(whole ? row : min(max(row, 0), in.height - 1)), in.width, x, words);
#pragma unroll
    for (int k = 0; k < kWords; ++k) rows[k][i] = along_row<side>(&words[k]);
  }
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    extrema_of<side, Both>(rows[k]);
#pragma unroll
    for (int i = 0; i < kRows; ++i) result[k][i] = rows[k][i];
  }
}

template <int side>
__global__ void __launch_bounds__(kAcross *kDown)
    square_range_kernel(const __grid_constant__ RectangleJob<Sample> job) {
  constexpr int r = side / 2;
  let_next_kernel_start();
  wait_for_kernels_before();
  const Plane<const Sample> &in = job.in.plane;
  const int x = (blockIdx.x * kAcross + threadIdx.x) * kWide,
            y = (blockIdx.y * kDown + threadIdx.y) * kRows;
  if (x >= in.width || y >= in.height) return;
  const bool inside =
      x >= kSamples && x + kWide + kSamples <= in.width && y >= r && y + kRows + r <= in.height;
  MinMax<Sample> range[kWords][kRows];
  if (inside)
    range_of_piece<side, true>(in, x, y, range);
  else
    range_of_piece<side, false>(in, x, y, range);
  const bool in_pairs = x + kWide <= in.width && job.sink.is_aligned(8);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (y + i >= in.height) break;
    unsigned words[kWords];
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      MinMax<Sample> &both = range[k][i];
      const int at = x + k * kSamples;
      if (job.constant && !inside) {
        const bool whole_row = y + i < r || y + i + r >= in.height;
        count_constant(both, job.outside,
                       whole_row ? 0 : inside_mask<Sample>(at - r, in.width - 2 * r));
      }
      words[k] = job.sink.finished(at, y + i, both.largest.word(), both.smallest.word());
    }
    Sample *const row = job.sink.out.row(y + i);
    if (in_pairs) {
      *reinterpret_cast<uint2 *>(row + x) = uint2{words[0], words[1]};
    } else {
#pragma unroll
      for (int k = 0; k < kWords; ++k) store_word(row, in.width, x + k * kSamples, words[k]);
    }
  }
}

}  // namespace

void queue_square_range(Cuda &cuda, const RectangleJob<Sample> &job) {
  const Plane<const Sample> &in = job.in.plane;
  const dim3 blocks(divide_up(in.width, kAcross * kWide), divide_up(in.height, kDown * kRows));
  launch(cuda, job.width == 3 ? square_range_kernel<3> : square_range_kernel<5>,
         {blocks, dim3(kAcross, kDown), 0, cuda.code_architecture() >= 90}, job);
}

}  // namespace cudascan::swo::extremes
