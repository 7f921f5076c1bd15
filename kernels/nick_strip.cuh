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
  int rows;                      ///< of a strip
  int groups;                    ///< in a window that the warps of a block fill together; or 0
  int rest;                      ///< rows of a window that the groups lack, negative if too many
  int group_stages;              ///< that bring the rows of a group
  int turn_groups, turn_stages;  ///< groups and stages further after one stage for each warp
  float cost;                    ///< time for a strip, about that of so many rows

  /// @param stage_rows  that a stage brings while a window is filled
  Strips(int rows, int window_rows, int stage_rows, int warps) : rows(rows) {
    constexpr float kRowAlone = 0.3f, kRowTogether = 0.33f, kTogether = 5;  // measured
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
    group_stages = (rows + stage_rows - 1) / stage_rows;
    turn_groups = warps / group_stages;
    turn_stages = warps % group_stages;
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
/// windows i to j is added to record i and taken off from record j + 1, so that the windows are the
/// prefix sums of the records.
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

  /// @param memory    warp_bytes(job) per warp, zeros where the records are
  /// @param barriers  two for this warp
  /// @param zeros     kZeros bytes in shared memory
  /// @param x         first column of the tile
  /// @param block     of those one below another
  __device__ Strip(const StripJob<T> &job, const Strips &strips, unsigned char *memory,
                   std::uint64_t *barriers, const unsigned char *zeros, int x, int block)
      : job_(job),
        strips_(strips),
        stage_(job.in, memory + warp() * 2 * job.in.stage_bytes(), barriers, x),
        left_column_(-(job.rx + 1) - job.in.begin),
        left_(left_column_),
        right_(left_column_ + 2 * job.rx + 1),
        records_(reinterpret_cast<unsigned *>(memory + warps() * 2 * job.in.stage_bytes())),
        zeros_(shared_address(zeros)),
        x_(x),
        block_begin_(block * warps() * strips.rows),
        begin_(block_begin_ + warp() * strips.rows),
        end_(min(begin_ + strips.rows, job.in.plane.height)),
        next_(begin_),
        cut_(job.in.garbage > 0 && x + kStageColumns + job.rx > job.in.plane.width) {
    mask_ = front_mask(0);
#pragma unroll
    for (unsigned &word : mask_.word) word = keep(word);
    if (strips.groups > 0) {
      place_.group = warp() / strips.group_stages;
      place_.part = warp() % strips.group_stages;
    }
    find(place_);
  }

  /// Shared memory for each warp; the records are behind the stages of all warps.
  static __host__ __device__ int warp_bytes(const StripJob<T> &job) {
    return 2 * job.in.stage_bytes() + Record::words(job) * 4;
  }

  /// Starts to bring the first rows.
  __device__ void start() {
    request();
    filling_ = requested_;
    request();
  }

  __device__ int begin() const {
    return begin_;
  }
  __device__ int end() const {
    return end_;
  }

  /// Sums over the window of the first row; all threads of the block call it.
  __device__ void fill() {
    if (strips_.groups > 0)
      fill_together();
    else
      fill_alone();
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
    request();
  }

 private:
  /// Rows that a stage brings while the window is filled.
  struct Filling {
    int group = 0, part = 0;  // of the groups and the stages in one
    bool rest = false;        // after the last group: of the window's rest
    bool done = false;
    int y, end;       // rows, inside the plane
    int first, last;  // windows that have them
    int sign;
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

  /// The samples of a lane, from x_ - rx - 1 + k kStageColumns on, that belong to the window in
  /// front.
  __device__ Samples front_mask(int k) const {
    const int front = x_ - job_.rx - 1;
    return first_columns(min(2 * job_.rx + 1, job_.in.plane.width - front) - k * kStageColumns);
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

  /// Finds the rows of a stage, going on to the next one while all are outside the plane.
  __device__ void find(Filling &filling) const {
    const int height = job_.in.plane.height, strip_rows = strips_.rows;
    const int all_groups = strips_.groups > 0 ? strips_.groups + warps() - 1 : 0;
    for (;; next(filling)) {
      int from, to;
      if (!filling.rest && filling.group < all_groups) {
        const int group = filling.group, top = block_begin_ - job_.ry + group * strip_rows;
        from = top + filling.part * kFillRows;
        to = min(from + kFillRows, top + strip_rows);
        filling.first = max(group - strips_.groups + 1, 0);
        filling.last = group;
        filling.sign = 1;
      } else {
        if (!filling.rest) filling.part = 0;
        filling.rest = true;
        const int bottom = begin_ + job_.ry + 1;
        from = min(bottom - strips_.rest, bottom) + filling.part * kFillRows;
        to = max(bottom - strips_.rest, bottom);
        filling.done = from >= to || begin_ >= end_;
        if (filling.done) return;
        to = min(to, from + kFillRows);
        filling.first = filling.last = warp();
        filling.sign = strips_.rest > 0 ? 1 : -1;
      }
      filling.y = max(from, 0);
      filling.end = min(to, height);
      if (filling.y < filling.end) return;
    }
  }
  /// The warps take the stages of the groups by turns, then each the rest of its window.
  __device__ void next(Filling &filling) const {
    if (filling.rest) {
      ++filling.part;
      return;
    }
    filling.group += strips_.turn_groups;
    filling.part += strips_.turn_stages;
    if (filling.part >= strips_.group_stages) {
      filling.part -= strips_.group_stages;
      ++filling.group;
    }
  }

  __device__ void fill_alone() {
    ColumnSums<T> right, left;
    while (!filling_.done) {
      stage_.wait();
#pragma unroll 1
      for (int first = 0; first < kFillRows && filling_.y + first < filling_.end; first += kRows) {
        const int rows = filling_.end - filling_.y - first;
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
          sums.add_front(samples[i], mask_);
#pragma unroll 1
          for (int k = 1; k * kStageColumns < 2 * job_.rx + 1 && i < rows; ++k)
            sums.add_front(left_.read(row + k * static_cast<unsigned>(kStageColumns * sizeof(T))),
                           front_mask(k));
        }
        left.add(samples);
      }
      filling_ = requested_;
      request();
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      sums.set(j, right.sum[j], left.sum[j], right.squares[j], left.squares[j]);
  }

  __device__ void fill_together() {
    while (!filling_.done) {
      stage_.wait();
      const int rows = filling_.end - filling_.y;
#pragma unroll 1
      for (int part = 0; part < job_.parts; ++part) {
        const unsigned column = part * static_cast<unsigned>(kStageColumns * sizeof(T));
        ColumnSums<T> sums;
        Samples samples[kRows];
#pragma unroll
        for (int i = 0; i < kRows; ++i)
          samples[i] = read_stage<T>(i < rows ? stage_.first(i) + column : zeros_);
        sums.add(samples);
        if (rows > kRows) {
#pragma unroll
          for (int i = 0; i < kRows; ++i)
            samples[i] = read_stage<T>(i + kRows < rows ? stage_.second(i) + column : zeros_);
          sums.add(samples);
        }
        record(filling_.first).add(part, sums, filling_.sign);
        if (filling_.last + 1 < warps()) record(filling_.last + 1).add(part, sums, -filling_.sign);
      }
      filling_ = requested_;
      request();
    }
    __syncthreads();
    const int n = Record::words(job_);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      for (int k = 1; k < warps(); ++k) records_[k * n + i] += records_[(k - 1) * n + i];
    __syncthreads();
    load();
  }

  /// D and the share of the window in front from this warp's record.
  __device__ void load() {
    const Record mine = record(warp());
    const int window = 2 * job_.rx + 1;
    const int width =
        job_.in.plane.width - (x_ + job_.in.begin) - kColumns * lane();  // of the plane
    const auto read = [&](int column, unsigned &sum, typename Record::Squares &squares) {
      mine.read(column, sum, squares);
      if (cut_ && column >= width) sum = squares = 0;
    };
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      unsigned sum_left, sum_right;
      typename Record::Squares squares_left, squares_right;
      read(left_column_ + j, sum_left, squares_left);
      read(left_column_ + window + j, sum_right, squares_right);
      sums.set(j, sum_right, sum_left, squares_right, squares_left);
      const int rest = window - j - kColumns * lane();
      sums.front_sum += rest > 0 ? sum_left : 0;
      sums.front_squares += rest > 0 ? squares_left : 0;
#pragma unroll 1
      for (int k = kStageColumns; k < window; k += kStageColumns) {
        if (k >= rest) break;
        read(left_column_ + j + k, sum_left, squares_left);
        sums.front_sum += sum_left;
        sums.front_squares += squares_left;
      }
    }
  }

  __device__ void request() {
    requested_ = place_;
    if (!place_.done) {
      stage_.request(false, 0, place_.y, place_.y + kRows);
      next(place_);
      find(place_);
    } else if (next_ < end_) {  // no copy may be under way when the block ends
      stage_.request(true, next_, next_ + job_.ry + 1, next_ - job_.ry);
      next_ += kRows;
    }
  }

  const StripJob<T> &job_;
  const Strips &strips_;
  Stage stage_;
  int left_column_;  // of a wide piece, that is x_ - rx - 1
  StageCut<T> left_, right_;
  unsigned *records_;
  unsigned zeros_;
  int x_;
  int block_begin_, begin_, end_;  // rows of the block and of the strip
  int next_;                       // row to be requested
  bool cut_;                       // the tile has columns right of the plane that may be garbage
  Filling place_;                  // the next to be requested
  Filling requested_;              // the last that was
  Filling filling_;                // the current one
  Samples mask_;
};

}  // namespace cudascan::nick
