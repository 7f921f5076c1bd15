// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The kernel of the local thresholds and its launch, for each type of sample in a file of its own.
///
/// A warp takes 256 columns of a strip of rows, eight neighbouring columns a lane, and needs no
/// other. With C(x) the sum of column x over the height of the window, and r half its width, the
/// window of column x has
///
///     S(x) = S(x - 1) + D(x),  D(x) = C(x + r) - C(x - r - 1).
///
/// Every lane keeps the D of its columns in registers: a step down adds or takes off four samples,
/// those of two columns in the row that enters the window and in the row that leaves it. S is then a
/// prefix sum of D, over the lane's columns and by a scan of the warp, from the window in front of
/// the warp's first column, whose columns the lanes share between them. So a pixel costs the same
/// whatever the window, except for the rows that fill the window at the top of a strip; where those
/// are many, the warps of a block, whose strips lie one below another, share them.
///
/// The rest is a matter of latency. Where shared memory has room, a block brings all its rows at
/// once, each a single time; the scan for the next row runs beside the decision of this one, blocks
/// set themselves up while their first rows are on their way, and strips are cut so that all blocks,
/// at the edges of the image or not, end at about the same time.
#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/nick/baseline.cuh"
#include "kernels/nick/baseline.h"
#include "kernels/nick/filter.cuh"
#include "kernels/nick/output.cuh"
#include "kernels/windowsums/rounding.cuh"
#include "kernels/windowsums/strip.cuh"

namespace cudascan {
namespace {

using nick::ByteSums;
using nick::deviation;
using nick::Division;
using nick::exact_threshold;
using nick::exactly_above;
using nick::excess;
using nick::Filter;
using nick::first_bytes;
using nick::Formula;
using nick::Job;
using nick::kColumns;
using nick::LaneSums;
using nick::negative_bytes;
using nick::store_binary;
using nick::store_sample;
using nick::store_samples;
using nick::widen;
using nick::WideSums;
using nick::Window;
using nick::WindowSize;
using nick::WolfStatistics;

/// Warps of a block and of a multiprocessor; the sums of 16 bit take more registers.
template <typename T>
constexpr int kMaxWarps = sizeof(T) == 1 ? 16 : 12;

static_assert(alignof(WolfStatistics) >= alignof(unsigned long long));

/// Where there is no column the sums are 0: with this no decision is taken for a near one there.
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

enum class Task {
  binary,
  surface,
  wolf_statistics,
  mean,      // of the windows, see swofilter/moments.h
  deviation  // standard, likewise
};
template <Task task>
constexpr bool kIsMoment = task == Task::mean || task == Task::deviation;
/// The sums of the squares are wanted, too.
template <Task task>
constexpr bool kSquared = task != Task::mean;

// ---- The kernel ----------------------------------------------------------------------------------

__device__ __noinline__ bool exactly_busier(Window a, const Window &b) {
  return nick::busier(a, b);
}

__device__ void merge(WolfStatistics &to, const WolfStatistics &from) {
  to.minimum = min(to.minimum, from.minimum);
  if (exactly_busier(from.busiest, to.busiest)) to.busiest = from.busiest;
}

/// Merges the statistics of a block's threads into the first.
__device__ void combine(WolfStatistics *all, int n) {
  const int t = threadIdx.x;
  for (int half = (n + 1) / 2; n > 1; n = half, half = (n + 1) / 2) {
    if (t + half < n) merge(all[t], all[t + half]);
    __syncthreads();
  }
}

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
  /// all there and stored at once, their windows whole but for rows of the image
  inner,
  /// of rows whose windows are whole but for columns, without garbage beside them; only where the
  /// rows are in a RowTile, as the others have no registers left for its code
  cut,
  any
};

/// What a block works on.
struct Place {
  bool inner;  // the tile
  int tile;
  int block;  // of those of a tile, one below another

