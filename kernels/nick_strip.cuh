// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Window sums of a strip of rows, a warp on its own; nick.cu says how.
#pragma once
#include <cstdint>

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
  int rx, ry;      ///< half the window
  int strip_rows;  ///< rows of a warp
  int pieces;      ///< of a stage, see Strip
  bool together;   ///< the warps of a block fill their windows together
};

/// Adds the products of the bytes of a and those of b, which have a sign.
__device__ inline void add_products(unsigned &sum, unsigned a, unsigned b) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
}

/// What a lane keeps over the rows of the window: D of its columns, for the samples and for their squares,
/// and the sums of its share of the window in front of the warp.
template <typename T>
struct LaneSums;

/// Instead of p^2 stands p^2 - 127 p: that is p (p - 128) + p and its negative is p (127 - p), products of a
/// byte and a byte with a sign, of which the hardware adds up four at once.
template <>
struct LaneSums<std::uint8_t> {
  using Samples = StageSamples<std::uint8_t>;
  using Squares = std::uint32_t;

  unsigned sum[kColumns + 1] = {};  // the last one is the share of the window in front
  Squares squares[kColumns + 1] = {};

  /// The sum of the squares, given what is kept instead of it.
  template <typename SumS, typename SumQ>
  static __device__ SumQ true_squares(SumS s, SumQ q) {
    return q + 127 * SumQ{s};
  }
  /// D += a - b - c + d.
  __device__ void step(const Samples &a, const Samples &b, const Samples &c, const Samples &d) {
#pragma unroll
    for (int k = 0; k < kColumns; k += 4) {
      const unsigned ab[] = {__byte_perm(a.word[k / 4], b.word[k / 4], 0x5140),
                             __byte_perm(a.word[k / 4], b.word[k / 4], 0x7362)};
      const unsigned cd[] = {__byte_perm(c.word[k / 4], d.word[k / 4], 0x5140),
                             __byte_perm(c.word[k / 4], d.word[k / 4], 0x7362)};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const unsigned abcd = __byte_perm(ab[j / 2], cd[j / 2], j % 2 ? 0x7632 : 0x5410);
        add_products(sum[k + j], abcd, 0x01ffff01);
        add_products(squares[k + j], abcd, abcd ^ 0x807f7f80);
        add_products(squares[k + j], abcd, 0x01000001);
      }
    }
  }
  __device__ void add_front(const Samples &row, const Samples &mask) {
#pragma unroll
    for (int k = 0; k < Samples::kWords; ++k) {
      const unsigned p = row.word[k] & mask.word[k];
      add_products(sum[kColumns], p, 0x01010101);
      add_products(squares[kColumns], p, p ^ 0x80808080);
      add_products(squares[kColumns], p, 0x01010101);
    }
  }
  __device__ void remove_front(const Samples &row, const Samples &mask) {
#pragma unroll
    for (int k = 0; k < Samples::kWords; ++k) {
      const unsigned p = row.word[k] & mask.word[k];
      add_products(sum[kColumns], p, 0xffffffff);
      add_products(squares[kColumns], p, p ^ 0x7f7f7f7f);
    }
  }
};

template <>
struct LaneSums<std::uint16_t> {
  using Samples = StageSamples<std::uint16_t>;
  using Squares = std::uint64_t;

  unsigned sum[kColumns + 1] = {};
  Squares squares[kColumns + 1] = {};

  template <typename SumS, typename SumQ>
  static __device__ SumQ true_squares(SumS, SumQ q) {
    return q;
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
  __device__ void add_front(const Samples &row, const Samples &mask) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const unsigned p = row[j] & mask[j];
      sum[kColumns] += p;
      squares[kColumns] += Squares{p} * p;
    }
  }
  __device__ void remove_front(const Samples &row, const Samples &mask) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const unsigned p = row[j] & mask[j];
      sum[kColumns] -= p;
      squares[kColumns] -= Squares{p} * p;
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

/// The sums of a block's warps, in shared memory.
template <typename T>
struct WarpRecord {
  using Sums = LaneSums<T>;
  static constexpr int kCount = kColumns + 1;
  unsigned sum[kCount * 32];
  unsigned long long squares_64[sizeof(T) == 2 ? kCount * 32 : 1];
  unsigned squares_32[sizeof(T) == 1 ? kCount * 32 : 1];

