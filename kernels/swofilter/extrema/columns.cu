// SPDX-License-Identifier: LGPL-2.1-or-later
// Windows of any height along columns. The result is transposed, its rows are the columns of the
// image, unless it is combined with other extrema.
#include "kernels/swofilter/extrema/kernels.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/swofilter/extrema/windows.cuh"

namespace cudascan::swo::extremes {
namespace {

/// Words of a row that a block processes, one for each lane, and the largest number of chunks that
/// it writes, one for each warp. With more chunks it would read fewer rows outside of them, but
/// more threads would wait at each barrier.
constexpr int kAcross = 32, kMostChunks = 8;

/// Columns in shared memory. Each thread of the block computes the windows that begin in one chunk
/// of one word's columns.
template <typename T, typename Op>
class ColumnStrip {
 public:
  /// Bytes of shared memory for a number of written chunks.
  static int bytes(int chunks, int side) {
    const int samples = read_chunks(chunks, side) * kPitch, extrema = chunks + side / kWindows;
    return (samples + extrema * kAcross) * static_cast<int>(sizeof(unsigned));
  }

  /// @param x, y  sample at which the first window begins
  __device__ ColumnStrip(const ExtremaColumnsJob<T> &job, int x, int y)
      : job_(job),
        x_(x),
        y_(y),
        n_read_(read_chunks(job.chunks, job.side)),
        words_(reinterpret_cast<unsigned *>(dynamic_shared_memory())),
        chunk_(threadIdx.x / kAcross),
        column_(words_ + threadIdx.x % kAcross) {}

  /// Reads the samples of the chunks that the block writes, and of those that the windows reach.
  __device__ void read() const {
    const Plane<const T> &in = job_.in.plane;
    const int unit = threadIdx.x % kUnits, x = x_ + unit * kUnit;
    if (job_.in.quads_aligned && x + kUnit <= in.width) {
      const unsigned to = shared_address(words_) + unit * 16;
      const auto *const from = reinterpret_cast<const unsigned char *>(in.data + x);
      const auto stride = static_cast<int>(in.stride);
      each_row([&](int row, int at) {
        copy_async(to + at * (kAcross * 4), from + static_cast<std::ptrdiff_t>(row) * stride);
      });
    } else if (x < in.width) {
      each_row([&](int row, int at) {
#pragma unroll 1
        for (int k = 0; k < 4; ++k)
          words_[at * kAcross + unit * 4 + k] =
              load_any_word(in.row(row), in.width, x + k * Packed<T>::kSamples, 0u);
      });
    }
    commit_copies();
    wait_for_copies<0>();
  }

  /// The extrema of windows of at most kMostInOneGo rows.
  __device__ void slide_over(Packed<T> (&column)[kWindows]) const {
    __syncthreads();
    slide<kMostInOneGo, Op>(job_.side, Rows<>{column_ + chunk_ * kPitch}, column);
  }

  /// The extrema of windows of more than kWindows rows, by van Herk, Pattern Recognition Letters
  /// 13(7), 1992, but with chunks that are shorter than the window. An extremum is combined from
  /// that of the first chunk, from the beginning of the window on, those of all chunks in the
  /// middle, and that of the last chunk, up to the end of the window.
  __device__ void combine(Packed<T> (&column)[kWindows]) const {
    const int whole = (job_.side - 1) / kWindows, rest = (job_.side - 1) % kWindows;
    unsigned *const extrema = words_ + n_read_ * kPitch + threadIdx.x % kAcross;
    __syncwarp();
    // For two neighbouring windows: the first row, and the extremum from the second row to the end
    // of the chunk.
    unsigned first[kWindows / 2];
    Packed<T> behind[kWindows / 2];
    const Rows<> own{column_ + chunk_ * kPitch};
#pragma unroll
    for (int k = kWindows / 2 - 1; k >= 0; --k) {
      first[k] = own.words[2 * k * kAcross];
      behind[k] = own.template at<0>(2 * k + 1);
      if (k + 1 < kWindows / 2)
        behind[k] = three(Op{}, behind[k], spread<T>(first[k + 1]), behind[k + 1]);
    }
    extrema[chunk_ * kAcross] = joined(Op{}(spread<T>(first[0]), behind[0]));
    for (int c = chunk_ + job_.chunks; c < job_.chunks + whole - 1; c += job_.chunks) {
      const Rows<> other{column_ + c * kPitch};
      extrema[c * kAcross] = joined(other.template extremum<kWindows>(neutral<Op, T>()));
    }
    __syncthreads();
    Packed<T> middle = neutral<Op, T>();
#pragma unroll 4
    for (int c = chunk_ + 1; c < chunk_ + whole; ++c)
      middle = Op{}(middle, spread<T>(extrema[c * kAcross]));
    const unsigned *const end = column_ + (chunk_ + whole) * kPitch;
    const auto with = [&]<int n>() {
      const Rows<n> ends{end};
      Packed<T> p = Rows<>{end}.template extremum<n>(middle);
#pragma unroll
      for (int k = 0; k < kWindows / 2; ++k) {
        const Packed<T> last = ends.template at<0>(2 * k);
        p = k == 0 ? Op{}(p, last) : three(Op{}, p, ends.template at<0>(2 * k - 1), last);
        two_windows<Op>(spread<T>(first[k]), behind[k], p, ends.template at<0>(2 * k + 1),
                        &column[2 * k]);
      }
    };
    switch (rest) {  // even, as sides are odd
      case 0:
        return with.template operator()<0>();
      case 2:
        return with.template operator()<2>();
      case 4:
        return with.template operator()<4>();
      case 6:
        return with.template operator()<6>();
      case 8:
        return with.template operator()<8>();
      case 10:
        return with.template operator()<10>();
      case 12:
        return with.template operator()<12>();
      default:
        return with.template operator()<14>();
    }
  }

