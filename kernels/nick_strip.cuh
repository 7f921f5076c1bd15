// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Window sums of a strip of rows, a warp on its own; nick.cu says how.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/row_stage.cuh"
#include "kernels/shared_memory.cuh"
#include "kernels/warp_sums.cuh"

namespace cudascan::nick {

inline constexpr int kColumns = 8;  ///< columns of one thread
static_assert(32 * kColumns == kStageColumns);

/// What a strip has to know of the launch.
template <typename T>
struct StripJob {
  StagedPlane<T> in;
  int rx, ry;   ///< half the window
  int parts;    ///< of kStageColumns columns in a wide piece
  bool packed;  ///< the sums of two columns go into 32 bits
};

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

/// Adds the products of the bytes of a and those of b, which have a sign.
__device__ inline void add_products(unsigned &sum, unsigned a, unsigned b) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
}
/// Adds the squares of the bytes of a.
__device__ inline void add_squares(unsigned &sum, unsigned a) {
  asm("dp4a.u32.u32 %0, %1, %1, %0;" : "+r"(sum) : "r"(a));
}
/// to[j] = byte j of a, b, c and d.
__device__ inline void transpose(unsigned a, unsigned b, unsigned c, unsigned d,
                                 unsigned (&to)[4]) {
  const unsigned ab01 = __byte_perm(a, b, 0x5140), ab23 = __byte_perm(a, b, 0x7362);
  const unsigned cd01 = __byte_perm(c, d, 0x5140), cd23 = __byte_perm(c, d, 0x7362);
  to[0] = __byte_perm(ab01, cd01, 0x5410);
  to[1] = __byte_perm(ab01, cd01, 0x7632);
  to[2] = __byte_perm(ab23, cd23, 0x5410);
  to[3] = __byte_perm(ab23, cd23, 0x7632);
}

/// Sums over the rows of a column: of the samples and of their squares.
template <typename T>
struct ColumnSums {
  using Squares = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
  unsigned sum[kColumns] = {};
  Squares squares[kColumns] = {};

  /// Adds kStageRows<T> rows.
  __device__ void add(const StageSamples<T> (&rows)[kStageRows<T>]) {
    if constexpr (sizeof(T) == 1) {
#pragma unroll
      for (int k = 0; k < kColumns; k += 4) {
        unsigned column[4];
        transpose(rows[0].word[k / 4], rows[1].word[k / 4], rows[2].word[k / 4],
                  rows[3].word[k / 4], column);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          add_products(sum[k + j], column[j], 0x01010101);
          add_squares(squares[k + j], column[j]);
        }
      }
    } else {
#pragma unroll
      for (const StageSamples<T> &row : rows) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          sum[j] += row[j];
          squares[j] += Squares{row[j]} * row[j];
        }
      }
    }
  }
};

/// What a lane keeps over the rows of the window: D of its columns, for the samples and for their squares,
/// and the sums of its share of the window in front of the warp.
template <typename T>
struct LaneSums;

/// In the D of the squares p^2 - 127 p stands for p^2: that is p (p - 128) + p and its negative is
/// p (127 - p), products of a byte and a byte with a sign, of which the hardware adds up four at once.
template <>
struct LaneSums<std::uint8_t> {
  using Samples = StageSamples<std::uint8_t>;

  unsigned sum[kColumns], squares[kColumns];
  unsigned front_sum = 0, front_squares = 0, front_left = 0;  // the last two: entered and left

  /// The sum of the squares, given what is kept instead of it.
  template <typename SumS, typename SumQ>
  static __device__ SumQ true_squares(SumS s, SumQ q) {
    return q + 127 * SumQ{s};
  }
  /// D from the column sums.
  __device__ void set(int j, unsigned sum_right, unsigned sum_left, unsigned squares_right,
                      unsigned squares_left) {
    sum[j] = sum_right - sum_left;
    squares[j] = squares_right - squares_left - 127 * sum[j];
  }
  /// The squares of the whole window in front, in the form of the D; s is its sum.
  template <typename SumQ, typename SumS>
  __device__ SumQ all_front_squares(SumS s) const {
    return warp_sum(SumQ{front_squares - front_left}) - 127 * SumQ{s};
  }

