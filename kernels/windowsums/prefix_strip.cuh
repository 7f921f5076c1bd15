// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sums over very large windows of a strip of rows, which a warp computes alone. row_kernel.cuh
/// says how.
#pragma once
#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/windowsums/division.h"
#include "kernels/windowsums/prefix.cuh"
#include "kernels/windowsums/side_stage.cuh"
#include "kernels/windowsums/sums.cuh"

namespace cudascan::windowsums {

/// The rows of a warp's strip and the sums over their windows, of any size. A SideStage copies the
/// rows. The sums of the first row come from PrefixSums, which know whole bands only: up to seven
/// rows enter at the lower end and up to seven leave at the upper end, in the first stages. The
/// sums of the window before the warp come from PrefixSums for every row.
template <typename T>
class PrefixStrip {
 public:
  using Samples = StageSamples<T>;
  using Source = SideStage<T>;
  using ColumnSums = windowsums::ColumnSums<T, true>;
  static constexpr int kRows = kStageRows<T>;
  static constexpr int kZeros = 16;  // not used
  static constexpr int kBarriers = kMaxWarps<T> * Source::kBarriers;

  LaneSums<T> sums;

  /// @param memory    of the stages of all warps
  /// @param barriers  kBarriers
  /// @param x         first column of the tile
  /// @param block     of those of the tile
  __device__ PrefixStrip(const StripJob<T> &job, const BlockStrips &strips, unsigned char *memory,
                         std::uint64_t *barriers, unsigned char * /*zeros*/, int x, int block)
      : job_(job),
        x_(x),
        begin_((block * warps() + warp()) * strips.rows),
        end_(min(begin_ + strips.rows, job.in.plane.height)),
        source_(job.in, memory + warp() * Source::kBytes, barriers + warp() * Source::kBarriers, x,
                job.rx),
        cut_(job.in.garbage > 0 && x + kStageColumns + job.rx > job.in.plane.width) {
    constexpr int kBand = PrefixSums<T>::kBandRows;
    top_ = max(begin_ - job.ry, 0);
    bottom_ = min(begin_ + job.ry + 1, job.in.plane.height);
    first_band_ = top_ / kBand;
    end_band_ = bottom_ / kBand;
    const int rest = max(top_ % kBand, bottom_ % kBand);
    rest_stages_ = begin_ < end_ ? (rest + kRows - 1) / kRows : 0;
    stage_zero_ = begin_ - rest_stages_ * kRows;
    source_.init();
  }

  /// Starts to copy the first rows.
  __device__ void start() {
#pragma unroll 1
    for (int n = 0; n < kStages; ++n) request(n);
  }
  __device__ void prepare() {}

  __device__ int begin() const {
    return begin_;
  }
  __device__ int end() const {
    return end_;
  }
  /// Whether samples right of the plane, in the windows of the tile, may be nonzero.
  __device__ bool has_garbage() const {
    return cut_;
  }

  /// Sums over the window of the first row; all threads of the block call it.
  __device__ void fill() {
    if (begin_ >= end_) return;
    ColumnSums left, right;
    job_.prefix.add(left, x_ - job_.rx - 1, first_band_, end_band_);
    job_.prefix.add(right, x_ + job_.rx, first_band_, end_band_);
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      sums.set(j, right.sum[j], left.sum[j], right.squares[j], left.squares[j]);
    constexpr int kBand = PrefixSums<T>::kBandRows;
    const int enter = bottom_ % kBand, leave = top_ % kBand;
#pragma unroll 1
    for (int first = 0; first < rest_stages_ * kRows; first += kRows) {
      source_.wait();
#pragma unroll 1
      for (int i = 0; i < kRows; ++i) {
        Samples a{}, b{}, c{}, d{};
        if (first + i < enter) {
          a = cut_side(Source::enters_right, i);
          b = source_.side(Source::enters_left, i);
        }
        if (first + i < leave) {
          c = cut_side(Source::leaves_right, i);
          d = source_.side(Source::leaves_left, i);
        }
        sums.step(a, b, c, d);
      }
      request(source_.waited() - 1 + kStages);
    }
    load_fronts(begin_);
  }

