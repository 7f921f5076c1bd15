// SPDX-License-Identifier: LGPL-2.1-or-later
// Reconstructions: one launch of blocks that run at the same time and synchronise between steps. In
// each step, tiles in which something has changed, or next to which it has, grow a little: once
// down and up and once to both sides. More growth in a step would be premature, because markers
// from neighbouring tiles reach further than what a tile can do alone. If there is a warp for each
// tile, tiles stay in shared memory from the input to the result, and only the levels of their
// edges are written between steps. Otherwise the cells of all pixels are in device memory. If only
// a few tiles remain active for long, growth probably follows long lines with little parallelism,
// in the worst case a spiral. Then whole rows and columns are grown in turn.
//
// The result is unique, so it does not matter what a step sees of others that run at the same time:
// markers only grow, and a tile that is notified while it works is processed again.
//
// Counted passes also need one launch; a single pass has its own kernel.
#include "kernels/swofilter/geodesic/geodesic.h"

#include <algorithm>

#include "kernels/base/grid_barrier.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/swofilter/geodesic/growth.h"
#include "kernels/swofilter/geodesic/line.cuh"
#include "kernels/swofilter/geodesic/pass.cuh"
#include "kernels/swofilter/geodesic/tile.cuh"

namespace cudascan::swo {
namespace {

/// Lines are grown when at most this many tiles had work for some steps, and again while no more
/// rows than this are listed.
constexpr unsigned kFewTiles = 32, kFewRows = 256;
constexpr int kPatience = 32;
/// Warps of a block. 16-bit samples need more memory and registers.
template <typename T>
constexpr int kMostWarps = sizeof(T) == 1 ? 16 : 12;

template <typename T>
struct GeodesicJob {
  Plane<const T> in;
  Plane<T> out;
  Growth growth;
  CellImage<T> image;
  CellImage<T> other;  ///< for passes: the output of every second one
  unsigned *barrier, *tiles, *rows, *columns, *edges, *tally;
  unsigned *passes;  ///< where to write the number of passes
};

__device__ unsigned grid_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ unsigned grid_threads() {
  return gridDim.x * blockDim.x;
}
/// Numbers of warps, assigned so that the first ones are in different blocks.
__device__ unsigned grid_warp() {
  return threadIdx.x / 32 * gridDim.x + blockIdx.x;
}
__device__ unsigned grid_warps() {
  return gridDim.x * (blockDim.x / 32);
}

/// The cells of pixels (x, y) and (x + 1, y); cells outside the image are 0.
template <typename T>
__device__ typename GrowthCells<T>::Pair first_cells(const GeodesicJob<T> &job, int x, int y) {
  const int width = job.in.width, height = job.in.height;
  const T *const row = job.in.row(min(max(y, 0), height - 1));
  unsigned markers = 0, masks = 0;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const T sample = row[min(max(x + k, 0), width - 1)];
    if (x + k < 0 || x + k >= width || y < 0 || y >= height) continue;
    const bool on_edge = x + k == 0 || x + k == width - 1 || y == 0 || y == height - 1;
    const T mask = job.growth.mask(sample);
    masks |= unsigned{mask} << 16 * k;
    markers |= unsigned{job.growth.marker(mask, on_edge)} << 16 * k;
  }
  return GrowthCells<T>::pair(markers, masks);
}

/// Makes the cells, and those around them.
template <typename T>
__device__ void make_cells(const GeodesicJob<T> &job) {
  const CellImage<T> &image = job.image;
  const unsigned pitch = image.pitch / 2;
  const auto pairs = static_cast<unsigned>(CellImage<T>::cells_of(image.columns, image.rows) / 2);
#pragma unroll 4
  for (unsigned i = grid_thread(); i < pairs; i += grid_threads()) {
    const int y = static_cast<int>(i / pitch) - 1, x = 2 * static_cast<int>(i % pitch) - kTile;
    const auto cells = first_cells(job, x, y);
    image.pair(x, y) = cells;
    if (job.growth.iterations > 0) job.other.pair(x, y) = cells;
  }
}
/// Makes only the cells around the tiles.
template <typename T>
__device__ void make_margin(const CellImage<T> &image) {
  const int rows = kTile * image.rows;
  for (int i = static_cast<int>(grid_warp()); i < rows + 3; i += static_cast<int>(grid_warps())) {
    const int y = i - 1, end = y < 0 || y == rows ? kTile * image.columns : 0;
    for (int x = 2 * static_cast<int>(threadIdx.x % 32) - kTile; x < end; x += kTile)
      image.pair(x, y) = {};
  }
}

/// Writes samples of the result.
template <typename T>
__device__ void write_pair(const GeodesicJob<T> &job, int x, int y,
                           typename GrowthCells<T>::Pair pair) {
  const unsigned markers = GrowthCells<T>::markers(pair), masks = GrowthCells<T>::masks(pair);
#pragma unroll
  for (int k = 0; k < 2; ++k)
    if (x + k < job.out.width && y < job.out.height)
      job.out.row(y)[x + k] =
          job.growth.result(static_cast<T>(masks >> (16 * k + GrowthCells<T>::kShift)),
                            static_cast<T>(markers >> (16 * k + GrowthCells<T>::kShift)));
}
template <typename T>
__device__ void write_result(const GeodesicJob<T> &job, const CellImage<T> &image) {
  const unsigned pitch = image.pitch / 2, height = job.out.height;
#pragma unroll 4
  for (unsigned i = grid_thread(); i < pitch * height; i += grid_threads()) {
    const int y = static_cast<int>(i / pitch), x = 2 * static_cast<int>(i % pitch);
    write_pair(job, x, y, image.pair(x, y));
  }
}

template <typename T, bool eight>
__global__ void __launch_bounds__(32 * kMostWarps<T>, 1)
    reconstruct_kernel(const __grid_constant__ GeodesicJob<T> job) {
  unsigned char *const memory = dynamic_shared_memory();
  const CellImage<T> &image = job.image;
  const unsigned tiles = image.columns * image.rows;
  GridBarrier barrier(job.barrier);
  const TileNotes notes(job.tiles);
  const TileEdges edges(job.edges);
  Tally tally(job.tally);
  GrowthLines lines{Work(job.rows, kTile * image.rows), Work(job.columns, kTile * image.columns),
                    false};
  const bool alone = tiles <= grid_warps();  // each warp has its own tile
  notes.reset(tiles, alone ? Span::whole() : Span{}, grid_thread(), grid_threads());
  tally.reset();
  lines.rows.reset(grid_thread(), grid_threads());
  lines.columns.reset(grid_thread(), grid_threads());
  const auto tile = [&](unsigned i) {
    return GrowthTile<T, eight>(image, i, memory + threadIdx.x / 32 * GrowthTile<T, eight>::kBytes);
  };
  if (!alone) {
    make_cells(job);
  } else {
    make_margin(image);
    if (grid_warp() < tiles)
      tile(grid_warp()).make([&](int x, int y) { return first_cells(job, x, y); });
  }
  barrier.meet();

  bool here = alone;
  int steps_with_few = 0;
  for (unsigned step = 1;; ++step) {
    lines.wanted = steps_with_few > kPatience;
    const bool keep = alone && !lines.wanted;
    unsigned active = 0;
    for (unsigned i = grid_warp(); i < tiles; i += grid_warps()) {
      active += tile(i).grow_once(notes, edges, step, here, keep, lines);
      here &= keep;
    }
    tally.add(active);
    barrier.meet();
    const unsigned n = tally.next();
    if (n == 0) break;
    steps_with_few = n <= kFewTiles ? steps_with_few + 1 : 0;
    if (lines.wanted) {
      lines.rows.next();
      do {
        for (unsigned i = blockIdx.x; i < lines.rows.count(); i += gridDim.x)
          GrowthLine<T, eight>(image, true, lines.rows.item(i))
              .process(memory, notes, edges, step, lines.columns);
        barrier.meet();
        lines.columns.next();
        for (unsigned i = blockIdx.x; i < lines.columns.count(); i += gridDim.x)
          GrowthLine<T, eight>(image, false, lines.columns.item(i))
              .process(memory, notes, edges, step, lines.rows);
        barrier.meet();
        lines.rows.next();
      } while (lines.rows.count() > 0 && lines.rows.count() <= kFewRows);
    }
  }
  if (!alone) {
    write_result(job, image);
  } else if (grid_warp() < tiles) {
    if (!here) tile(grid_warp()).take();
    tile(grid_warp()).for_all([&](int x, int y, auto pair) { write_pair(job, x, y, pair); });
  }
}

constexpr int kPassRows = 8;  ///< of the part of a tile that a warp processes at a time
/// Warps of a block that make passes together.
constexpr int kPassWarps = 32;

/// A pass of kPassRows rows of a tile; returns whether it changes anything.
template <typename T, bool eight>
__device__ bool pass(const CellImage<T> &from, const CellImage<T> &to, int x, int y) {
  const int mine = x + 2 * static_cast<int>(threadIdx.x % 32);
  // The markers of this lane's columns in a row, and the same combined with their neighbours.
  struct Row {
    typename GrowthCells<T>::Pair pair;
    unsigned markers, wide;
  };
  const auto read = [&](int row) {
    Row r;
    r.pair = from.pair(mine, row);
    r.markers = GrowthCells<T>::markers(r.pair);
    r.wide = spread(r.markers, from.level(x - 1, row), from.level(x + kTile, row));
    return r;
  };
  unsigned change = 0;
  Row above = read(y - 1), here = read(y);
#pragma unroll
  for (int row = y; row < y + kPassRows; ++row) {
    const Row below = read(row + 1);
    const unsigned vertical =
        eight ? __vmaxu2(above.wide, below.wide) : __vmaxu2(above.markers, below.markers);
    const unsigned after =
        grow(here.markers, GrowthCells<T>::masks(here.pair), __vmaxu2(here.wide, vertical));
    to.pair(mine, row) = GrowthCells<T>::with(here.pair, after);
    change |= (after ^ here.markers) & GrowthCells<T>::kBits;
    above = here;
    here = below;
  }
  return __any_sync(kWholeWarp, change != 0);
}

/// Passes of all pixels at once, in tiles that changed or are next to a change; everywhere else
/// both images are the same.
template <typename T, bool eight>
__global__ void __launch_bounds__(32 * kPassWarps, 1)
    passes_kernel(const __grid_constant__ GeodesicJob<T> job) {
  GridBarrier barrier(job.barrier);
  const int columns = job.image.columns, rows = job.image.rows;
  Work tiles(job.tiles, columns * rows);
  tiles.reset(grid_thread(), grid_threads());
  make_cells(job);
  barrier.meet();

  CellImage<T> from = job.image, to = job.other;
  unsigned n = columns * rows;
  int passes = 0;
  for (; n > 0 && passes < job.growth.iterations; ++passes) {
    constexpr int kParts = kTile / kPassRows;
    for (unsigned i = grid_warp(); i < n * kParts; i += grid_warps()) {
      const int part = static_cast<int>(i % kParts);
      const int tile = static_cast<int>(passes == 0 ? i / kParts : tiles.item(i / kParts));
      const int column = tile % columns, row = tile / columns;
      if (!pass<T, eight>(from, to, column * kTile, row * kTile + part * kPassRows)) continue;
      const int lane = threadIdx.x % 32, up_or_down = lane / 3 - 1;
      const int next_column = column + lane % 3 - 1, next_row = row + up_or_down;
      if ((up_or_down < 0 && part > 0) || (up_or_down > 0 && part < kParts - 1)) continue;
      if (lane < 9 && next_column >= 0 && next_column < columns && next_row >= 0 && next_row < rows)
        tiles.add(next_row * columns + next_column);
    }
    barrier.meet();
    tiles.next();
    n = tiles.count();
    const CellImage<T> last = from;
    from = to;
    to = last;
  }
  if (grid_thread() == 0) *job.passes = passes;
  write_result(job, from);
}

template <typename T>
void launch_reconstruction(Cuda &cuda, const GeodesicJob<T> &job) {
  constexpr int kBytes = GrowthTile<T, true>::kBytes;
  static_assert(kBytes >= GrowthLine<T, true>::kBytes);
  const auto kernel = job.growth.eight ? reconstruct_kernel<T, true> : reconstruct_kernel<T, false>;
  const int multiprocessors = cuda.multiprocessors(), tiles = job.image.columns * job.image.rows;
  const int room = std::min(cuda.most_shared_memory() / kBytes, kMostWarps<T>);
  const int warps =
      std::clamp((tiles + multiprocessors - 1) / multiprocessors, std::min(4, room), room);
  const int bytes = warps * kBytes;
  LaunchShape shape{std::min(multiprocessors, tiles), 32 * warps, bytes};
  shape.together = true;
  launch(cuda, kernel, shape, job);
}

template <typename T>
void launch_passes(Cuda &cuda, const GeodesicJob<T> &job) {
  const int tiles = job.image.columns * job.image.rows;
  LaunchShape shape{std::min(cuda.multiprocessors(), tiles), 32 * kPassWarps};
  shape.together = true;
  launch(cuda, job.growth.eight ? passes_kernel<T, true> : passes_kernel<T, false>, shape, job);
}

/// Whether rows consist of pairs of samples that can be accessed at once.
template <typename T>
bool is_paired(const Plane<T> &plane) {
  const auto address = reinterpret_cast<std::uintptr_t>(plane.data);
  return plane.width % 2 == 0 &&
         (address | static_cast<std::uintptr_t>(plane.stride)) % (2 * sizeof(T)) == 0;
}
template <typename T>
void launch_single_pass(Cuda &cuda, Plane<const T> in, Plane<T> out, const Growth &growth) {
  using Pass = SinglePass<T>;
  constexpr int kRows = Pass::kRows * Pass::kThreads / 32;
  const LaunchShape shape{
      dim3((in.width + Pass::kColumns - 1) / Pass::kColumns, (in.height + kRows - 1) / kRows),
      Pass::kThreads};
  launch(cuda, growth.eight ? single_pass_kernel<T, true> : single_pass_kernel<T, false>, shape,
         {in, out, growth, is_paired(in) && is_paired(out)});
}

}  // namespace

