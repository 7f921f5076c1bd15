// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counts runs of ones in packed bits on the GPU.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/exec.h"
#include "kernels/runlengths.h"

namespace cudascan::runlengths {

/// Rows of bits on the GPU: bit x % 32 of word x / 32 of a row is pixel x. Bits after the last
/// pixel are 0.
struct DeviceBits {
  std::uint32_t *words;
  int width, height;
  int stride;  ///< words from row to row

  static constexpr int stride_of(int width) { return (width + 31) / 32; }
  CUDASCAN_HD std::uint32_t *row(int y) const { return words + std::int64_t{y} * stride; }
  /// A word, or 0 outside.
  CUDASCAN_HD std::uint32_t at(int i, int y) const {
    return i >= 0 && i < stride && y >= 0 && y < height ? row(y)[i] : 0;
  }
};

/// Queues packing which samples are at or below a level.
void queue_pack(Cuda &, Plane<const std::uint8_t> in, unsigned level, const DeviceBits &);
void queue_pack(Cuda &, Plane<const std::uint16_t> in, unsigned level, const DeviceBits &);

inline constexpr int kBins = kRunBins;

/// The number of runs of each length; the last bin has the longer ones, too.
struct RunCounts {
  std::uint32_t rows[kBins], columns[kBins];
};

/// Queues the counting of runs inside a rectangle that do not touch its edge.
/// @param sparse  see RunLengthParams
/// @param counts  in device memory; the runs are added
/// @param skip    if it points to another number than 0, nothing is counted; may be null
void queue_count_runs(Cuda &, const DeviceBits &, const Rectangle &inside, bool sparse,
                      RunCounts *counts, const unsigned *skip);

}  // namespace cudascan::runlengths
