// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums over the columns of crosses; see sums.cuh.
#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/moments/sums.cuh"

namespace cudascan::swo {
namespace {

/// Rows in which a thread moves the window down: more of them read less, fewer keep more threads
/// busy.
int column_rows(int ry) {
  return ry <= 8 ? 16 : ry <= 32 ? 32 : 64;
}

/// Writes sums of the samples of a word.
template <typename E, int n>
__device__ void store_sums(E *to, const E (&sums)[n]) {
  if constexpr (n * sizeof(E) == 16) {
    SumQuad<E> quad;
#pragma unroll
    for (int i = 0; i < n; ++i) quad.v[i] = sums[i];
    quad.store(to);
  } else {
    static_assert(n == 2 && sizeof(E) == 4);
    *reinterpret_cast<uint2 *>(to) = {sums[0], sums[1]};
  }
}

/// Rows of the image that count for rows inside and outside of it, without branches, so that many
/// loads can be in flight.
class BorderRows {
 public:
  /// Rows are at most `height` rows outside the image.
  __device__ BorderRows(int height, SwoFilterBorder border)
      : height_(height),
        reflected_(border == SwoFilterBorder::reflect ? ~0 : 0),
        has_all_(border == SwoFilterBorder::reflect || border == SwoFilterBorder::replicate) {}

  /// The row, or a row of the image if there is none.
  __device__ int operator()(int y) const {
    const int row = max(y, reflected_ & (-1 - y));
    return min(row, height_ - 1 + (reflected_ & (height_ - row)));
  }
  __device__ bool has(int y) const {
    return has_all_ | (static_cast<unsigned>(y) < static_cast<unsigned>(height_));
  }

 private:
  const int height_, reflected_;  // all bits
  const bool has_all_;
};

/// Adds up columns. A thread has the columns of a word.
template <typename T, bool squared>
class ColumnSums {
 public:
  __device__ ColumnSums(const ShapeMomentJob<T> &job, int x)
      : job_(job),
        in_(job.in.image.plane),
        x_(x),
        outside_(job.in.image.border == SwoFilterBorder::constant
                     ? job.in.image.outside * (~0u / ((1u << kBits) - 1))
                     : 0) {}

  /// Processes the rows [begin, end) of pixels.
  __device__ void go(int begin, int end) {
    const bool is_word = x_ + kSamples <= in_.width && (reinterpret_cast<std::uintptr_t>(in_.data) |
                                                        static_cast<std::uintptr_t>(in_.stride)) %
                                                               4 ==
                                                           0;
    if (is_word && job_.cells.ry <= in_.height) {
      const BorderRows rows(in_.height, job_.in.image.border);
      const auto *const column = reinterpret_cast<const unsigned char *>(in_.data + x_);
      add_rows(begin, end, [&](int y) {
        const unsigned word = *reinterpret_cast<const unsigned *>(column + rows(y) * in_.stride);
        return rows.has(y) ? word : outside_;
      });
    } else {
      add_rows(begin, end, [&](int y) {
        const int row = resolve(y, in_.height, job_.in.image.border);
        return row < 0 ? outside_ : load_word(in_.row(row), in_.width, x_, 0u);
      });
    }
  }

 private:
  static constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  using Square = ShapeSquare<T>;

  template <typename Load>
  __device__ void add_rows(int begin, int end, const Load &load) {
    const int ry = job_.cells.ry;
#pragma unroll 16
    for (int y = begin - ry; y < begin + ry; ++y) add(load(y), true);
    // Loads of several rows before their sums are stored.
    constexpr int kAtOnce = 8;
    int y = begin;
    for (; y + kAtOnce <= end; y += kAtOnce) {
      unsigned enters[kAtOnce], leaves[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        enters[i] = load(y + i + ry);
        leaves[i] = load(y + i - ry);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) move(y + i, enters[i], leaves[i]);
    }
    for (; y < end; ++y) move(y, load(y + ry), load(y - ry));
  }
  /// Stores the sums of row y, which a word enters, and goes on without one that leaves.
  __device__ void move(int y, unsigned enters, unsigned leaves) {
    add(enters, true);
    store_sums(job_.sums.row(y) + x_, sums_);  // rows of sums have room for whole words
    if constexpr (squared) store_sums(job_.squares.row(y) + x_, squares_);
    add(leaves, false);
  }
  __device__ void add(unsigned word, bool enters) {
#pragma unroll
    for (int i = 0; i < kSamples; ++i) {
      const unsigned level = (word >> (kBits * i) & ((1u << kBits) - 1)) >> job_.shift;
      sums_[i] += enters ? level : -level;
      if constexpr (squared) {
        const Square square = Square{level} * level;
        squares_[i] += enters ? square : Square{0} - square;
      }
    }
  }

  const ShapeMomentJob<T> &job_;
  const Plane<const T> &in_;
  const int x_;
  const unsigned outside_;
  std::uint32_t sums_[kSamples] = {};
  Square squares_[kSamples] = {};
};

template <typename T, bool squared>
__global__ void __launch_bounds__(128)
    columns_kernel(const __grid_constant__ ShapeMomentJob<T> job, int rows) {
  const int x = (blockIdx.x * 128 + threadIdx.x) * Packed<T>::kSamples;
  const int begin = blockIdx.y * rows;
  if (x < job.out.width)
    ColumnSums<T, squared>(job, x).go(begin, min(begin + rows, job.out.height));
}

}  // namespace

template <typename T>
void queue_cross_columns(Cuda &cuda, const FilterJob &filter, const ShapeMomentJob<T> &job) {
  const int rows = column_rows(job.cells.ry);
  const dim3 blocks(divide_up(job.out.width, 128 * Packed<T>::kSamples),
                    divide_up(job.out.height, rows));
  launch(cuda,
         filter.op == SwoFilterOperator::mean ? columns_kernel<T, false> : columns_kernel<T, true>,
         {blocks, 128}, job, rows);
}

template void queue_cross_columns(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint8_t> &);
template void queue_cross_columns(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint16_t> &);

}  // namespace cudascan::swo
