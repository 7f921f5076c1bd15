// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Window sums as the lanes of a warp store them; row_kernel.cuh says how they are combined.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/windowsums/prefix.cuh"
#include "kernels/windowsums/row_stage.cuh"

namespace cudascan::windowsums {

inline constexpr int kColumns = 8;  ///< columns of one thread
static_assert(32 * kColumns == kStageColumns);

/// Warps of a block and of a multiprocessor; sums of 16-bit samples need more registers.
template <typename T>
inline constexpr int kMaxWarps = sizeof(T) == 1 ? 16 : 12;

/// Parameters of the launch for a strip.
template <typename T>
struct StripJob {
  StagedPlane<T> in;
  int rx, ry;            ///< half the window
  int share;             ///< parts of a RowTile that each warp copies
  int parts;             ///< of kStageColumns columns in a wide piece
  bool packed;           ///< the sums of two columns fit into 32 bits
  PrefixSums<T> prefix;  ///< for PrefixStrip
};

/// Those of a lane's eight samples that belong to the first columns of its warp.
template <typename T>
__device__ StageSamples<T> first_columns(int columns) {
  constexpr int kPerWord = 4 / sizeof(T);
  columns -= static_cast<int>(threadIdx.x % 32) * kColumns;
  StageSamples<T> mask;
#pragma unroll
  for (int i = 0; i < mask.kWords; ++i) {
    const int valid = columns - i * kPerWord;
    mask.word[i] = valid <= 0 ? 0 : 0xffffffff >> 8 * sizeof(T) * max(kPerWord - valid, 0);
  }
  return mask;
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

/// Sums over the rows of a column: of the samples and, if `squared`, of their squares.
template <typename T, bool squared>
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
          if (squared) add_squares(squares[k + j], column[j]);
        }
      }
    } else {
#pragma unroll
      for (const StageSamples<T> &row : rows) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          sum[j] += row[j];
          if (squared) squares[j] += Squares{row[j]} * row[j];
        }
      }
    }
  }
};

/// A lane's sums over the rows of the window: D of its columns, for the samples and for their
/// squares, and (unless they come from PrefixSums) the sums of its share of the window before the
/// warp.
template <typename T>
struct LaneSums;

/// The D of the squares uses p^2 - 127 p instead of p^2. It equals p (p - 128) + p, and its
/// negative is p (127 - p): products of an unsigned and a signed byte. The hardware adds up four
/// of them at once.
template <>
struct LaneSums<std::uint8_t> {
  using Samples = StageSamples<std::uint8_t>;

  unsigned sum[kColumns], squares[kColumns];
  unsigned front_sum = 0, front_squares = 0, front_left = 0;  // the last two: entered and left

  /// The sum of the squares from the stored value.
  template <typename SumS, typename SumQ>
  static __device__ SumQ true_squares(SumS s, SumQ q) {
    return q + 127 * SumQ{s};
  }
  /// The stored value from the sum of the squares.
  static __device__ std::uint64_t stored_squares(SumPair sums) {
    return sums.squares - 127 * sums.sum;
  }
  /// D from the column sums.
  __device__ void set(int j, unsigned sum_right, unsigned sum_left, unsigned squares_right,
                      unsigned squares_left) {
    sum[j] = sum_right - sum_left;
    squares[j] = squares_right - squares_left - 127 * sum[j];
  }
  /// The squares of the whole window before the warp, in the form of the D; s is its sum.
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
  /// Adds a row to the share and subtracts a row.
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
  static __device__ std::uint64_t stored_squares(SumPair sums) { return sums.squares; }
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

/// Widens a sum of a lane, which may be negative.
template <typename To>
__device__ To widen(std::uint32_t v) {
  return static_cast<To>(static_cast<std::int64_t>(static_cast<std::int32_t>(v)));
}
template <typename To>
__device__ To widen(std::uint64_t v) {
  return v;
}

/// S and Q before a lane's columns, in the form of D. They are computed in kPhases phases; other
/// work between the phases hides their latency.
template <typename SumS, typename SumQ>
class Bases {
 public:
  static constexpr int kPhases = 5;
  /// @param front_s, front_q  before the warp's columns
  template <typename T>
  __device__ Bases(const LaneSums<T> &sums, SumS front_s, SumQ front_q)
      : front_s_(front_s), front_q_(front_q) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      all_s_ += widen<SumS>(sums.sum[j]);
      all_q_ += widen<SumQ>(sums.squares[j]);
    }
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

/// Column sums over the window of a strip's first row, in shared memory, for the columns of a wide
/// piece. The sum of column 8 i + j is at index `stride` j + i, so that the lanes of a warp use
/// different banks. All are 32-bit words, for which shared memory has atomic additions: squares of
/// 16-bit samples are in two halves, and the sums of two columns are in one word if 16 bits are
/// enough.
template <typename T, bool squared>
class ColumnRecord {
 public:
  using Sums = ColumnSums<T, squared>;
  using Squares = typename Sums::Squares;

