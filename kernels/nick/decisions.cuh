// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the local thresholds compute from window sums (windowsums/row_kernel.cuh): black and white;
/// surface.cuh has the thresholds themselves, wolf.cuh the statistics of the image for Wolf.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/nick/filter.cuh"
#include "kernels/nick/naive.cuh"
#include "kernels/nick/naive.h"
#include "kernels/windowsums/row_kernel.cuh"

namespace cudascan::nick {

using windowsums::Columns;
using windowsums::kColumns;
using windowsums::WindowSize;

/// What a launch for Wolf's method does, see wolf_kernel.cuh.
enum class WolfPart { all, statistics, result };

/// Everything that is the same for all threads of a launch.
template <typename T>
struct NickJob : windowsums::RowJob<T> {
  using windowsums::RowJob<T>::RowJob;
  std::uint32_t black = 0, white = 0;  // in every byte or 16-bit half
  Formula formula{};
  Filter filter{};
  WolfStatistics *wolf = nullptr;  // for each block
  unsigned *wolf_barrier = nullptr;
  unsigned long long *black_count = nullptr;  // may be nullptr
  SurfaceWeights weights{};                   // unless the method is wolf
  WolfPart wolf_part = WolfPart::all;
};

/// The decision where an estimate u of (T - p) N is not more than the tolerance; not inlined,
/// because it is rare.
static __device__ __noinline__ bool exactly_above(float u, unsigned p, WindowSums w,
                                                  const Filter &filter, const Formula &f) {
  const float scale = static_cast<float>(p) * w.n + to_float(w.sum);
  if (fabsf(u) > filter.relative * scale) return u < 0;
  return above(2 * static_cast<std::int64_t>(p), w, f);
}
static __device__ __noinline__ std::uint32_t exact_threshold(WindowSums w, const Formula &f) {
  return rounded_threshold(estimate(w, f), w, f);
}

/// Shared by all decisions of the local thresholds: an estimate for each column, and a test whether
/// it is reliable.
template <typename T, typename SumS_, typename SumQ_, NickMethod method>
class ThresholdDecision {
 public:
  using Sample = T;
  using SumS = SumS_;
  using SumQ = SumQ_;
  using Job = NickJob<T>;
  using Row = windowsums::Row<T, SumS, SumQ>;
  static constexpr bool kSquared = true;
  static constexpr bool kSizesOfCut = true;
  template <Columns>
  static constexpr int kRowsAtOnce = 1;
  static constexpr bool kBasesFirst = false;

  /// For Wolf's method: what depends on the statistics of the image.
  struct WolfShared {
    Formula formula;
    Filter filter;
  };
  struct Nothing {};
  static constexpr bool kWolf = method == NickMethod::wolf;
  using Shared = std::conditional_t<kWolf, WolfShared, Nothing>;

  static __device__ float weight(const Job &job) { return job.filter.k; }
  static __device__ void prepare(Shared &, const Job &) {}
  static __device__ void prepare(WolfShared &shared, const Job &job,
                                 const WolfStatistics &statistics) {
    shared.formula = job.formula;
    shared.formula.busiest = statistics.busiest;
    shared.formula.minimum = statistics.minimum;
    shared.filter = Filter(shared.formula);
  }
  static __device__ void set_column(Shared &, const Job &, int, unsigned) {}

  template <bool inner>
  __device__ void set_rows(const Row &row) {
    if constexpr (!kWolf)
      far_ = filter().tolerance * row.rows_size.nf * (inner ? 1 : row.window_width);
  }
  template <Columns>
  __device__ void start(SumS &) {
    near_ = false;
  }
  template <Columns columns, int j>
  __device__ void column(const Row &row, const WindowSize &size) {
    if constexpr (kWolf) {
      const WolfExcess excess = wolf_excess(sums(row, j), row.samples.scaled_float(j),
                                            row.samples.kFloatScale, size, filter());
      u_[j] = excess.u;
      near_ |= excess.near(filter());
    } else {
      u_[j] = excess<method>(sums(row, j), row.samples.scaled_float(j), size, filter());
      near_ |= fabsf(u_[j]) <= far_;
    }
  }
  template <Columns>
  __device__ bool sure(const Row &) const {
    return true;
  }
  template <Columns>
  __device__ void decide_exactly(const Row &) {}

