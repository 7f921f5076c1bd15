// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Trimmed means of large rectangles from the bins of ordered tiles, at the same cost for all
/// sizes: what following.cuh finds, in the way of columns.cuh. A block keeps the histograms of a
/// tile's columns over the rows of the window in shared memory. A warp moves its window to and fro,
/// with four bins of the histogram in the registers of each lane: a step along the row adds a
/// column and subtracts one. For a step down it counts the rows that enter and leave in the same
/// way as columns are counted.
#pragma once
#include "kernels/swofilter/rank/ordinals.cuh"

namespace cudascan::swo {

constexpr int kBinColumnsWarps = 16, kBinColumnsThreads = 32 * kBinColumnsWarps;
constexpr unsigned kColumnBins = 128;
/// Bins of samples are multiplied by it. Those that are missing are in the bin after the last one.
constexpr unsigned kBinUnit = sizeof(unsigned), kMissingBin = kColumnBins * kBinUnit;
/// Bytes of a column. Four more words than bins, so that lanes which update a bin of one column
/// each have fewer bank conflicts.
constexpr int kBinColumnBytes = (kColumnBins + 4) * 4, kBinRowBytes = kColumnBins * 4;
/// Bytes of shared memory for so many columns, and one more that is read in vain.
CUDASCAN_HD constexpr int bin_columns_bytes(int columns) {
  return (columns + 1) * kBinColumnBytes + kBinColumnsWarps * kBinRowBytes;
}

/// Bins of at most 255 samples: the number of a bin's samples in the upper byte, then their sum.
class LineBins {
 public:
  __device__ explicit LineBins(unsigned char *words) : words_(words) {}

  __device__ static unsigned of(unsigned sample) { return 1u << 24 | sample >> 16; }
  /// @param bin   as in samples of a tile
  /// @param both  number and sum, may be negative
  __device__ void add(unsigned bin, unsigned both) const {
    if (bin < kMissingBin) atomicAdd(reinterpret_cast<unsigned *>(words_ + bin), both);
  }
  __device__ uint4 &four(int lane) const { return reinterpret_cast<uint4 *>(words_)[lane]; }

 private:
  unsigned char *words_;
};

/// Four bins of a window, from 4 l on for lane l.
class LaneBins {
 public:
  __device__ void slide(const std::uint32_t (&enters)[4], const std::uint32_t (&leaves)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      both_[i] += enters[i] - leaves[i];
      add_products(count_[i], enters[i], 0x01000000);
      add_products(count_[i], leaves[i], 0xff000000);
    }
  }
  __device__ void slide(const uint4 &enters, const uint4 &leaves) {
    slide({enters.x, enters.y, enters.z, enters.w}, {leaves.x, leaves.y, leaves.z, leaves.w});
  }

  /// Writes what is known of the mean of n samples without the first and last t.
  __device__ void find(unsigned n, unsigned t, TrimmedBins *found) const {
    unsigned counts[5] = {}, sums[5] = {};  // of the bins of this lane before each
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      counts[i + 1] = counts[i] + count_[i];
      sums[i + 1] = sums[i] + both_[i] - (count_[i] << 24);
    }
    const unsigned rank = n - 1 - t, up_to = warp_scan(counts[4]), before = up_to - counts[4];
    auto *const words = reinterpret_cast<unsigned *>(found);
    // From the lane with the first sample to the one before the last sample's.
    unsigned sum = up_to > t && up_to <= rank ? sums[4] : 0;
    bool first = t - before < counts[4], last = rank - before < counts[4];
    // Mostly two lanes have one each.
    while (first || last) {
      const unsigned is_last = !first, in_lane = (first ? t : rank) - before;
      unsigned bin = bin_of(0, counts), sum_before = 0, sum_up_to = sums[1];
#pragma unroll
      for (int i = 1; i < 4; ++i)
        if (in_lane >= counts[i])
          bin = bin_of(i, counts), sum_before = sums[i], sum_up_to = sums[i + 1];
      bin += in_lane << kRestBit;
      const unsigned rest = bin >> kRestBit & (kMostBinSize - 1), count = bin >> kCountBit;
      const unsigned part = 2 * (rest + is_last) > count ? sum_up_to : sum_before;
      sum += first ? -part : part;
      words[is_last] = bin;
      last = last && first;
      first = false;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) reinterpret_cast<uint2 *>(found)[1] = uint2{sum, n};
  }

 private:
  /// Where numbers of a RankedBin begin.
  static constexpr int kRestBit = 8, kCountBit = 20;

  /// A RankedBin as a word, less the samples before it.
  __device__ unsigned bin_of(int i, const unsigned (&counts)[5]) const {
    return threadIdx.x % 32 * 4 + i + (count_[i] << kCountBit) - (counts[i] << kRestBit);
  }

  unsigned count_[4] = {};
  /// Sums, and 2^24 times the counts.
  unsigned both_[4] = {};
};

/// A tile's bins on their way down the tile.
class BinColumns {
 public:
  __device__ explicit BinColumns(const OrdinalJob<TrimmedBins> &job)
      : job_(job),
        memory_(dynamic_shared_memory()),
        row_(memory_ + (threadIdx.x / 32) * kBinRowBytes),
        bins_(job.bins(blockIdx.x)),
        lane_(threadIdx.x % 32),
        across_(2 * job.tiles.rx + 1),
        down_(2 * job.tiles.ry + 1) {}

