// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Windows of any shape on the GPU, by the runs of samples in their rows (Urbach and Wilkinson,
/// IEEE Transactions on Image Processing 17(1), 2008). A block computes a tile of the image. It has
/// the samples that the windows of the tile cover in shared memory, and each thread combines what
/// it reads there at the same offsets from all its pixels. Extrema over a run are those of two
/// parts of 1, 2, 4 ... samples, which may overlap; all parts of a length are made from those of
/// half the length, in place. Sums over a run change from one pixel to the next by the samples at
/// its ends.
///
/// The plan of a window is the list of these reads, for a tile and the phases in which its samples
/// pass through the shared memory.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "common/api.h"

namespace cudascan::swo {

/// What each pixel reads: the sample at this offset, in the list'th state of the tile.
struct ShapeRead {
  int list, dx, dy;
};

/// A plan as a parameter of kernels.
struct ShapePlan {
  /// A thread has the pixels of so many bytes of a row; a warp has 4 of these in 8 rows.
  static constexpr int kThreadBytes = 32, kWarpBytes = 4 * kThreadBytes, kWarpRows = 8;
  /// 16-byte units of a row in shared memory, so that two for each lane of a warp are all.
  static constexpr int kMostPitch = 63;
  static constexpr int kMostWords = 880;

  int across, down;  ///< warps of a tile
  int left;          ///< bytes of a row before the tile's own
  int pitch;         ///< 16-byte units of a row, an odd number
  int phases;
  int bytes;  ///< of shared memory
  /// For each phase: the offset of its first row, its number of rows, and its number of lists. For
  /// each list: how many reads there are with each distance, in words, from a unit; two numbers in
  /// a word. Then the reads in this order: the offset in bytes from the thread's pixels rounded
  /// down to a unit, and the number of bytes that remain, modulo 4.
  std::uint32_t words[kMostWords];

  CUDASCAN_HD int tile_bytes() const { return across * kWarpBytes; }
  CUDASCAN_HD int tile_rows() const { return down * kWarpRows; }
  int threads() const { return across * down * 32; }
};

/// Samples that windows reach to the left and to the right.
struct ShapeReach {
  int left, right;
};

/// @param reads         of one pixel
/// @param most_shared   bytes of shared memory that a block may have, at least 64 KiB
/// @param threads       that a multiprocessor has registers for, 512 or 1024
ShapePlan make_shape_plan(const std::vector<ShapeRead> &reads, const ShapeReach &, int sample_bytes,
                          int most_shared, int threads = 1024);

}  // namespace cudascan::swo
