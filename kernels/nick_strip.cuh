// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Window sums of a strip of rows, a warp on its own; nick.cu says how.
#pragma once
#include <cstdint>

#include "kernels/nick_sums.cuh"
#include "kernels/ptx.cuh"
#include "kernels/row_stage.cuh"
#include "kernels/warp_sums.cuh"

namespace cudascan::nick {

/// The strips of a tile, see Strip.
struct Strips {
  int rows;         ///< of a strip
  int groups;       ///< in a window that the warps of a block fill together; or 0
  int rest;         ///< rows of a window that the groups lack, negative if too many
  int group_parts;  ///< that the rows of a group are brought in
  int part_rows;    ///< rows of one, at most
  float cost;       ///< time for a strip, about that of so many rows

  /// @param most_rows  that can be brought at once
  Strips(int rows, int window_rows, int most_rows, int warps) : rows(rows) {
    // Measured when stages of eight rows were added to the records one by one.
    constexpr float kRowAlone = 0.3f, kRowTogether = 0.33f, kTogether = 5;
    groups = (window_rows + rows / 2) / rows;
    rest = window_rows - groups * rows;
    const float rows_together =
        static_cast<float>((warps + groups - 1) * rows) / warps + (rest < 0 ? -rest : rest);
    const float alone = kRowAlone * window_rows;
    const float together = kTogether + kRowTogether * rows_together;
    if (alone <= together || groups < 2) {
      groups = 0;
      rest = window_rows;
    }
    cost = rows + (groups > 0 ? together : alone);
    group_parts = (rows + most_rows - 1) / most_rows;
    part_rows = (rows + group_parts - 1) / group_parts;
  }
  Strips() = default;
};

/// The rows of a warp's strip and the sums over their windows.
///
/// For every kRows rows a stage has, in its narrow piece, these rows and, in its wide ones, the
/// rows that enter the window and those that leave it. While the window is filled, the second wide
/// piece has the rows below those of the first.
///
/// The windows of a block's strips overlap where they are higher than a strip. So the warps sum up
/// groups of rows, as high as a strip, once each: window k is groups k to k + q - 1 and a rest of
/// up to half as many rows, at its lower end, that the last group lacks or has too many. What is in
/// windows i to j is added to record i and taken off from record j + 1, so that the windows, but for
/// their rests, are the prefix sums of the records.
template <typename T>
class Strip {
 public:
  using Samples = StageSamples<T>;
  using Stage = RowStage<T>;
  using Record = ColumnRecord<T>;
  static constexpr int kRows = kStageRows<T>;
  static constexpr int kFillRows = 2 * kRows;  // that a stage brings while the window is filled
  /// Bytes of zeros that stand for the rows beyond the last one.
  static constexpr int kZeros = kStageColumns * sizeof(T);

  LaneSums<T> sums;

  /// @param memory    for each warp job.stages stages, and behind them all the records, if any
  /// @param barriers  kMostStages for this warp
  /// @param zeros     kZeros bytes in shared memory
  /// @param x         first column of the tile
  /// @param block     of those one below another
  __device__ Strip(const StripJob<T> &job, const Strips &strips, unsigned char *memory,
                   std::uint64_t *barriers, unsigned char *zeros, int x, int block)
      : job_(job),
        strips_(strips),
        stage_(job.in, job.stages, memory + warp() * job.stages * job.in.stage_bytes(), barriers,
               x),
        left_column_(-(job.rx + 1) - job.in.begin),
        left_(left_column_),
        right_(left_column_ + 2 * job.rx + 1),
        records_(
            reinterpret_cast<unsigned *>(memory + warps() * job.stages * job.in.stage_bytes())),
        zeros_(reinterpret_cast<unsigned *>(zeros)),
        x_(x),
        block_begin_(block * warps() * strips.rows),
        begin_(block_begin_ + warp() * strips.rows),
        end_(min(begin_ + strips.rows, job.in.plane.height)),
        next_(begin_),
        cut_(job.in.garbage > 0 && x + kStageColumns + job.rx > job.in.plane.width) {
    const int bottom = begin_ + job.ry + 1;  // of the first row's window
    rest_ = max(min(bottom - strips.rest, bottom), 0);
    rest_end_ = begin_ < end_ ? min(max(bottom - strips.rest, bottom), job.in.plane.height) : 0;
    group_.index = warp();
    if (together()) find(group_);
  }

