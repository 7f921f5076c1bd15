// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Results of 16-bit samples from the bins of ordered tiles: what digits_kernel, following_kernel
/// and bin_columns_kernel find of the bins, and how a result follows from the sorted samples of a
/// bin.
#pragma once
#include "kernels/swofilter/rank/order.cuh"

namespace cudascan::swo {

/// The bin of a result, the number of samples of this bin in the window that come before the
/// result, and of all of them in the window. The bin is in the lowest bits.
struct RankedBin {
  unsigned bin : 8, rest : 12, count : 12;

  __device__ static RankedBin of(const RankedLevel &v) { return {v.level, v.rest, v.count}; }
};
/// Samples in a bin of a tile are fewer than this.
constexpr int kMostBinSize = 1 << 12;

/// What is known of a trimmed mean: its first and last sample, and the number of samples in the
/// window. The sum has the bins between, and each of the two bins of which the larger part belongs
/// to the mean; less than half of its samples remain to be subtracted, or added.
struct TrimmedBins {
  RankedBin first, last;
  unsigned sum, n;

  __device__ bool first_is_whole() const { return 2 * first.rest <= first.count; }
  __device__ bool last_is_whole() const { return 2 * (last.rest + 1) > last.count; }
};

/// The tiles of a launch.
/// @tparam Found  what is found for each result
template <typename Found>
struct OrdinalJob {
  SelectionJob<std::uint16_t> selection;
  OrderTiles tiles;
  OrderedTiles ordered;
  int begin;     // the first of the tiles
  Found *found;  // of all results of a tile, row by row

  /// @param i     number of the tile in this launch
  /// @param x, y  in the tile, without the margin
  __device__ Found &at(int i, int x, int y) const {
    return found[(std::size_t(i) * tiles.height + y) * tiles.width + x];
  }
  __device__ int width() const {
    return tiles.transposed ? selection.out.height : selection.out.width;
  }
  __device__ int height() const {
    return tiles.transposed ? selection.out.width : selection.out.height;
  }
  __device__ std::uint16_t &out(int x, int y) const {
    return tiles.transposed ? selection.out.row(x)[y] : selection.out.row(y)[x];
  }
  __device__ std::uint16_t in(int x, int y) const {
    return tiles.transposed ? selection.in.plane.row(x)[y] : selection.in.plane.row(y)[x];
  }
  __device__ const unsigned *bins(int i) const {
    return ordered.bins + std::size_t(i) * tiles.capacity;
  }
  __device__ int rank(int n) const {
    return selection.op == SwoFilterOperator::median ? n / 2 : rank_of(n, selection.percentile);
  }
};

/// Bins of a column of a tile.
class BinColumn {
 public:
  /// @param bins  the column, or nullptr for none
  /// @param top   row of the first one
  __device__ BinColumn(const unsigned *bins, int stride, int top)
      : bins_(bins), stride_(stride), top_(top) {}
  /// -1 for none.
  __device__ int sample(int y) const {
    if (!bins_) return -1;
    const unsigned bin = bins_[(y - top_) * stride_] & 0xffff;
    return bin == kNoLevel ? -1 : static_cast<int>(bin);
  }

 private:
  const unsigned *bins_;
  int stride_, top_;
};

/// For medians and ranks of rectangles. A block works on a tile.
struct OrdinalDigitsJob : OrdinalJob<RankedBin> {
  BlockResults results;

  __device__ int x0() const { return tiles.x0(begin + blockIdx.x); }
  __device__ int y0() const { return tiles.y0(begin + blockIdx.x); }
  __device__ BinColumn column(int x, bool kept) const {
    return {kept ? bins(blockIdx.x) + (x + tiles.rx - x0()) : nullptr, tiles.stride,
            y0() - tiles.ry};
  }
  __device__ void put(int x, int y, const RankedLevel &bin) const {
    at(blockIdx.x, x - x0(), y - y0()) = RankedBin::of(bin);
  }
};

/// For windows of any shape. Several blocks work on a tile, next to one another.
template <typename Found>
struct OrdinalSlidingJob : OrdinalJob<Found> {
  int blocks;  // of a tile
  int stride;

  OrdinalSlidingJob(const OrdinalJob<Found> &job)
      : OrdinalJob<Found>(job),
        blocks(job.tiles.width / kSlidingThreads),
        stride(job.tiles.stride) {}

