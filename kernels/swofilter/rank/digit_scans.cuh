// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians and ranks of wide rectangles, at the same cost for all widths. The counts are those of
/// digits.cuh. But there each thread adds up the counts of all columns of its window for every
/// digit. Here a warp adds up the counts of a prefix once for a whole row of windows: the sums of
/// windows are differences of prefix sums. There are as many prefixes of zero to two digits as
/// warps in a block. Of the many prefixes of three digits, only those that results begin with are
/// added up.
///
/// Sums are stored for every fourth column. A thread adds up to three columns itself.
#pragma once
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/rank/digits.cuh"

namespace cudascan::swo {

/// Prefixes of zero to two digits, and of three digits.
constexpr int kShortBeginnings = 1 + 4 + 16, kLongBeginnings = kBeginnings - kShortBeginnings;
constexpr int kScanWarps = kShortBeginnings, kScanThreads = 32 * kScanWarps;
/// Columns of a group, which is a vector of words.
constexpr int kScanGroup = 4;
/// Groups of a lane. This is odd, so vectors of lanes are in different banks.
constexpr int kLaneGroups = 5;
constexpr int kScanGroups = 32 * kLaneGroups, kMostScannedColumns = kScanGroup * kScanGroups;

/// How the shared memory of a block is used.
struct ScanMemory {
  int columns;  ///< a multiple of 32
  int scans;    ///< prefixes whose sums are stored at the same time, at least kShortBeginnings

  /// All lanes read as many groups, also after the last column.
  CUDASCAN_HD int count_bytes() const {
    return ((kBeginnings - 1) * columns + kMostScannedColumns) * 4;
  }
  CUDASCAN_HD int bytes() const { return count_bytes() + scans * kScanBytes + kLongBeginnings; }

 private:
  static constexpr int kScanBytes = (kScanGroups + 1) * sizeof(uint2);
};

/// The prefixes of three digits that are the first digits of some result.
class UsedBeginnings {
 public:
  __device__ explicit UsedBeginnings(unsigned char *is_used) : is_used_(is_used) {}

  __device__ void clear() const {
    if (threadIdx.x < kLongBeginnings) is_used_[threadIdx.x] = 0;
  }
  __device__ void set(unsigned beginning) const { is_used_[beginning] = 1; }
  /// Reads what was set since clear(). All lanes call it.
  __device__ void read() {
    const int lane = threadIdx.x % 32;
    lower_ = __ballot_sync(kWholeWarp, is_used_[lane] != 0);
    upper_ = __ballot_sync(kWholeWarp, is_used_[lane + 32] != 0);
  }
  __device__ int count() const { return __popc(lower_) + __popc(upper_); }
  /// How many lower ones are used.
  __device__ int number_of(unsigned beginning) const {
    const unsigned below = (1u << beginning % 32) - 1;
    return beginning < 32 ? __popc(lower_ & below) : __popc(lower_) + __popc(upper_ & below);
  }
  /// The one with this number. All lanes call it.
  __device__ unsigned at(int number) const {
    const unsigned lane = threadIdx.x % 32;
    const bool in_lower = number < __popc(lower_);
    const unsigned half = in_lower ? lower_ : upper_, in_half = in_lower ? 0 : 32;
    const bool is_this = half >> lane & 1 && number_of(in_half + lane) == number;
    return in_half + __ffs(__ballot_sync(kWholeWarp, is_this)) - 1;
  }

 private:
  unsigned char *is_used_;
  unsigned lower_ = 0, upper_ = 0;
};

/// A column, for the counts of those before it.
class ScanPlace {
 public:
  __device__ explicit ScanPlace(int column) : group_(column / kScanGroup) {
#pragma unroll
    for (int i = 0; i < kScanGroup - 1; ++i) masks_[i] = i < column % kScanGroup ? ~0u : 0;
  }
  /// @param counts, sums  of the groups
  __device__ DigitSums sums(const uint4 *counts, const uint2 *sums) const {
    const uint4 v = counts[group_];
    DigitSums all(sums[group_]);
    all.add(uint4{v.x & masks_[0], v.y & masks_[1], v.z & masks_[2], 0});
    return all;
  }

 private:
  int group_;
  unsigned masks_[kScanGroup - 1];
};

/// Prefix sums of the counts of a block.
class DigitScans {
 public:
  __device__ DigitScans(unsigned char *shared, const ScanMemory &memory)
      : counts_(reinterpret_cast<const unsigned *>(shared)),
        sums_(reinterpret_cast<uint2 *>(shared + memory.count_bytes())),
        columns_(memory.columns) {}

