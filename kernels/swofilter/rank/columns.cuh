// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes and trimmed means of large rectangles of 8-bit samples, at the same cost for all sizes and
/// contents (after Perreault, Hebert, "Median filtering in constant time", IEEE Trans. Image
/// Processing 16(9), 2007). A block keeps the histograms of its columns over the rows of the window
/// in shared memory; a step down changes two counts of each. A warp moves a window along the row,
/// with eight levels of the histogram in the registers of each lane: a step adds a column and
/// subtracts one. It starts from sums of sixteen columns at a time.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/rank/selection.cuh"

namespace cudascan::swo {

constexpr int kColumnsWarps = 16, kColumnsThreads = 32 * kColumnsWarps;
/// Columns of a group; the group's sum is stored.
constexpr int kGroupColumns = 16;
/// Bytes of a column and of a group.
constexpr int kColumnBytes = 256, kGroupBytes = 512;
/// Bytes of shared memory for so many columns.
CUDASCAN_HD constexpr int columns_bytes(int columns) {
  return columns * kColumnBytes + columns / kGroupColumns * kGroupBytes;
}

/// Eight levels of a histogram, from 8 l on for lane l: 16-bit counts of levels 0 and 2, 1 and 3, 4
/// and 6, 5 and 7.
struct LaneCounts {
  unsigned pair[4] = {};

  __device__ void add(const LaneCounts &other) {
#pragma unroll
    for (int i = 0; i < 4; ++i) pair[i] += other.pair[i];
  }
  /// Adds the difference of two columns with eight 8-bit counts each.
  __device__ void slide(uint2 enters, uint2 leaves) {
    constexpr unsigned kEven = 0x00ff00ff;
    pair[0] += (enters.x & kEven) - (leaves.x & kEven);
    pair[1] += (enters.x >> 8 & kEven) - (leaves.x >> 8 & kEven);
    pair[2] += (enters.y & kEven) - (leaves.y & kEven);
    pair[3] += (enters.y >> 8 & kEven) - (leaves.y >> 8 & kEven);
  }
  __device__ unsigned operator[](int i) const {
    const unsigned v = pair[i / 4 * 2 + i % 2];
    return i % 4 / 2 ? v >> 16 : v & 0xffff;
  }
  __device__ unsigned sum() const {
    const unsigned halves = pair[0] + pair[1] + pair[2] + pair[3];
    return (halves & 0xffff) + (halves >> 16);
  }
};

/// The histograms of a block's columns, in shared memory. Lanes read a column together and update
/// one column each, without bank conflicts.
class ColumnHistograms {
 public:
  __device__ ColumnHistograms(unsigned char *memory, int columns)
      : columns_(memory), groups_(reinterpret_cast<unsigned *>(memory + columns * kColumnBytes)) {}

  /// Location of the counts of levels 4 q to 4 q + 3 of column c.
  __device__ unsigned *words(int c, int q) const {
    return reinterpret_cast<unsigned *>(columns_ + c * kColumnBytes) + ((q + 2 * c) & 63);
  }
  __device__ uint2 column(int c, int lane) const {
    return *reinterpret_cast<const uint2 *>(words(c, 2 * lane));
  }
  __device__ LaneCounts group(int g, int lane) const {
    const uint4 v = *reinterpret_cast<const uint4 *>(groups_ + g * (kGroupBytes / 4) + 4 * lane);
    return {{v.x, v.y, v.z, v.w}};
  }
  __device__ void set_group(int g, int lane, const LaneCounts &counts) const {
    *reinterpret_cast<uint4 *>(groups_ + g * (kGroupBytes / 4) + 4 * lane) =
        uint4{counts.pair[0], counts.pair[1], counts.pair[2], counts.pair[3]};
  }
  __device__ void change(int c, unsigned level, int by) const {
    auto *const count = reinterpret_cast<unsigned char *>(words(c, level / 4)) + level % 4;
    *count = static_cast<unsigned char>(*count + by);
  }
  __device__ void change_group(int g, unsigned level, int by) const {
    const unsigned i = level % 8;
    atomicAdd(groups_ + g * (kGroupBytes / 4) + level / 8 * 4 + i / 4 * 2 + i % 2,
              static_cast<unsigned>(by) << (i % 4 / 2 * 16));
  }

 private:
  unsigned char *columns_;
  unsigned *groups_;
};

struct RankColumnsJob {
  SelectionJob<std::uint8_t> selection;
  int columns;        // in shared memory, a multiple of kGroupColumns
  int width, height;  // of a block's results
};

__device__ inline unsigned mode_of(const LaneCounts &counts) {
  const unsigned lane = threadIdx.x % 32;
  unsigned best = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) best = max(best, counts[i] << 3 | (7 - i));
  best = warp_max((best >> 3) << 8 | (31 - lane) << 3 | (best & 7));
  return 255 - (best & 255);
}

