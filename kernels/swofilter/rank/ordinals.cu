// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/ordinals.cuh"

#include <algorithm>
#include <type_traits>

#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/classes.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

/// Memory for sorted tiles. Images that need more are processed in parts.
constexpr std::size_t kMostOrderedBytes = std::size_t{1} << 29;

class Ordinals {
 public:
  Ordinals(Cuda &cuda, const SelectionJob<std::uint16_t> &selection, const Mask &mask)
      : cuda_(cuda),
        selection_(selection),
        mask_(mask),
        cells_(mask),
        columns_(mask.transposed()) {}

  void medians_and_ranks() {
    const auto digits = mask_.rectangle ? digits_blocks(cuda_, width(), height(), mask_.rx())
                                        : std::optional<RankBlocks>();
    if (digits) {
      for_parts<BinAndRest>(*digits, [&](const OrdinalJob<BinAndRest> &job, int n, Nothing) {
        launch(cuda_, digits_kernel_for<OrdinalDigitsJob>(mask_.height),
               {n, digits->columns, digits->columns * kDigitsColumnBytes},
               OrdinalDigitsJob{job, {job.tiles.width, job.tiles.height}});
        launch(cuda_, bin_rank_kernel, members(job, n), job, cells_, mask_.rectangle);
      });
    } else {
      find_bins<OrdinalRankJob, BinAndRest>(bin_rank_kernel);
    }
  }
  void trimmed_means() { find_bins<OrdinalMeanJob, TrimmedBins>(bin_mean_kernel); }
  void modes() {
    const RankBlocks blocks = sliding_blocks(cuda_, width(), height(), SlidingCounts::kBytes);
    for_parts<ModeBin, ClassedTiles>(
        blocks, [&](const OrdinalJob<ModeBin> &job, int n, const ClassedTiles &classed) {
          launch(cuda_, classes_kernel, {n, kOrderThreads}, job.tiles, job.ordered, classed);
          slide<OrdinalModeJob, SwoFilterOperator::mode>(blocks, job, n);
          launch(cuda_, class_mode_kernel, members(job, n), job, cells_, mask_.rectangle, classed);
        });
  }

 private:
  int width() const { return selection_.out.width; }
  int height() const { return selection_.out.height; }

  template <typename Job, SwoFilterOperator op = SwoFilterOperator::rank, typename Found>
  void slide(const RankBlocks &blocks, const OrdinalJob<Found> &job, int n) {
    launch(cuda_, sliding_kernel<op, Job>,
           {n, blocks.columns, blocks.columns * Job::Counts::kBytes}, Job{job}, columns_);
  }
  template <typename Job, typename Found, typename Kernel>
  void find_bins(Kernel *from_bins) {
    const RankBlocks blocks = sliding_blocks(cuda_, width(), height(), Job::Counts::kBytes);
    for_parts<Found>(blocks, [&](const OrdinalJob<Found> &job, int n, Nothing) {
      slide<Job>(blocks, job, n);
      launch(cuda_, from_bins, members(job, n), job, cells_, mask_.rectangle);
    });
  }

  template <typename Found>
  LaunchShape members(const OrdinalJob<Found> &job, int n) const {
    return {dim3(divide_up(job.tiles.width, 32), divide_up(job.tiles.height, kMemberRows), n),
            kMemberThreads};
  }

  /// Of what only some operators need of tiles.
  struct Nothing {
    static std::size_t bytes(int, int) { return 0; }
    static Nothing at(void *, int, int) { return {}; }
  };

  /// Sorts tiles and calls find(job, number of tiles, more memory of tiles), as often as memory
  /// requires.
  template <typename Found, typename More = Nothing, typename Find>
  void for_parts(const RankBlocks &blocks, const Find &find) {
    // A tile's bins have few samples if the tile is small.
    constexpr int kMostRows = 256;
    const int tile_width = blocks.results.width,
              tile_height = std::min(blocks.results.height, kMostRows);
    const int stride = tile_width + 2 * mask_.rx();
    const int capacity = divide_up(stride * (tile_height + 2 * mask_.ry()), 16) * 16;
    const OrderTiles tiles{tile_width, tile_height, divide_up(width(), tile_width),
                           mask_.rx(), mask_.ry(),  stride,
                           capacity};
    const int all = tiles.across * divide_up(height(), tile_height);
    const std::size_t found_bytes =
        (std::size_t(tile_width) * tile_height * sizeof(Found) + 15) / 16 * 16;
    const auto bytes = [&](int n) {
      return n * found_bytes + OrderedTiles::bytes(capacity, n) + More::bytes(capacity, n) + 16;
    };
    constexpr std::size_t kMostTiles = 65535;  // of a launch
    const int most = static_cast<int>(std::min<std::size_t>(
        {kMostTiles, std::max<std::size_t>(kMostOrderedBytes / bytes(1), 1), std::size_t(all)}));
    auto *const memory = static_cast<unsigned char *>(cuda_.scratch(bytes(most)));
    auto *const sorted = memory + most * found_bytes;
    const OrderedTiles ordered = OrderedTiles::at(sorted, capacity, most);
    const std::size_t sorted_bytes = (OrderedTiles::bytes(capacity, most) + 15) / 16 * 16;
    const More more = More::at(sorted + sorted_bytes, capacity, most);
    for (int begin = 0; begin < all; begin += most) {
      const int n = std::min(most, all - begin);
      order(tiles, ordered, begin, n);
      find(OrdinalJob<Found>{selection_, tiles, ordered, begin, reinterpret_cast<Found *>(memory)},
           n, more);
    }
  }

  void order(const OrderTiles &tiles, const OrderedTiles &ordered, int begin, int n) {
    int bits = 15;
    while ((4 << bits) + 4096 > cuda_.most_shared_memory()) --bits;
    launch(cuda_, order_kernel, {n, kOrderThreads, 4 << bits},
           OrderJob{selection_.in, tiles, ordered, begin, bits});
  }

  Cuda &cuda_;
  const SelectionJob<std::uint16_t> &selection_;
  const Mask &mask_;
  const WindowCells cells_;
  const WindowColumns columns_;
};

}  // namespace

void rank_by_ordinals(Cuda &cuda, const SelectionJob<std::uint16_t> &job, const Mask &mask) {
  Ordinals ordinals(cuda, job, mask);
  switch (job.op) {
    case SwoFilterOperator::alpha_trimmed_mean:
      return ordinals.trimmed_means();
    case SwoFilterOperator::mode:
      return ordinals.modes();
    default:
      return ordinals.medians_and_ranks();
  }
}

}  // namespace cudascan::swo
