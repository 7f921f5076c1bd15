// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Results of 16-bit samples from the bins of ordered tiles: what digits_kernel and sliding_kernel
/// find of the bins, and how a result follows from the sorted samples of a bin.
#pragma once
#include "kernels/swofilter/rank/digits.cuh"
#include "kernels/swofilter/rank/order.cuh"
#include "kernels/swofilter/rank/sliding.cuh"

namespace cudascan::swo {

/// Where a result is among the ordinals: a bin in the lowest 8 bits, and above the number of
/// samples of this bin in the window that come before.
using BinAndRest = unsigned;
constexpr BinAndRest kNoSamples = ~0u;

CUDASCAN_HD constexpr BinAndRest bin_and_rest(unsigned bin, unsigned rest) {
  return rest << 8 | bin;
}

/// What is known of a trimmed mean: its first and last sample, the sum of the bins between their
/// bins, and the number of samples in the window.
struct TrimmedBins {
  BinAndRest first, last;
  unsigned sum, n;
};

/// The tiles of a launch; block number i works on tile `begin` + i.
/// @tparam Found  what is found for each result
template <typename Found>
struct OrdinalJob {
  SelectionJob<std::uint16_t> selection;
  OrderTiles tiles;
  OrderedTiles ordered;
  int begin;
  Found *found;  // of all results of a tile, row by row

  __device__ int tile() const { return begin + static_cast<int>(blockIdx.x); }
  __device__ int x0() const { return tiles.x0(tile()); }
  __device__ int y0() const { return tiles.y0(tile()); }
  __device__ const std::uint8_t *bins() const {
    return ordered.bins + std::size_t(blockIdx.x) * tiles.capacity;
  }
  /// @param x, y  in the image
  __device__ Found &at(int x, int y) const {
    return found[std::size_t(blockIdx.x) * tiles.width * tiles.height +
                 std::size_t(y - y0()) * tiles.width + (x - x0())];
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
  __device__ BinColumn(const std::uint8_t *bins, int stride, int top)
      : bins_(bins), stride_(stride), top_(top) {}
  __device__ int sample(int y) const {
    if (!bins_) return -1;
    const int bin = bins_[(y - top_) * stride_];
    return bin == static_cast<int>(kNoBin) ? -1 : bin;
  }

 private:
  const std::uint8_t *bins_;
  int stride_, top_;
};

/// For medians and ranks of rectangles.
struct OrdinalDigitsJob : OrdinalJob<BinAndRest> {
  BlockResults results;

  __device__ BinColumn column(int x, bool kept) const {
    return {kept ? bins() + (x + tiles.rx - x0()) : nullptr, tiles.stride, y0() - tiles.ry};
  }
  __device__ void put(int x, int y, unsigned bin, unsigned rest) const {
    at(x, y) = bin_and_rest(bin, rest);
  }
};

/// For windows of any shape.
template <typename Found>
struct OrdinalSlidingJob : OrdinalJob<Found> {
  using OrdinalJob<Found>::selection;
  using OrdinalJob<Found>::tiles;

  __device__ int width() const { return selection.out.width; }
  __device__ int bottom() const {
    return min(this->y0() + tiles.height, static_cast<int>(selection.out.height));
  }
  __device__ int bin(int x, int y) const {
    const int bin =
        this->bins()[(y - this->y0() + tiles.ry) * tiles.stride + x - this->x0() + tiles.rx];
    return bin == static_cast<int>(kNoBin) ? -1 : bin;
  }
};

/// For medians and ranks.
struct OrdinalRankJob : OrdinalSlidingJob<BinAndRest> {
  using Counts = SlidingCounts;

  __device__ bool is_inner() const { return true; }
  __device__ SlidingLevel inner(int x, int y) const { return {bin(x, y)}; }
  __device__ SlidingLevel sample(int x, int y) const { return inner(x, y); }
  template <SwoFilterOperator>
  __device__ void put(int x, int y, unsigned n, const Counts &, SlidingSearch &search) const {
    if (n == 0) {
      at(x, y) = kNoSamples;
    } else {
      const auto [bin, rest] = search.at(rank(n));
      at(x, y) = bin_and_rest(bin, rest);
    }
  }
};

/// A bin and its sample, without unused low bits.
struct BinAndLevel {
  int level;  // the bin, or -1 for none
  unsigned value;