  template <typename T>
  __device__ explicit Place(const Job<T> &job) : inner(false), block(blockIdx.x) {
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

template <typename T, typename SumS, typename SumQ, Task task, NickMethod method, bool whole>
__global__ void __launch_bounds__(32 * kMaxWarps<T>)
    nick_kernel(const __grid_constant__ Job<T> job) {
  using Strip = nick::Strip<T, whole, kSquared<task>>;
  constexpr bool bytes = sizeof(T) == 1 && sizeof(SumQ) == 4;
  constexpr bool byte_mean = bytes && task == Task::mean;
  static_assert(kMaxWarps<T> * RowStage<T>::kBarriers <= Strip::kBarriers);
  unsigned char *const memory = dynamic_shared_memory();
  __shared__ std::uint64_t barriers[Strip::kBarriers];
  __shared__ nick::WindowSizes<kStageColumns> column_sizes, full_sizes;  // of one row, of all
  __shared__ ByteMeanColumns<byte_mean ? kStageColumns : 4> full_means;
  __shared__ __align__(16) unsigned char zeros[Strip::kZeros];
  __shared__ Formula wolf_formula;
  __shared__ Filter wolf_filter;

  let_next_kernel_start();
  const int t = threadIdx.x, lane = t % 32;
  const int width = job.in.plane.width, height = job.in.plane.height;
  const Place place(job);
  const bool inner_tile = place.inner;
  const int tile = place.tile * kStageColumns;
  const int x0 = tile + kColumns * lane;
  const int valid = min(width - x0, kColumns);
  Strip strip(job, inner_tile ? job.inner_strips : job.edge_strips, memory, barriers, zeros, tile,
              place.block);
  // As early as can be: the rest goes on while the first rows are on their way.
  wait_for_kernels_before();
  strip.start();
  strip.prepare();
  if (!inner_tile) {
    const WindowSize rows(2 * job.ry + 1, job.filter.k, StageSamples<T>::kFloatScale);
    for (int i = t; i < kStageColumns; i += blockDim.x) {
      const int columns = min(tile + i + job.rx, width - 1) - max(tile + i - job.rx, 0) + 1;
      WindowSize size(max(columns, 1), 1, 1);
      if (tile + i >= width) size.scaled = kNotANumber;
      column_sizes.set(i, size);
      full_sizes.set(i, WindowSize(rows, size));
      if constexpr (byte_mean) full_means.set(i, ByteMeans(rows.n * size.n, job.mean_shift));
    }
  }
  if (job.wolf && t == 0) {
    wolf_formula = job.formula;
    wolf_formula.busiest = job.wolf->busiest;
    wolf_formula.minimum = job.wolf->minimum;
    wolf_filter = Filter(wolf_formula);
  }
  __syncthreads();
  constexpr bool wolf = method == NickMethod::wolf;
  const Formula &formula = wolf ? wolf_formula : job.formula;
  const Filter &filter = wolf ? wolf_filter : job.filter;
  strip.fill();

  const bool all_columns = job.store_at_once && tile + kStageColumns <= width;
  unsigned white_bits = 0;  // eight for each white pixel
  WolfStatistics statistics{{0, 0, 1}, 0xffffffff};
  float most = 0;  // about the largest deviation so far
  unsigned char *out = static_cast<unsigned char *>(job.out) + strip.begin() * job.out_stride +
                       x0 * (job.out_is_wide ? 2 : 1);
  SumS base_s;  // S in front of the lane's columns
  SumQ base_q;
  const auto set_bases = [&](const typename Strip::template Bases<SumS, SumQ> &bases) {
    base_s = bases.s();
    base_q = bases.q();
  };
  {
    typename Strip::template Bases<SumS, SumQ> bases(strip.sums);
    unrolled<kColumns>([&]<int phase>() { bases.template advance<phase>(); });
    set_bases(bases);
  }

  // The windows of a row: their size differs from that of the row before only at the upper and lower
  // edges of the image.
  const unsigned window_width = 2 * job.rx + 1;
  unsigned window_rows = 0;
  WindowSize rows_size;  // of inner tiles with the columns
  float far = 0;         // from there on a decision is sure
  ByteMeans byte_means;  // of inner tiles
  const auto cut_off = [&](int y) { return y < job.ry || y + job.ry >= height; };
  const auto set_size = [&]<bool inner>(int y) {
    window_rows = min(y + job.ry, height - 1) - max(y - job.ry, 0) + 1;
    rows_size = WindowSize(inner ? window_rows * window_width : window_rows, filter.k,
                           StageSamples<T>::kFloatScale);
    far = filter.tolerance * rows_size.nf * (inner ? 1 : window_width);
    if constexpr (inner && byte_mean)
      byte_means = ByteMeans(window_rows * window_width, job.mean_shift);
  };
  const auto size_of = [&]<Columns columns>(int j) {
    const int i = kColumns * lane + j;
    return columns == Columns::inner ? rows_size
           : columns == Columns::cut ? full_sizes[i]
                                     : WindowSize(rows_size, column_sizes[i]);
  };

  // A row: its samples, the sums over its windows, and (T - p) N or the deviation, about.
  StageSamples<T> p;
  SumS sum[kColumns] = {};
  SumQ squares[kColumns] = {};
  float u[kColumns] = {};
  bool near = false;  // to the threshold, or to the largest deviation, at some column of the lane
  const auto window = [&]<Columns columns>(int j) {
    const int i = kColumns * lane + j;
    return Window{sum[j], LaneSums<T>::true_squares(sum[j], squares[j]),
                  columns == Columns::inner ? window_rows * window_width
                  : columns == Columns::cut ? full_sizes.count[i]
                                            : window_rows * column_sizes.count[i]};
  };

  // Means or deviations of a row, or, of bytes, what has them in one of its bytes.
  unsigned levels[kColumns];
  constexpr bool byte_deviation = bytes && task == Task::deviation;
  const auto exact_level = [&]<Columns columns>(int j) {
    const Window w = window.template operator()<columns>(j);
    const unsigned n = w.n << job.level_shift;
    return (task == Task::mean ? rounded_mean(static_cast<unsigned>(w.sum), n)
                               : rounded_deviation(w.n * w.squares - w.sum * w.sum, n))
           << job.level_shift;
  };
  const auto set_level = [&]<Columns columns>(int j, [[maybe_unused]] const WindowSize &size) {
    if constexpr (byte_deviation) {
      const auto n = static_cast<int>(size.n), s = static_cast<int>(sum[j]);
      // N Q - S^2, where the squares lack 127 S.
      const std::int64_t v =
          add_product(std::int64_t{s} * (127 * n - s), n, static_cast<int>(squares[j]));
      levels[j] = ByteDeviation(size.inverse_square, job.variance_shift).estimate(v, near);
    } else if constexpr (byte_mean && columns == Columns::inner) {
      levels[j] = byte_means.product(sum[j]);
    } else if constexpr (byte_mean && columns == Columns::cut) {
      levels[j] = full_means[kColumns * lane + j].product_of_sum(sum[j]);
    } else {
      levels[j] = exact_level.template operator()<columns>(j);
    }
  };
  const auto packed_levels = [&]<Columns columns>() {
    StageSamples<T> packed{};
#pragma unroll
    for (int k = 0; k < StageSamples<T>::kWords; ++k) {
      if constexpr (sizeof(T) == 2) {
        packed.word[k] = levels[2 * k] | levels[2 * k + 1] << 16;
      } else {
        const unsigned four[] = {levels[4 * k], levels[4 * k + 1], levels[4 * k + 2],
                                 levels[4 * k + 3]};
        packed.word[k] = byte_mean && columns != Columns::any
                             ? ByteMeans::levels(four, job.mean_shift)
                             : low_bytes(four);
      }
    }
    return packed;
  };

  // Decides the next row, number i of those that were waited for; whether for sure.
  const auto decide = [&]<Columns columns>(int i) {
    p = strip.row(i);
    if constexpr (byte_mean && columns == Columns::inner) base_s += byte_means.half;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      sum[j] = base_s += widen<SumS>(strip.sums.sum[j]);
      squares[j] = base_q += widen<SumQ>(strip.sums.squares[j]);
    }
    strip.template step<columns != Columns::any, bytes>(i);
    typename Strip::template Bases<SumS, SumQ> bases(strip.sums);  // of the next row
    const auto kept = [&](int j) {
      if constexpr (bytes)
        return ByteSums{sum[j], static_cast<int>(squares[j])};
      else
        return WideSums<SumS, SumQ>{sum[j], LaneSums<T>::true_squares(sum[j], squares[j])};
    };
    near = false;
    unrolled<kColumns>([&]<int j>() {
      const WindowSize size = size_of.template operator()<columns>(j);
      if constexpr (kIsMoment<task>) {
        set_level.template operator()<columns>(j, size);
      } else if constexpr (task == Task::wolf_statistics) {
        u[j] = deviation(kept(j), size) * size.inverse;
        near |= u[j] >= most;
      } else {
        u[j] = excess<method>(kept(j), p.scaled_float(j), size, filter);
        near |= fabsf(u[j]) <= far;
      }
      bases.template advance<j>();
    });
    set_bases(bases);
    if constexpr (byte_deviation) {
      if (near) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) levels[j] = exact_level.template operator()<columns>(j);
      }
    }
    return task != Task::binary || !__any_sync(kWholeWarp, near);
  };
  const auto decide_exactly = [&]<Columns columns>() {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      if (const Window w = window.template operator()<columns>(j);
          fabsf(u[j]) <= filter.tolerance * w.n && (columns == Columns::inner || j < valid))
        u[j] = exactly_above(p[j], w, formula) ? -1 : 1;
  };
  const auto store = [&]<Columns columns>(int y) {
    if constexpr (task == Task::binary) {
      const unsigned whites[2] = {negative_bytes(u, 0), negative_bytes(u, 4)};
      if (columns == Columns::inner || (columns == Columns::cut && all_columns)) {
        white_bits += __popc(whites[0]) + __popc(whites[1]);
        store_binary(job, out, whites);
      } else if (valid > 0) {
        white_bits +=
            __popc(whites[0] & first_bytes(valid)) + __popc(whites[1] & first_bytes(valid - 4));
        if (job.store_at_once && valid == kColumns)
          store_binary(job, out, whites);
        else
          store_binary(job, out, valid, whites);
      }
      out += job.out_stride;
    } else if constexpr (kIsMoment<task>) {
      const StageSamples<T> packed = packed_levels.template operator()<columns>();
      if (columns == Columns::inner || (job.store_at_once && valid >= kColumns)) {
        store_samples(out, packed);
      } else {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          if (j < valid) store_sample(job, x0 + j, y, packed[j]);
      }
      out += job.out_stride;
    } else if constexpr (task == Task::surface) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (j >= valid) break;
        const Window w = window.template operator()<columns>(j);
        const float threshold = fmaf(u[j], reciprocal_approx(w.n), p[j]);
        const float rounded = floorf(threshold + 0.5f);
        const bool sure = fabsf(threshold - rounded) < 0.5f - filter.tolerance;
        const float limited = fminf(fmaxf(rounded, 0), formula.maximum);
        store_sample(job, x0 + j, y,
                     sure ? static_cast<std::uint32_t>(limited) : exact_threshold(w, formula));
      }
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (j < valid) statistics.minimum = min(statistics.minimum, p[j]);
        if (near && j < valid && u[j] >= most) {
          if (const Window w = window.template operator()<columns>(j);
              exactly_busier(w, statistics.busiest)) {
            statistics.busiest = w;
            most = u[j] * (1 - 1e-4f) - 1e-3f;
          }
        }
      }
    }
  };

  // Does rows from i on, before `end`, of those from y on that were waited for, up to the first that
  // is decided exactly, and returns the next one. What is rare is left out of the innermost loop:
  // every jump over it would cost time.
  const auto do_some = [&]<Columns columns>(int y, int i, int end) {
    bool decided = true;
    // Two rows hide one another's latency, where there are registers for that.
    [[maybe_unused]] constexpr int kUnroll = byte_mean && columns == Columns::inner ? 2 : 1;
#pragma unroll(kUnroll)
    for (; i < end; ++i) {
      decided = decide.template operator()<columns>(i);
      if (!decided) break;
      store.template operator()<columns>(y + i);
    }
    if (!decided) {
      decide_exactly.template operator()<columns>();
      store.template operator()<columns>(y + i);
      ++i;
    }
    return i;
  };
  const auto do_rows = [&]<bool inner>() {
#pragma unroll 1
    for (int y = strip.begin(), rows; y < strip.end(); y += rows) {
      rows = strip.wait(y);
#pragma unroll 1
      for (int i = 0; i < rows;) {
        if (y == strip.begin() || cut_off(y + i) || cut_off(y + i - 1))
          set_size.template operator()<inner>(y + i);
        const bool whole_rows = !cut_off(y + i);
        const int same = whole_rows ? min(rows, height - job.ry - y) : i + 1;
        if constexpr (inner)
          i = do_some.template operator()<Columns::inner>(y, i, same);
        else if (whole && whole_rows && !strip.has_garbage())
          i = do_some.template operator()<Columns::cut>(y, i, same);
        else
          i = do_some.template operator()<Columns::any>(y, i, same);
      }
      strip.release();
    }
  };
  if (inner_tile)
    do_rows.template operator()<true>();
  else
    do_rows.template operator()<false>();

  if constexpr (task == Task::wolf_statistics) {
    __syncthreads();
    auto *all = reinterpret_cast<WolfStatistics *>(memory);
    all[t] = statistics;
    __syncthreads();
    combine(all, blockDim.x);
    if (t == 0) job.wolf_partial[blockIdx.x] = all[0];
  } else if (job.black_count) {
    const unsigned white = warp_sum(white_bits) / 8;
    const unsigned pixels =
        max(strip.end() - strip.begin(), 0) * max(min(width - tile, kStageColumns), 0);
    const unsigned count = job.white ? pixels - white : white;
    if (lane == 0 && count) atomicAdd(job.black_count, count);
  }
}