  __device__ auto &squares() {
    if constexpr (sizeof(T) == 1)
      return squares_32;
    else
      return squares_64;
  }
  __device__ void add(const Sums &sums) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      atomicAdd(&sum[j * 32 + threadIdx.x % 32], sums.sum[j]);
      atomicAdd(&squares()[j * 32 + threadIdx.x % 32], sums.squares[j]);
    }
  }
  __device__ void store(const Sums &sums) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      sum[j * 32 + threadIdx.x % 32] = sums.sum[j];
      squares()[j * 32 + threadIdx.x % 32] = sums.squares[j];
    }
  }
  __device__ void load(Sums &sums) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      sums.sum[j] = sum[j * 32 + threadIdx.x % 32];
      sums.squares[j] = squares()[j * 32 + threadIdx.x % 32];
    }
  }
};

/// The rows of a warp's strip and the sums over their windows. A stage has, for kRows rows, these pieces:
/// columns x + r and x - r - 1 of the rows that enter the window, the same of the rows that leave it, the
/// rows themselves; and, where the window in front of the warp is wider than a piece, the rest of it in the
/// rows that enter and that leave. While the window is being filled, 2 kRows rows enter and none leaves.
template <typename T>
class Strip {
 public:
  using Samples = StageSamples<T>;
  using Stage = RowStage<T>;
  using Record = WarpRecord<T>;
  static constexpr int kRows = kStageRows<T>;
  static constexpr int kPieces = 5;  // of a window that is no wider than a piece

  LaneSums<T> sums;

  /// @param records  one per warp, if they fill their windows together
  __device__ Strip(const StripJob<T> &job, unsigned char *memory, std::uint64_t *barriers, int x,
                   Record *records)
      : job_(job),
        stage_(job.in, memory, barriers, job.pieces),
        right_(x + job.rx),
        left_(x - job.rx - 1),
        own_(x),
        records_(records),
        block_begin_(blockIdx.y * (blockDim.x / 32) * job.strip_rows),
        begin_(block_begin_ + warp() * job.strip_rows),
        end_(min(begin_ + job.strip_rows, job.in.plane.height)),
        next_(begin_) {
    const int height = job.in.plane.height, rest = lane() - kPieces;
    x_ = left_.begin;
    if (rest >= 0) x_ += (rest / 2 + 1) * kStageColumns;
    fill_x_ = x_;
    if (lane() == 4) x_ = own_.begin;
    if (lane() == 0 || lane() == 2) x_ = right_.begin;
    if (lane() == 0 || lane() == 3) fill_x_ = right_.begin;
    const bool enters = lane() < 2 || (rest >= 0 && rest % 2 == 0);
    y_ = lane() == 4 ? 0 : enters ? job.ry + 1 : -job.ry;
    fill_y_ = enters ? 0 : kRows;
    front_ = x - job.rx - 1;
    mask_ = front_mask(0);
#pragma unroll
    for (unsigned &word : mask_.word) word = keep(word);
    beyond_ = job.in.plane.width - (x + job.rx);
    cut_ = job.in.plane.width % 2 != 0 && beyond_ >= 0 && beyond_ < kStageColumns;

    int from = begin_ - job.ry, to = begin_ + job.ry + 1;
    if (job.together) {
      const int warps = blockDim.x / 32, share = (2 * job.ry + warps) / warps;
      from = block_begin_ - job.ry + warp() * share;
      to = min(from + share, block_begin_ + job.ry + 1);
      passes_ = 2;
    }
    fill_begin_ = fill_next_ = max(from, 0);
    fill_end_ = job.together || begin_ < end_ ? min(to, height) : 0;
    request();
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
    for (int y = fill_begin_; y < fill_end_; y += 2 * kRows) {
      stage_.wait();
#pragma unroll 1
      for (int i = 0; i < kRows && y + i < fill_end_; ++i) enter(i, y + kRows + i < fill_end_);
      request();
    }
    if (!job_.together) return;

    // The first record becomes the window of the block's first row, every other one the change from one
    // strip to the next; their prefix sums are the windows of all strips.
    for (int i = threadIdx.x; i < Record::kCount * 32; i += blockDim.x)
      records_[0].sum[i] = records_[0].squares()[i] = 0;
    __syncthreads();
    records_[0].add(sums);
    sums = {};
    for (int y = begin_; y < end_; y += kRows) {
      stage_.wait();
#pragma unroll 1
      for (int i = 0; i < kRows && y + i < end_; ++i) step(i);
      request();
    }
    const int warps = blockDim.x / 32;
    if (warp() + 1 < warps) records_[warp() + 1].store(sums);
    __syncthreads();
    for (int i = threadIdx.x; i < Record::kCount * 32; i += blockDim.x) {
      for (int k = 1; k < warps; ++k) {
        records_[k].sum[i] += records_[k - 1].sum[i];
        records_[k].squares()[i] += records_[k - 1].squares()[i];
      }
    }
    __syncthreads();
    records_[warp()].load(sums);
  }