  /// Goes back to the first row after the last one.
  /// @param first  the sums of that row
  __device__ void begin_again(const LaneSums<T> &first) {
    if (begin_ >= end_) return;
    sums = first;
    const int next = source_.waited();
    stage_zero_ = begin_ - next * kRows;
    rest_stages_ = 0;
#pragma unroll 1
    for (int n = 0; n < kStages; ++n) request(next + n);
    load_fronts(begin_);
  }

  /// Waits for the next rows, from y on.
  /// @return their number
  __device__ int wait(int y) {
    source_.wait();
    return min(end_ - y, kRows);
  }
  /// The samples of row i of the loaded ones.
  __device__ Samples row(int i) const {
    return source_.own(i);
  }
  /// Moves the window one row down from that row. `inner`: no window of the tile is clipped at the
  /// left or right of the plane.
  template <bool inner, bool /*narrow*/>
  __device__ void step(int i) {
    const Samples a =
        inner ? source_.side(Source::enters_right, i) : cut_side(Source::enters_right, i);
    const Samples c =
        inner ? source_.side(Source::leaves_right, i) : cut_side(Source::leaves_right, i);
    sums.step(a, source_.side(Source::enters_left, i), c, source_.side(Source::leaves_left, i));
    if (++front_ == 32) load_fronts(fronts_ + 32);
  }
  template <typename SumS, typename SumQ>
  __device__ Bases<SumS, SumQ> bases() const {
    return {sums, __shfl_sync(kWholeWarp, static_cast<SumS>(front_sum_), front_),
            __shfl_sync(kWholeWarp, static_cast<SumQ>(front_squares_), front_)};
  }
  /// Call it when all loaded rows have been read.
  __device__ void release() {
    request(source_.waited() - 1 + kStages);
  }

 private:
  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  static __device__ int warp() {  // so that the compiler knows it is the same for all lanes
    return __shfl_sync(kWholeWarp, threadIdx.x / 32, 0);
  }
  static __device__ int warps() {
    return blockDim.x / 32;
  }

  /// Samples of a right side without those to the right of the plane.
  __device__ Samples cut_side(typename Source::Side side, int i) const {
    const Samples samples = source_.side(side, i);
    return cut_ ? samples & first_columns<T>(job_.in.plane.width - (x_ + job_.rx)) : samples;
  }

  /// Requests stage n: first the stages of the rest, then those of the strip.
  __device__ void request(int n) {
    constexpr int kBand = PrefixSums<T>::kBandRows;
    const int y = stage_zero_ + n * kRows;
    if (n < rest_stages_)
      source_.request(n, false, 0, end_band_ * kBand + n * kRows, first_band_ * kBand + n * kRows);
    else if (y < end_)  // no copy may be in flight when the block ends
      source_.request(n, true, y, y + job_.ry + 1, y - job_.ry);
  }

  /// Loads the sums over the windows before the warp of 32 rows, one for each lane.
  __device__ void load_fronts(int y) {
    fronts_ = y;
    front_ = 0;
    const int row = y + lane(), height = job_.in.plane.height;
    const int tile = x_ / kStageColumns;
    const SumPair pair = job_.prefix.front(tile, min(row + job_.ry + 1, height)) -
                         job_.prefix.front(tile, min(max(row - job_.ry, 0), height));
    front_sum_ = pair.sum;
    front_squares_ = LaneSums<T>::stored_squares(pair);
  }

  const StripJob<T> &job_;
  int x_;
  int begin_, end_;  // rows of the strip
  Source source_;
  bool cut_;                   // the tile has columns right of the plane that may be garbage
  int top_, bottom_;           // of the window of the first row
  int first_band_, end_band_;  // that are taken from the prefix sums for it
  int rest_stages_;
  int stage_zero_;  // the strip's row at which stage 0 would begin if no stages were for the rest
  int fronts_ = 0, front_ = 0;  // the row of the first lane's front, and the lane of the next row's
  std::uint64_t front_sum_ = 0, front_squares_ = 0;
};

}  // namespace cudascan::windowsums