__device__ inline unsigned trimmed_mean_of(const LaneCounts &counts, unsigned n, unsigned t) {
  const unsigned lane = threadIdx.x % 32;
  unsigned before = warp_scan(counts.sum()) - counts.sum(), sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned after = before + counts[i];
    const int left = static_cast<int>(min(after, n - t)) - static_cast<int>(max(before, t));
    sum += max(left, 0) * (8 * lane + i);
    before = after;
  }
  sum = warp_sum(sum);
  const unsigned left = n - 2 * t;
  return (2 * sum + left) / (2 * left);
}

__global__ void __launch_bounds__(kColumnsThreads)
    columns_kernel(const __grid_constant__ RankColumnsJob job) {
  const SelectionJob<std::uint8_t> &selection = job.selection;
  const Plane<const std::uint8_t> &in = selection.in.plane;
  const SwoFilterBorder border = selection.in.border;
  const bool clip = border == SwoFilterBorder::clip;
  unsigned char *const memory = dynamic_shared_memory();
  const ColumnHistograms histograms(memory, job.columns);
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int x0 = blockIdx.x * job.width, y0 = blockIdx.y * job.height;
  const int results = min(job.width, in.width - x0), y1 = min(y0 + job.height, in.height);
  const int rx = selection.rx, ry = selection.ry;
  const int columns = results + 2 * rx;

  for (int i = t; i < (job.columns * kColumnBytes) / 16; i += kColumnsThreads)
    reinterpret_cast<uint4 *>(memory)[i] = uint4{};
  __syncthreads();
  // The sample of a column in a row, or -1.
  const auto sample = [&](int column, int y) {
    const int row = resolve(y, in.height, border);
    if (row >= 0 && column >= 0) return static_cast<int>(in.row(row)[column]);
    return clip ? -1 : static_cast<int>(selection.in.outside);
  };
  for (int c = t; c < columns; c += kColumnsThreads) {
    const int column = resolve(x0 - rx + c, in.width, border);
    if (column < 0 && clip) continue;
    for (int y = y0 - ry; y <= y0 + ry; ++y)
      if (const int v = sample(column, y); v >= 0) histograms.change(c, v, 1);
  }
  __syncthreads();
  for (int g = warp; g < job.columns / kGroupColumns; g += kColumnsWarps) {
    LaneCounts sum;
    for (int c = g * kGroupColumns; c < (g + 1) * kGroupColumns; ++c)
      sum.slide(histograms.column(c, lane), uint2{});
    histograms.set_group(g, lane, sum);
  }

  // Each warp has a part of the row.
  const int part = (job.width + kColumnsWarps - 1) / kColumnsWarps;
  const int first = warp * part, last = min(first + part, results);
  for (int y = y0; y < y1; ++y) {
    __syncthreads();
    LaneCounts counts;
    for (int c = first; first < last && c <= first + 2 * rx;) {
      if (c % kGroupColumns == 0 && c + kGroupColumns - 1 <= first + 2 * rx) {
        counts.add(histograms.group(c / kGroupColumns, lane));
        c += kGroupColumns;
      } else {
        counts.slide(histograms.column(c, lane), uint2{});
        ++c;
      }
    }
    const int rows = clip ? min(y + ry, in.height - 1) - max(y - ry, 0) + 1 : 2 * ry + 1;
    int n = 0, t_of_n = 0;
    for (int begin = first; begin < last; begin += 32) {
      const int end = min(begin + 32, last);
      unsigned result = 0;
#pragma unroll 1
      for (int i = begin; i < end; ++i) {
        const int x = x0 + i;
        // Reads ahead of the writes.
        const bool more = i + 1 < last;
        const uint2 enters = more ? histograms.column(i + 2 * rx + 1, lane) : uint2{},
                    leaves = more ? histograms.column(i, lane) : uint2{};
        unsigned of_window;
        if (selection.op == SwoFilterOperator::mode) {
          of_window = mode_of(counts);
        } else {
          const int across = clip ? min(x + rx, in.width - 1) - max(x - rx, 0) + 1 : 2 * rx + 1;
          if (n != rows * across) {
            n = rows * across;
            t_of_n = trimmed(n, selection.alpha);
          }
          of_window = trimmed_mean_of(counts, n, t_of_n);
        }
        if (lane == i - begin) result = of_window;
        counts.slide(enters, leaves);
      }
      if (begin + lane < end)
        selection.out.row(y)[x0 + begin + lane] = static_cast<std::uint8_t>(result);
    }
    if (y + 1 == y1) break;
    __syncthreads();
    for (int c = t; c < columns; c += kColumnsThreads) {
      const int column = resolve(x0 - rx + c, in.width, border);
      if (column < 0 && clip) continue;
      const int leaves = sample(column, y - ry), enters = sample(column, y + ry + 1);
      if (leaves == enters) continue;
      if (leaves >= 0) {
        histograms.change(c, leaves, -1);
        histograms.change_group(c / kGroupColumns, leaves, -1);
      }
      if (enters >= 0) {
        histograms.change(c, enters, 1);
        histograms.change_group(c / kGroupColumns, enters, 1);
      }
    }
  }
}

}  // namespace cudascan::swo
