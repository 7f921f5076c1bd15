// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What is counted, and what lasts from launch to launch.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/histogram.h"
#include "kernels/histogram/roi.h"
#include "kernels/histogram/vectors.cuh"

namespace cudascan::histogram {

/// What lasts from launch to launch, in the executor's history, before its three histograms, each
/// of which may be in several copies. Behind them there may be tables of the blocks.
struct alignas(256) State {
  unsigned barrier;
  /// Since the start of the stream of frames; after very many some are forgotten, a multiple of 6,
  /// so that what takes turns goes on doing so.
  unsigned launches;

  static constexpr unsigned kMostLaunches = 3u << 30;

  /// @param counts  levels times copies
  /// @param tables  vectors of all tables
  static std::size_t bytes(int counts, std::size_t tables) {
    return sizeof(State) + 3 * sizeof(std::uint32_t) * rounded(counts) + tables * sizeof(uint4);
  }
  /// The histogram of the launch with this number, all copies.
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
  Vectors<const T> in;
  Levels levels;
  int lowest, highest;  ///< level that counts
  int x0, x1, y0, y1;   ///< the region of interest: columns and rows from, and before
  State *state;

  CountJob() = default;
  /// @param aligned  so that vectors can be loaded, and stored to where they go
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
