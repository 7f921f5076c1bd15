// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/ordinals.cuh"

#include <algorithm>
#include <type_traits>

#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

/// Memory for sorted tiles. Images that need more are processed in parts.
constexpr std::size_t kMostOrderedBytes = std::size_t{1} << 29;

class Ordinals {
 public:
  Ordinals(Cuda &cuda, const SelectionJob<std::uint16_t> &selection, const Mask &mask)
      : cuda_(cuda), selection_(selection), mask_(mask), cells_(mask) {}

  void medians_and_ranks() {
    const auto digits = mask_.rectangle ? digits_blocks(cuda_, width(), height(), mask_.rx())
                                        : std::optional<RankBlocks>();
    if (digits) {
      for_parts<BinAndRest>(*digits, [&](const OrdinalJob<BinAndRest> &job, int n) {
        launch(cuda_, digits_kernel_for<OrdinalDigitsJob>(mask_.height),
               {n, digits->columns, digits->columns * kDigitsColumnBytes},
               OrdinalDigitsJob{job, digits->results});
        launch(cuda_, bin_rank_kernel, members(job, n), job, cells_, mask_.rectangle);
      });
    } else {
      slide<OrdinalRankJob, BinAndRest>(bin_rank_kernel);
    }
  }
  void trimmed_means() { slide<OrdinalMeanJob, TrimmedBins>(bin_mean_kernel); }

 private:
  int width() const { return selection_.out.width; }
  int height() const { return selection_.out.height; }

  template <typename Job, typename Found, typename Kernel>
  void slide(Kernel *from_bins) {
    constexpr int kBytes = Job::Counts::kBytes;
    const RankBlocks blocks = sliding_blocks(cuda_, width(), height(), kBytes);
    const WindowColumns columns(mask_.transposed());
    for_parts<Found>(blocks, [&](const OrdinalJob<Found> &job, int n) {
      launch(cuda_, sliding_kernel<SwoFilterOperator::rank, Job>,
             {n, blocks.columns, blocks.columns * kBytes}, Job{job}, columns);
      launch(cuda_, from_bins, members(job, n), job, cells_, mask_.rectangle);
    });
  }

  template <typename Found>
  LaunchShape members(const OrdinalJob<Found> &job, int n) const {
    return {dim3(divide_up(job.tiles.width, 32), divide_up(job.tiles.height, kMemberRows), n),
            kMemberThreads};
  }

  /// Sorts tiles and calls find(job, number of tiles), as often as memory requires.
  template <typename Found, typename Find>
  void for_parts(const RankBlocks &blocks, const Find &find) {
    const auto [tile_width, tile_height] = blocks.results;
    const int columns = tile_width + 2 * mask_.rx(), rows = tile_height + 2 * mask_.ry();
    const OrderTiles tiles{tile_width, tile_height, static_cast<int>(blocks.blocks.x), mask_.rx(),
                           mask_.ry(), columns,     divide_up(columns * rows, 16) * 16};
    const std::size_t found_bytes = std::size_t(tile_width) * tile_height * sizeof(Found);
    const std::size_t tile_bytes = found_bytes + OrderedTiles::bytes(tiles.capacity, 1);
    const int all = static_cast<int>(blocks.blocks.x * blocks.blocks.y);
    constexpr int kMostTiles = 65535;  // of a launch
    const int most = static_cast<int>(
        std::clamp<std::size_t>(kMostOrderedBytes / tile_bytes, 1, std::min(all, kMostTiles)));
    auto *const memory = static_cast<unsigned char *>(cuda_.scratch(most * tile_bytes));
    const OrderedTiles ordered =
        OrderedTiles::at(memory + most * found_bytes, tiles.capacity, most);
    for (int begin = 0; begin < all; begin += most) {
      const int n = std::min(most, all - begin);
      order(tiles, ordered, begin, n);
      find(OrdinalJob<Found>{selection_, tiles, ordered, begin, reinterpret_cast<Found *>(memory)},
           n);
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
};

}  // namespace

void rank_by_ordinals(Cuda &cuda, const SelectionJob<std::uint16_t> &job, const Mask &mask) {
  Ordinals ordinals(cuda, job, mask);
  if (job.op == SwoFilterOperator::alpha_trimmed_mean)
    ordinals.trimmed_means();
  else
    ordinals.medians_and_ranks();
}

}  // namespace cudascan::swo