  __device__ void operator()() {
    const OrderTiles &tiles = job_.tiles;
    const bool clip = job_.selection.in.border == SwoFilterBorder::clip;
    const int tile = job_.begin + static_cast<int>(blockIdx.x);
    const int x0 = tiles.x0(tile), y0 = tiles.y0(tile);
    const int width = min(tiles.width, job_.width() - x0);
    const int height = min(tiles.height, job_.height() - y0);
    const int column = threadIdx.x;
    const bool has_column = column < width + across_ - 1;
    if (has_column) count_column(column);
    __syncthreads();

    // Each warp has a part of the row.
    const int warp = __shfl_sync(kWholeWarp, column / 32, 0);
    const int part = (width + kBinColumnsWarps - 1) / kBinColumnsWarps;
    int x = warp * part;
    const int results = min(part, width - x);
    for (int c = x; results > 0 && c < x + across_; ++c)
      window_.slide(this->column(c).four(lane_), uint4{});
    const auto kept = [&](int at, int reach, int size) {
      return clip ? min(at + reach, size - 1) - max(at - reach, 0) + 1 : 2 * reach + 1;
    };
    const bool varies = clip && (x0 + x < tiles.rx || x0 + x + results + tiles.rx > job_.width());
    int n = 0, t = 0;
    for (int y = 0;; ++y) {
      const unsigned *const leaving = row(y), *const entering = row(y + down_);
      const bool more = y + 1 < height;
      const unsigned leaves = has_column && more ? leaving[column] : kMissingBin,
                     enters = has_column && more ? entering[column] : kMissingBin;
      if (results > 0) {
        const int rows = kept(y0 + y, tiles.ry, job_.height()), step = y % 2 ? -1 : 1;
        const auto count = [&] {
          const int now = rows * kept(x0 + x, tiles.rx, job_.width());
          if (now != n) n = now, t = trimmed(n, job_.selection.alpha);
        };
        count();
        TrimmedBins *found = &job_.at(blockIdx.x, x, y);
        // Four bins of the columns that enter and leave next.
        const auto address = [&](int c) { return shared_address(&this->column(c).four(lane_)); };
        unsigned enters_at = address(step > 0 ? x + across_ : x - 1);
        unsigned leaves_at = address(step > 0 ? x : x + across_ - 1);
#pragma unroll 1
        for (int left = results;;) {
          // Reads before it needs them, and for the last result in vain.
          std::uint32_t in[4], out[4];
          load_shared(enters_at, in);
          load_shared(leaves_at, out);
          window_.find(n, t, found);
          if (--left == 0) break;
          window_.slide(in, out);
          x += step, found += step;
          enters_at += step * kBinColumnBytes, leaves_at += step * kBinColumnBytes;
          if (varies) count();
        }
      }
      if (!more) return;
      if (results > 0) {
        const uint4 out = row_bins(leaving, x);
        window_.slide(row_bins(entering, x), out);
      }
      __syncthreads();
      this->column(column).add(leaves & 0xffff, -LineBins::of(leaves));
      this->column(column).add(enters & 0xffff, LineBins::of(enters));
      __syncthreads();
    }
  }

 private:
  /// Of the tile with its margin.
  __device__ const unsigned *row(int y) const {
    return bins_ + y * job_.tiles.stride;
  }
  __device__ LineBins column(int c) const {
    return LineBins(memory_ + kBinColumnsWarps * kBinRowBytes + c * kBinColumnBytes);
  }

  /// Counts the samples of a column that the first windows have.
  __device__ void count_column(int c) const {
    for (int i = 0; i < static_cast<int>(kColumnBins) / 4; ++i) column(c).four(i) = uint4{};
    constexpr int kAhead = 8;
#pragma unroll 1
    for (int y = 0; y < down_; y += kAhead) {
      unsigned samples[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) samples[i] = y + i < down_ ? row(y + i)[c] : kMissingBin;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) column(c).add(samples[i] & 0xffff, LineBins::of(samples[i]));
    }
  }

  /// Counts the samples of a row that the window at x has. Neighbours are often in the same bin:
  /// they are added at once.
  __device__ uint4 row_bins(const unsigned *samples, int x) const {
    row_.four(lane_) = uint4{};
    __syncwarp();
#pragma unroll 1
    for (int c = x / 4 * 4 + 4 * lane_; c < x + across_; c += 4 * 32) {
      const uint4 v = *reinterpret_cast<const uint4 *>(samples + c);
      const unsigned four[4] = {v.x, v.y, v.z, v.w};
      unsigned bin = kMissingBin, both = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool in_window = c + i >= x && c + i < x + across_;
        const unsigned sample = in_window ? four[i] : kMissingBin;
        if ((sample & 0xffff) != bin) {
          row_.add(bin, both);
          bin = sample & 0xffff, both = 0;
        }
        both += LineBins::of(sample);
      }
      row_.add(bin, both);
    }
    __syncwarp();
    return row_.four(lane_);
  }

  const OrdinalJob<TrimmedBins> &job_;
  unsigned char *const memory_;
  const LineBins row_;
  const unsigned *const bins_;
  const int lane_, across_, down_;
  LaneBins window_;
};

/// A block works on a tile, whose rows begin at multiples of four samples.
static __global__ void __launch_bounds__(kBinColumnsThreads, 2)
    bin_columns_kernel(const __grid_constant__ OrdinalJob<TrimmedBins> job) {
  BinColumns{job}();
}

}  // namespace cudascan::swo
