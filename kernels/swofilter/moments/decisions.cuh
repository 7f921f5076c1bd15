// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Means and standard deviations of windows, made of the sums over them
/// (windowsums/row_kernel.cuh).
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/windowsums/rounding.cuh"
#include "kernels/windowsums/row_kernel.cuh"

namespace cudascan::swo {

using windowsums::Columns;
using windowsums::kColumns;
using windowsums::StageSamples;
using windowsums::WindowSize;

/// Everything that is the same for all threads of a launch.
template <typename T>
struct MomentJob : windowsums::RowJob<T> {
  using windowsums::RowJob<T>::RowJob;
  int level_shift = 0;                     // low bits that samples do not use
  int mean_shift = 0, variance_shift = 0;  // see ByteMeans and ByteDeviation
};

/// What both have in common: each column has a level, or, of bytes, a word that has it in one of
/// its bytes.
template <typename T, bool squared>
class MomentDecision {
 public:
  using Sample = T;
  using SumS = std::uint32_t;
  using SumQ = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
  using Job = MomentJob<T>;
  using Row = windowsums::Row<T, SumS, SumQ>;
  static constexpr bool kSquared = squared;
  static constexpr bool kBasesFirst = false;

  static __device__ float weight(const Job &) { return 0; }
  template <Columns>
  __device__ void decide_exactly(const Row &) {}
  __device__ void finish(const Row &, int, int, unsigned char *) const {}

 protected:
  static constexpr bool kBytes = sizeof(T) == 1;

  __device__ MomentDecision(const Job &job, const Row &row, int y)
      : job_(job),
        out_(static_cast<unsigned char *>(job.out) + y * job.out_stride +
             row.x0 * (job.out_is_wide ? 2 : 1)) {}

  template <Columns columns>
  __device__ unsigned exact_level(const Row &row, int j) const {
    const unsigned pixels = row.template count<columns>(j), n = pixels << job_.level_shift;
    unsigned level;
    if constexpr (squared) {
      const std::uint64_t sum = row.sum[j];
      level =
          windowsums::rounded_deviation(pixels * std::uint64_t{row.true_squares(j)} - sum * sum, n);
    } else {
      level = windowsums::rounded_mean(row.sum[j], n);
    }
    return level << job_.level_shift;
  }
  template <Columns columns>
  __device__ void store_packed(const Row &row, int y, const StageSamples<T> &packed) {
    if (columns == Columns::inner || (job_.store_at_once && row.valid >= kColumns)) {
      store_samples(out_, packed);
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (j < row.valid) store_sample(job_, row.x0 + j, y, packed[j]);
    }
    out_ += job_.out_stride;
  }
  /// @param pack  puts four levels into the bytes of a word
  template <typename Pack>
  __device__ StageSamples<T> packed_levels(const Pack &pack) const {
    StageSamples<T> packed{};
#pragma unroll
    for (int k = 0; k < StageSamples<T>::kWords; ++k) {
      if constexpr (kBytes) {
        const unsigned four[] = {levels_[4 * k], levels_[4 * k + 1], levels_[4 * k + 2],
                                 levels_[4 * k + 3]};
        packed.word[k] = pack(four);
      } else {
        packed.word[k] = levels_[2 * k] | levels_[2 * k + 1] << 16;
      }
    }
    return packed;
  }

  const Job &job_;
  unsigned char *out_;
  unsigned levels_[kColumns];
};

/// The mean.
template <typename T>
class MeanDecision : public MomentDecision<T, false> {
  using Base = MomentDecision<T, false>;
  using Base::job_;
  using Base::kBytes;
  using Base::levels_;
  using ByteMeans = windowsums::ByteMeans;

 public:
  using typename Base::Job;
  using typename Base::Row;
  using typename Base::SumS;
  struct Shared {
    windowsums::ByteMeanColumns<kBytes ? windowsums::kStageColumns : 4> full;  // of whole windows
  };
  static constexpr bool kSizesOfCut = !kBytes;
  /// Two rows hide one another's latency, where there are registers for that.
  template <Columns columns>
  static constexpr int kRowsAtOnce = kBytes &&columns == Columns::inner ? 2 : 1;