 private:
  /// Words of a chunk, 16-byte units of a row of them, and samples of a unit.
  static constexpr int kPitch = kWindows * kAcross, kUnits = kAcross / 4, kUnit = 16 / sizeof(T);

  static CUDASCAN_HD int read_chunks(int written, int side) {
    return written + (side - 1 + kWindows - 1) / kWindows;
  }

  /// Calls f(row of the image, index of the row in shared memory) for the rows of the warp's own
  /// chunk, and for others.
  template <typename F>
  __device__ void each_row(const F &f) const {
    constexpr int kStep = 32 / kUnits;  // rows that a warp reads at a time
    const int first = threadIdx.x % 32 / kUnits;
    for (int c = chunk_; c < n_read_; c += job_.chunks)
#pragma unroll
      for (int i = 0; i < kWindows; i += kStep) {
        const int at = c * kWindows + i + first;
        // A row outside the image is the same as the nearest row inside.
        f(min(max(y_ + at, 0), job_.in.plane.height - 1), at);
      }
  }

  /// Words of a column, from row n of a chunk on.
  template <int n = 0>
  struct Rows {
    const unsigned *words;

    template <int>
    __device__ Packed<T> at(int i) const {
      return spread<T>(words[(n + i) * kAcross]);
    }
    /// The extremum of `count` of them, an even number, and p.
    template <int count>
    __device__ Packed<T> extremum(Packed<T> p) const {
#pragma unroll
      for (int i = 0; i < count; i += 2) p = three(Op{}, p, at<0>(i), at<0>(i + 1));
      return p;
    }
  };

