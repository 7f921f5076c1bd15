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
  /// Least number of blocks that run at the same time. For 8 bits and few rows, all or most blocks
  /// of a frame of 3840x2160.
  static constexpr int resident(int most) {
    const bool few = sizeof(T) == 1 && most <= kSmall;
    return (few ? most == kTiny ? 1280 : 1152 : 800) / kThreads;
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

/// What one thread does for a tile of results: columns of the tile, then rows of it.
/// @tparam most  see slide()
template <typename T, int most>
class TileOfWindows {
 public:
  using Size = RectangleTile<T>;
  static constexpr int kSamples = Size::kSamples, kStripWords = Size::kStripWords;
  /// The results of a thread: rows of sixteen columns.
  using Words = unsigned[kSamples][kStripWords];

  __device__ explicit TileOfWindows(const RectangleJob<T> &job) : job_(job) {}

  /// Extrema along columns, transposed. All threads of the block take part.
  template <typename Op>
  __device__ void columns(TurnedTile<T> turned) const {
    const int c = threadIdx.x % Size::kReadWords, chunk = threadIdx.x / Size::kReadWords;
    const int beside = (rx() + kSamples - 1) / kSamples;  // words
    if (c >= Size::kWords + 2 * beside) return;
    Packed<T> column[kWindows];
    slide_down<most, Op>(job_.in, job_.height, x0() + (c - beside) * kSamples,
                         y0() + chunk * kWindows - ry(), column);
#pragma unroll
    for (int q = 0; q < kStripWords; ++q) {
      unsigned words[kSamples];
      turn<T>(&column[q * kSamples], words);
#pragma unroll
      for (int i = 0; i < kSamples; ++i) turned.at(i, c, chunk * kStripWords + q) = words[i];
    }
  }

  /// Whether the thread has results.
  __device__ bool has_rows() const {
    return strip() < Size::kStrips;
  }
  /// Where they are.
  __device__ int x() const {
    return x0() + strip() * kWindows;
  }
  __device__ int y() const {
    return y0() + q() * kSamples;
  }

  /// Extrema along rows, from those along columns.
  template <typename Op>
  __device__ void rows(TurnedTile<T> turned, Words &words) const {
    Packed<T> row[kWindows];
    slide<most, Op>(job_.width, TurnedRow<T>{turned, strip(), q()}, row);
#pragma unroll
    for (int k = 0; k < kStripWords; ++k) {
      unsigned turned_back[kSamples];
      turn<T>(&row[k * kSamples], turned_back);
#pragma unroll
      for (int i = 0; i < kSamples; ++i) words[i][k] = turned_back[i];
    }
  }

  /// Whether the constant outside the image counts in some of the windows.
  __device__ bool leaves_image() const {
    return job_.constant && (x() < rx() || x() + kWindows + rx() > width() || y() < ry() ||
                             y() + kSamples + ry() > height());
  }
  /// Lets it count in row i of the results.
  template <typename Op>
  __device__ void count_constant(int i, Words &words) const {
    const bool whole_row = y() + i < ry() || y() + i + ry() >= height();
#pragma unroll
    for (int k = 0; k < kStripWords; ++k) {
      auto samples = Packed<T>::of(words[i][k]);
      extremes::count_constant<Op>(
          samples, job_.outside,
          whole_row ? 0 : inside_mask<T>(x() + k * kSamples - rx(), width() - 2 * rx()));
      words[i][k] = samples.word();
    }
  }

 private:
  __device__ int width() const {
    return job_.in.plane.width;
  }
  __device__ int height() const {
    return job_.in.plane.height;
  }
  __device__ int rx() const {
    return job_.width / 2;
  }
  __device__ int ry() const {
    return job_.height / 2;
  }
  __device__ int x0() const {
    return blockIdx.x * Size::kWords * kSamples;
  }
  __device__ int y0() const {
    return blockIdx.y * Size::kRows;
  }
  __device__ int q() const {
    return threadIdx.x % Size::kQuads;
  }
  __device__ int strip() const {
    return threadIdx.x / Size::kQuads;
  }

  const RectangleJob<T> &job_;
};

/// Four words of a row of results.
template <int n>
__device__ uint4 quad(const unsigned (&words)[n], int k) {
  return {words[k], words[k + 1], words[k + 2], words[k + 3]};
}

/// How results are written.
enum class Written { quads, finished_quads, somehow };

template <typename T, typename Op, int most, Written written>
__global__ void __launch_bounds__(RectangleTile<T>::kThreads, RectangleTile<T>::resident(most))
    rectangle_kernel(const __grid_constant__ RectangleJob<T> job) {
  using Tile = TileOfWindows<T, most>;
  __shared__ unsigned memory[TurnedTile<T>::kAll];
  let_next_kernel_start();
  wait_for_kernels_before();
  const Tile tile(job);
  const TurnedTile<T> turned(memory);
  tile.template columns<Op>(turned);
  __syncthreads();
  if (!tile.has_rows()) return;
  typename Tile::Words words;
  tile.template rows<Op>(turned, words);
  const int x = tile.x(), y = tile.y(), height = job.in.plane.height;
  uint4 others[Tile::kSamples][Tile::kStripWords / 4];
  if constexpr (written == Written::finished_quads) {
#pragma unroll
    for (int i = 0; i < Tile::kSamples; ++i)
#pragma unroll
      for (int k = 0; k < Tile::kStripWords; k += 4)
        if (y + i < height) others[i][k / 4] = job.sink.other_quad(x + k * Tile::kSamples, y + i);
  }
  const bool leaves = tile.leaves_image();
#pragma unroll
  for (int i = 0; i < Tile::kSamples; ++i) {
    if (y + i >= height) break;
    if (leaves) tile.template count_constant<Op>(i, words);
#pragma unroll
    for (int k = 0; k < Tile::kStripWords; k += 4) {
      const int at = x + k * Tile::kSamples;
      const uint4 extrema = quad(words[i], k);
      if constexpr (written == Written::quads)
        job.sink.store_quad(at, y + i, extrema);
      else if constexpr (written == Written::finished_quads)
        job.sink.store_quad(at, y + i, job.sink.finished(at, y + i, extrema, others[i][k / 4]));
      else
        job.sink.store(at, y + i, extrema);
    }
  }
}

/// Both extrema of each window, and what the sink makes of them.
template <typename T, int most>
__global__ void __launch_bounds__(RectangleTile<T>::kThreads)
    range_kernel(const __grid_constant__ RectangleJob<T> job) {
  using Tile = TileOfWindows<T, most>;
  __shared__ unsigned memory[2][TurnedTile<T>::kAll];
  let_next_kernel_start();
  wait_for_kernels_before();
  const Tile tile(job);
  const TurnedTile<T> smallest(memory[0]), largest(memory[1]);
  tile.template columns<Smallest>(smallest);
  tile.template columns<Largest>(largest);
  __syncthreads();
  if (!tile.has_rows()) return;
  typename Tile::Words low, high;
  tile.template rows<Smallest>(smallest, low);
  tile.template rows<Largest>(largest, high);
  const int x = tile.x(), y = tile.y();
  const bool leaves = tile.leaves_image();
#pragma unroll
  for (int i = 0; i < Tile::kSamples; ++i) {
    if (y + i >= job.in.plane.height) break;
    if (leaves) {
      tile.template count_constant<Smallest>(i, low);
      tile.template count_constant<Largest>(i, high);
    }
#pragma unroll
    for (int k = 0; k < Tile::kStripWords; k += 4)
      job.sink.store_both(x + k * Tile::kSamples, y + i, quad(low[i], k), quad(high[i], k));
  }
}

/// Blocks for all tiles of an image.
template <typename T>
LaunchShape tiles_of(Cuda &cuda, const Plane<const T> &in) {
  using Size = RectangleTile<T>;
  const dim3 blocks(divide_up(in.width, Size::kWords * Size::kSamples),
                    divide_up(in.height, Size::kRows));
  return {blocks, Size::kThreads, 0, cuda.code_architecture() >= 90};
}

}  // namespace

