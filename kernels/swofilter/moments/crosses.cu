// SPDX-License-Identifier: LGPL-2.1-or-later
// Means and standard deviations of crosses. A warp computes 256 columns of a strip of rows, as
// windowsums/row_kernel.cuh says, but the window of its running sums is the row of the cross only.
// Each lane keeps the sums of the other samples, those of its columns.
#include <algorithm>
#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/moments/lane_results.cuh"
#include "kernels/windowsums/sums.cuh"

namespace cudascan::swo {
namespace {

using windowsums::kStageColumns;

template <typename T>
struct CrossJob {
  ShapeSource<T> in;
  Plane<T> out;
  int shift;  // unused low bits of samples
  int rx, ry;
  int rows;  // of a strip
};

template <typename T, bool deviation>
class CrossStrip {
 public:
  /// @param tile  first column of the warp
  __device__ CrossStrip(const CrossJob<T> &job, int tile)
      : job_(job),
        width_(job.in.image.plane.width),
        height_(job.in.image.plane.height),
        x_(tile + kColumns * static_cast<int>(threadIdx.x)),
        aligned_(job.in.aligned && x_ + kColumns <= width_),
        clips_(job.in.image.border == SwoFilterBorder::clip),
        cut_(clips_ && (tile < job.rx || tile + kStageColumns + job.rx > width_)),
        outside_(job.in.image.border == SwoFilterBorder::constant
                     ? job.in.image.outside * (~0u / ((1u << kBits) - 1))
                     : 0) {
    const int front = 2 * job.rx + 1 - kColumns * static_cast<int>(threadIdx.x);
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      front_mask_.word[k] = first_samples_mask<T>(front - k * kSamples);
  }

  /// Computes the rows [begin, end).
  __device__ void go(int begin, int end) {
    fill(begin);
    RowSamples now = read(begin);
#pragma unroll 1
    for (int y = begin;; ++y) {
      const bool last = y + 1 == end;
      // Its samples arrive while this row is computed.
      const RowSamples next = last ? now : read(y + 1);
      compute(y, now);
      if (last) break;
      column_.step(next.enters, next.leaves, next.own, now.own);
      now = next;
    }
  }

 private:
  static constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T),
                       kWords = StageSamples<T>::kWords;
  using Samples = StageSamples<T>;
  using Sums = windowsums::LaneSums<T>;
  using Square = ShapeSquare<T>;

  /// What a lane reads for a row: its own samples, those that enter and leave the window of its
  /// first pixel (and so on) along the row, and those that enter and leave its columns.
  struct RowSamples {
    Samples own, right, left, enters, leaves;
  };
  __device__ RowSamples read(int y) const {
    return {own(y), any(x_ + job_.rx, y), any(x_ - job_.rx - 1, y), own(y + job_.ry),
            own(y - job_.ry - 1)};
  }

  /// The samples of the lane's columns in any row.
  __device__ Samples own(int y) const {
    if (static_cast<unsigned>(y) >= static_cast<unsigned>(height_)) {
      y = resolved(job_.in.image, y);
      if (y < 0) {
        Samples samples;
#pragma unroll
        for (unsigned &word : samples.word) word = outside_;
        return samples;
      }
    }
    return aligned_ ? aligned(y) : levelled(word_by_word(job_.in, x_, y));
  }
  /// The same in a row of the image, if they are in whole words.
  __device__ Samples aligned(int y) const {
    const T *const from = job_.in.image.plane.row(y) + x_;
    if constexpr (sizeof(T) == 1) {
      const uint2 words = *reinterpret_cast<const uint2 *>(from);
      return {words.x, words.y};
    } else {
      const uint4 words = *reinterpret_cast<const uint4 *>(from);
      return levelled({words.x, words.y, words.z, words.w});
    }
  }
  /// The samples from any column on in a row of the image.
  __device__ Samples any(int x, int y) const {
    Samples samples;
    if (job_.in.aligned && x >= 0 && x + kColumns + kSamples <= width_) {
      const auto *const words =
          reinterpret_cast<const unsigned *>(job_.in.image.plane.row(y)) + x / kSamples;
      const int bits = x % kSamples * kBits;
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        samples.word[k] = __funnelshift_r(words[k], words[k + 1], bits);
    } else {
      samples = word_by_word(job_.in, x, y);
    }
    return levelled(samples);
  }
  static __device__ __noinline__ Samples word_by_word(const ShapeSource<T> &in, int x, int y) {
    Samples samples;
#pragma unroll
    for (int k = 0; k < kWords; ++k) samples.word[k] = in.word(x + k * kSamples, y);
    return samples;
  }
  static __device__ __noinline__ int resolved(const Source<T> &image, int y) {
    return resolve(y, image.plane.height, image.border);
  }
  /// Without unused low bits.
  __device__ Samples levelled(Samples samples) const {
    if constexpr (sizeof(T) == 2) {
      const unsigned used = (0xffffu << job_.shift & 0xffff) * 0x10001u;
#pragma unroll
      for (unsigned &word : samples.word) word &= used;
    }
    return samples;
  }

