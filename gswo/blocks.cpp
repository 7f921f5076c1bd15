// SPDX-License-Identifier: LGPL-2.1-or-later
// Chooses how many pixels a block of threads and a thread compute.
#include <algorithm>
#include <array>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Whether a window keeps samples in its own array, which neighbours cannot share.
bool has_array(const Kernel &kernel) {
  const auto is_array = [](const VarDecl *v) { return v->getType()->isArrayType(); };
  const WindowBody &w = kernel.window;
  return std::any_of(w.own.begin(), w.own.end(), is_array) ||
         std::any_of(w.initialised.begin(), w.initialised.end(), is_array);
}

/// Default number of pixels for a thread, columns and rows: as many as share much work and fit into
/// registers.
std::array<int, 2> best_chunk(const Kernel &kernel) {
  if (!kernel.takes_neighbours()) return {1, 1};
  // Each block adds its table to that of the image.
  if (std::any_of(kernel.reductions.begin(), kernel.reductions.end(),
                  [](const Reduction &r) { return r.is_table(); }))
    return {4, 16};
  long rows = 1, columns = 1;
  for (const Image &i : kernel.images) {
    if (!i.read) continue;
    if (!i.known) return {1, 1};
    rows = std::max(rows, i.y1 - i.y0 + 1L);
    columns = std::max(columns, i.x1 - i.x0 + 1L);
  }
  if (rows * columns == 1) return {4, kernel.reductions.empty() ? 1 : 4};
  if (kernel.sorts) return {1, 8};
  if (has_array(kernel)) return rows * columns <= 9 ? std::array{4, 2} : std::array{1, 1};
  if (rows * columns > 256) return {1, 1};
  return columns <= 3 ? std::array{2, 8} : columns <= 5 ? std::array{2, 12} : std::array{4, 4};
}

/// The largest divisor of `whole` up to `best`; `best` itself if `whole` is 0.
int divisor(int whole, int best) {
  while (whole % best != 0) --best;
  return best;
}

/// A thread computes pixels of consecutive slices, because the slices that their windows read are
/// mostly the same.
void find_volume_block(const Unit &unit, Kernel &kernel) {
  constexpr int kBlockWidth = 32, kBlockHeight = 8, kSlices = 8;
  const Pragma &p = *kernel.pragma;
  kernel.tile_z = p.tile[2], kernel.chunk_z = p.chunk[2];
  for (int *chunk : {&kernel.chunk_x, &kernel.chunk_y})
    if (!*chunk) *chunk = 1;
  if (!kernel.chunk_z)
    kernel.chunk_z = p.tile[0] || !kernel.takes_neighbours() ? 1 : divisor(kernel.tile_z, kSlices);
  if (!kernel.tile_x) kernel.tile_x = kBlockWidth * kernel.chunk_x;
  if (!kernel.tile_y) kernel.tile_y = kBlockHeight * kernel.chunk_y;
  if (!kernel.tile_z) kernel.tile_z = kernel.chunk_z;
  const int x = kernel.tile_x / kernel.chunk_x, y = kernel.tile_y / kernel.chunk_y,
            z = kernel.tile_z / kernel.chunk_z;
  if (kernel.tile_x % kernel.chunk_x || kernel.tile_y % kernel.chunk_y ||
      kernel.tile_z % kernel.chunk_z || x * y * z > 1024 || z > 64)
    unit.error(p.begin,
               "the tile must be a multiple of the chunk in each direction, and give at most 1024 "
               "threads, tile / chunk, and 64 of them for slices; write tile(32, 8, 4)");
}

}  // namespace

void find_block(const Unit &unit, Kernel &kernel) {
  constexpr int kBlockWidth = 32, kBlockHeight = 4;  // threads
  const Pragma &p = *kernel.pragma;
  const Options &o = unit.options;
  const auto given = [](int option, int pragma) { return option ? option : pragma; };
  kernel.tile_x = given(o.tile_width, p.tile[0]), kernel.tile_y = given(o.tile_height, p.tile[1]);
  kernel.chunk_x = given(o.chunk_width, p.chunk[0]);
  kernel.chunk_y = given(o.chunk_height, p.chunk[1]);
  if (kernel.is_volume()) return find_volume_block(unit, kernel);
  const auto [best_x, best_y] = best_chunk(kernel);
  // A tile without a chunk has a thread for each pixel, as in the paper.
  if (!kernel.chunk_x) kernel.chunk_x = p.tile[0] ? 1 : divisor(kernel.tile_x, best_x);
  if (!kernel.chunk_y) kernel.chunk_y = p.tile[0] ? 1 : divisor(kernel.tile_y, best_y);
  if (!kernel.tile_x) kernel.tile_x = kBlockWidth * kernel.chunk_x;
  if (!kernel.tile_y) kernel.tile_y = kBlockHeight * kernel.chunk_y;
  const int threads = (kernel.tile_x / kernel.chunk_x) * (kernel.tile_y / kernel.chunk_y);
  if (kernel.tile_x % kernel.chunk_x || kernel.tile_y % kernel.chunk_y || threads > 1024)
    unit.error(p.begin, "a tile of " + std::to_string(kernel.tile_x) + " x " +
                            std::to_string(kernel.tile_y) + " pixels and a chunk of " +
                            std::to_string(kernel.chunk_x) + " x " +
                            std::to_string(kernel.chunk_y) +
                            ": the tile must be a multiple of the chunk and give at most 1024 "
                            "threads, tile / chunk; " +
                            (o.tile_width || o.tile_height || o.chunk_width || o.chunk_height
                                 ? "change tile-width, tile-height, chunk-width and chunk-height"
                                 : "write tile(32, 8)"));
}

}  // namespace cudascan::gswo
