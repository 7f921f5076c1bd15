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
/// Bytes of shared memory for so many columns.
CUDASCAN_HD constexpr int bin_columns_bytes(int columns) {
  return columns * kBinColumnBytes + kBinColumnsWarps * kBinRowBytes;
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
  __device__ void slide(const uint4 &enters, const uint4 &leaves) {
    slide(0, enters.x, leaves.x);
    slide(1, enters.y, leaves.y);
    slide(2, enters.z, leaves.z);
    slide(3, enters.w, leaves.w);
  }

  /// Writes what is known of the mean of n samples without the first and last t.
  __device__ void find(unsigned n, unsigned t, TrimmedBins &found) const {
    const unsigned lane = threadIdx.x % 32, rank = n - 1 - t;
    const unsigned all = count_[0] + count_[1] + count_[2] + count_[3];
    const unsigned up_to = warp_scan(all), before = up_to - all;
    // From the lane with the first sample to the one before the last sample's.
    unsigned sum =
        up_to > t && up_to <= rank ? both_[0] + both_[1] + both_[2] + both_[3] - (all << 24) : 0;
    bool first = t - before < all, last = rank - before < all;
    // Mostly two lanes have one each.
    while (first || last) {
      const bool is_first = first;
      const Part part = part_of((is_first ? t : rank) - before);
      const bool is_in = 2 * (part.bin.rest + !is_first) > part.bin.count;
      const unsigned sum_before = part.sum_before + (is_in ? part.sum : 0);
      sum += is_first ? -sum_before : sum_before;
      (is_first ? found.first : found.last) = part.bin;
      if (is_first)
        first = false;
      else
        last = false;
    }
    sum = warp_sum(sum);
    if (lane == 0) found.sum = sum, found.n = n;
  }

 private:
  struct Part {
    RankedBin bin;
    unsigned sum, sum_before;
  };

  __device__ void slide(int i, unsigned enters, unsigned leaves) {
    both_[i] += enters - leaves;
    add_products(count_[i], enters, 0x01000000);
    add_products(count_[i], leaves, 0xff000000);
  }
  /// The bin with sample number `rank` of this lane, and the sum of the lane's bins before it.
  __device__ Part part_of(unsigned rank) const {
    unsigned bin = threadIdx.x % 32 * 4, count = count_[0], both = both_[0];
    unsigned before = 0, both_before = 0, next = count_[0], both_next = both_[0];
#pragma unroll
    for (int i = 1; i < 4; ++i) {
      if (rank >= next)
        ++bin, count = count_[i], both = both_[i], before = next, both_before = both_next;
      next += count_[i], both_next += both_[i];
    }
    return {{bin, rank - before, count}, both - (count << 24), both_before - (before << 24)};
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
    const int part = (width + kBinColumnsWarps - 1) / kBinColumnsWarps;
    int x = column / 32 * part;
    const int results = min(part, width - x);
    for (int c = x; results > 0 && c < x + across_; ++c)
      window_.slide(this->column(c).four(lane_), uint4{});
    int n = 0, t = 0;
    for (int y = 0;; ++y) {
      const unsigned *const leaving = row(y), *const entering = row(y + down_);
      const bool more = y + 1 < height;
      const unsigned leaves = has_column && more ? leaving[column] : kMissingBin,
                     enters = has_column && more ? entering[column] : kMissingBin;
      const auto kept = [&](int at, int reach, int size) {
        return clip ? min(at + reach, size - 1) - max(at - reach, 0) + 1 : 2 * reach + 1;
      };
      const int rows = kept(y0 + y, tiles.ry, job_.height());
      const int step = y % 2 ? -1 : 1;
#pragma unroll 1
      for (int left = results; left > 0; --left) {
        // Reads ahead of the writes.
        uint4 in{}, out{};
        if (left > 1) {
          in = this->column(step > 0 ? x + across_ : x - 1).four(lane_);
          out = this->column(step > 0 ? x : x + across_ - 1).four(lane_);
        }
        if (const int now = rows * kept(x0 + x, tiles.rx, job_.width()); now != n) {
          n = now;
          t = trimmed(n, job_.selection.alpha);
        }
        window_.find(n, t, job_.at(blockIdx.x, x, y));
        window_.slide(in, out);
        if (left > 1) x += step;
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