  const ExtremaColumnsJob<T> &job_;
  const int x_, y_, n_read_;
  unsigned *const words_;
  const int chunk_;
  const unsigned *const column_;  // from the thread's word on
};

/// Units of 16 bytes of a column: unit u of a chunk belongs to its column u / sizeof(T), and begins
/// at row u % sizeof(T) * 16 / sizeof(T). Neither neighbouring columns nor neighbouring rows use
/// the same bank.
template <typename T>
__device__ uint4 &unit(int chunk, int u, int across) {
  constexpr int kBytes = sizeof(T);
  auto *const units = reinterpret_cast<uint4 *>(dynamic_shared_memory());
  return units[(chunk * 4 + u) * kAcross + (across ^ ((chunk * kBytes + u % kBytes) % kAcross))];
}

/// Writes the results of a block. Each thread has the results of one chunk of a word's columns.
/// @param x0, y0  the first sample of the results, in the coordinates of the input
template <typename T>
__device__ void store_turned(const ExtremaColumnsJob<T> &job, int x0, int y0,
                             const Packed<T> (&column)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples, kBytes = sizeof(T), kUnit = 16 / kBytes;
  unsigned words[kSamples][kWindows / kSamples];
#pragma unroll
  for (int q = 0; q < kWindows / kSamples; ++q) {
    unsigned turned[kSamples];
    turn<T>(&column[q * kSamples], turned);
#pragma unroll
    for (int i = 0; i < kSamples; ++i) words[i][q] = turned[i];
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const unsigned *const from = &words[u / kBytes][u % kBytes * 4];
    unit<T>(threadIdx.x / kAcross, u, threadIdx.x % kAcross) =
        uint4{from[0], from[1], from[2], from[3]};
  }
  __syncthreads();
  // Neighbouring threads write neighbouring units of a column.
  const int units = job.chunks * kBytes;
  const auto first = static_cast<int>(std::uint64_t{threadIdx.x} * job.reciprocal >> 32);
  const int i = threadIdx.x - first * units, y = y0 + i * kUnit;
  const int columns = min(job.in.plane.width - x0, kAcross * kSamples);
  if (y >= job.in.plane.height) return;
  const auto each_column = [&](const auto &f) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (const int c = first + k * (kAcross / kBytes); c < columns)
        f(k, x0 + c, unit<T>(i / kBytes, c % kSamples * kBytes + i % kBytes, c / kSamples));
  };
  if (job.sink.finishes_quads() && y + kUnit <= job.in.plane.height) {
    uint4 others[4];
    each_column([&](int k, int x, const uint4 &) { others[k] = job.sink.other_quad(y, x); });
    each_column([&](int k, int x, const uint4 &words) {
      job.sink.store_quad(y, x, job.sink.finished(y, x, words, others[k]));
    });
  } else if (job.sink.takes_quads() && y + kUnit <= job.in.plane.height) {
    each_column([&](int, int x, const uint4 &words) {
      *reinterpret_cast<uint4 *>(job.sink.out.row(x) + y) = words;
    });
  } else {
    each_column([&](int, int x, const uint4 &words) { job.sink.store(y, x, words); });
  }
}

/// Writes the same not transposed, combined with job.also. Neighbouring threads write neighbouring
/// words.
template <typename Op, typename T>
__device__ void store_straight(const ExtremaColumnsJob<T> &job, int x, int y,
                               const Packed<T> (&column)[kWindows]) {
  const int width = job.in.plane.width, rows = min(job.in.plane.height - y, kWindows);
  if (x >= width) return;
  const bool whole = job.sink.is_aligned(4) && x + Packed<T>::kSamples <= width;
  const auto word = [&](const Plane<const T> &plane, int i) {
    return i < rows ? *reinterpret_cast<const unsigned *>(plane.row(y + i) + x) : 0;
  };
  unsigned words[kWindows], others[kWindows];
#pragma unroll
  for (int i = 0; i < kWindows; ++i) words[i] = word(job.also, i);
#pragma unroll
  for (int i = 0; i < kWindows; ++i) words[i] = joined(Op{}(column[i], spread<T>(words[i])));
  const bool finishes = whole && job.sink.finish != ExtremaFinish::none;
  if (finishes) {
#pragma unroll
    for (int i = 0; i < kWindows; ++i) others[i] = word(job.sink.other, i);
#pragma unroll
    for (int i = 0; i < kWindows; ++i) words[i] = job.sink.finished(x, y + i, words[i], others[i]);
  }
#pragma unroll
  for (int i = 0; i < kWindows; ++i) {
    if (i >= rows) break;
    if (whole)
      *reinterpret_cast<unsigned *>(job.sink.out.row(y + i) + x) = words[i];
    else
      job.sink.store_any(x, y + i, words[i]);
  }
}

/// @tparam small  the side is at most kMostInOneGo, otherwise larger than kWindows
template <typename T, typename Op, bool small, bool straight>
__global__ void __launch_bounds__(kMostChunks *kAcross, 4)
    columns_kernel(const __grid_constant__ ExtremaColumnsJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int height = job.in.plane.height, reach = job.side / 2;
  const int x0 = blockIdx.x * kAcross * Packed<T>::kSamples,
            y0 = blockIdx.y * job.chunks * kWindows;
  const ColumnStrip<T, Op> strip(job, x0, y0 - reach);
  Packed<T> column[kWindows];
  strip.read();
  if constexpr (small)
    strip.slide_over(column);
  else
    strip.combine(column);
  if (const int y = y0 + threadIdx.x / kAcross * kWindows;
      job.constant && (y < reach || y + kWindows + reach > height)) {
#pragma unroll
    for (int i = 0; i < kWindows; ++i)
      if (y + i < reach || y + i + reach >= height)
        column[i] = Op{}(column[i], spread<T>(job.outside));
  }
  if constexpr (straight) {
    store_straight<Op>(job, x0 + threadIdx.x % kAcross * Packed<T>::kSamples,
                       y0 + threadIdx.x / kAcross * kWindows, column);
  } else {
    __syncthreads();
    store_turned(job, x0, y0, column);
  }
}

}  // namespace

template <typename T, typename Op>
void queue_columns(Cuda &cuda, ExtremaColumnsJob<T> job) {
  const bool small = job.side <= kMostInOneGo;
  const int chunks = divide_up(job.in.plane.height, kWindows);
  job.chunks = std::clamp(chunks, 2, kMostChunks);
  job.reciprocal = ~0u / (job.chunks * static_cast<unsigned>(sizeof(T))) + 1;
  const auto kernel =
      job.straight
          ? (small ? columns_kernel<T, Op, true, true> : columns_kernel<T, Op, false, true>)
          : (small ? columns_kernel<T, Op, true, false> : columns_kernel<T, Op, false, false>);
  const int bytes = ColumnStrip<T, Op>::bytes(job.chunks, job.side);
  const dim3 blocks(divide_up(job.in.plane.width, kAcross * Packed<T>::kSamples),
                    divide_up(chunks, job.chunks));
  launch(cuda, kernel, {blocks, job.chunks * kAcross, bytes, cuda.code_architecture() >= 90}, job);
}

template void queue_columns<std::uint8_t, Smallest>(Cuda &, ExtremaColumnsJob<std::uint8_t>);
template void queue_columns<std::uint8_t, Largest>(Cuda &, ExtremaColumnsJob<std::uint8_t>);
template void queue_columns<std::uint16_t, Smallest>(Cuda &, ExtremaColumnsJob<std::uint16_t>);
template void queue_columns<std::uint16_t, Largest>(Cuda &, ExtremaColumnsJob<std::uint16_t>);

}  // namespace cudascan::swo::extremes