  /// Sums up the columns for row `begin`.
  __device__ void fill(int begin) {
    constexpr int kRows = windowsums::kStageRows<T>, kAhead = 64 / sizeof(Samples);
    windowsums::ColumnSums<T, deviation> all;
    const int end = begin + job_.ry + 1;
    int y = begin - job_.ry;
    const auto add_rows = [&](int last) {
      for (; y < last; y += kRows) {
        Samples rows[kRows];
#pragma unroll
        for (int k = 0; k < kRows; ++k) rows[k] = y + k < last ? own(y + k) : Samples{};
        all.add(rows);
      }
      y = last;
    };
    if (y < 0) add_rows(min(end, 0));
    if (__all_sync(kWholeWarp, aligned_)) {
      // Many rows at once.
#pragma unroll 1
      for (const int last = min(end, height_); y + kAhead <= last; y += kAhead) {
        Samples rows[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) rows[k] = aligned(y + k);
#pragma unroll
        for (int k = 0; k < kAhead; k += kRows) {
          Samples some[kRows];
#pragma unroll
          for (int i = 0; i < kRows; ++i) some[i] = rows[k + i];
          all.add(some);
        }
      }
    }
    add_rows(end);
    const Samples middle = own(begin);
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      column_.set(j, all.sum[j], middle[j], all.squares[j], Square{middle[j]} * middle[j]);
  }

  __device__ void compute(int y, const RowSamples &samples) const {
    Sums row{};  // changes from one pixel to the next
    row.step(samples.right, samples.left, Samples{}, Samples{});
    row.add_front(samples.left, front_mask_);
    const std::uint32_t front = warp_sum(row.front_sum);
    std::uint32_t sums[kColumns];
    add_up(row.sum, front, sums);
    Square squares[kColumns] = {};
    if constexpr (deviation)
      add_up(row.squares, row.template all_front_squares<Square>(front), squares);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      sums[j] += column_.sum[j];
      if constexpr (deviation)
        squares[j] = Sums::true_squares(sums[j], squares[j] + column_.squares[j]);
    }
    const int rows = clips_ ? min(y + job_.ry, height_ - 1) - max(y - job_.ry, 0) : 2 * job_.ry;
    unsigned levels[kColumns];
    const auto decide = [&](const auto &count) {
      lane_levels<T, deviation>(sums, squares, job_.shift, count, levels);
    };
    if (cut_)
      decide([&](int j) -> unsigned {
        const int x = min(x_ + j, width_ - 1);
        return rows + min(x + job_.rx, width_ - 1) - max(x - job_.rx, 0) + 1;
      });
    else
      decide([&](int) -> unsigned { return rows + 2 * job_.rx + 1; });
    store_levels(job_.out, x_, y, job_.shift, levels);
  }

  const CrossJob<T> &job_;
  const int width_, height_, x_;
  const bool aligned_, clips_, cut_;
  const unsigned outside_;
  Samples front_mask_;  // the lane's share of the row before the warp's first pixel
  Sums column_;         // without the middle
};

/// Warps of a multiprocessor, by their registers; and rows of the lowest strip.
constexpr int kResidentWarps = 20, kFewestRows = 8;

/// A block is a warp.
template <typename T, bool deviation>
__global__ void __launch_bounds__(32) crosses_kernel(const __grid_constant__ CrossJob<T> job) {
  const int begin = blockIdx.y * job.rows;
  CrossStrip<T, deviation>(job, blockIdx.x * kStageColumns)
      .go(begin, min(begin + job.rows, job.out.height));
}

}  // namespace

template <typename T>
void queue_cross(Cuda &cuda, const FilterJob &filter, const ShapeSource<T> &in, Plane<T> out) {
  const Mask &mask = filter.mask();
  // All warps run at the same time. More rows of each share the sum of a window.
  const int tiles = divide_up(out.width, kStageColumns);
  const int strips = std::max(cuda.multiprocessors() * kResidentWarps / tiles, 1);
  const int rows = std::max(divide_up(out.height, strips), kFewestRows);
  launch(cuda,
         filter.op == SwoFilterOperator::mean ? crosses_kernel<T, false> : crosses_kernel<T, true>,
         {dim3(tiles, divide_up(out.height, rows)), 32},
         {in, out, filter.shift, mask.rx(), mask.ry(), rows});
}

template void queue_cross(Cuda &, const FilterJob &, const ShapeSource<std::uint8_t> &,
                          Plane<std::uint8_t>);
template void queue_cross(Cuda &, const FilterJob &, const ShapeSource<std::uint16_t> &,
                          Plane<std::uint16_t>);

}  // namespace cudascan::swo