  __device__ bool operator==(const BinAndLevel &other) const {
    return level == other.level && value == other.value;
  }
};

/// Counts and sums of bins. Sums of the largest window of the largest samples fit into 32 bits.
class SlidingSums : public SlidingCounts {
 public:
  static constexpr int kBytes = SlidingCounts::kBytes + 4 * kSlidingLevels;

  __device__ SlidingSums(unsigned *words, int threads)
      : SlidingCounts(words, threads), sums_(words + kWords * threads), threads_(threads) {}
  __device__ void clear() const {
    SlidingCounts::clear();
    for (int i = 0; i < kSlidingLevels; ++i) sums_[i * threads_] = 0;
  }
  __device__ void change(const BinAndLevel &sample, unsigned by) const {
    SlidingCounts::change({sample.level}, by);
    atomicAdd(sums_ + sample.level * threads_, by * sample.value);
  }
  __device__ unsigned sum(int bin) const { return sums_[bin * threads_]; }

 private:
  unsigned *sums_;
  int threads_;
};

/// For trimmed means.
struct OrdinalMeanJob : OrdinalSlidingJob<TrimmedBins> {
  using Counts = SlidingSums;

  __device__ bool is_inner() const {
    return x0() >= tiles.rx && x0() + int(blockDim.x) + tiles.rx <= width() && y0() >= tiles.ry &&
           bottom() + tiles.ry <= selection.out.height;
  }
  __device__ BinAndLevel inner(int x, int y) const {
    return {bin(x, y), static_cast<unsigned>(selection.in.plane.row(y)[x]) >> selection.shift};
  }
  __device__ BinAndLevel sample(int x, int y) const {
    BinAndLevel found{bin(x, y), 0};
    selection.in.visit(x, y, [&](unsigned sample) { found.value = sample >> selection.shift; });
    return found;
  }
  template <SwoFilterOperator>
  __device__ void put(int x, int y, unsigned n, const Counts &counts, SlidingSearch &search) const {
    TrimmedBins found{kNoSamples, kNoSamples, 0, n};
    if (n > 0) {
      const unsigned t = trimmed(n, selection.alpha);
      const LevelAndRest first = search.at(t), last = search.at(n - 1 - t);
      found.first = bin_and_rest(first.level, first.rest);
      found.last = bin_and_rest(last.level, last.rest);
      for (unsigned bin = first.level + 1; bin < last.level; ++bin) found.sum += counts.sum(bin);
    }
    at(x, y) = found;
  }
};

/// Whether places of a tile are in a window.
class TileWindow {
 public:
  /// The cells of a window that is no rectangle, as bits; all threads of the block call it.
  __device__ static void set_cells(const WindowCells &cells, unsigned *bits) {
    const int words = words_of(cells);
    for (int i = threadIdx.x; i < words * (2 * cells.ry + 1); i += blockDim.x) bits[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < cells.n_runs; i += blockDim.x) {
      const Run run = cells.runs[i];
      for (int x = run.first + cells.rx; x <= run.last + cells.rx; ++x)
        atomicOr(bits + (run.y + cells.ry) * words + x / 32, 1u << x % 32);
    }
    __syncthreads();
  }
  static constexpr int kMostWords = 255 * 8;

  /// @param x, y  the upper left corner in the tile
  /// @param bits  nullptr for a rectangle
  __device__ TileWindow(const WindowCells &cells, int x, int y, const unsigned *bits)
      : bits_(bits),
        words_(words_of(cells)),
        corner_(static_cast<unsigned>(y) << 16 | static_cast<unsigned>(x)),
        room_((0x7fffu - 2 * cells.ry) << 16 | (0x7fffu - 2 * cells.rx)) {}

  /// 1 or 0.
  __device__ unsigned holds(unsigned place) const {
    // Both halves at once: negative differences, and those above the room, set the uppermost bit.
    const unsigned d = place - corner_;
    if (((d + room_) | d) & 0x80008000) return 0;
    if (!bits_) return 1;
    const unsigned x = d & 0xffff, y = d >> 16;
    return bits_[y * words_ + x / 32] >> x % 32 & 1;
  }

 private:
  __device__ static int words_of(const WindowCells &cells) { return 2 * cells.rx / 32 + 1; }

