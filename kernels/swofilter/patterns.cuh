// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// hit-or-miss on the GPU: any masks by the planes of patterns.h, and small ones in one launch.
#pragma once
#include "kernels/ptx.cuh"
#include "kernels/swofilter/packed_bits.cuh"
#include "kernels/swofilter/patterns.h"
#include "kernels/swofilter/thinning.h"
#include "kernels/warp_sums.cuh"

namespace cudascan::swo::patterns {

using packed::Bits;
using packed::Meaning;
using packed::WordThreads;

// ---- Any masks -----------------------------------------------------------------------------------

/// Makes a plane from another.
__global__ void __launch_bounds__(WordThreads::kThreads)
    double_kernel(Bits from, Bits to, int x, int y) {
  wait_for_kernels_before();
  let_next_kernel_start();
  const int column = WordThreads::column(), row = WordThreads::row();
  if (column >= to.columns || row >= to.rows) return;
  // Where the plane ends no probe looks.
  const int other_row = min(row + y, from.rows - 1), other = min(column + x / 32, from.columns - 1);
  const unsigned low = *from.at(other, other_row);
  const unsigned high = *from.at(min(other + 1, from.columns - 1), other_row);
  *to.at(column, row) = *from.at(column, row) & __funnelshift_r(low, high, x);
}

struct MatchJob {
  Bits planes;  ///< the first; the others follow
  const Probe *probes;
  int probe_count;
  int margin, ry;   ///< words and rows of the planes before the first of the image
  int first, rows;  ///< of the image, in the planes
};

/// Looks for the masks and writes the result.
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

// ---- Masks of three by three ---------------------------------------------------------------------

struct SmallMasks {
  static constexpr int kMost = 16;
  int count;
  thinning::Template masks[kMost];
};

/// Lanes of a warp have words beside one another, of which those at the ends are there for their
/// neighbours, and go down some rows.
template <typename T>
struct SmallTile {
  static constexpr int kWarps = 4, kColumns = 30, kRows = 8 / sizeof(T);

  static dim3 blocks(int width, int height) {
    return dim3((packed::words_of(width) + kColumns - 1) / kColumns,
                (height + kWarps * kRows - 1) / (kWarps * kRows));
  }
};

template <typename T, typename Out>
__global__ void __launch_bounds__(32 * SmallTile<T>::kWarps)
    match_small_kernel(Plane<const T> in, Plane<Out> out, const __grid_constant__ Meaning meaning,
                       const __grid_constant__ SmallMasks small) {
  using Row = thinning::Row<unsigned>;
  using Tile = SmallTile<T>;
  constexpr int kRows = Tile::kRows;
  wait_for_kernels_before();
  let_next_kernel_start();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int column = static_cast<int>(blockIdx.x) * Tile::kColumns + lane - 1;
  const int x = column * packed::kBits;
  const int first = (static_cast<int>(blockIdx.y) * Tile::kWarps + warp) * kRows;
  if (first >= in.height) return;

  const bool clipped = meaning.border == SwoFilterBorder::clip;
  // Rows 0, 1, ... from the one above the first on. All are read before any is used.
  unsigned words[kRows + 2];
  packed::Samples<T> samples[kRows + 2];
  const bool whole =
      x >= 0 && x + packed::kBits <= in.width && packed::is_vector(in.data) && in.stride % 16 == 0;
  if (whole) {
#pragma unroll
    for (int i = 0; i < kRows + 2; ++i)
      samples[i].load(in.row(min(max(first + i - 1, 0), in.height - 1)) + x);
#pragma unroll
    for (int i = 0; i < kRows + 2; ++i) words[i] = samples[i].pack(meaning);
    // Rows outside of the image: that nearest to it is the one that was read, unless they have a value.
    if (meaning.border == SwoFilterBorder::constant || clipped) {
      const unsigned outside = meaning.outside ? ~0u : 0;
#pragma unroll
      for (int i = 0; i < kRows + 2; ++i)
        if (first + i - 1 < 0 || first + i - 1 >= in.height) words[i] = outside;
    }
  } else {
#pragma unroll
    for (int i = 0; i < kRows + 2; ++i)
      words[i] = first + i - 1 <= in.height ? packed::pack_word(in, x, first + i - 1, meaning) : 0;
  }

  // With clip, bits in which nothing is asked.
  const auto outside = [&](int left) {
    if (!clipped) return 0u;
    if (left < 0) return ~0u;
    return __funnelshift_lc(0, ~0u, static_cast<unsigned>(max(in.width - left, 0)));
  };
  const Row none = Row::of(outside(x - packed::kBits), outside(x), outside(x + packed::kBits));
  const Row all = {~0u, ~0u, ~0u};
  Row rows[3];
  const auto make_row = [&](unsigned word) {
    const unsigned before = __shfl_sync(kWholeWarp, word, max(lane - 1, 0));
    const unsigned after = __shfl_sync(kWholeWarp, word, min(lane + 1, 31));
    return Row::of(before, word, after);
  };
  rows[0] = make_row(words[0]);
  rows[1] = make_row(words[1]);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int y = first + i;
    rows[2] = make_row(words[i + 2]);
    unsigned result = 0;
#pragma unroll 1
    for (int k = 0; k < small.count; ++k) {
      const auto pattern = thinning::WideTemplate<unsigned>::of(small.masks[k]);
      result |= thinning::fits(rows[0], rows[1], rows[2], pattern, clipped && y == 0 ? all : none,
                               none, clipped && y == in.height - 1 ? all : none);
    }
    if (lane > 0 && lane < 31 && y < in.height && x < in.width)
      packed::unpack_word(result, out, x, y);
    rows[0] = rows[1];
    rows[1] = rows[2];
  }
}

/// The masks, if all of them have at most three rows and columns, and there are few.
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