/// Combines the statistics of all blocks into the first.
[[maybe_unused]] __global__ void wolf_kernel(WolfStatistics *partial, int n) {
  __shared__ WolfStatistics all[256];
  WolfStatistics mine = partial[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) merge(mine, partial[i]);
  all[threadIdx.x] = mine;
  __syncthreads();
  combine(all, blockDim.x);
  if (threadIdx.x == 0) partial[0] = all[0];
}

// ---- The launch ----------------------------------------------------------------------------------

/// Shared memory of a block beside that of its warps, at most: the kernel's own arrays, and what a
/// multiprocessor takes for itself.
constexpr int kFixedMemory = 12800;

/// How a launch is made, beside what is in its job.
struct Shape {
  bool whole;  // the rows are in RowTiles
  int blocks, threads;
  int shared;  // bytes
};

/// Dynamic shared memory of a block, at most.
int most_shared(Cuda &cuda) {
  return cuda.most_shared_memory() - kFixedMemory;
}

/// Divides an image among blocks and chooses how they get its rows.
/// @tparam task  any that has the same sums
template <Task task, typename T>
Shape plan(Cuda &cuda, const Plane<const T> &in, Job<T> &job) {
  const int width = in.width, height = in.height;
  const int window_rows = 2 * job.ry + 1;
  job.packed = sizeof(T) == 1 && window_rows * 255 <= 0xffff;  // the sums of a column, in 16 bits

  job.tiles = divide_up(width, kStageColumns);
  const auto inner = [&](int tile) {
    return job.store_at_once && tile * kStageColumns >= job.rx &&
           (tile + 1) * kStageColumns - 1 + job.rx < width;
  };
  job.first_inner = 0;
  while (job.first_inner < job.tiles && !inner(job.first_inner)) ++job.first_inner;
  if (job.first_inner == job.tiles) job.first_inner = 0;
  job.last_inner = job.first_inner;
  while (job.last_inner < job.tiles && inner(job.last_inner)) ++job.last_inner;

  Division::Image image{height, window_rows};
  image.inner_tiles = job.last_inner - job.first_inner;
  image.edge_tiles = job.tiles - image.inner_tiles;
  image.multiprocessors = cuda.multiprocessors();

  const int memory = most_shared(cuda) - StagedPlane<T>::kReadBeyond;  // of a block
  const auto memory_of = [&](int blocks) {                             // each of so many
    return (memory + kFixedMemory) / blocks - kFixedMemory;
  };
  int record_bytes = 0;
  const auto stage = [&](Staging staging) {
    job.in = StagedPlane<T>(in, job.rx, cuda.code_architecture() >= 90, staging);
    job.parts = divide_up(job.in.pitch, kStageColumns * sizeof(T));
    record_bytes =
        nick::ColumnRecord<T, kSquared<task>>::words(job) * static_cast<int>(sizeof(unsigned));
  };
  const auto block_bytes = [&](const Division &d, bool whole) {
    const int most_rows = std::min(d.warps * d.most_rows(), height);
    const int rows_bytes =
        whole ? RowTile<T>::bytes(job.in, most_rows + window_rows) : d.warps * job.in.ring_bytes();
    return std::max<int>(rows_bytes + (d.most_groups() > 0 ? d.warps * record_bytes : 0),
                         d.warps * 32 * sizeof(WolfStatistics));
  };

  // Best is to have all rows in shared memory, for one block of many warps or two of half as many.
  Division division;
  bool whole = false;
  // By the instructions for a row with Columns::cut, where no lane stores a part of its columns, or
  // others.
  image.edge_cost = job.store_at_once && width % kColumns == 0 ? 1.1f : 1.4f;
  for (const Staging staging : {Staging::tile, Staging::tight_tile}) {
    if (whole) break;
    stage(staging);
    if (!job.in.by_engine) break;
    for (const int blocks : {1, 2}) {
      const Division next(image, height, kMaxWarps<T> / blocks, blocks, true);
      const int rows = next.warps * next.most_rows() + window_rows;
      if (next.time >= division.time || RowTile<T>::parts(rows) > RowTile<T>::kMostParts ||
          block_bytes(next, true) > memory_of(blocks))
        continue;
      whole = true;
      division = next;
    }
  }
  job.share = divide_up(division.most_rows(), kTilePart);
  // Otherwise high blocks share more of the windows, of small ones more fit.
  if (!whole) {
    stage(Staging::rings);
    image.edge_cost = 1.3f;
    image.share = memory >= job.in.ring_bytes() + record_bytes;
    const int warp_bytes = job.in.ring_bytes() + (image.share ? record_bytes : 0);
    const int most_warps = std::min(kMaxWarps<T>, memory / warp_bytes);
    for (const int warps : {most_warps, most_warps / 2}) {
      if (warps == 0) continue;
      int blocks = kMaxWarps<T> / warps;
      while (blocks > 1 && warps * warp_bytes > memory_of(blocks)) --blocks;
      const Division next(image, job.in.most_rows(), warps, blocks, false);
      if (next.load(kMaxWarps<T>) < division.load(kMaxWarps<T>)) division = next;
    }
  }

  job.inner_strips = division.inner;
  job.edge_strips = division.edge;
  const int edge_blocks = image.edge_tiles * division.blocks(division.edge, height);
  const int blocks = image.inner_tiles * division.blocks(division.inner, height) + edge_blocks;
  job.second = cuda.multiprocessors();
  job.edges_in_second =
      division.resident > 1 && edge_blocks <= job.second && job.second + edge_blocks / 2 <= blocks
          ? edge_blocks / 2
          : 0;
  job.edges_in_first = edge_blocks - job.edges_in_second;
  if (job.edges_in_second == 0) job.second = blocks;
  return {whole, blocks, 32 * division.warps,
          block_bytes(division, whole) + StagedPlane<T>::kReadBeyond};
}

