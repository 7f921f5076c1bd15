// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// hit-or-miss on the GPU: any masks by the planes of patterns.h, and small ones in one launch.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/binary/packed_bits.cuh"
#include "kernels/swofilter/binary/patterns.h"
#include "kernels/swofilter/binary/thinning.h"

namespace cudascan::swo::patterns {

using packed::Bits;
using packed::Meaning;
using packed::WordThreads;

// ---- Any masks
// -----------------------------------------------------------------------------------

/// Makes a plane from another.
__global__ void __launch_bounds__(WordThreads::kThreads)
    double_kernel(Bits from, Bits to, int x, int y) {
  wait_for_kernels_before();
  let_next_kernel_start();
  const int column = WordThreads::column(), row = WordThreads::row();
  if (column >= to.columns || row >= to.rows) return;
  // No probe reads beyond the end of the plane.
  const int other_row = min(row + y, from.rows - 1), other = min(column + x / 32, from.columns - 1);
  const unsigned low = *from.at(other, other_row);
  const unsigned high = *from.at(min(other + 1, from.columns - 1), other_row);
  *to.at(column, row) = *from.at(column, row) & __funnelshift_r(low, high, x);
}

struct MatchJob {
  Bits planes;  ///< the first plane; the others follow
  const Probe *probes;
  int probe_count;
  int margin, ry;   ///< words and rows of the planes before the first of the image
  int first, rows;  ///< of the image, in the planes
};

/// Finds the masks and writes the result.
template <typename Out>
__global__ void __launch_bounds__(WordThreads::kThreads)
    match_kernel(const __grid_constant__ MatchJob job, Plane<Out> out) {
  wait_for_kernels_before();
  let_next_kernel_start();
  const int column = WordThreads::column(), row = WordThreads::row();
  if (column * packed::kBits >= out.width || row >= job.rows) return;
  const std::size_t plane_words = job.planes.bytes() / sizeof(unsigned);
  unsigned result = 0, fit = ~0u;
#pragma unroll 2
  for (int i = 0; i < job.probe_count; ++i) {
    const Probe p = job.probes[i];
    Bits plane = job.planes;
    plane.words += p.plane * plane_words;
    const int x = column + job.margin + (p.x >> 5), y = row + job.ry + p.y;
    fit &= __funnelshift_r(*plane.at(x, y), *plane.at(min(x + 1, plane.columns - 1), y), p.x & 31);
    if (p.last) {
      result |= fit;
      fit = ~0u;
    }
  }
  packed::unpack_word(result, out, column * packed::kBits, job.first + row);
}

// ---- Masks of three by three
// ---------------------------------------------------------------------

struct SmallMasks {
  static constexpr int kMost = 16;
  int count;
  thinning::Template masks[kMost];
};

/// The lanes of a warp have adjacent words and go down some rows. The words at both ends only serve
/// as neighbours.
template <typename T>
struct SmallTile {
  static constexpr int kWarps = 4, kColumns = 30, kRows = 4;

  static dim3 blocks(int width, int height) {
    return dim3((packed::words_of(width) + kColumns - 1) / kColumns,
                (height + kWarps * kRows - 1) / (kWarps * kRows));
  }
};

template <typename T, typename Out>
__global__ void __launch_bounds__(32 * SmallTile<T>::kWarps)
    match_small_kernel(Plane<const T> in, Plane<Out> out, const __grid_constant__ Meaning meaning,
                       const __grid_constant__ SmallMasks small) {
  using Row = thinning::BitRow<unsigned>;
  using Tile = SmallTile<T>;
  constexpr int kRows = Tile::kRows, kThreads = 32 * Tile::kWarps;
  // Words carried through short loops; each thread has its own.
  __shared__ unsigned parked[kRows + 2][kThreads];
  wait_for_kernels_before();
  let_next_kernel_start();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int x = (static_cast<int>(blockIdx.x) * Tile::kColumns + lane - 1) * packed::kBits;
  const int first = (static_cast<int>(blockIdx.y) * Tile::kWarps + thread / 32) * kRows;
  if (first >= in.height) return;

  const bool clipped = meaning.border == SwoFilterBorder::clip;
  // From the row above the first on. All rows are read before any is used.
  unsigned words[kRows + 2];
  if (x >= 0 && x + packed::kBits <= in.width && packed::is_vector(in.data) &&
      in.stride % 16 == 0) {
    packed::SampleVectors<T> samples[kRows + 2];
#pragma unroll
    for (int i = 0; i < kRows + 2; ++i)
      samples[i].load(in.row(min(max(first + i - 1, 0), in.height - 1)) + x);
    // The row next to the image is the nearest row, as read, unless the border has a value.
    const bool constant = clipped || meaning.border == SwoFilterBorder::constant;
#pragma unroll
    for (int i = 0; i < kRows + 2; ++i) {
      const int y = first + i - 1;
      const bool outside = constant && (y < 0 || y >= in.height);
      words[i] = outside ? (meaning.outside ? ~0u : 0) : samples[i].pack(meaning);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < kRows + 2 && first + i - 1 <= in.height; ++i)
      parked[i][thread] = packed::pack_word(in, x, first + i - 1, meaning);
#pragma unroll
    for (int i = 0; i < kRows + 2; ++i) words[i] = parked[i][thread];
  }

  Row rows[kRows + 2];
#pragma unroll
  for (int i = 0; i < kRows + 2; ++i)
    rows[i] = Row::of(__shfl_sync(kWholeWarp, words[i], max(lane - 1, 0)), words[i],
                      __shfl_sync(kWholeWarp, words[i], min(lane + 1, 31)));
  // With clip, bits that always fit.
  const auto outside = [&](int left) {
    if (!clipped) return 0u;
    if (left < 0) return ~0u;
    return __funnelshift_lc(0, ~0u, static_cast<unsigned>(max(in.width - left, 0)));
  };
  const Row none = Row::of(outside(x - packed::kBits), outside(x), outside(x + packed::kBits));
  const Row all{~0u, ~0u, ~0u};
  const Row free_above = clipped && first == 0 ? all : none;
  unsigned results[kRows]{};
#pragma unroll 1
  for (int k = 0; k < small.count; ++k) {
    const auto pattern = thinning::WideTemplate<unsigned>::of(small.masks[k]);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const Row free_below = clipped && first + i == in.height - 1 ? all : none;
      results[i] |= thinning::fits(rows[i], rows[i + 1], rows[i + 2], pattern,
                                   i == 0 ? free_above : none, none, free_below);
    }
  }

  if (lane == 0 || lane == 31 || x >= out.width) return;
  const int n = min(kRows, out.height - first);
  if (x + packed::kBits <= out.width && packed::is_vector(out.data) && out.stride % 16 == 0) {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      if (i < n) packed::unpack_vectors(results[i], out.row(first + i) + x, out.maximum);
  } else {
#pragma unroll
    for (int i = 0; i < kRows; ++i) parked[i][thread] = results[i];
#pragma unroll 1
    for (int i = 0; i < n; ++i) packed::unpack_word(parked[i][thread], out, x, first + i);
  }
}

/// The masks, if all have at most three rows and columns and there are only a few.
inline bool are_small(const std::vector<Mask> &masks, SmallMasks &small) {
  if (masks.size() > SmallMasks::kMost) return false;
  small.count = static_cast<int>(masks.size());
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const Mask &mask = masks[i];
    if (mask.width > 3 || mask.height > 3) return false;
    small.masks[i] = thinning::Template::of(mask);
  }
  return true;
}

}  // namespace cudascan::swo::patterns