  /// D += a - b - c + d.
  __device__ void step(const Samples &a, const Samples &b, const Samples &c, const Samples &d) {
#pragma unroll
    for (int k = 0; k < kColumns; k += 4) {
      unsigned abcd[4];
      transpose(a.word[k / 4], b.word[k / 4], c.word[k / 4], d.word[k / 4], abcd);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        add_products(sum[k + j], abcd[j], 0x01ffff01);
        add_products(squares[k + j], abcd[j], abcd[j] ^ 0x807f7f80);
        add_products(squares[k + j], abcd[j], 0x01000001);
      }
    }
  }
  /// A row enters the share and a row leaves it.
  __device__ void step_front(const Samples &b, const Samples &d, const Samples &mask) {
#pragma unroll
    for (int k = 0; k < Samples::kWords; ++k) {
      const unsigned enters = b.word[k] & mask.word[k], leaves = d.word[k] & mask.word[k];
      add_products(front_sum, enters, 0x01010101);
      add_products(front_sum, leaves, 0xffffffff);
      add_squares(front_squares, enters);
      add_squares(front_left, leaves);
    }
  }
  __device__ void add_front(const Samples &b, const Samples &mask) {
#pragma unroll
    for (int k = 0; k < Samples::kWords; ++k) {
      const unsigned enters = b.word[k] & mask.word[k];
      add_products(front_sum, enters, 0x01010101);
      add_squares(front_squares, enters);
    }
  }
};

template <>
struct LaneSums<std::uint16_t> {
  using Samples = StageSamples<std::uint16_t>;

  unsigned sum[kColumns];
  std::uint64_t squares[kColumns];
  unsigned front_sum = 0;
  std::uint64_t front_squares = 0;

  template <typename SumS, typename SumQ>
  static __device__ SumQ true_squares(SumS, SumQ q) {
    return q;
  }
  __device__ void set(int j, unsigned sum_right, unsigned sum_left, std::uint64_t squares_right,
                      std::uint64_t squares_left) {
    sum[j] = sum_right - sum_left;
    squares[j] = squares_right - squares_left;
  }
  template <typename SumQ, typename SumS>
  __device__ SumQ all_front_squares(SumS /*s*/) const {
    return warp_sum(SumQ{front_squares});
  }
  __device__ void step(const Samples &a, const Samples &b, const Samples &c, const Samples &d) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int ab = a[j] - b[j], dc = d[j] - c[j];
      sum[j] += ab + dc;
      squares[j] += static_cast<std::int64_t>(ab) * static_cast<int>(a[j] + b[j]);
      squares[j] += static_cast<std::int64_t>(dc) * static_cast<int>(d[j] + c[j]);
    }
  }
  __device__ void step_front(const Samples &b, const Samples &d, const Samples &mask) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const unsigned enters = b[j] & mask[j], leaves = d[j] & mask[j];
      const int difference = enters - leaves;
      front_sum += difference;
      front_squares += static_cast<std::int64_t>(difference) * static_cast<int>(enters + leaves);
    }
  }
  __device__ void add_front(const Samples &b, const Samples &mask) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const unsigned enters = b[j] & mask[j];
      front_sum += enters;
      front_squares += std::uint64_t{enters} * enters;
    }
  }
};

/// A sum of a lane as a wider one; it may be negative.
template <typename To>
__device__ To widen(std::uint32_t v) {
  return static_cast<To>(static_cast<std::int64_t>(static_cast<std::int32_t>(v)));
}
template <typename To>
__device__ To widen(std::uint64_t v) {
  return v;
}

/// Column sums over the window of a strip's first row, in shared memory: of the columns of a wide piece, in
/// parts of kStageColumns. In a part, column 8 i + j is at index 32 j + i, so that a warp meets no bank twice.
/// All is in 32-bit words, which shared memory can add to at once: the squares of 16 bits in two halves, the
/// sums of two columns in one word where 16 bits are enough.
template <typename T>
class ColumnRecord {
 public:
  using Squares = typename ColumnSums<T>::Squares;

