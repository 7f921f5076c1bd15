// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A kernel that sums up the samples and their squares over the window of each pixel, and passes
/// each row of sums to a decision, which turns them into samples.
///
/// A warp takes 256 columns of a strip of rows, eight neighbouring columns a lane, and needs no
/// other. With C(x) the sum of column x over the height of the window, and r half its width, the
/// window of column x has
///
///     S(x) = S(x - 1) + D(x),  D(x) = C(x + r) - C(x - r - 1).
///
/// Every lane keeps the D of its columns in registers: a step down adds or subtracts four samples,
/// of two columns in the row that enters the window and in the row that leaves it. S is then a
/// prefix sum of D, over the lane's columns and by a scan of the warp. It starts from the window
/// before the warp's first column; the lanes divide that window's columns among them. So the cost
/// per pixel does not depend on the window, except for the rows that fill the window at the top of
/// a strip. If these are many, the warps of a block, whose strips are in one column, share them; if
/// they are very many, strips start from prefix sums of the image (prefix_strip.cuh).
///
/// The rest hides latency. If shared memory has room, a block copies all its rows at once, each
/// only once. The scan for the next row runs while this row is decided. Blocks prepare themselves
/// while their first rows are being copied. Strips are divided so that all blocks, at the edges of
/// the image or not, end at about the same time.
///
/// A decision is a class with these members; nick/decisions.cuh has examples.
///
///     using Sample, SumS, SumQ, Job, Shared;   // SumS and SumQ hold S and the sum of the squares
///     static constexpr bool kSquared;          // squares are summed, too
///     static constexpr bool kSizesOfCut;       // column() uses the size, with Columns::cut, too
///     template <Columns> static constexpr int kRowsAtOnce;  // to hide latency
///     static constexpr bool kBasesFirst;       // advance the next row's sums before column()
///     static float weight(job);                // of WindowSize
///     static void prepare(shared, job);        // in one thread of the block, before all else
///     static void set_column(shared, job, i, n);  // n pixels in the whole windows of column i
///     Decision(job, shared, row, first_y);
///     void set_rows<inner>(row);               // the number of rows in the windows has changed
///     void start<columns>(base);               // of a row; may add to S in front of its columns
///     void column<columns, j>(row, size);      // decides column j, maybe
///     bool sure<columns>(row);                 // whether the row is decided; all lanes call it
///     void decide_exactly<columns>(row);       // if it was not
///     void store<columns>(row, y);
///     void finish(row, begin, end, memory);    // after the rows [begin, end); all threads call it
#pragma once
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/base/launch.cuh"
#include "kernels/windowsums/plan.cuh"
#include "kernels/windowsums/prefix_strip.cuh"
#include "kernels/windowsums/row_job.cuh"
#include "kernels/windowsums/strip.cuh"
#include "kernels/windowsums/window_size.cuh"

namespace cudascan::windowsums {

/// Sums of missing columns are 0; this value keeps their decisions from counting as near.
inline constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

/// The strips of a kernel.
template <typename T, Rows rows, bool squared>
using RowStrip =
    std::conditional_t<rows == Rows::prefix, PrefixStrip<T>, Strip<T, rows == Rows::tile, squared>>;

/// Calls f<0>() to f<n - 1>().
template <int n, typename F>
__device__ void unrolled(const F &f) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (f.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, n>());
}

/// The columns of a tile.
enum class Columns {
  /// complete and stored at once; their windows have all columns
  inner,
  /// in rows whose windows have all their rows, without garbage next to them; only if the rows are
  /// in a RowTile, because other code has no registers left
  cut,
  any
};

/// The work of a block.
struct BlockPlace {
  bool inner;  // the tile
  int tile;
  int block;  // number of the block in its tile's column