  static __device__ void prepare(Shared &, const Job &) {}
  static __device__ void set_column(Shared &shared, const Job &job, int i, unsigned n) {
    if constexpr (kBytes) shared.full.set(i, ByteMeans(n, job.mean_shift));
  }
  __device__ MeanDecision(const Job &job, const Shared &shared, const Row &row, int y)
      : Base(job, row, y), shared_(shared) {}

  template <bool inner>
  __device__ void set_rows(const Row &row) {
    if constexpr (inner && kBytes)
      means_ = ByteMeans(row.window_rows * row.window_width, job_.mean_shift);
  }
  template <Columns columns>
  __device__ void start(SumS &base) const {
    if constexpr (kBytes && columns == Columns::inner) base += means_.half;
  }
  template <Columns columns, int j>
  __device__ void column(const Row &row, const WindowSize &) {
    if constexpr (kBytes && columns == Columns::inner)
      levels_[j] = means_.product(row.sum[j]);
    else if constexpr (kBytes && columns == Columns::cut)
      levels_[j] = shared_.full[kColumns * Row::lane() + j].product_of_sum(row.sum[j]);
    else
      levels_[j] = Base::template exact_level<columns>(row, j);
  }
  template <Columns>
  __device__ bool sure(const Row &) const {
    return true;
  }
  template <Columns columns>
  __device__ void store(const Row &row, int y) {
    Base::template store_packed<columns>(row, y, Base::packed_levels([&](const unsigned(&four)[4]) {
                                           return columns == Columns::any
                                                      ? windowsums::low_bytes(four)
                                                      : ByteMeans::levels(four, job_.mean_shift);
                                         }));
  }

 private:
  const Shared &shared_;
  ByteMeans means_;  // of inner tiles
};

/// The standard deviation.
template <typename T>
class DeviationDecision : public MomentDecision<T, true> {
  using Base = MomentDecision<T, true>;
  using Base::job_;
  using Base::kBytes;
  using Base::levels_;

 public:
  using typename Base::Job;
  using typename Base::Row;
  using typename Base::SumS;
  struct Shared {};
  static constexpr bool kSizesOfCut = true;
  template <Columns>
  static constexpr int kRowsAtOnce = 1;

  static __device__ void prepare(Shared &, const Job &) {}
  static __device__ void set_column(Shared &, const Job &, int, unsigned) {}
  __device__ DeviationDecision(const Job &job, const Shared &, const Row &row, int y)
      : Base(job, row, y) {}

  template <bool inner>
  __device__ void set_rows(const Row &) {}
  template <Columns>
  __device__ void start(SumS &) {
    near_ = false;
  }
  template <Columns columns, int j>
  __device__ void column(const Row &row, const WindowSize &size) {
    if constexpr (kBytes) {
      const auto n = static_cast<int>(size.n), s = static_cast<int>(row.sum[j]);
      // N Q - S^2, where the squares lack 127 S.
      const std::int64_t v =
          add_product(std::int64_t{s} * (127 * n - s), n, static_cast<int>(row.squares[j]));
      levels_[j] =
          windowsums::ByteDeviation(size.inverse_square, job_.variance_shift).estimate(v, near_);
    } else {
      levels_[j] = Base::template exact_level<columns>(row, j);
    }
  }
  template <Columns columns>
  __device__ bool sure(const Row &row) {
    if (kBytes && near_) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) levels_[j] = Base::template exact_level<columns>(row, j);
    }
    return true;
  }
  template <Columns columns>
  __device__ void store(const Row &row, int y) {
    Base::template store_packed<columns>(row, y, Base::packed_levels([](const unsigned(&four)[4]) {
                                           return windowsums::low_bytes(four);
                                         }));
  }

 private:
  bool near_ = false;  // an estimate of the lane does not decide its level
};

}  // namespace cudascan::swo