 protected:
  __device__ ThresholdDecision(const Job &job, const Shared &shared) : job_(job), shared_(shared) {}

  __device__ const Formula &formula() const {
    if constexpr (kWolf)
      return shared_.formula;
    else
      return job_.formula;
  }
  __device__ const Filter &filter() const {
    if constexpr (kWolf)
      return shared_.filter;
    else
      return job_.filter;
  }
  static __device__ auto sums(const Row &row, int j) {
    if constexpr (sizeof(T) == 1 && sizeof(SumQ) == 4)
      return ByteSums{row.sum[j], static_cast<int>(row.squares[j])};
    else
      return WideSums<SumS, SumQ>{row.sum[j], row.true_squares(j)};
  }
  template <Columns columns>
  static __device__ WindowSums window(const Row &row, int j) {
    return {row.sum[j], row.true_squares(j), row.template count<columns>(j)};
  }

  const Job &job_;
  const Shared &shared_;
  float u_[kColumns] = {};  // about (T - p) N
  float far_ = 0;           // estimates of at least this size are reliable
  bool near_ = false;       // some column of the lane is not reliable
};

/// Where a lane stores its next samples: a pointer, or for samples of bytes an offset of 32 bits,
/// which takes less time in each row.
template <typename T>
class OutPosition {
 public:
  __device__ OutPosition(const NickJob<T> &job, int x, int y)
      : at_(static_cast<unsigned char *>(job.out) + y * job.out_stride +
            x * (job.out_is_wide ? 2 : 1)) {}
  __device__ unsigned char *in(const NickJob<T> &) const { return at_; }
  __device__ void next_row(const NickJob<T> &job) { at_ += job.out_stride; }

 private:
  unsigned char *at_;
};

/// The largest plane for such offsets, in bytes from the first row to the end.
constexpr std::uint64_t kMostOutBytes = 0xffffffff;

template <>
class OutPosition<std::uint8_t> {
 public:
  using Job = NickJob<std::uint8_t>;

  __device__ OutPosition(const Job &job, int x, int y)
      : at_(y * static_cast<unsigned>(job.out_stride) + x * (job.out_is_wide ? 2 : 1)) {}
  __device__ unsigned char *in(const Job &job) const {
    return static_cast<unsigned char *>(job.out) + at_;
  }
  __device__ void next_row(const Job &job) { at_ += static_cast<unsigned>(job.out_stride); }

 private:
  unsigned at_;
};

/// Black and white.
template <typename T, typename SumS, typename SumQ, NickMethod method>
class BinaryDecision : public ThresholdDecision<T, SumS, SumQ, method> {
  using Base = ThresholdDecision<T, SumS, SumQ, method>;
  using Base::job_;
  using Base::near_;
  using Base::u_;

 public:
  using typename Base::Job;
  using typename Base::Row;
  using typename Base::Shared;
  static constexpr bool kBasesFirst = sizeof(T) == 1;  // otherwise slower, on an H200

  __device__ BinaryDecision(const Job &job, const Shared &shared, const Row &row, int y)
      : Base(job, shared),
        at_once_(keep(job.store_at_once && row.valid == kColumns)),
        position_(job, row.x0, y) {}