  /// @param memory  words(job) words for this warp
  __device__ ColumnRecord(unsigned *memory, const StripJob<T> &job)
      : words_(memory), stride_(stride(job)), packed_(job.packed) {}

  /// A multiple of four.
  static __host__ __device__ int words(const StripJob<T> &job) {
    return stride(job) * (kColumns * kHalves + (job.packed ? kColumns / 2 : kColumns));
  }

  /// Adds column sums of a part of 256 columns, or subtracts them if `sign` is -1; several warps
  /// may do so at once.
  __device__ void add(int part, const Sums &sums, int sign) {
    const int i = 32 * part + threadIdx.x % 32;
    if (i >= stride_) return;
    if (packed_)
      add<true>(i, sums, sign);
    else
      add<false>(i, sums, sign);
  }
  /// Adds the columns from 8 lane + `column` of the wide piece on.
  __device__ void add_to(Sums &to, unsigned column) const {
    const unsigned lane = shared_address(words_) + 4 * (threadIdx.x % 32);
#pragma unroll
    for (unsigned j = 0; j < kColumns; ++j) add_to(to.sum[j], to.squares[j], lane, column + j);
  }
  /// Adds one of them.
  __device__ void add_to(unsigned &sum, Squares &squares, unsigned column) const {
    add_to(sum, squares, shared_address(words_) + 4 * (threadIdx.x % 32), column);
  }

 private:
  static constexpr int kHalves = squared ? sizeof(T) : 0;  // of the squares
  /// Bits of the lower half of a group's squares; the sum of these halves still fits into 32 bits.
  static constexpr int kHalfBits = 18;

  static __host__ __device__ int stride(const StripJob<T> &job) {
    return job.in.pitch / static_cast<int>(kColumns * sizeof(T));
  }

  /// @param lane  address of this lane's first word
  __device__ void add_to(unsigned &sum, Squares &squares, unsigned lane, unsigned column) const {
    const unsigned j = column % kColumns, at = 4 * (column / kColumns), row = 4 * stride_;
    unsigned word;
    if constexpr (kHalves > 0) load_shared(lane + (at + j * row), word);
    if constexpr (kHalves == 1) {
      squares += word;
    } else if constexpr (kHalves == 2) {  // a half may be negative after subtracting rows
      squares += static_cast<int>(word);
      load_shared(lane + (at + (kColumns + j) * row), word);
      squares += std::int64_t{static_cast<int>(word)} << kHalfBits;
    }
    const unsigned sums = at + kHalves * kColumns * row;
    load_shared(lane + (sums + (packed_ ? j / 2 : j) * row), word);
    sum += packed_ ? __byte_perm(word, 0, j % 2 ? 0x4432 : 0x4410) : word;
  }

  // Borrows and carries of words or halves in between cancel out when everything has been added.
  template <bool packed>
  __device__ void add(int i, const Sums &sums, int sign) {
    unsigned *const all_sums = words_ + kHalves * kColumns * stride_ + i;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      [[maybe_unused]] unsigned *squares = words_ + j * stride_ + i;
      if constexpr (kHalves == 1) {
        atomicAdd(squares, sign * sums.squares[j]);
      } else if constexpr (kHalves == 2) {
        const Squares q = sums.squares[j];
        atomicAdd(squares, sign * (static_cast<unsigned>(q) & ((1u << kHalfBits) - 1)));
        atomicAdd(squares + kColumns * stride_, sign * static_cast<unsigned>(q >> kHalfBits));
      }
      if (!packed)
        atomicAdd(all_sums + j * stride_, sign * sums.sum[j]);
      else if (j % 2 == 0)
        atomicAdd(all_sums + j / 2 * stride_, sign * (sums.sum[j] + (sums.sum[j + 1] << 16)));
    }
  }

  unsigned *words_;
  int stride_;
  bool packed_;
};

}  // namespace cudascan::windowsums
