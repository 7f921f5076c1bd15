// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Tiles of 16-bit images whose values are numbered; see modes.cuh.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/rank/code_counts.cuh"

namespace cudascan::swo {

/// Words of one bit for each level.
constexpr int kLevelWords = 65536 / 32;
/// Samples that a thread reads before it handles them.
constexpr int kModeAhead = 8;

/// Bytes of shared memory of a block.
struct ModeBytes {
  int levels;
  int counts, codes;  ///< 0 if they are in device memory

  /// Levels are numbered in the memory of the bits and counts.
  __host__ __device__ int before_codes() const {
    constexpr int kNumbering = kLevelWords * 6;
    return levels + counts > kNumbering ? levels + counts : kNumbering;
  }
  int all() const { return before_codes() + codes; }
};

/// "Along" is the direction in which windows move, "across" the other one.
struct ModeJob {
  Source<std::uint16_t> in;
  Plane<std::uint16_t> out;
  bool transposed;    // windows move along the columns of the image
  bool has_row_runs;  // each place across has one run
  int along, across;  // results of a tile
  int tiles_along, tiles;
  int pitch, area;  // codes from one place to the next one along, and of a tile
  int most_codes;   // tiles with more are left to the next launch; a multiple of kGroupCodes
  ModeBytes shared;
  int *next;              // the first tile that no block has taken
  bool again;             // only the tiles that were left
  std::uint8_t *left;     // for each tile: whether it was left
  unsigned char *memory;  // of the blocks: counts unless they are shared, values, codes likewise
  std::size_t bytes;      // of a block
};

/// A tile with its margin.
class ModeTile {
 public:
  int x0, y0, width, height;  ///< of the results
  std::uint16_t *codes;       ///< those of the places across, from place to place along
  std::uint16_t *values;      ///< of the codes

  __device__ ModeTile(const ModeJob &job, const WindowCells &cells, int tile, std::uint16_t *codes,
                      std::uint16_t *values)
      : codes(codes), values(values), job_(job) {
    const int along = tile % job.tiles_along * job.along;
    const int across = tile / job.tiles_along * job.across;
    x0 = job.transposed ? across : along, y0 = job.transposed ? along : across;
    width = min(job.transposed ? job.across : job.along, job.out.width - x0);
    height = min(job.transposed ? job.along : job.across, job.out.height - y0);
    rx_ = job.transposed ? cells.ry : cells.rx, ry_ = job.transposed ? cells.rx : cells.ry;
  }

  /// Gives the values that occur their codes and returns how many there are. All threads of the
  /// block call it.
  /// @param memory  for 6 bytes times kLevelWords
  __device__ int number(unsigned char *memory) const {
    __shared__ int all;
    auto *const occurs = reinterpret_cast<unsigned *>(memory);
    auto *const before = reinterpret_cast<std::uint16_t *>(occurs + kLevelWords);
    const int t = threadIdx.x;
    for (int i = t; i < kLevelWords; i += blockDim.x) occurs[i] = 0;
    __syncthreads();
    copy(occurs);
    __syncthreads();
    if (t < 32) {
      unsigned sum = 0;
      for (int i = t; i < kLevelWords; i += 32) {
        const unsigned n = __popc(occurs[i]), up_to = warp_scan(n);
        before[i] = static_cast<std::uint16_t>(sum + up_to - n);
        sum += __shfl_sync(kWholeWarp, up_to, 31);
      }
      if (t == 0) all = sum;
    }
    __syncthreads();
    const int n_codes = all;
    if (n_codes > job_.most_codes) return n_codes;
    for (int i = t; i < kLevelWords; i += blockDim.x) {
      std::uint16_t *value = values + before[i];
      for (unsigned rest = occurs[i]; rest; rest &= rest - 1)
        *value++ = static_cast<std::uint16_t>(32 * i + __ffs(rest) - 1);
    }
#pragma unroll 4
    for (int i = t; i < job_.area; i += blockDim.x) {
      const unsigned sample = codes[i], below = (1u << sample % 32) - 1;
      codes[i] =
          static_cast<std::uint16_t>(before[sample / 32] + __popc(occurs[sample / 32] & below));
    }
    __syncthreads();
    return n_codes;
  }

 private:
  /// Copies the samples and sets the bits of those that occur. Threads write next to one another.
  /// Each of them reads several places along: neighbours in a row of the image, unless transposed.
  __device__ void copy(unsigned *occurs) const {
    const Plane<const std::uint16_t> &in = job_.in.plane;
    const int columns = width + 2 * rx_, rows = height + 2 * ry_;
    const int n_along = job_.transposed ? rows : columns,
              n_across = job_.transposed ? columns : rows;
    const int n = (n_along + kModeAhead - 1) / kModeAhead * n_across;
    const bool constant = job_.in.border == SwoFilterBorder::constant;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const int part = i / n_across, across = i - part * n_across, begin = part * kModeAhead;
      unsigned samples[kModeAhead];
#pragma unroll
      for (int k = 0; k < kModeAhead; ++k) {
        const int along = min(begin + k, n_along - 1);
        const int x = x0 - rx_ + (job_.transposed ? across : along);
        const int y = y0 - ry_ + (job_.transposed ? along : across);
        const int column = resolve(x, in.width, job_.in.border);
        const int row = resolve(y, in.height, job_.in.border);
        samples[k] = constant ? job_.in.outside : kNoCode;
        if (column >= 0 && row >= 0) samples[k] = in.row(row)[column];
      }
#pragma unroll
      for (int k = 0; k < kModeAhead; ++k) {
        if (begin + k < n_along)
          codes[(begin + k) * job_.pitch + across] = static_cast<std::uint16_t>(samples[k]);
        if (samples[k] == kNoCode) continue;
        unsigned &word = occurs[samples[k] / 32];
        const unsigned bit = 1u << samples[k] % 32;
        if (!(word & bit)) atomicOr(&word, bit);
      }
    }
  }

  const ModeJob &job_;
  int rx_, ry_;
};

}  // namespace cudascan::swo