  template <Columns>
  __device__ bool sure(const Row &) const {
    return !__any_sync(kWholeWarp, near_);
  }
  template <Columns columns>
  __device__ void decide_exactly(const Row &row) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      if (const WindowSums w = Base::template window<columns>(row, j);
          fabsf(u_[j]) <= doubt(w) && (columns == Columns::inner || j < row.valid)) {
        const unsigned p = row.samples[j];
        u_[j] =
            !is_tie(p, w) && exactly_above(u_[j], p, w, this->filter(), this->formula()) ? -1 : 1;
      }
  }
  template <Columns columns>
  __device__ void store(const Row &row, int /*y*/) {
    const unsigned whites[2] = {negative_bytes(0), negative_bytes(4)};
    if (columns == Columns::inner || at_once_) {
      white_bits_ += __popc(whites[0]) + __popc(whites[1]);
      store_all(whites);
    } else if (row.valid > 0) {
      white_bits_ += __popc(whites[0] & first_bytes(row.valid)) +
                     __popc(whites[1] & first_bytes(row.valid - 4));
      store_some(row.valid, whites);
    }
    position_.next_row(job_);
  }
  __device__ void finish(const Row &row, int begin, int end, unsigned char * /*memory*/) {
    if (!job_.black_count) return;
    const unsigned white = warp_sum(white_bits_) / 8;
    const unsigned pixels = max(end - begin, 0) *
                            max(min(job_.in.plane.width - row.tile, windowsums::kStageColumns), 0);
    const unsigned count = job_.white ? pixels - white : white;
    if (Row::lane() == 0 && count) atomicAdd(job_.black_count, count);
  }

 private:
  /// At least the size of all estimates that are not reliable.
  __device__ float doubt(const WindowSums &w) const {
    if constexpr (Base::kWolf)
      return 2 * this->filter().tolerance *
             to_float(w.sum - std::uint64_t{this->formula().minimum} * w.n);
    else
      return this->filter().tolerance * w.n;
  }
  /// Whether p and T are equal in a window of equal samples. All methods leave black black, and
  /// flat areas would ask for each pixel of many rows, as would those that are nearly black but for
  /// `relative`.
  static __device__ bool is_tie(unsigned p, const WindowSums &w) {
    if constexpr (method == NickMethod::niblack)
      return w.sum == std::uint64_t{p} * w.n && w.squares == p * w.sum;
    else
      return w.sum == 0;
  }
  /// The sign bits of four estimates, each copied to all bits of a byte.
  __device__ unsigned negative_bytes(int first) const {
    return __byte_perm(sign_bytes(u_[first], u_[first + 1]),
                       sign_bytes(u_[first + 2], u_[first + 3]), 0x5410);
  }
  /// A mask of the first n bytes of a word.
  static __device__ unsigned first_bytes(int n) {
    return n <= 0 ? 0 : 0xffffffff >> 8 * max(4 - n, 0);
  }
  /// Selects black or white by the bytes of a mask.
  __device__ unsigned paint(unsigned whites) const {
    return (whites & job_.white) | (~whites & job_.black);
  }
  __device__ unsigned char *out() const {
    return position_.in(job_);
  }
  /// Stores the first `valid` black or white samples, at least one, given the bytes of their mask.
  __device__ void store_some(int valid, const unsigned (&whites)[2]) const {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (job_.out_is_wide)
        reinterpret_cast<std::uint16_t *>(out())[j] =
            paint(__byte_perm(whites[j / 4], 0, 0x1111 * (j % 4)));
      else
        out()[j] = paint(whites[j / 4]) >> 8 * (j % 4);
      if (j + 1 == valid) break;
    }
  }
  /// Stores eight samples at once.
  __device__ void store_all(const unsigned (&whites)[2]) const {
    if (sizeof(T) == 2 && job_.out_is_wide)
      *reinterpret_cast<uint4 *>(out()) = {
          paint(__byte_perm(whites[0], 0, 0x1100)), paint(__byte_perm(whites[0], 0, 0x3322)),
          paint(__byte_perm(whites[1], 0, 0x1100)), paint(__byte_perm(whites[1], 0, 0x3322))};
    else
      *reinterpret_cast<uint2 *>(out()) = {paint(whites[0]), paint(whites[1])};
  }

  /// Whether the lane stores its eight samples at once. A bool would occupy a predicate register in
  /// all loops over rows, but the scans need those: with only one left, each shuffle waits for the
  /// previous one.
  const unsigned at_once_;
  unsigned white_bits_ = 0;  // eight for each white pixel
  OutPosition<T> position_;
};

}  // namespace cudascan::nick
