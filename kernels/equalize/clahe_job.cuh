// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The job, and what the kernels for 8 and for 16 bits have in common.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/equalize/mapping.h"
#include "kernels/histogram/vectors.cuh"

namespace cudascan::equalize {

inline constexpr int kBins = 256;

/// 8-bit samples.
struct ClaheJob {
  histogram::PlaneVectors<const std::uint8_t> in;
  Plane<std::uint8_t> out;
  bool words;  // rows of both planes are at multiples of 4 bytes
  Tiles tiles;
  Range range;
  int pairs;   // of tiles that are looked up at once
  int slices;  // of the rows of a tile, one for each block
  int limit;
  float scale, inverse_width, inverse_height;
  std::uint32_t amount;
  /// kBins for each slice of each tile: by index, then those of the pixels beyond white and black.
  std::uint32_t *counts;
  unsigned *barrier;
};

/// The common part of both jobs.
template <typename Job, typename T>
Job make_clahe_job(Plane<const T> in, Plane<T> out, const EqualizeParams &p) {
  const Tiles tiles(p, in.width, in.height);
  const Range range = Range::of(in.maximum, in.black, in.white);
  Job job{};
  job.out = out;
  job.tiles = tiles;
  job.range = range;
  job.limit = clip_limit(p.clip_limit, tiles.pixels(), range.count);
  job.scale = tile_scale(range.count, tiles.pixels());
  job.inverse_width = 1.f / static_cast<float>(tiles.width);
  job.inverse_height = 1.f / static_cast<float>(tiles.height);
  job.amount = weight_of(p.amount);
  return job;
}

}  // namespace cudascan::equalize
