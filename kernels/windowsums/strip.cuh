// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Window sums of a strip of rows, which a warp computes alone; row_kernel.cuh says how.
#pragma once
#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/windowsums/division.h"
#include "kernels/windowsums/row_stage.cuh"
#include "kernels/windowsums/row_tile.cuh"
#include "kernels/windowsums/sums.cuh"

namespace cudascan::windowsums {

/// The rows of a warp's strip and the sums over their windows.
///
/// The rows come from a RowTile if shared memory has room for all rows of the block. Otherwise
/// there is a stage for every kRows rows: the narrow piece has these rows, the wide pieces have the
/// rows that enter the window and those that leave it. While the window is filled, the second wide
/// piece has the rows below those of the first.
///
/// The windows of a block's strips overlap if they are higher than a strip. So the warps sum up
/// groups of rows, as high as a strip, only once each. Window k is groups k to k + q - 1 plus or
/// minus a rest of up to half as many rows at its lower end. A group that is in windows i to j is
/// added to record i and subtracted from record j + 1. So the windows, except for their rests, are
/// the prefix sums of the records.
///
/// @tparam whole    the rows are in a RowTile
/// @tparam squared  whether squares are summed, too
template <typename T, bool whole, bool squared>
class Strip {
 public:
  using Samples = StageSamples<T>;
  using Source = std::conditional_t<whole, RowTile<T>, RowStage<T>>;
  using Record = ColumnRecord<T, squared>;
  using ColumnSums = windowsums::ColumnSums<T, squared>;
  static constexpr int kRows = kStageRows<T>;
  static constexpr int kFillRows = 2 * kRows;  // of a stage while the window is filled
  static constexpr int kTileRows = 32;         // to wait for at once in a RowTile
  /// Bytes of zeros that replace rows beyond the last one.
  static constexpr int kZeros = kStageColumns * sizeof(T);
  static constexpr int kBarriers = RowTile<T>::kMostParts;
  static_assert(kMaxWarps<T> * RowStage<T>::kBarriers <= kBarriers);

  LaneSums<T> sums;

  /// @param memory    of the tile or the rings of all warps, followed by the records, if any
  /// @param barriers  kBarriers
  /// @param zeros     kZeros bytes in shared memory
  /// @param x         first column of the tile
  /// @param block     of those of the tile
  __device__ Strip(const StripJob<T> &job, const BlockStrips &strips, unsigned char *memory,
                   std::uint64_t *barriers, unsigned char *zeros, int x, int block)
      : job_(job),
        strips_(strips),
        left_column_(-(job.rx + 1) - job.in.begin),
        left_(left_column_),
        right_(left_column_ + 2 * job.rx + 1),
        zeros_(reinterpret_cast<unsigned *>(zeros)),
        x_(x),
        block_begin_(block * warps() * strips.rows),
        begin_(block_begin_ + warp() * strips.rows),
        end_(min(begin_ + strips.rows, job.in.plane.height)),
        source_(make_source(memory, barriers)),
        cut_(job.in.garbage > 0 && x + kStageColumns + job.rx > job.in.plane.width) {
    const int bottom = begin_ + job.ry + 1;  // of the first row's window
    rest_ = max(min(bottom - strips.rest, bottom), 0);
    rest_end_ = begin_ < end_ ? min(max(bottom - strips.rest, bottom), job.in.plane.height) : 0;
    stage_zero_ = begin_ - (max(rest_end_ - rest_, 0) + kFillRows - 1) / kFillRows * kRows;
    group_.index = warp();
    if (together()) find(group_);
    records_ = reinterpret_cast<unsigned *>(
        memory + (whole ? RowTile<T>::bytes(job.in, tile_rows()) : warps() * job.in.ring_bytes()));
    enters_ = (2 * job.ry + 1) * job.in.pitch;
    narrow_ = keep((kColumns * lane() - job.in.begin) * static_cast<int>(sizeof(T)) +
                   job.ry * job.in.pitch);
    source_.init();
  }