  /// Waits for the next kRows rows.
  __device__ void wait() {
    stage_.wait();
  }
  __device__ Samples row(int i) const {
    return own_.read_aligned(stage_.row(4, i));
  }
  /// Moves the window one row down, from the i-th row that was waited for.
  __device__ void step(int i) {
    const Samples a = right(0, i), b = left(1, i), c = right(2, i), d = left(3, i);
    sums.step(a, b, c, d);
    sums.add_front(b, mask_);
    sums.remove_front(d, mask_);
    for (int k = kPieces; k < job_.pieces; k += 2) {
      const Samples mask = front_mask((k - kPieces) / 2 + 1);
      sums.add_front(left(k, i), mask);
      sums.remove_front(left(k + 1, i), mask);
    }
  }
  /// All rows that were waited for have been read.
  __device__ void release() {
    request();
  }

 private:
  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  static __device__ int warp() {  // so that the compiler knows that it is the same for all lanes
    return __shfl_sync(kWholeWarp, threadIdx.x / 32, 0);
  }

  __device__ Samples left(int piece, int i) const {
    return left_.read(stage_.row(piece, i));
  }
  __device__ Samples right(int piece, int i) const {
    Samples samples = right_.read(stage_.row(piece, i));
    if (cut_) {
      const Samples mask = first_columns(static_cast<int>(keep(beyond_)));
#pragma unroll
      for (int k = 0; k < Samples::kWords; ++k) samples.word[k] &= mask.word[k];
    }
    return samples;
  }

  /// The samples of a lane that belong to the window in front of the warp, in its k-th piece.
  __device__ Samples front_mask(int k) const {
    return first_columns(min(2 * job_.rx + 1, job_.in.plane.width - front_) - k * kStageColumns);
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

  /// Adds row i of a stage that fills the window and, if `both`, row kRows + i.
  __device__ void enter(int i, bool both) {
    const Samples a = right(0, i), b = left(1, i);
    Samples c{}, d{};
    if (both) {
      c = left(2, i);
      d = right(3, i);
    }
    sums.step(a, b, c, d);
    sums.add_front(b, mask_);
    sums.add_front(c, mask_);
    for (int k = kPieces; k < job_.pieces; k += 2) {
      const Samples mask = front_mask((k - kPieces) / 2 + 1);
      sums.add_front(left(k, i), mask);
      if (both) sums.add_front(left(k + 1, i), mask);
    }
  }

  __device__ void request() {
    if (fill_next_ < fill_end_) {
      stage_.request(fill_x_, fill_next_ + fill_y_);
      fill_next_ += 2 * kRows;
    } else if (next_ < end_) {  // no copy may be under way when the block ends
      stage_.request(x_, next_ + y_);
      next_ += kRows;
      if (next_ >= end_ && --passes_ > 0) next_ = begin_;
    }
  }

  const StripJob<T> &job_;
  Stage stage_;
  StageCut<T> right_, left_, own_;
  Record *records_;
  int block_begin_, begin_, end_;  // rows of the block and of the strip
  int next_, passes_ = 1;          // row to be requested
  int fill_begin_, fill_next_, fill_end_;
  int x_, y_, fill_x_, fill_y_;  // where this lane's piece begins
  int front_, beyond_;  // first column of the window in front; columns of the plane from x + r on
  bool cut_;            // the sample after them is in a piece
  Samples mask_;
};

}  // namespace cudascan::nick