  template <typename T>
  __device__ explicit BlockPlace(const RowJob<T> &job) : inner(false), block(blockIdx.x) {
    if (block >= job.second) {
      inner = block >= job.second + job.edges_in_second;
      block -= inner ? job.edges_in_first + job.edges_in_second : job.second - job.edges_in_first;
    } else if (block >= job.edges_in_first) {
      inner = true;
      block -= job.edges_in_first;
    }
    const int inner_tiles = job.last_inner - job.first_inner;
    const int tiles = inner ? inner_tiles : job.tiles - inner_tiles;
    tile = block % tiles;
    block /= tiles;
    if (inner || tile >= job.first_inner) tile += inner ? job.first_inner : inner_tiles;
  }
};

/// A lane's part of a row: its samples, and the sums over their windows.
template <typename T, typename SumS, typename SumQ>
class Row {
 public:
  StageSamples<T> samples;
  SumS sum[kColumns] = {};
  SumQ squares[kColumns] = {};  // in the form of LaneSums
  const int tile;               // first column of the block
  const int x0;                 // and of the lane
  const int valid;              // number of the lane's columns in the image; less than 1 if none
  unsigned window_rows = 0;
  const unsigned window_width;
  WindowSize rows_size;  // of inner tiles with the columns

  /// @param column_sizes, full_sizes  pixels in the windows of the block's columns, of one row and
  ///                                  of all; read unless the tile is an inner one
  __device__ Row(const RowJob<T> &job, const BlockPlace &place,
                 const WindowSizes<kStageColumns> &column_sizes,
                 const WindowSizes<kStageColumns> &full_sizes)
      : tile(place.tile * kStageColumns),
        x0(tile + kColumns * lane()),
        valid(min(job.in.plane.width - x0, kColumns)),
        window_width(2 * job.rx + 1),
        column_sizes_(column_sizes),
        full_sizes_(full_sizes) {}

  static __device__ int lane() { return threadIdx.x % 32; }
  /// The sum of the squares over the window of column j.
  __device__ SumQ true_squares(int j) const {
    return LaneSums<T>::true_squares(sum[j], squares[j]);
  }
  /// The number of pixels in that window.
  template <Columns columns>
  __device__ unsigned count(int j) const {
    const int i = kColumns * lane() + j;
    return columns == Columns::inner ? window_rows * window_width
           : columns == Columns::cut ? full_sizes_.count[i]
                                     : window_rows * column_sizes_.count[i];
  }
  /// Of an edge tile: the number of columns in that window.
  __device__ unsigned columns(int j) const { return column_sizes_.count[kColumns * lane() + j]; }
  template <Columns columns>
  __device__ WindowSize size(int j) const {
    const int i = kColumns * lane() + j;
    return columns == Columns::inner ? rows_size
           : columns == Columns::cut ? full_sizes_[i]
                                     : WindowSize(rows_size, column_sizes_[i]);
  }

 private:
  const WindowSizes<kStageColumns> &column_sizes_, &full_sizes_;
};

/// Processes a strip row by row from top to bottom.
template <typename Decision, Rows rows>
class RowWalk {
 public:
  using T = typename Decision::Sample;
  using SumS = typename Decision::SumS;
  using SumQ = typename Decision::SumQ;
  using Job = typename Decision::Job;
  using Shared = typename Decision::Shared;
  using Strip = RowStrip<T, rows, Decision::kSquared>;
  using Row = windowsums::Row<T, SumS, SumQ>;
  /// The windows have kStageColumns columns at most.
  static constexpr bool kNarrow = sizeof(T) == 1 && sizeof(SumQ) == 4;

  __device__ RowWalk(const Job &job, Strip &strip, Row &row, Decision &decision)
      : job_(job), strip_(strip), row_(row), decision_(decision) {
    auto bases = strip_.template bases<SumS, SumQ>();
    unrolled<kColumns>([&]<int phase>() { bases.template advance<phase>(); });
    set_bases(bases);
  }