  /// Starts to copy the first rows.
  __device__ void start() {
    if constexpr (whole)
      source_.request();
    else if (!together())
      request_all();
    else if (!group_.done)
      source_.request_rows(group_.y, group_.end);
  }
  /// Prepares the other data for fill(); all threads of the block call it and then synchronise.
  __device__ void prepare() {
    for (int i = threadIdx.x; i < kZeros / 4; i += blockDim.x) zeros_[i] = 0;
    if (together()) {
      auto *const records = reinterpret_cast<uint4 *>(records_);
      for (int i = threadIdx.x; i < warps() * Record::words(job_) / 4; i += blockDim.x)
        records[i] = uint4{};
    }
    mask_ = front_mask(0);
#pragma unroll
    for (unsigned &word : mask_.word) word = keep(word);
  }

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

  /// Sums over the window of the first row; all threads of the block call it, after prepare().
  __device__ void fill();

  /// Goes back to the first row after the last one.
  /// @param first  the sums of that row
  __device__ void begin_again(const LaneSums<T> &first) {
    sums = first;
    if constexpr (!whole) {
      const int next = source_.waited();
      stage_zero_ = begin_ - next * kRows;
#pragma unroll 1
      for (int n = 0; n < kStages; ++n) request_rows(next + n);
    }
  }

  /// Waits for the next rows, from y on.
  /// @return their number
  __device__ int wait(int y) {
    if constexpr (whole) {
      const int rows = min(end_ - y, kTileRows), enters = y + job_.ry + 1;
      if (!together()) source_.wait_for(enters, enters + rows);
      leaves_ = source_.address(y - job_.ry);
      return rows;
    } else {
      source_.wait();
      return min(end_ - y, kRows);
    }
  }
  /// Makes row i of the loaded ones the next row.
  __device__ Samples row(int i) const {
    Samples samples;
    if constexpr (whole)
      load_shared(leaves_ + narrow_, samples.word);
    else
      samples =
          read_stage<T>(source_.narrow() + i * static_cast<unsigned>(kStageColumns * sizeof(T)));
    return samples;
  }
  /// Moves the window one row down from that row. `inner`: no window of the tile is clipped at the
  /// left or right of the plane. `narrow`: the window has at most kStageColumns columns.
  template <bool inner, bool narrow>
  __device__ void step(int i) {
    unsigned leaves, enters;
    if constexpr (whole) {
      leaves = leaves_;
      enters = leaves_ + enters_;
      leaves_ += job_.in.pitch;
    } else {
      leaves = source_.second() + i * job_.in.pitch;
      enters = source_.first() + i * job_.in.pitch;
    }
    Samples a = right_.read(enters), c = right_.read(leaves);
    const Samples b = left_.read(enters), d = left_.read(leaves);
    if (!inner) {
      cut(a);
      cut(c);
    }
    sums.step(a, b, c, d);
    sums.step_front(b, d, mask_);
    if constexpr (!narrow) {
#pragma unroll 1
      for (int k = 1; k * kStageColumns < 2 * job_.rx + 1; ++k) {
        const unsigned column = k * static_cast<unsigned>(kStageColumns * sizeof(T));
        sums.step_front(left_.read(enters + column), left_.read(leaves + column), front_mask(k));
      }
    }
  }

  template <typename SumS, typename SumQ>
  __device__ Bases<SumS, SumQ> bases() const {
    const SumS front = warp_sum(widen<SumS>(sums.front_sum));
    return {sums, front, sums.template all_front_squares<SumQ>(front)};
  }

  /// Call it when all loaded rows have been read.
  __device__ void release() {
    if constexpr (!whole) request_rows(source_.waited() - 1 + kStages);
  }

 private:
  /// What a warp adds at once: some columns of a group that is completely loaded, otherwise as many
  /// rows as it can copy.
  struct GroupPart {
    int index;        // among all parts of all groups; the warps take them in turn
    bool done;        // after the last
    int y, end;       // rows, inside the plane
    int columns;      // part of its columns, if not all
    int first, last;  // windows that contain them
  };

