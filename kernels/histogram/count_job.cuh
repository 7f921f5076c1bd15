// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What is counted, and the data that is kept from launch to launch.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/histogram.h"
#include "kernels/histogram/roi.h"
#include "kernels/histogram/vectors.cuh"

namespace cudascan::histogram {

/// The data that is kept from launch to launch, in the executor's history. Three histograms follow,
/// each in one or more copies, and after them the tables of the blocks, if any.
struct alignas(256) State {
  unsigned barrier;
  /// Launches since the start of the stream of frames. After very many, a multiple of 6 is
  /// subtracted, so that things that are used in turn keep their order.
  unsigned launches;

  static constexpr unsigned kMostLaunches = 3u << 30;

  /// @param counts  number of levels times copies
  /// @param tables  number of vectors of all tables
  static std::size_t bytes(int counts, std::size_t tables) {
    return sizeof(State) + 3 * sizeof(std::uint32_t) * rounded(counts) + tables * sizeof(uint4);
  }
  /// All copies of the histogram of the launch with this number.
  __device__ std::uint32_t *counts(unsigned launch, int counts) {
    return reinterpret_cast<std::uint32_t *>(this + 1) + launch % 3 * rounded(counts);
  }
  __device__ uint4 *tables(int counts) {
    return reinterpret_cast<uint4 *>(reinterpret_cast<std::uint32_t *>(this + 1) +
                                     3 * rounded(counts));
  }

 private:
  CUDASCAN_HD static std::size_t rounded(int counts) {
    return (static_cast<std::size_t>(counts) + 3) / 4 * 4;
  }
};

/// A finished histogram in device memory: the sum of its copies.
struct Counts {
  const std::uint32_t *copies;
  int levels, n;

  __device__ std::uint32_t operator[](int level) const {
    std::uint32_t sum = 0;
#pragma unroll 8
    for (int i = 0; i < n; ++i) sum += copies[i * levels + level];
    return sum;
  }
};

/// What is counted.
template <typename T>
struct CountJob {
  PlaneVectors<const T> in;
  Levels levels;
  int lowest, highest;  ///< levels that count
  int x0, x1, y0, y1;   ///< the region of interest: columns x0 to x1 - 1, rows y0 to y1 - 1
  State *state;

  CountJob() = default;
  /// @param aligned  whether vectors can be loaded and stored
  CountJob(Plane<const T> plane, const HistogramParams &params, bool aligned, State *state)
      : in(plane, aligned), levels(Levels::of(plane.maximum)), state(state) {
    const Rectangle part = clip_to_plane(params.roi, plane.width, plane.height);
    lowest = params.ignore_black ? 1 : 0;
    highest = levels.count - (params.ignore_white ? 2 : 1);
    x0 = part.x;
    y0 = part.y;
    x1 = part.x + part.width;
    y1 = part.y + part.height;
  }
};

}  // namespace cudascan::histogram