  /// Starts to bring the first rows.
  __device__ void start() {
    if (!together())
      request_all();
    else if (!group_.done)
      stage_.request_rows(group_.y, group_.end);
  }
  /// Gets ready what fill() needs beside them; all threads of the block call it and then meet.
  __device__ void prepare() {
    for (int i = threadIdx.x; i < kZeros / 4; i += blockDim.x) zeros_[i] = 0;
    if (together()) {
      for (int i = threadIdx.x; i < warps() * Record::words(job_); i += blockDim.x) records_[i] = 0;
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

  /// Sums over the window of the first row; all threads of the block call it, after prepare().
  __device__ void fill() {
    if (together()) {
      add_groups();
      request_all();
      __syncthreads();
      const int n = Record::words(job_);
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned sum = 0;
#pragma unroll 4
        for (int k = 0; k < warps(); ++k) records_[k * n + i] = sum += records_[k * n + i];
      }
      __syncthreads();
    }
    ColumnSums<T> left, right;
    add_rest(left, right);
    if (together()) {
      add_record(left_column_, left);
      add_record(left_column_ + 2 * job_.rx + 1, right);
    }
    const int front = front_columns() - kColumns * lane();
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      sums.set(j, right.sum[j], left.sum[j], right.squares[j], left.squares[j]);
      sums.front_sum += j < front ? left.sum[j] : 0;
      sums.front_squares += j < front ? left.squares[j] : 0;
    }
  }

  /// Waits for the next kRows rows.
  __device__ void wait() {
    stage_.wait();
  }
  /// Row i of those that were waited for.
  __device__ Samples row(int i) const {
    return read_stage<T>(stage_.narrow(i));
  }
  /// Moves the window one row down from that row. `inner` says that no window of the tile is cut
  /// off at the left or right of the plane, `narrow` that it has kStageColumns columns at most.
  template <bool inner, bool narrow>
  __device__ void step(int i) {
    const unsigned enters = stage_.first(i), leaves = stage_.second(i);
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

  /// S and Q in front of the lane's columns, in the form of D, worked out in kPhases phases between
  /// which other work can hide their latency.
  template <typename SumS, typename SumQ>
  class Bases {
   public:
    static constexpr int kPhases = 5;
    __device__ explicit Bases(const LaneSums<T> &sums) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        all_s_ += widen<SumS>(sums.sum[j]);
        all_q_ += widen<SumQ>(sums.squares[j]);
      }
      front_s_ = warp_sum(widen<SumS>(sums.front_sum));
      front_q_ = sums.template all_front_squares<SumQ>(front_s_);
      s_ = all_s_;
      q_ = all_q_;
    }
    template <int phase>
    __device__ void advance() {
      if constexpr (phase < kPhases) {
        scan_step<1 << phase>(s_);
        scan_step<1 << phase>(q_);
      }
    }
    __device__ SumS s() const {
      return s_ - all_s_ + front_s_;
    }
    __device__ SumQ q() const {
      return q_ - all_q_ + front_q_;
    }

   private:
    SumS s_, all_s_ = 0, front_s_;
    SumQ q_, all_q_ = 0, front_q_;
  };

  /// All rows that were waited for have been read.
  __device__ void release() {
    request_next();
  }

 private:
  /// Rows of a group that are brought at once.
  struct GroupPart {
    int index;        // of all parts of all groups, the warps take them by turns
    bool done;        // after the last
    int y, end;       // rows, inside the plane
    int first, last;  // windows that have them
  };

  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  static __device__ int warp() {  // so that the compiler knows that it is the same for all lanes
    return __shfl_sync(kWholeWarp, threadIdx.x / 32, 0);
  }
  static __device__ int warps() {
    return blockDim.x / 32;
  }
  __device__ Record record(int k) const {
    return Record(records_ + k * Record::words(job_), job_);
  }

  /// Takes off what is to the right of the plane.
  __device__ void cut(Samples &samples) const {
    if (!cut_) return;
    const Samples mask = first_columns(job_.in.plane.width - (x_ + job_.rx));
#pragma unroll
    for (int k = 0; k < Samples::kWords; ++k) samples.word[k] &= mask.word[k];
  }

  /// Columns of the window in front, from x_ - rx - 1 on, that are in the plane.
  __device__ int front_columns() const {
    return min(2 * job_.rx + 1, job_.in.plane.width - (x_ - job_.rx - 1));
  }
  /// The samples of a lane, from x_ - rx - 1 + k kStageColumns on, that belong to the window in
  /// front.
  __device__ Samples front_mask(int k) const {
    return first_columns(front_columns() - k * kStageColumns);
  }
  /// The samples of a lane that belong to the first columns of the warp.
  static __device__ Samples first_columns(int columns) {
    constexpr int kPerWord = 4 / sizeof(T);
    columns -= lane() * kColumns;
    Samples mask;
#pragma unroll
    for (int i = 0; i < Samples::kWords; ++i) {
      const int valid = columns - i * kPerWord;
      mask.word[i] = valid <= 0 ? 0 : 0xffffffff >> 8 * sizeof(T) * max(kPerWord - valid, 0);
    }
    return mask;
  }

  __device__ bool together() const {
    return strips_.groups > 0;
  }

  /// Finds the rows of a part, going on to the warp's next one while all are outside the plane.
  __device__ void find(GroupPart &part) const {
    const int parts = strips_.group_parts, all = (strips_.groups + warps() - 1) * parts;
    for (;; part.index += warps()) {
      part.done = part.index >= all;
      if (part.done) return;
      part.last = part.index / parts;
      part.first = max(part.last - strips_.groups + 1, 0);
      const int top = block_begin_ - job_.ry + part.last * strips_.rows;
      const int from = top + part.index % parts * strips_.part_rows;
      part.y = max(from, 0);
      part.end = min(min(from + strips_.part_rows, top + strips_.rows), job_.in.plane.height);
      if (part.y < part.end) return;
    }
  }

