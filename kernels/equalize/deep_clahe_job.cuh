// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the kernels of CLAHE for 16-bit samples have in common.
#pragma once
#include <cstdint>

#include "kernels/equalize/clahe_job.cuh"
#include "kernels/equalize/mapping.h"

namespace cudascan::equalize {

/// 16-bit samples.
struct DeepClaheJob {
  Plane<const std::uint16_t> in;
  Plane<std::uint16_t> out;
  Tiles tiles;
  Range range;
  int limit;
  float scale, inverse_width, inverse_height;
  std::uint32_t amount;
  int stride;                                    // bins of a tile in memory, a multiple of 8
  int slices;                                    // of the rows of a tile, each counted by one block
  int parts, part_bins;                          // of the bins, each counted by one block
  unsigned halves;                               // 1 if a block has counts in halves of words
  std::uint32_t *counts;                         // for each tile
  std::uint16_t *maps;                           // the same
  uint4 *sparse;                                 // the same, if tiles have few pixels
  int chunk_rows, chunk_columns, chunks_across;  // parts of a cell, each interpolated by one block
  int map_bins;                                  // of a mapping, in shared memory at once
};

/// Visits pixels of a rectangle, row by row, in steps of so many pixels.
struct PixelSteps {
  int x, y;

  __device__ PixelSteps(int first, int step, int width)
      : x(first % width),
        y(first / width),
        width_(width),
        step_x_(step % width),
        step_y_(step / width) {}
  __device__ void next() {
    x += step_x_;
    y += step_y_;
    if (x >= width_) {
      x -= width_;
      ++y;
    }
  }

 private:
  int width_, step_x_, step_y_;
};

/// Samples of a rectangle of the extended plane, loaded at once: none of them is used in a branch
/// of its own, which would wait for it.
template <int n>
struct SampleBatch {
  std::uint16_t samples[n];
  unsigned inside = 0;  // a bit for each that is above the rectangle's end

  __device__ SampleBatch(const Plane<const std::uint16_t> &in, int x0, int y0, int rows,
                         PixelSteps &walk) {
#pragma unroll
    for (int k = 0; k < n; ++k) {
      inside |= static_cast<unsigned>(walk.y < rows) << k;
      const int y = source_index(y0 + min(walk.y, rows - 1), in.height);
      samples[k] = in.row(y)[source_index(x0 + walk.x, in.width)];
      walk.next();
    }
  }
};

/// The first column, or row, whose tile before is `tile`, or the first one after these.
__device__ inline int first_after(int tile, int tile_size, float inverse_size, int size) {
  if (tile < 0) return 0;
  const auto before = [&](int i) {
    return tile_position(i, inverse_size) < static_cast<float>(tile);
  };
  int i = min(tile * tile_size + tile_size / 2, size);
  while (i > 0 && !before(i - 1)) --i;
  while (i < size && before(i)) ++i;
  return i;
}

/// Pixels between the centres of the same four tiles.
struct CellChunk {
  int x, y, width, height;

  /// The chunk of the running block.
  __device__ explicit CellChunk(const DeepClaheJob &job) {
    const Tiles &tiles = job.tiles;
    const int column = static_cast<int>(blockIdx.x) - 1, row = static_cast<int>(blockIdx.y) - 1;
    const auto first_column = [&](int tile) {
      return first_after(tile, tiles.width, job.inverse_width, job.in.width);
    };
    const auto first_row = [&](int tile) {
      return first_after(tile, tiles.height, job.inverse_height, job.in.height);
    };
    const int chunk = static_cast<int>(blockIdx.z);
    x = first_column(column) + chunk % job.chunks_across * job.chunk_columns;
    width = min(first_column(column + 1) - x, job.chunk_columns);
    y = first_row(row) + chunk / job.chunks_across * job.chunk_rows;
    height = min(first_row(row + 1) - y, job.chunk_rows);
  }
  /// The tiles around, in the order of interpolate().
  __device__ static int tile_x(const DeepClaheJob &job, int i) {
    return min(max(static_cast<int>(blockIdx.x) - 1 + i % 2, 0), job.tiles.nx - 1);
  }
  __device__ static int tile_y(const DeepClaheJob &job, int i) {
    return min(max(static_cast<int>(blockIdx.y) - 1 + i / 2, 0), job.tiles.ny - 1);
  }
  __device__ static const std::uint16_t *map(const DeepClaheJob &job, int i) {
    const int tile = tile_y(job, i) * job.tiles.nx + tile_x(job, i);
    return job.maps + static_cast<std::size_t>(tile) * job.stride;
  }
};

__device__ inline std::uint16_t result(const DeepClaheJob &job, int index,
                                       const TileNeighbours &column, const TileNeighbours &row,
                                       const float (&mapped)[4]) {
  const int value = interpolate(column, row, mapped[0], mapped[1], mapped[2], mapped[3]);
  return static_cast<std::uint16_t>(job.range.sample(blend(index, value, job.amount)));
}

}  // namespace cudascan::equalize