/// Queues everything for one image.
template <NickMethod method, typename SumS, typename SumQ, typename T, typename Out>
void queue(Cuda &cuda, Job<T> job, Plane<const T> in, Plane<Out> out, const NickParams &params,
           NickReport *report) {
  const Shape shape = plan<Task::binary>(cuda, in, job);
  const int blocks = shape.blocks;
  constexpr bool wolf = method == NickMethod::wolf;

  // Scratch memory: the statistics of the blocks, then the count of black pixels.
  auto *statistics = static_cast<WolfStatistics *>(
      cuda.scratch(blocks * sizeof(WolfStatistics) + sizeof(unsigned long long)));
  auto *black_count = reinterpret_cast<unsigned long long *>(statistics + blocks);
  if (report) {
    job.black_count = black_count;
    cuda.clear(black_count, sizeof *black_count);
  }

  const auto go = [&]<Task task>() {
    const auto kernel = shape.whole ? nick_kernel<T, SumS, SumQ, task, method, true>
                                    : nick_kernel<T, SumS, SumQ, task, method, false>;
    const bool overlap = cuda.code_architecture() >= 90;
    launch(cuda, kernel, {blocks, shape.threads, shape.shared, overlap}, job);
  };
  if constexpr (wolf) {
    job.wolf_partial = statistics;
    go.template operator()<Task::wolf_statistics>();
    launch(cuda, wolf_kernel, {1, 256}, statistics, blocks);
    job.wolf = statistics;
  }
  // The single precision of the decision wants a window of two pixels at least.
  if (params.algorithm != NickAlgorithm::automatic || (in.width == 1 && in.height == 1))
    nick::run_baseline(cuda, in, out, params, job.wolf, job.black_count);
  else if (params.output == NickOutput::threshold)
    go.template operator()<Task::surface>();
  else
    go.template operator()<Task::binary>();

  if (report) {
    auto *host_count = static_cast<unsigned long long *>(cuda.report_memory(sizeof *black_count));
    cuda.fetch(host_count, black_count, sizeof *black_count);
    const double pixels = static_cast<double>(in.width) * in.height;
    const bool counted = params.output == NickOutput::binary;
    cuda.on_complete([=] { report->black_ratio = counted ? *host_count / pixels : 0; });
  }
}

