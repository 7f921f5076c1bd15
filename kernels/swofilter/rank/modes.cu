// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/modes.cuh"

#include <algorithm>

#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

/// Shared memory that kernels have of their own.
constexpr int kStaticBytes = 256;
/// Codes are read from shared memory if so many blocks have room for them.
constexpr int kBlocksWithCodes = 6;

ModeBytes mode_bytes(int most_codes, bool shared_counts) {
  const int groups = most_codes / kBoundCodes;
  return {shared_counts ? 2 * most_codes : 0, divide_up(groups, kBoundsRead) * kBoundsRead * 4, 0};
}

/// Tiles of results, and how many codes they have at most.
struct ModeTiles {
  int along, across, most_codes;

  ModeTiles(const WindowCells &cells, int image_along, int image_across)
      // The first window of a line takes as long as many steps; large tiles have many codes.
      : along(std::min(cells.rx < 24    ? 64
                       : cells.rx < 100 ? 128
                                        : 256,
                       image_along)),
        across(std::min(cells.ry < 8 ? 16 : 32, image_across)),
        most_codes(divide_up(std::min((along + 2 * cells.rx) * (across + 2 * cells.ry), 1 << 16),
                             kBoundCodes) *
                   kBoundCodes) {}
};

/// The launches for all tiles.
class ModeLaunches {
 public:
  ModeLaunches(Cuda &cuda, const SelectionJob<std::uint16_t> &selection, const WindowCells &cells,
               bool transposed)
      : cuda_(cuda),
        cells_(cells),
        threads_(divide_up(cells.n_runs, 32) * 32),
        image_along_(transposed ? selection.out.height : selection.out.width),
        image_across_(transposed ? selection.out.width : selection.out.height),
        tiles_(cells, image_along_, image_across_),
        // Places along are in different banks.
        pitch_(divide_up(tiles_.across + 2 * cells.ry + 2, 4) * 4 - 2),
        area_(pitch_ * (tiles_.along + 2 * cells.rx)),
        job_{selection.in,
             selection.out,
             transposed,
             tiles_.along,
             tiles_.across,
             divide_up(image_along_, tiles_.along),
             0,
             pitch_,
             area_,
             0,
             {},
             false,
             nullptr,
             nullptr,
             0} {
    job_.tiles = job_.tiles_along * divide_up(image_across_, tiles_.across);
  }

  void operator()() {
    // Two blocks hide more latency. Few tiles have more codes than these have room for.
    int codes = tiles_.most_codes;
    while (mode_bytes(codes, true).all() > shared_memory_each(cuda_, 2) - kStaticBytes)
      codes -= kBoundCodes;
    ModeBytes first = mode_bytes(codes, true);
    const int code_bytes = divide_up(2 * area_, 128) * 128;
    if (first.all() + code_bytes <= shared_memory_each(cuda_, kBlocksWithCodes) - kStaticBytes)
      first.codes = code_bytes;
    const bool fits =
        mode_bytes(tiles_.most_codes, true).all() + kStaticBytes <= cuda_.most_shared_memory();
    const ModeBytes rest = mode_bytes(tiles_.most_codes, fits);

    const std::size_t left_bytes = divide_up(job_.tiles, 256) * 256;
    const std::size_t first_bytes = memory_of(codes, first),
                      rest_bytes = memory_of(tiles_.most_codes, rest);
    const bool all = codes == tiles_.most_codes;
    auto *const memory = static_cast<unsigned char *>(
        cuda_.scratch(left_bytes + std::max(blocks_of(first) * first_bytes,
                                            all ? 0 : blocks_of(rest) * rest_bytes)));
    job_.left = memory, job_.memory = memory + left_bytes;
    run(mode_kernel<true>, codes, first, first_bytes);
    job_.again = true;
    if (!all)
      run(fits ? mode_kernel<true> : mode_kernel<false>, tiles_.most_codes, rest, rest_bytes);
  }

 private:
  /// Blocks that run at the same time.
  std::size_t blocks_of(const ModeBytes &bytes) {
    constexpr int kMostThreads = 2048, kMostBlocks = 32;  // of a multiprocessor
    const int resident =
        std::min({(cuda_.most_shared_memory() + 1024) / (bytes.all() + kStaticBytes + 1024),
                  kMostThreads / threads_, kMostBlocks});
    return std::min(std::max(resident, 1) * cuda_.multiprocessors(), job_.tiles);
  }
  /// Bytes of device memory for a block.
  std::size_t memory_of(int codes, const ModeBytes &shared) const {
    const int samples = (shared.counts ? 1 : 2) * codes + (shared.codes ? 0 : area_);
    return divide_up(std::int64_t{2} * samples, 256) * 256;
  }
  void run(void (*kernel)(ModeJob, WindowCells), int codes, const ModeBytes &shared,
           std::size_t bytes) {
    job_.most_codes = codes, job_.shared = shared, job_.bytes = bytes;
    launch(cuda_, kernel, {static_cast<unsigned>(blocks_of(shared)), threads_, shared.all()}, job_,
           cells_);
  }

  Cuda &cuda_;
  const WindowCells &cells_;
  const int threads_, image_along_, image_across_;
  const ModeTiles tiles_;
  const int pitch_, area_;
  ModeJob job_;
};

}  // namespace

void mode_by_codes(Cuda &cuda, const SelectionJob<std::uint16_t> &job, const Mask &mask) {
  const Mask turned = mask.transposed();
  const bool transposed = turned.runs().size() < mask.runs().size();
  ModeLaunches(cuda, job, WindowCells(transposed ? turned : mask), transposed)();
}

}  // namespace cudascan::swo
