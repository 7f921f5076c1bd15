// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/ordinals.cuh"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/swofilter/rank/bin_columns.cuh"
#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/following.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

using Op = SwoFilterOperator;

/// Memory for sorted tiles. Images that need more are processed in parts.
constexpr std::size_t kMostOrderedBytes = std::size_t{3} << 28;
/// Tiles are at most so high: bins of small tiles have few samples.
constexpr int kMostTileRows = 288;
/// Means visit more samples of bins. So tiles have at most so many rows for windows of few samples;
/// for others, twice as many as the window reaches down, but no fewer than these.
constexpr int kMostFewMean = 4096, kMostMeanRows = 144, kFewestMeanRows = 96;
/// The most rows of tiles for windows of a small reach are a multiple of it, or these.
constexpr int kSmallReach = 31, kFewestTileRows = 72;
/// The narrower side of the smallest rectangles whose trimmed means bin_columns_kernel finds: its
/// steps cost the same for all sizes, those of following_kernel as much as this side is long.
constexpr int kNarrowestOfColumns = 56;
/// Tiles of bin_columns_kernel have at most so many rows of results, or half the window's rows; and
/// at most so many columns, or the window's. Bins of small tiles have few samples.
constexpr int kMostColumnsRows = 64, kMostColumns = 6 * kBinColumnsWarps;
/// Columns of results that a tile must have for two blocks on a multiprocessor, and at least.
constexpr int kEnoughColumns = 5 * kBinColumnsWarps, kFewestColumns = 2 * kBinColumnsWarps;
/// Rectangles up to this width are no wide ones. The tiles of wide ones are transposed, unless
/// digit_scans_kernel finds the bins, whose time does not depend on the width, and the window has
/// at least so many rows: results of low windows are in many bins.
constexpr int kMostNarrow = 31, kLowestScanned = 25;

static_assert((kMostDigitsColumns * (kMostTileRows + 254) + 255) / 256 + 4 < kMostBinSize);
static_assert((2 * kSlidingThreads + 254) * (kMostTileRows + 254) /
                      static_cast<int>(SummedBins::kNumber) +
                  4 <
              kMostBinSize);
static_assert((kBinColumnsThreads * (127 + 254)) / static_cast<int>(kColumnBins) + 4 <
              kMostBinSize);

/// Results of a tile for bin_columns_kernel. None if the device has too little shared memory for
/// the window.
std::optional<RankBlocks> bin_columns_blocks(Cuda &cuda, int width, int height, const Mask &mask) {
  const int rx = mask.rx();
  const auto columns_of = [&](int resident) {
    const int memory = shared_memory_each(cuda, resident) - bin_columns_bytes(0);
    return std::min(memory / kBinColumnBytes, kBinColumnsThreads) / 4 * 4;
  };
  const int resident = columns_of(2) - 2 * rx < kEnoughColumns ? 1 : 2;
  const int columns = std::min(columns_of(resident), 2 * rx + std::max(kMostColumns, 2 * rx));
  if (columns - 2 * rx < kFewestColumns) return {};
  const int most_rows = std::max(kMostColumnsRows, mask.ry());
  // All multiprocessors take the same number of tiles.
  for (int tiles = resident;; ++tiles) {
    RankBlocks blocks = rank_blocks(cuda, width, height, rx, columns, 4, tiles);
    if (blocks.results.height > most_rows) continue;
    // Rows begin at multiples of four samples.
    blocks.results.width = blocks.columns - 2 * rx;
    return blocks;
  }
}

class Ordinals {
 public:
  /// @param transposed  tiles and the mask are
  Ordinals(Cuda &cuda, const SelectionJob<std::uint16_t> &selection, const Mask &mask,
           bool transposed)
      : cuda_(cuda),
        selection_(selection),
        mask_(mask),
        transposed_(transposed),
        cells_(mask),
        columns_(mask.transposed()) {}

  void medians_and_ranks() {
    if (!mask_.rectangle) return by_following<FollowedRank>(kernel_of_cells<RankedBin>());
    if (const auto scans = scan_blocks(cuda_, width(), height(), mask_.rx()))
      return ranks(scans->ranks.results, [&](const OrdinalDigitsJob &job, int n) {
        launch(cuda_, digit_scans_kernel<OrdinalDigitsJob>, scans->shape(n), job, scans->memory);
      });
    if (const auto digits = digits_blocks(cuda_, width(), height(), mask_.rx()))
      return ranks(digits->results, [&](const OrdinalDigitsJob &job, int n) {
        launch(cuda_, digits_kernel_for<OrdinalDigitsJob>(mask_.height),
               {n, digits->columns, digits->columns * kDigitsColumnBytes}, job);
      });
    by_following<FollowedRank>(kernel_of_cells<RankedBin>());
  }

