// SPDX-License-Identifier: LGPL-2.1-or-later
// Small rectangles: along the columns and along the rows in one launch.
#include "kernels/swofilter/extrema/kernels.cuh"

#include <algorithm>
#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/extrema/windows.cuh"

namespace cudascan::swo::extremes {
namespace {

template <typename T>
struct RectangleTile {
  static constexpr int kSamples = Packed<T>::kSamples;
  /// Words of a row: those that are written, those at each side of them, and all.
  static constexpr int kWords = 32, kBeside = 8 / kSamples, kReadWords = kWords + 2 * kBeside;
  /// Rows, counted in words of transposed samples and in chunks of kWindows.
  static constexpr int kQuads = 16, kRows = kQuads * kSamples, kChunks = kRows / kWindows;
  /// Words of kWindows columns, and the number of such groups in a row.
  static constexpr int kStripWords = kWindows / kSamples, kStrips = kWords / kStripWords;
  /// Threads: one for each column of words and each chunk of rows.
  static constexpr int kThreads = kReadWords * kChunks;
  /// Least number of blocks that run at the same time. For 8 bits and tiny windows, all blocks of a
  /// frame of 3840x2160.
  static constexpr int resident(int most) {
    return (most == kTiny && sizeof(T) == 1 ? 1280 : 800) / kThreads;
  }
};

/// The transposed samples of a tile: word q of column i + kSamples * c has the rows from kSamples *
/// q on. Neither neighbouring c nor the q of neighbouring strips use the same bank.
template <typename T>
class TurnedTile {
 public:
  using Size = RectangleTile<T>;
  static constexpr int kAll = Size::kSamples * Size::kReadWords * Size::kQuads;

  __device__ explicit TurnedTile(unsigned *words) : words_(words) {}

  __device__ unsigned &at(int i, int c, int q) const {
    return at(i, c / Size::kStripWords, c % Size::kStripWords, q);
  }
  /// The same for word m, counted from a strip.
  __device__ unsigned &at(int i, int strip, int m, int q) const {
    const int half = (m ^ m / Size::kStripWords) & 1;
    const int column = i * Size::kReadWords + strip * Size::kStripWords + (m & ~1);
    return words_[(column + (half ^ (strip & 1))) * Size::kQuads +
                  ((q + strip * (Size::kStripWords / 2) + m / 2) & (Size::kQuads - 1))];
  }

 private:
  unsigned *words_;
};

/// Transposed words along a row.
template <typename T>
struct TurnedRow {
  static constexpr int kSamples = Packed<T>::kSamples;
  TurnedTile<T> tile;
  int strip, q;