  /// Adds up the counts of a prefix. A warp calls it.
  /// @param beginning  number of the prefix among all of them
  __device__ void scan(int beginning, int at) const {
    const int lane = threadIdx.x % 32, first = lane * kLaneGroups;
    const uint4 *const counts = groups_of(beginning) + first;
    DigitSums up_to[kLaneGroups], all;
#pragma unroll
    for (int i = 0; i < kLaneGroups; ++i) {
      all.add(counts[i]);
      up_to[i] = all;
    }
    const uint2 own = all.words();
    const DigitSums before = DigitSums(uint2{warp_scan(own.x), warp_scan(own.y)}) - all;
    uint2 *const sums = sums_of(at) + first;
    if (lane == 0) sums[0] = uint2{};
#pragma unroll
    for (int i = 0; i < kLaneGroups; ++i) {
      up_to[i] += before;
      sums[i + 1] = up_to[i].words();
    }
  }
  /// Sums of the columns from `begin` to before `end`.
  __device__ DigitSums between(const ScanPlace &begin, const ScanPlace &end, int beginning,
                               int at) const {
    const uint4 *const counts = groups_of(beginning);
    const uint2 *const sums = sums_of(at);
    return end.sums(counts, sums) - begin.sums(counts, sums);
  }

 private:
  __device__ const uint4 *groups_of(int beginning) const {
    return reinterpret_cast<const uint4 *>(counts_ + beginning * columns_);
  }
  __device__ uint2 *sums_of(int at) const {
    return sums_ + at * (kScanGroups + 1);
  }

  const unsigned *counts_;
  uint2 *sums_;  ///< before each group, and before the end
  int columns_;
};

/// Which sample of the windows of a column is the result.
template <typename Selection>
class ColumnRanks {
 public:
  __device__ ColumnRanks(const Selection &selection, int x)
      : selection_(selection), across_(kept(x, selection.rx, selection.in.plane.width)) {}

  __device__ DigitSearch at(int y) {
    const int n = across_ * kept(y, selection_.ry, selection_.in.plane.height);
    if (n != n_) {
      n_ = n;
      rank_ =
          selection_.op == SwoFilterOperator::median ? n / 2 : rank_of(n, selection_.percentile);
    }
    return {rank_, static_cast<unsigned>(n)};
  }

 private:
  /// Columns or rows of a window that count.
  __device__ int kept(int at, int reach, int size) const {
    return selection_.in.border == SwoFilterBorder::clip
               ? min(at + reach, size - 1) - max(at - reach, 0) + 1
               : 2 * reach + 1;
  }

  const Selection &selection_;
  int across_, n_ = 0;
  unsigned rank_ = 0;
};

/// A thread maintains one column of the block's windows and finds the result of the window that
/// begins there.
/// @tparam Job  as DigitsJob
template <typename Job>
__global__ void __launch_bounds__(kScanThreads)
    digit_scans_kernel(const __grid_constant__ Job job, const __grid_constant__ ScanMemory memory) {
  const auto &selection = job.selection;
  const auto &in = selection.in.plane;
  unsigned char *const shared = dynamic_shared_memory();
  const DigitScans scans(shared, memory);
  UsedBeginnings used(shared + memory.bytes() - kLongBeginnings);
  const int t = threadIdx.x;
  // So the compiler knows that all lanes have the same number.
  const int warp = __shfl_sync(kWholeWarp, t / 32, 0);
  const DigitCounts counts(reinterpret_cast<unsigned *>(shared) + t, memory.columns);
  const int x0 = job.x0(), x = x0 + t;
  const int y0 = job.y0(), y1 = min(y0 + job.results.height, in.height);
  const int rx = selection.rx, ry = selection.ry;
  const auto column = job.column(x - rx, t < min(job.results.width, in.width - x0) + 2 * rx);

  for (int i = t; i < memory.count_bytes() / 16; i += kScanThreads)
    reinterpret_cast<uint4 *>(shared)[i] = uint4{};
  __syncthreads();
  counts.fill(column, y0 - ry, y0 + ry);

  const bool writes = t < job.results.width && x < in.width;
  const ScanPlace begin(t), end(t + 2 * rx + 1);
  ColumnRanks ranks(selection, x);
#pragma unroll 1
  for (int y = y0; y < y1; ++y) {
    // Reads the next samples long before they are needed.
    const bool more = y + 1 < y1;
    const int leaves = more ? column.sample(y - ry) : -1,
              enters = more ? column.sample(y + ry + 1) : -1;
    __syncthreads();
    scans.scan(warp, warp);
    used.clear();
    __syncthreads();
    DigitSearch search = ranks.at(y);
    if (writes) {
      int first = 0;  // of the prefixes with so many digits
#pragma unroll
      for (int digits = 0; digits < kDigits - 1; ++digits) {
        const int beginning = first + static_cast<int>(search.value);
        search.find_next(scans.between(begin, end, beginning, beginning));
        first = 4 * first + 1;
      }
      used.set(search.value);
    }
    __syncthreads();
    used.read();
    const int n_used = used.count();
#pragma unroll 1
    for (int done = 0; done < n_used; done += memory.scans) {
      if (done > 0) __syncthreads();
      const int n = min(n_used - done, memory.scans);
      for (int i = warp; i < n; i += kScanWarps)
        scans.scan(kShortBeginnings + static_cast<int>(used.at(done + i)), i);
      __syncthreads();
      const unsigned known = search.value;
      const int at = used.number_of(known) - done;
      if (writes && at >= 0 && at < n) {
        DigitSearch last = search;
        last.find_next(scans.between(begin, end, kShortBeginnings + static_cast<int>(known), at));
        job.put(x, y, last.found());
      }
    }
    __syncthreads();
    counts.step(leaves, enters);
  }
}

}  // namespace cudascan::swo