  /// @return false if the device has too little shared memory for the window
  bool trimmed_means_of_columns() {
    const auto blocks = bin_columns_blocks(cuda_, width(), height(), mask_);
    if (!blocks) return false;
    const auto find = [&](const OrdinalJob<TrimmedBins> &job, int n) {
      launch(cuda_, bin_columns_kernel, {n, kBinColumnsThreads, bin_columns_bytes(blocks->columns)},
             job);
      launch(cuda_, bin_mean_kernel<TileCells::rectangle>, members(job, n), job, cells_);
    };
    for_parts<TrimmedBins>(blocks->results, find, {kColumnBins, kBinUnit, selection_.shift});
    return true;
  }

  void trimmed_means() {
    if (mask_.count() <= kMostSmallSum)
      return by_following<FollowedMean<SmallSummedBins>>(kernel_of_cells<TrimmedBins>());
    by_following<FollowedMean<SummedBins>>(kernel_of_cells<TrimmedBins>());
  }

 private:
  /// Of rectangles.
  /// @param results    of a tile
  /// @param find_bins  find_bins(job, number of tiles)
  template <typename FindBins>
  void ranks(const BlockResults &results, const FindBins &find_bins) {
    const auto find = [&](const OrdinalJob<RankedBin> &job, int n) {
      OrdinalDigitsJob of_digits{job, {job.tiles.width, job.tiles.height}};
      // The kernels ask for sizes only.
      SelectionJob<std::uint16_t> &sizes = of_digits.selection;
      sizes.in.plane.width = width(), sizes.in.plane.height = height();
      sizes.rx = mask_.rx(), sizes.ry = mask_.ry();
      find_bins(of_digits, n);
      launch(cuda_, bin_rank_kernel<TileCells::rectangle>, members(job, n), job, cells_);
    };
    for_parts<RankedBin>(results, find, {.with_values = false});
  }

  template <typename Found>
  using BinKernel = void (*)(OrdinalJob<Found>, WindowCells);

  template <typename Found, TileCells kind>
  static BinKernel<Found> kernel_of() {
    if constexpr (std::is_same_v<Found, RankedBin>)
      return bin_rank_kernel<kind>;
    else
      return bin_mean_kernel<kind>;
  }
  /// The kernel that finds results from what is known of their bins.
  template <typename Found>
  BinKernel<Found> kernel_of_cells() const {
    if (mask_.rectangle) return kernel_of<Found, TileCells::rectangle>();
    const std::vector<Run> runs = mask_.runs();
    const bool in_rows = std::adjacent_find(runs.begin(), runs.end(),
                                            [](Run a, Run b) { return a.y == b.y; }) == runs.end();
    return in_rows ? kernel_of<Found, TileCells::rows>() : kernel_of<Found, TileCells::bits>();
  }

  int width() const { return transposed_ ? selection_.out.height : selection_.out.width; }
  int height() const { return transposed_ ? selection_.out.width : selection_.out.height; }

  template <typename Followed, typename Kernel>
  void by_following(Kernel *from_bins) {
    using Found = typename Followed::Found;
    const int bytes = following_bytes<Followed>(columns_);
    if (bytes > cuda_.most_shared_memory())
      return launch(
          cuda_, selection_kernel<std::uint16_t>,
          {dim3(divide_up(selection_.out.width, 32), divide_up(selection_.out.height, 8)), 256},
          selection_, transposed_ ? columns_ : cells_);
    const bool is_filled = has_column_runs(columns_) && columns_.count >= kFewestToFill;
    const auto find = [&](const OrdinalJob<Found> &job, int n) {
      const OrdinalSlidingJob<Found> sliding{job};
      launch(cuda_,
             is_filled ? following_kernel<Followed, true> : following_kernel<Followed, false>,
             {n * sliding.blocks, kSlidingThreads, bytes}, sliding, columns_);
      launch(cuda_, from_bins, members(job, n), job, cells_);
    };
    for_parts<Found>(following_results(bytes, Followed::kOfMeans), find,
                     {Followed::Bins::kNumber, kFollowedUnit,
                      Followed::kOfMeans ? selection_.shift : 0, Followed::kOfMeans});
  }

  /// Of a tile. Small tiles have few samples in a bin; for large windows they are mostly margin.
  /// @param bytes  of a block
  BlockResults following_results(int bytes, bool of_means) const {
    const int rows = sliding_blocks(cuda_, width(), height(), bytes).results.height;
    const auto part = [&](int most) { return divide_up(rows, divide_up(rows, most)); };
    if (std::max(mask_.rx(), mask_.ry()) <= kSmallReach)
      return {kSlidingThreads, part(std::max(kFewestTileRows, 4 * mask_.ry()))};
    const int most = !of_means                       ? kMostTileRows
                     : mask_.count() <= kMostFewMean ? kMostMeanRows
                                                     : std::max(2 * mask_.ry(), kFewestMeanRows);
    return {2 * kSlidingThreads, part(most)};
  }