  /// @param memory  words(job) words for this warp
  __device__ ColumnRecord(unsigned *memory, const StripJob<T> &job)
      : squares_(memory),
        sums_(memory + kHalves * job.parts * kStageColumns),
        half_(job.parts * kStageColumns),
        packed_(job.packed) {}

  static __host__ __device__ int words(const StripJob<T> &job) {
    return job.parts * (kStageColumns * kHalves + (job.packed ? kStageColumns / 2 : kStageColumns));
  }

  /// Adds column sums of a part, or takes them off where `sign` is -1; several warps may do so at once.
  __device__ void add(int part, const ColumnSums<T> &sums, int sign) {
    if (packed_)
      add<true>(part, sums, sign);
    else
      add<false>(part, sums, sign);
  }
  /// Reads column 8 lane + `column` of the wide piece.
  __device__ void read(unsigned column, unsigned &sum, Squares &squares) const {
    const unsigned j = column % kColumns, i = column / kColumns + threadIdx.x % 32;
    const unsigned part = i / 32, lane = i % 32, at = part * kStageColumns + lane + j * 32;
    if constexpr (kHalves == 1)
      squares = squares_[at];
    else  // a half may be negative after rows have been taken off
      squares = static_cast<int>(squares_[at]) +
                (std::int64_t{static_cast<int>(squares_[at + half_])} << kHalfBits);
    const unsigned word = sums_[packed_ ? part * (kStageColumns / 2) + lane + j / 2 * 32 : at];
    sum = packed_ ? __byte_perm(word, 0, j % 2 ? 0x4432 : 0x4410) : word;
  }

 private:
  static constexpr int kHalves = sizeof(T);
  /// Of the lower half of a stage's squares; the sum of those halves still fits into 32 bits.
  static constexpr int kHalfBits = 18;

  // What words or halves of them borrow or carry meanwhile is made up for when all has been added.
  template <bool packed>
  __device__ void add(int part, const ColumnSums<T> &sums, int sign) {
    const int lane = threadIdx.x % 32;
    unsigned *squares = squares_ + part * kStageColumns + lane;
    unsigned *sum = sums_ + part * (packed ? kStageColumns / 2 : kStageColumns) + lane;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if constexpr (kHalves == 1) {
        atomicAdd(squares + j * 32, sign * sums.squares[j]);
      } else {
        const Squares q = sums.squares[j];
        atomicAdd(squares + j * 32, sign * (static_cast<unsigned>(q) & ((1u << kHalfBits) - 1)));
        atomicAdd(squares + half_ + j * 32, sign * static_cast<unsigned>(q >> kHalfBits));
      }
      if (!packed)
        atomicAdd(sum + j * 32, sign * sums.sum[j]);
      else if (j % 2 == 0)
        atomicAdd(sum + j / 2 * 32, sign * (sums.sum[j] + (sums.sum[j + 1] << 16)));
    }
  }

  unsigned *squares_, *sums_;
  int half_;  // words of all lower halves
  bool packed_;
};

/// The rows of a warp's strip and the sums over their windows.
///
/// For every kRows rows a stage has, in its narrow piece, these rows and, in its wide ones, the rows that
/// enter the window and those that leave it. While the window is filled, the second wide piece has the rows
/// below those of the first.
///
/// The windows of a block's strips overlap where they are higher than a strip. So the warps sum up groups of
/// rows, as high as a strip, once each: window k is groups k to k + q - 1 and a rest of up to half as many
/// rows, at its lower end, that the last group lacks or has too many. What is in windows i to j is added to
/// record i and taken off from record j + 1, so that the windows are the prefix sums of the records.
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
  /// Moves the window one row down from that row. `inner` says that no window of the tile is cut off at the
  /// left or right of the plane, `narrow` that it has kStageColumns columns at most.
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
  /// S and Q in front of the lane's columns, in the form of D, worked out in kPhases phases between which
  /// other work can hide their latency.
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

  /// The samples of a lane, from x_ - rx - 1 + k kStageColumns on, that belong to the window in front.
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
  bool cut_;
  Filling place_, requested_,
      filling_;  // the next to be requested, the last that was, the current one
  Samples mask_;
};

}  // namespace cudascan::nick