template <typename T>
void geodesic(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &settings,
              SwoFilterReport *report) {
  using Image = CellImage<T>;
  const Growth growth(settings);
  if (growth.iterations == 1) {
    launch_single_pass(cuda, in, out, growth);
    if (report) cuda.on_complete([=] { report->iterations = 1; });
    return;
  }
  const bool passes = growth.iterations > 0;
  const int columns = (in.width + kTile - 1) / kTile, rows = (in.height + kTile - 1) / kTile;
  const std::size_t image_bytes =
      (Image::cells_of(columns, rows) * sizeof(typename Image::Cell) + 255) / 256 * 256;
  const std::size_t tile_words =
      passes ? Work::words(columns * rows) : TileNotes::words(columns * rows);
  const std::size_t row_words = Work::words(kTile * rows),
                    column_words = Work::words(kTile * columns);
  const std::size_t edge_words = passes ? 0 : TileEdges::words(columns * rows);
  auto *const scratch = static_cast<unsigned char *>(cuda.scratch(
      (passes ? 2 : 1) * image_bytes +
      (tile_words + row_words + column_words + edge_words + Tally::kWords + 1) * sizeof(unsigned)));
  static const char key = 0;

  GeodesicJob<T> job{in, out, growth, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  const auto image_at = [&](unsigned char *memory) {
    return Image::in(reinterpret_cast<typename Image::Cell *>(memory), columns, rows);
  };
  job.image = image_at(scratch);
  if (passes) job.other = image_at(scratch + image_bytes);
  job.barrier = static_cast<unsigned *>(cuda.history(&key, sizeof(unsigned)));
  job.tiles = reinterpret_cast<unsigned *>(scratch + (passes ? 2 : 1) * image_bytes);
  job.rows = job.tiles + tile_words;
  job.columns = job.rows + row_words;
  job.edges = job.columns + column_words;
  job.tally = job.edges + edge_words;
  job.passes = job.tally + Tally::kWords;
  if (passes)
    launch_passes(cuda, job);
  else
    launch_reconstruction(cuda, job);
  if (report && passes) {
    auto *const host = static_cast<unsigned *>(cuda.report_memory(sizeof(unsigned)));
    cuda.fetch(host, job.passes, sizeof(unsigned));
    cuda.on_complete([=] { report->iterations = static_cast<int>(*host); });
  }
}
template void geodesic(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &,
                       SwoFilterReport *);
template void geodesic(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &,
                       SwoFilterReport *);

}  // namespace cudascan::swo