  template <typename Found>
  LaunchShape members(const OrdinalJob<Found> &job, int n) const {
    return {dim3(divide_up(job.tiles.width, 32), divide_up(job.tiles.height, kMemberRows), n),
            kMemberThreads};
  }

  /// Sorts tiles and calls find(job, number of tiles), as often as memory requires.
  /// @param results  of a tile
  template <typename Found, typename Find>
  void for_parts(const BlockResults &results, const Find &find, const OrderBins &bins = {}) {
    const int tile_width = results.width, tile_height = std::min(results.height, kMostTileRows);
    const int stride = tile_width + 2 * mask_.rx();
    const int capacity = divide_up(stride * (tile_height + 2 * mask_.ry()), 16) * 16;
    const OrderTiles tiles{tile_width, tile_height, divide_up(width(), tile_width),
                           mask_.rx(), mask_.ry(),  stride,
                           capacity,   transposed_};
    const int all = tiles.across * divide_up(height(), tile_height);
    // Each part of the memory begins at a multiple of 16 bytes.
    const auto found_bytes = [&](int n) {
      return (std::size_t(n) * tile_width * tile_height * sizeof(Found) + 15) / 16 * 16;
    };
    const auto bytes = [&](int n) { return found_bytes(n) + OrderedTiles::bytes(capacity, n); };
    constexpr std::size_t kMostTiles = 65535;  // of a launch
    const int fit = static_cast<int>(std::min<std::size_t>(
        {kMostTiles, std::max<std::size_t>(kMostOrderedBytes / bytes(1), 1), std::size_t(all)}));
    const int most = divide_up(all, divide_up(all, fit));  // parts take equally long
    auto *const found = static_cast<unsigned char *>(cuda_.scratch(bytes(most)));
    const OrderedTiles ordered = OrderedTiles::at(found + found_bytes(most), capacity, most);
    for (int begin = 0; begin < all; begin += most) {
      const int n = std::min(most, all - begin);
      order(tiles, ordered, begin, n, bins);
      find(OrdinalJob<Found>{selection_, tiles, ordered, begin, reinterpret_cast<Found *>(found)},
           n);
    }
  }

  template <bool in_parts>
  auto order_kernel_of() const {
    return transposed_ ? order_kernel<true, in_parts> : order_kernel<false, in_parts>;
  }
  void order(const OrderTiles &tiles, const OrderedTiles &ordered, int begin, int n,
             const OrderBins &bins) {
    int bits = 15;
    while ((4 << bits) + 4096 > cuda_.most_shared_memory()) --bits;
    const std::size_t sorted = sizeof(unsigned) + (bins.with_values ? sizeof(std::uint16_t) : 0);
    const std::size_t bytes = std::min(n, cuda_.multiprocessors()) * tiles.capacity * sorted;
    const int cached = std::max(cuda_.cache_bytes() / kOrderCacheShare, 1);
    const int parts = std::min(divide_up(bytes, cached), kMostOrderParts);
    launch(cuda_, parts > 1 ? order_kernel_of<true>() : order_kernel_of<false>(),
           {n, kOrderThreads, 4 << bits},
           OrderJob{selection_.in, tiles, ordered, begin, bits, parts, bins});
  }

  Cuda &cuda_;
  const SelectionJob<std::uint16_t> &selection_;
  const Mask &mask_;
  const bool transposed_;
  const WindowCells cells_;
  const WindowColumns columns_;
};

}  // namespace

void rank_by_ordinals(Cuda &cuda, const SelectionJob<std::uint16_t> &job, const Mask &mask) {
  const Mask transposed = mask.transposed();
  // Windows slide across instead of down if they have fewer rows than columns. So do wide
  // rectangles whose columns are added one by one.
  const bool slides_across = mask.runs().size() * 4 < transposed.runs().size() * 3;
  if (job.op == Op::alpha_trimmed_mean) {
    // Tiles have a narrower margin if the window is not wider than high.
    const bool is_wide = mask.width > mask.height;
    if (mask.rectangle && std::min(mask.width, mask.height) >= kNarrowestOfColumns &&
        Ordinals(cuda, job, is_wide ? transposed : mask, is_wide).trimmed_means_of_columns())
      return;
    return Ordinals(cuda, job, slides_across ? transposed : mask, slides_across).trimmed_means();
  }
  const bool is_wide = mask.width > kMostNarrow && mask.width > 2 * mask.height;
  const bool is_scanned =
      mask.height >= kLowestScanned && scan_blocks(cuda, job.out.width, job.out.height, mask.rx());
  const bool across = mask.rectangle ? is_wide && !is_scanned : slides_across;
  Ordinals(cuda, job, across ? transposed : mask, across).medians_and_ranks();
}

}  // namespace cudascan::swo