template <typename T, typename Out>
void run_all(Cuda &cuda, Plane<const T> in, Plane<Out> out, const NickParams &p,
             NickReport *report) {
  nick::check_call(p, in, out);
  const auto go = [&]<typename SumS, typename SumQ>() {
    Job<T> job{};
    job.out = out.data;
    job.out_stride = out.stride;
    job.out_is_wide = sizeof(Out) == 2;
    job.store_at_once =
        (reinterpret_cast<std::uintptr_t>(out.data) | out.stride) % (kColumns * sizeof(Out)) == 0;
    const std::uint32_t white = out.maximum * (sizeof(Out) == 1 ? 0x01010101u : 0x00010001u);
    job.black = p.invert ? white : 0;
    job.white = p.invert ? 0 : white;
    job.rx = nick::window_width(p) / 2;
    job.ry = nick::window_height(p) / 2;
    job.formula = nick::make_formula(p, in.maximum);
    if (p.method != NickMethod::wolf) job.filter = Filter(job.formula);
    switch (p.method) {
      case NickMethod::nick:
        return queue<NickMethod::nick, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::niblack:
        return queue<NickMethod::niblack, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::sauvola:
        return queue<NickMethod::sauvola, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::wolf:
        return queue<NickMethod::wolf, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::bradley:
        return queue<NickMethod::bradley, SumS, SumQ>(cuda, job, in, out, p, report);
      case NickMethod::phansalkar:
        return queue<NickMethod::phansalkar, SumS, SumQ>(cuda, job, in, out, p, report);
    }
  };
  const std::int64_t area = std::int64_t{nick::window_width(p)} * nick::window_height(p);
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if constexpr (sizeof(T) == 1) {
    // |p^2 - 127 p| 255^2 < 2^31; the 32-bit sums are for narrow windows.
    area <= 255 * 255 && nick::window_width(p) <= kStageColumns
        ? go.template operator()<U32, U32>()
        : go.template operator()<U32, U64>();
  } else {  // 65535 * 2^16 < 2^32
    area <= 65536 ? go.template operator()<U32, U64>() : go.template operator()<U64, U64>();
  }
}

}  // namespace
}  // namespace cudascan