  /// @tparam inner  the tile's windows have all their columns
  template <bool inner>
  __device__ void run() {
#pragma unroll 1
    for (int y = strip_.begin(), loaded; y < strip_.end(); y += loaded) {
      loaded = strip_.wait(y);
#pragma unroll 1
      for (int i = 0; i < loaded;) {
        if (y == strip_.begin() || cut_off(y + i) || cut_off(y + i - 1)) set_size<inner>(y + i);
        const bool whole_rows = !cut_off(y + i);
        const int same = whole_rows ? min(loaded, height() - job_.ry - y) : i + 1;
        if constexpr (inner)
          i = do_some<Columns::inner>(y, i, same);
        else if (rows == Rows::tile && whole_rows && !strip_.has_garbage())
          i = do_some<Columns::cut>(y, i, same);
        else
          i = do_some<Columns::any>(y, i, same);
      }
      strip_.release();
    }
  }

 private:
  /// Processes the loaded rows (which start at y) from number i to `end`, up to the first one that
  /// needs an exact decision, and returns the number of the next row. Rare work is kept out of the
  /// innermost loop, because every jump over it would cost time.
  template <Columns columns>
  __device__ int do_some(int y, int i, int end) {
    bool sure = true;
    [[maybe_unused]] constexpr int kUnroll = Decision::template kRowsAtOnce<columns>;
#pragma unroll(kUnroll)
    for (; i < end; ++i) {
      sure = decide<columns>(i);
      if (!sure) break;
      decision_.template store<columns>(row_, y + i);
    }
    if (!sure) {
      decision_.template decide_exactly<columns>(row_);
      decision_.template store<columns>(row_, y + i);
      ++i;
    }
    return i;
  }

  /// Decides the next row, number i of the loaded ones; returns whether the decision is certain.
  template <Columns columns>
  __device__ bool decide(int i) {
    row_.samples = strip_.row(i);
    decision_.template start<columns>(base_s_);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      row_.sum[j] = base_s_ += widen<SumS>(strip_.sums.sum[j]);
      row_.squares[j] = base_q_ += widen<SumQ>(strip_.sums.squares[j]);
    }
    strip_.template step<columns != Columns::any, kNarrow>(i);
    auto bases = strip_.template bases<SumS, SumQ>();  // of the next row
    unrolled<kColumns>([&]<int j>() {
      if constexpr (Decision::kBasesFirst) bases.template advance<j>();
      decision_.template column<columns, j>(row_, row_.template size<columns>(j));
      if constexpr (!Decision::kBasesFirst) bases.template advance<j>();
    });
    set_bases(bases);
    return decision_.template sure<columns>(row_);
  }

  /// The size of the windows differs from the previous row only at the upper and lower edges of the
  /// image.
  template <bool inner>
  __device__ void set_size(int y) {
    row_.window_rows = min(y + job_.ry, height() - 1) - max(y - job_.ry, 0) + 1;
    row_.rows_size = WindowSize(inner ? row_.window_rows * row_.window_width : row_.window_rows,
                                Decision::weight(job_), StageSamples<T>::kFloatScale);
    decision_.template set_rows<inner>(row_);
  }
  __device__ bool cut_off(int y) const {
    return y < job_.ry || y + job_.ry >= height();
  }
  __device__ int height() const {
    return job_.in.plane.height;
  }
  __device__ void set_bases(const Bases<SumS, SumQ> &bases) {
    base_s_ = bases.s();
    base_q_ = bases.q();
  }

  const Job &job_;
  Strip &strip_;
  Row &row_;
  Decision &decision_;
  SumS base_s_;  // S before the lane's columns
  SumQ base_q_;
};

struct NoSizes {};
template <bool first, typename A, typename B>
__device__ auto &choose([[maybe_unused]] A &a, [[maybe_unused]] B &b) {
  if constexpr (first)
    return a;
  else
    return b;
}