  template <int offset>
  __device__ Packed<T> at(int i) const {
    return spread<T>(tile.at((offset + i) % kSamples, strip, (offset + i) / kSamples, q));
  }
};

/// @tparam most   see slide()
/// @tparam quads  the sink takes quads
template <typename T, typename Op, int most, bool quads>
__global__ void __launch_bounds__(RectangleTile<T>::kThreads, RectangleTile<T>::resident(most))
    rectangle_kernel(const __grid_constant__ RectangleJob<T> job) {
  using Size = RectangleTile<T>;
  constexpr int kSamples = Size::kSamples, kStripWords = Size::kStripWords;
  __shared__ unsigned memory[TurnedTile<T>::kAll];
  const TurnedTile<T> turned(memory);
  let_next_kernel_start();
  wait_for_kernels_before();
  const int width = job.in.plane.width, height = job.in.plane.height;
  const int rx = job.width / 2, ry = job.height / 2;
  const int beside = (rx + kSamples - 1) / kSamples;  // words
  const int x0 = blockIdx.x * Size::kWords * kSamples, y0 = blockIdx.y * Size::kRows;
  if (const int c = threadIdx.x % Size::kReadWords, chunk = threadIdx.x / Size::kReadWords;
      c < Size::kWords + 2 * beside) {
    Packed<T> column[kWindows];
    slide_down<most, Op>(job.in, job.height, x0 + (c - beside) * kSamples,
                         y0 + chunk * kWindows - ry, column);
#pragma unroll
    for (int q = 0; q < kStripWords; ++q) {
      unsigned words[kSamples];
      turn<T>(&column[q * kSamples], words);
#pragma unroll
      for (int i = 0; i < kSamples; ++i) turned.at(i, c, chunk * kStripWords + q) = words[i];
    }
  }
  __syncthreads();
  // Sixteen columns, and the rows of a transposed word.
  if (threadIdx.x >= Size::kStrips * Size::kQuads) return;
  const int q = threadIdx.x % Size::kQuads, strip = threadIdx.x / Size::kQuads;
  Packed<T> row[kWindows];
  slide<most, Op>(job.width, TurnedRow<T>{turned, strip, q}, row);
  const int x = x0 + strip * kWindows, y = y0 + q * kSamples;
  const unsigned neutral = Op::template neutral<T>().word();
  unsigned words[kSamples][kStripWords];
#pragma unroll
  for (int k = 0; k < kStripWords; ++k) {
    unsigned turned_back[kSamples];
    turn<T>(&row[k * kSamples], turned_back);
#pragma unroll
    for (int i = 0; i < kSamples; ++i) words[i][k] = turned_back[i];
  }
  const bool leaves =
      job.constant && (x < rx || x + kWindows + rx > width || y < ry || y + kSamples + ry > height);
#pragma unroll
  for (int i = 0; i < kSamples; ++i) {
    if (y + i >= height) break;
    if (leaves) {
      const bool whole_row = y + i < ry || y + i + ry >= height;
#pragma unroll
      for (int k = 0; k < kStripWords; ++k) {
        // The samples whose windows lie in the image.
        const unsigned kept = whole_row ? 0 : inside_mask<T>(x + k * kSamples - rx, width - 2 * rx);
        const unsigned outside = (job.outside & ~kept) | (neutral & kept);
        words[i][k] = Op{}(Packed<T>::of(words[i][k]), Packed<T>::of(outside)).word();
      }
    }
#pragma unroll
    for (int k = 0; k < kStripWords; k += 4) {
      const uint4 quad{words[i][k], words[i][k + 1], words[i][k + 2], words[i][k + 3]};
      if constexpr (quads)
        job.sink.store_quad(x + k * kSamples, y + i, quad);
      else
        job.sink.store(x + k * kSamples, y + i, quad);
    }
  }
}

}  // namespace

template <typename T, typename Op>
void queue_rectangle(Cuda &cuda, const RectangleJob<T> &job) {
  using Size = RectangleTile<T>;
  const Plane<const T> &in = job.in.plane;
  const dim3 blocks(divide_up(in.width, Size::kWords * Size::kSamples),
                    divide_up(in.height, Size::kRows));
  const auto kernel_for = [&]<bool quads>() {
    return std::max(job.width, job.height) <= kTiny ? rectangle_kernel<T, Op, kTiny, quads>
                                                    : rectangle_kernel<T, Op, kMostInOneGo, quads>;
  };
  launch(cuda,
         job.sink.takes_quads() ? kernel_for.template operator()<true>()
                                : kernel_for.template operator()<false>(),
         {blocks, Size::kThreads, 0, cuda.code_architecture() >= 90}, job);
}

template void queue_rectangle<std::uint8_t, Smallest>(Cuda &, const RectangleJob<std::uint8_t> &);
template void queue_rectangle<std::uint8_t, Largest>(Cuda &, const RectangleJob<std::uint8_t> &);
template void queue_rectangle<std::uint16_t, Smallest>(Cuda &, const RectangleJob<std::uint16_t> &);
template void queue_rectangle<std::uint16_t, Largest>(Cuda &, const RectangleJob<std::uint16_t> &);

}  // namespace cudascan::swo::extremes