  __device__ int in_launch() const { return blockIdx.x / blocks; }
  __device__ int tile() const { return this->begin + in_launch(); }
  __device__ int x0() const {
    return this->tiles.x0(tile()) + blockIdx.x % blocks * kSlidingThreads;
  }
  __device__ int y0() const { return this->tiles.y0(tile()); }
  __device__ int right() const { return this->width(); }
  __device__ int bottom() const { return min(y0() + this->tiles.height, this->height()); }
  __device__ const unsigned *at(int x, int y) const {
    const OrderTiles &tiles = this->tiles;
    return this->bins(in_launch()) + (y - y0() + tiles.ry) * stride + x - tiles.x0(tile()) +
           tiles.rx;
  }
  __device__ Found &found_at(int x, int y) const {
    return OrdinalJob<Found>::at(in_launch(), x - this->tiles.x0(tile()), y - y0());
  }
  __device__ static unsigned level_of(unsigned sample) { return sample & 0xffff; }
};

/// How a window's cells are known: all, one run in each row, or bits.
enum class TileCells { rectangle, rows, bits };

/// Whether places of a tile are in a window.
template <TileCells kind>
class TileWindow {
 public:
  static constexpr int kMostWords = 255 * 8;

  /// Writes the cells into shared memory; all threads of the block call it.
  __device__ static void set_cells(const WindowCells &cells, unsigned *memory) {
    if constexpr (kind == TileCells::rectangle) return;
    const int rows = 2 * cells.ry + 1;
    // One more row, without cells.
    const int words = kind == TileCells::rows ? rows + 1 : words_of(cells) * rows;
    for (int i = threadIdx.x; i < words; i += blockDim.x)
      memory[i] = kind == TileCells::rows ? ends_of(1, -1) : 0;
    __syncthreads();
    for (int i = threadIdx.x; i < cells.n_runs; i += blockDim.x) {
      const Run run = cells.runs[i];
      const int y = run.y + cells.ry, first = run.first + cells.rx, last = run.last + cells.rx;
      if constexpr (kind == TileCells::rows)
        memory[y] = ends_of(first, last);
      else
        for (int x = first; x <= last; ++x)
          atomicOr(memory + y * words_of(cells) + x / 32, 1u << x % 32);
    }
    __syncthreads();
  }

  /// @param x, y    the upper left corner in the tile
  /// @param memory  see set_cells()
  __device__ TileWindow(const WindowCells &cells, int x, int y, const unsigned *memory)
      : memory_(memory),
        words_(kind == TileCells::rows ? 2 * cells.ry + 1 : words_of(cells)),
        corner_(static_cast<unsigned>(y) << 16 | static_cast<unsigned>(x)),
        room_((0x7fffu - 2 * cells.ry) << 16 | (0x7fffu - 2 * cells.rx)) {}

  /// 1 or 0.
  __device__ unsigned holds(unsigned place) const {
    // A negative difference of columns is a large number, and then the row does not matter.
    const unsigned d = place - corner_;
    if constexpr (kind == TileCells::rows) {
      const unsigned ends = memory_[min(d >> 16, static_cast<unsigned>(words_))];
      return ((ends - __byte_perm(d, 0, 0x1010)) & 0x80008000) == 0x80000000;
    }
    // Both halves at once: negative differences, and those above the room, set the uppermost bit.
    if (((d + room_) | d) & 0x80008000) return 0;
    if constexpr (kind == TileCells::rectangle) return 1;
    return memory_[(d >> 16) * words_ + (d & 0xffff) / 32] >> d % 32 & 1;
  }

 private:
  __device__ static int words_of(const WindowCells &cells) { return 2 * cells.rx / 32 + 1; }
  /// Of a run. Less a column in both halves, the uppermost bits tell that the column is not after
  /// the last one, and that it is before the first one.
  __device__ static unsigned ends_of(int first, int last) {
    return static_cast<unsigned>(0x8000 + last) << 16 | static_cast<unsigned>(0x7fff + first);
  }