  __device__ Source make_source(unsigned char *memory, std::uint64_t *barriers) const {
    if constexpr (whole)
      return Source(job_.in, memory, barriers, x_, block_begin_ - job_.ry, tile_rows(), job_.share);
    else
      return Source(job_.in, memory + warp() * job_.in.ring_bytes(),
                    barriers + warp() * Source::kBarriers, x_);
  }
  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  static __device__ int warp() {  // so that the compiler knows it is the same for all lanes
    return __shfl_sync(kWholeWarp, threadIdx.x / 32, 0);
  }
  static __device__ int warps() {
    return blockDim.x / 32;
  }
  __device__ Record record(int k) const {
    return Record(records_ + k * Record::words(job_), job_);
  }

  /// Clears samples to the right of the plane.
  __device__ void cut(Samples &samples) const {
    if (!cut_) return;
    samples = samples & first_columns<T>(job_.in.plane.width - (x_ + job_.rx));
  }

  /// Columns of the window before the warp, from x_ - rx - 1 on, that are in the plane.
  __device__ int front_columns() const {
    return min(2 * job_.rx + 1, job_.in.plane.width - (x_ - job_.rx - 1));
  }
  /// The samples of a lane, from x_ - rx - 1 + k kStageColumns on, that belong to the window before
  /// the warp.
  __device__ Samples front_mask(int k) const {
    return first_columns<T>(front_columns() - k * kStageColumns);
  }
  __device__ bool together() const {
    return strips_.groups > 0;
  }
  /// From the top of the block's first window to the row that would enter its last.
  __device__ int tile_rows() const {
    return min(warps() * strips_.rows, job_.in.plane.height - block_begin_) + 2 * job_.ry + 1;
  }

  /// Finds the rows of a part; continues with the warp's next part while all are outside the plane.
  __device__ void find(GroupPart &part) const;

  /// Adds this warp's share of the groups to the records.
  __device__ void add_groups();

  /// Adds the rows of the rest (or subtracts them if the groups have too many) to the columns left
  /// and right of the windows, and to the lane's share of the window before the warp beyond the
  /// first kStageColumns columns.
  __device__ void add_rest(ColumnSums &left, ColumnSums &right);

  /// Adds this warp's record to the sums of a lane's columns, from `column` of the wide piece on.
  /// For the left columns, also adds to the lane's share of the window before the warp beyond the
  /// first kStageColumns columns.
  __device__ void add_record(int column, ColumnSums &to);

  __device__ void request_all() {
#pragma unroll 1
    for (int n = 0; n < kStages; ++n) request(n);
  }
  /// Requests stage n: first the stages of the rest, then those of the strip.
  __device__ void request(int n) {
    const int fill = rest_ + n * kFillRows;
    if (fill < rest_end_)
      source_.request(n, false, 0, fill, fill + kRows);
    else
      request_rows(n);
  }
  __device__ void request_rows(int n) {
    const int y = stage_zero_ + n * kRows;
    if (y < end_)  // no copy may be in flight when the block ends
      source_.request(n, true, y, y + job_.ry + 1, y - job_.ry);
  }

  const StripJob<T> &job_;
  const BlockStrips &strips_;
  int left_column_;  // of a wide piece, that is x_ - rx - 1
  StageCut<T> left_, right_;
  unsigned *records_;
  unsigned *zeros_;
  int x_;
  int block_begin_, begin_, end_;  // rows of the block and of the strip
  Source source_;
  int rest_, rest_end_;  // rows of the rest
  bool cut_;             // the tile has columns right of the plane that may be garbage
  GroupPart group_;
  Samples mask_;
  // For a RowTile: the address of the next row to leave the window; and, relative to it, of the row
  // that enters and of this lane's samples of the row to decide.
  unsigned leaves_, enters_, narrow_;
  // For a RowStage: the strip's row at which stage 0 would begin if no stages were for the rest.
  int stage_zero_;
};

}  // namespace cudascan::windowsums

#include "kernels/windowsums/strip_fill.cuh"