  const unsigned *bits_;
  int words_;
  unsigned corner_, room_;
};

/// Rows of a block's threads, each of them 32 wide.
constexpr int kMemberRows = 8, kMemberThreads = 32 * kMemberRows;

/// Calls write(x, y, window, sorted samples of the tile) for this thread's result, if it has one. A
/// block in z works on a tile.
template <typename Found, typename Write>
__device__ void for_result(const OrdinalJob<Found> &job, const WindowCells &cells, bool rectangle,
                           unsigned *bits, const Write &write) {
  if (!rectangle) TileWindow::set_cells(cells, bits);
  const OrderTiles &tiles = job.tiles;
  const int in_tile = blockIdx.z, tile = job.begin + in_tile;
  const int dx = blockIdx.x * 32 + threadIdx.x % 32;
  const int dy = blockIdx.y * kMemberRows + threadIdx.x / 32;
  const int x = tiles.x0(tile) + dx, y = tiles.y0(tile) + dy;
  if (dx >= tiles.width || dy >= tiles.height) return;
  if (x >= job.selection.out.width || y >= job.selection.out.height) return;
  const std::size_t i = (std::size_t(in_tile) * tiles.height + dy) * tiles.width + dx;
  write(x, y, TileWindow(cells, dx, dy, rectangle ? nullptr : bits), job.found[i], in_tile);
}

/// The sample of the bin that was found.
static __global__ void __launch_bounds__(kMemberThreads)
    bin_rank_kernel(const __grid_constant__ OrdinalJob<BinAndRest> job,
                    const __grid_constant__ WindowCells cells, bool rectangle) {
  __shared__ unsigned bits[TileWindow::kMostWords];
  for_result(
      job, cells, rectangle, bits,
      [&](int x, int y, const TileWindow &window, BinAndRest found, int tile) {
        std::uint16_t &out = job.selection.out.row(y)[x];
        if (found == kNoSamples) {
          out = job.selection.in.plane.row(y)[x];
          return;
        }
        const std::size_t begin = std::size_t(tile) * job.tiles.capacity +
                                  std::size_t(found & 255) * job.ordered.bin_size[tile];
        const auto *const places = reinterpret_cast<const uint4 *>(job.ordered.places + begin);
        unsigned rest = found >> 8, i = 0;
        for (;; ++i) {
          const uint4 four = places[i];
          const unsigned one = window.holds(four.x), two = one + window.holds(four.y),
                         three = two + window.holds(four.z), all = three + window.holds(four.w);
          if (rest < all) {
            i = 4 * i + (rest >= one) + (rest >= two) + (rest >= three);
            break;
          }
          rest -= all;
        }
        out = job.ordered.values[begin + i];
      });
}

/// The mean of the samples from the first to the last one that were found.
static __global__ void __launch_bounds__(kMemberThreads)
    bin_mean_kernel(const __grid_constant__ OrdinalJob<TrimmedBins> job,
                    const __grid_constant__ WindowCells cells, bool rectangle) {
  __shared__ unsigned bits[TileWindow::kMostWords];
  for_result(job, cells, rectangle, bits,
             [&](int x, int y, const TileWindow &window, const TrimmedBins &found, int tile) {
               std::uint16_t &out = job.selection.out.row(y)[x];
               if (found.n == 0) {
                 out = job.selection.in.plane.row(y)[x];
                 return;
               }
               const std::size_t tile_begin = std::size_t(tile) * job.tiles.capacity;
               const unsigned bin_size = job.ordered.bin_size[tile],
                              count = job.ordered.count[tile];
               const int shift = job.selection.shift;
               std::uint64_t sum = found.sum;
               // Those of a bin's samples in the window with numbers from first to last.
               const auto add = [&](unsigned bin, unsigned first, unsigned last) {
                 const unsigned begin = bin * bin_size, end = min(begin + bin_size, count);
                 unsigned number = 0;
                 for (unsigned i = begin; i < end && number <= last; ++i)
                   if (window.holds(job.ordered.places[tile_begin + i])) {
                     if (number >= first) sum += job.ordered.values[tile_begin + i] >> shift;
                     ++number;
                   }
               };
               const unsigned first_bin = found.first & 255, last_bin = found.last & 255;
               if (first_bin == last_bin) {
                 add(first_bin, found.first >> 8, found.last >> 8);
               } else {
                 add(first_bin, found.first >> 8, ~0u - 1);
                 add(last_bin, 0, found.last >> 8);
               }
               const unsigned left = found.n - 2 * trimmed(found.n, job.selection.alpha);
               out = static_cast<std::uint16_t>((2 * sum + left) / (2 * left) << shift);
             });
}

}  // namespace cudascan::swo