template <typename T, typename Op>
void queue_rectangle(Cuda &cuda, const RectangleJob<T> &job) {
  const auto kernel_for = [&]<Written written>() {
    const int side = std::max(job.width, job.height);
    return side <= kTiny    ? rectangle_kernel<T, Op, kTiny, written>
           : side <= kSmall ? rectangle_kernel<T, Op, kSmall, written>
                            : rectangle_kernel<T, Op, kMostInOneGo, written>;
  };
  launch(cuda,
         job.sink.takes_quads()      ? kernel_for.template operator()<Written::quads>()
         : job.sink.finishes_quads() ? kernel_for.template operator()<Written::finished_quads>()
                                     : kernel_for.template operator()<Written::somehow>(),
         tiles_of(cuda, job.in.plane), job);
}

template <typename T>
void queue_range(Cuda &cuda, const RectangleJob<T> &job) {
  launch(cuda,
         std::max(job.width, job.height) <= kTiny ? range_kernel<T, kTiny>
                                                  : range_kernel<T, kMostInOneGo>,
         tiles_of(cuda, job.in.plane), job);
}

template void queue_rectangle<std::uint8_t, Smallest>(Cuda &, const RectangleJob<std::uint8_t> &);
template void queue_rectangle<std::uint8_t, Largest>(Cuda &, const RectangleJob<std::uint8_t> &);
template void queue_rectangle<std::uint16_t, Smallest>(Cuda &, const RectangleJob<std::uint16_t> &);
template void queue_rectangle<std::uint16_t, Largest>(Cuda &, const RectangleJob<std::uint16_t> &);
template void queue_range(Cuda &, const RectangleJob<std::uint8_t> &);
template void queue_range(Cuda &, const RectangleJob<std::uint16_t> &);

}  // namespace cudascan::swo::extremes