  /// Adds this warp's share of the groups to the records.
  __device__ void add_groups() {
    const unsigned zeros = shared_address(zeros_);
    while (!group_.done) {
      stage_.wait_for_rows();
      const int rows = group_.end - group_.y;
#pragma unroll 1
      for (int part = 0; part < job_.parts; ++part) {
        const unsigned column = part * static_cast<unsigned>(kStageColumns * sizeof(T));
        ColumnSums<T> sums;
#pragma unroll 1
        for (int first = 0; first < rows; first += kRows) {
          const unsigned row = stage_.rows(first) + column;
          Samples samples[kRows];
#pragma unroll
          for (int i = 0; i < kRows; ++i)
            samples[i] = read_stage<T>(first + i < rows ? row + i * job_.in.pitch : zeros);
          sums.add(samples);
        }
        record(group_.first).add(part, sums, 1);
        if (group_.last + 1 < warps()) record(group_.last + 1).add(part, sums, -1);
      }
      group_.index += warps();
      find(group_);
      if (!group_.done) stage_.request_rows(group_.y, group_.end);
    }
  }

  /// Adds the rows of the rest, or takes them off where the groups have too many, to the columns
  /// left and right of the windows, and to the share of the window in front beyond the first
  /// kStageColumns columns.
  __device__ void add_rest(ColumnSums<T> &left, ColumnSums<T> &right) {
    for (int y = rest_; y < rest_end_; y += kFillRows) {
      stage_.wait();
#pragma unroll 1
      for (int first = 0; first < kFillRows && y + first < rest_end_; first += kRows) {
        const int rows = rest_end_ - y - first;
        Samples samples[kRows];
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          const unsigned row = first == 0 ? stage_.first(i) : stage_.second(i);
          samples[i] = i < rows ? right_.read(row) : Samples{};
          cut(samples[i]);
        }
        right.add(samples);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          const unsigned row = first == 0 ? stage_.first(i) : stage_.second(i);
          samples[i] = i < rows ? left_.read(row) : Samples{};
#pragma unroll 1
          for (int k = 1; k * kStageColumns < 2 * job_.rx + 1 && i < rows; ++k)
            sums.add_front(left_.read(row + k * static_cast<unsigned>(kStageColumns * sizeof(T))),
                           front_mask(k));
        }
        left.add(samples);
      }
      request();
    }
    if (strips_.rest >= 0) return;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      left.sum[j] = -left.sum[j];
      left.squares[j] = -left.squares[j];
      right.sum[j] = -right.sum[j];
      right.squares[j] = -right.squares[j];
    }
    sums.front_sum = -sums.front_sum;
    sums.front_squares = -sums.front_squares;
  }

  /// Adds to the sums of a lane's columns, from `column` of the wide piece on, what this warp's
  /// record has, and, if these are the left ones, to the share of the window in front beyond the
  /// first kStageColumns columns.
  __device__ void add_record(int column, ColumnSums<T> &to) {
    const Record mine = record(warp());
    const int width =
        job_.in.plane.width - (x_ + job_.in.begin) - kColumns * lane();  // of the plane
    const auto add = [&](int at, unsigned &sum, typename Record::Squares &squares) {
      if (cut_ && at >= width) return;
      unsigned more_sum;
      typename Record::Squares more_squares;
      mine.read(at, more_sum, more_squares);
      sum += more_sum;
      squares += more_squares;
    };
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      add(column + j, to.sum[j], to.squares[j]);
      if (column != left_column_) continue;
      const int front = front_columns() - kColumns * lane() - j;
#pragma unroll 1
      for (int k = kStageColumns; k < front; k += kStageColumns)
        add(column + j + k, sums.front_sum, sums.front_squares);
    }
  }

  __device__ void request_all() {
    asked_ = rest_;
#pragma unroll 1
    for (int i = 0; i < job_.stages; ++i) request();
  }
  __device__ void request() {
    if (asked_ < rest_end_) {
      stage_.request(false, 0, asked_, asked_ + kRows);
      asked_ += kFillRows;
    } else {
      request_next();
    }
  }
  __device__ void request_next() {
    if (next_ >= end_) return;  // no copy may be under way when the block ends
    stage_.request(true, next_, next_ + job_.ry + 1, next_ - job_.ry);
    next_ += kRows;
  }

  const StripJob<T> &job_;
  const Strips &strips_;
  Stage stage_;
  int left_column_;  // of a wide piece, that is x_ - rx - 1
  StageCut<T> left_, right_;
  unsigned *records_;
  unsigned *zeros_;
  int x_;
  int block_begin_, begin_, end_;  // rows of the block and of the strip
  int rest_, rest_end_;            // rows of the rest
  int asked_;                      // row of the rest to be requested
  int next_;                       // row of the strip to be requested
  bool cut_;                       // the tile has columns right of the plane that may be garbage
  GroupPart group_;
  Samples mask_;
};

}  // namespace cudascan::nick