  const unsigned *memory_;
  int words_;  ///< of a row of bits; of the runs of all rows
  unsigned corner_, room_;
};

/// Results of a block are 32 x kMemberRows, those of a warp 8 x 4: their bins are similar.
constexpr int kMemberRows = 8, kMemberThreads = 32 * kMemberRows;

/// Calls write(x, y, window, found, number of the tile) for this thread's result, if it has one. A
/// block in z works on a tile.
template <TileCells kind, typename Found, typename Write>
__device__ void for_result(const OrdinalJob<Found> &job, const WindowCells &cells,
                           const Write &write) {
  __shared__ unsigned memory[TileWindow<kind>::kMostWords];
  TileWindow<kind>::set_cells(cells, memory);
  const OrderTiles &tiles = job.tiles;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int dx = blockIdx.x * 32 + warp % 4 * 8 + lane % 8;
  const int dy = blockIdx.y * kMemberRows + warp / 4 * 4 + lane / 8;
  const int tile = job.begin + static_cast<int>(blockIdx.z);
  const int x = tiles.x0(tile) + dx, y = tiles.y0(tile) + dy;
  if (dx >= tiles.width || dy >= tiles.height) return;
  if (x >= job.width() || y >= job.height()) return;
  write(x, y, TileWindow<kind>(cells, dx, dy, memory), job.at(blockIdx.z, dx, dy), blockIdx.z);
}

/// The sample of the bin that was found.
template <TileCells kind>
static __global__ void __launch_bounds__(kMemberThreads)
    bin_rank_kernel(const __grid_constant__ OrdinalJob<RankedBin> job,
                    const __grid_constant__ WindowCells cells) {
  for_result<kind>(
      job, cells,
      [&](int x, int y, const TileWindow<kind> &window, const RankedBin &found, int tile) {
        std::uint16_t &out = job.out(x, y);
        if (found.count == 0) {
          out = job.in(x, y);
          return;
        }
        const std::size_t tile_begin = std::size_t(tile) * job.tiles.capacity;
        const auto *const places = reinterpret_cast<const uint4 *>(job.ordered.places + tile_begin);
        const unsigned size = job.ordered.bin_size[tile], first = found.bin * size / 4;
        const unsigned last = (min((found.bin + 1) * size, job.ordered.count[tile]) + 3) / 4 - 1;
        // From the nearer end, four samples at a time.
        const bool up = 2 * found.rest < found.count;
        unsigned rest = up ? found.rest : found.count - 1 - found.rest;
        const int step = up ? 1 : -1;
        uint4 v;
        for (unsigned i = up ? first : last;; i += step) {
          v = places[i];
          const unsigned all =
              window.holds(v.x) + window.holds(v.y) + window.holds(v.z) + window.holds(v.w);
          if (rest < all) break;
          rest -= all;
        }
        const uint4 four = up ? v : uint4{v.w, v.z, v.y, v.x};
        const unsigned one = window.holds(four.x), two = one + window.holds(four.y),
                       three = two + window.holds(four.z);
        const unsigned place = rest < one     ? four.x
                               : rest < two   ? four.y
                               : rest < three ? four.z
                                              : four.w;
        const int down = static_cast<int>(place >> 16), across = place & 0xffff;
        out = job.bins(tile)[down * job.tiles.stride + across] >> 16;
      });
}

/// The mean of the samples from the first to the last one that were found.
template <TileCells kind>
static __global__ void __launch_bounds__(kMemberThreads)
    bin_mean_kernel(const __grid_constant__ OrdinalJob<TrimmedBins> job,
                    const __grid_constant__ WindowCells cells) {
  for_result<kind>(
      job, cells,
      [&](int x, int y, const TileWindow<kind> &window, const TrimmedBins &found, int tile) {
        std::uint16_t &out = job.out(x, y);
        if (found.n == 0) {
          out = job.in(x, y);
          return;
        }
        const std::size_t tile_begin = std::size_t(tile) * job.tiles.capacity;
        const auto *const places = reinterpret_cast<const uint4 *>(job.ordered.places + tile_begin);
        const auto *const values = reinterpret_cast<const uint2 *>(job.ordered.values + tile_begin);
        const unsigned size = job.ordered.bin_size[tile], count = job.ordered.count[tile];
        const int shift = job.selection.shift;
        // Of the first or the last n samples of a bin in the window.
        const auto sum_of = [&](unsigned bin, bool up, unsigned n) {
          const unsigned begin = bin * size / 4;
          const unsigned end = (min((bin + 1) * size, count) + 3) / 4;
          const int step = up ? 1 : -1;
          unsigned sum = 0;
          uint4 v{};
          uint2 w{};
          // Of the last four, not all that the window holds may belong to the n.
          for (unsigned i = up ? begin : end - 1; n > 0; i += step) {
            v = places[i], w = values[i];
            const unsigned a = window.holds(v.x), b = window.holds(v.y), c = window.holds(v.z),
                           d = window.holds(v.w), all = a + b + c + d;
            if (all > n) break;
            n -= all;
            sum += a * (w.x & 0xffff) + b * (w.x >> 16) + c * (w.y & 0xffff) + d * (w.y >> 16);
          }
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int j = up ? k : 3 - k;
            const unsigned place = j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w;
            const unsigned two = j < 2 ? w.x : w.y;
            if (n == 0 || !window.holds(place)) continue;
            sum += j % 2 ? two >> 16 : two & 0xffff;
            --n;
          }
          // Their lowest bits are 0.
          return sum >> shift;
        };
        const auto [first, last, whole_bins, n] = found;
        // Neighbours begin at different ends of bins, in the same loop.
        const bool first_up = found.first_is_whole(), last_up = !found.last_is_whole();
        const unsigned of_first =
            sum_of(first.bin, first_up, first_up ? first.rest : first.count - first.rest);
        const unsigned of_last =
            sum_of(last.bin, last_up, last_up ? last.rest + 1 : last.count - last.rest - 1);
        const unsigned sum =
            whole_bins + (first_up ? -of_first : of_first) + (last_up ? of_last : -of_last);
        const unsigned left = n - 2 * trimmed(n, job.selection.alpha);
        out = static_cast<std::uint16_t>((2 * std::uint64_t{sum} + left) / (2 * left) << shift);
      });
}

}  // namespace cudascan::swo