/// Sets the sizes of an edge tile's windows; all threads of the block call it.
/// @param tile  its first column
/// @tparam cut   whether rows with Columns::cut follow
/// @tparam full  whether they read full_sizes
template <typename Decision, bool cut, bool full>
__device__ void set_edge_sizes(WindowSizes<kStageColumns> &column_sizes,
                               WindowSizes<kStageColumns> &full_sizes,
                               typename Decision::Shared &shared, const typename Decision::Job &job,
                               int tile) {
  const int width = job.in.plane.width;
  const WindowSize rows(2 * job.ry + 1, Decision::weight(job),
                        StageSamples<typename Decision::Sample>::kFloatScale);
  for (int i = threadIdx.x; i < kStageColumns; i += blockDim.x) {
    const int columns = min(tile + i + job.rx, width - 1) - max(tile + i - job.rx, 0) + 1;
    WindowSize size(max(columns, 1), 1, 1);
    if (tile + i >= width) size.scaled = kNotANumber;
    column_sizes.set(i, size);
    if constexpr (full) full_sizes.set(i, WindowSize(rows, size));
    if constexpr (cut) Decision::set_column(shared, job, i, rows.n * size.n);
  }
}

template <typename Decision, Rows rows>
__global__ void __launch_bounds__(32 * kMaxWarps<typename Decision::Sample>)
    row_kernel(const __grid_constant__ typename Decision::Job job) {
  using Walk = RowWalk<Decision, rows>;
  using Strip = typename Walk::Strip;
  unsigned char *const memory = dynamic_shared_memory();
  __shared__ std::uint64_t barriers[Strip::kBarriers];
  __shared__ WindowSizes<kStageColumns> column_sizes;
  // Only rows with Columns::cut read the second one; otherwise it takes no memory.
  constexpr bool kFullSizes = rows == Rows::tile && Decision::kSizesOfCut;
  __shared__ std::conditional_t<kFullSizes, WindowSizes<kStageColumns>, NoSizes> full_memory;
  WindowSizes<kStageColumns> &full_sizes = choose<kFullSizes>(full_memory, column_sizes);
  __shared__ typename Decision::Shared shared;
  __shared__ __align__(16) unsigned char zeros[Strip::kZeros];

  let_next_kernel_start();
  const BlockPlace place(job);
  typename Walk::Row row(job, place, column_sizes, full_sizes);
  Strip strip(job, place.inner ? job.inner_strips : job.edge_strips, memory, barriers, zeros,
              row.tile, place.block);
  // As early as possible: the rest continues while the first rows are being copied.
  wait_for_kernels_before();
  strip.start();
  strip.prepare();
  if (!place.inner)
    set_edge_sizes<Decision, rows == Rows::tile, kFullSizes>(column_sizes, full_sizes, shared, job,
                                                             row.tile);
  if (threadIdx.x == 0) Decision::prepare(shared, job);
  __syncthreads();
  strip.fill();

  Decision decision(job, shared, row, strip.begin());
  Walk walk(job, strip, row, decision);
  if (place.inner)
    walk.template run<true>();
  else
    walk.template run<false>();
  decision.finish(row, strip.begin(), strip.end(), memory);
}

/// Calls f for the rows of a launch.
/// @tparam from_prefix  as in its plan
template <bool from_prefix, typename F>
void with_rows(const RowShape &shape, const F &f) {
  if constexpr (from_prefix)
    f.template operator()<Rows::prefix>();
  else if (shape.rows == Rows::tile)
    f.template operator()<Rows::tile>();
  else
    f.template operator()<Rows::rings>();
}

/// Queues it.
template <typename Decision, bool from_prefix = false>
void launch_rows(Cuda &cuda, const RowShape &shape, const typename Decision::Job &job) {
  with_rows<from_prefix>(shape, [&]<Rows rows>() {
    launch(cuda, row_kernel<Decision, rows>,
           {shape.blocks, shape.threads, shape.shared, cuda.code_architecture() >= 90}, job);
  });
}

}  // namespace cudascan::windowsums
