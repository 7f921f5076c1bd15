// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/modes.cuh"

#include <algorithm>
#include <vector>

#include "kernels/swofilter/rank/blocks.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

/// Shared memory that kernels have of their own.
constexpr int kStaticBytes = 256;
/// Codes are read from shared memory if so many blocks have room for them.
constexpr int kBlocksWithCodes = 6;

ModeBytes mode_bytes(int most_codes, bool shared_counts) {
  const int levels = divide_up(most_codes / kGroupCodes * int{sizeof(CodeLevels)}, 128) * 128;
  return {levels, shared_counts ? 2 * most_codes : 0, 0};
}

/// Tiles of results, and how many codes they have at most.
struct ModeTiles {
  int along, across, most_codes;

  /// Large tiles have many codes, small ones have much margin for each result.
  ModeTiles(const WindowCells &cells, int image_along, int image_across)
      : along(std::min(64, image_along)),
        across(std::min(cells.n_runs < 48    ? 8
                        : cells.n_runs < 160 ? 16
                                             : 32,
                        image_across)),
        most_codes(divide_up(std::min((along + 2 * cells.rx) * (across + 2 * cells.ry), 1 << 16),
                             kGroupCodes) *
                   kGroupCodes) {}
};

/// How many codes blocks have room for.
struct ModeRoom {
  int codes;
  ModeBytes shared;
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
             has_row_runs(cells),
             tiles_.along,
             tiles_.across,
             divide_up(image_along_, tiles_.along),
             0,
             pitch_,
             area_,
             0,
             {},
             nullptr,
             false,
             nullptr,
             nullptr,
             0} {
    job_.tiles = job_.tiles_along * divide_up(image_across_, tiles_.across);
  }

  /// More blocks hide more latency, but have room for fewer codes. So each launch leaves the tiles
  /// that have too many to the next one, of fewer blocks; counts of the last one may be in device
  /// memory.
  void operator()() {
    std::vector<ModeRoom> rooms;
    for (const int resident : {4, 2, 1}) {
      const ModeRoom room = room_of(shared_memory_each(cuda_, resident) - kStaticBytes);
      if (room.codes > 0) rooms.push_back(room);
      if (room.codes == tiles_.most_codes) break;
    }
    if (rooms.empty() || rooms.back().codes < tiles_.most_codes)
      rooms.push_back({tiles_.most_codes, mode_bytes(tiles_.most_codes, false)});
    const int code_bytes = divide_up(2 * area_, 128) * 128;
    ModeBytes &first = rooms[0].shared;
    if (first.all() + code_bytes <= shared_memory_each(cuda_, kBlocksWithCodes) - kStaticBytes)
      first.codes = code_bytes;

    constexpr std::size_t kNextBytes = 256;  // a counter for each launch
    const std::size_t left_bytes = divide_up(job_.tiles, 256) * 256;
    std::size_t most_bytes = 0;
    for (const ModeRoom &room : rooms)
      most_bytes = std::max(most_bytes, blocks_of(room.shared) * bytes_of(room));
    auto *const memory =
        static_cast<std::uint8_t *>(cuda_.scratch(kNextBytes + left_bytes + most_bytes));
    job_.next = reinterpret_cast<int *>(memory);
    job_.left = memory + kNextBytes;
    job_.memory = job_.left + left_bytes;
    cuda_.clear(memory, kNextBytes);
    for (const ModeRoom &room : rooms) {
      job_.most_codes = room.codes, job_.shared = room.shared, job_.bytes = bytes_of(room);
      launch(cuda_, room.shared.counts ? mode_kernel<true> : mode_kernel<false>,
             {static_cast<unsigned>(blocks_of(room.shared)), threads_, room.shared.all()}, job_,
             cells_);
      job_.again = true, ++job_.next;
    }
  }

 private:
  static bool has_row_runs(const WindowCells &cells) {
    for (int i = 0; i < cells.n_runs; ++i)
      if (cells.runs[i].y != i - cells.ry) return false;
    return cells.n_runs == 2 * cells.ry + 1;
  }
  /// Blocks that run at the same time.
  std::size_t blocks_of(const ModeBytes &bytes) {
    constexpr int kMostThreads = 1024, kMostBlocks = 32;  // of a multiprocessor, by registers
    const int resident =
        std::min({(cuda_.most_shared_memory() + 1024) / (bytes.all() + kStaticBytes + 1024),
                  kMostThreads / threads_, kMostBlocks});
    return std::min(std::max(resident, 1) * cuda_.multiprocessors(), job_.tiles);
  }
  /// As many codes as fit, or as there can be.
  ModeRoom room_of(int bytes) const {
    int codes = tiles_.most_codes;
    while (codes > 0 && mode_bytes(codes, true).all() > bytes) codes -= kGroupCodes;
    return {codes, mode_bytes(codes, true)};
  }
  /// Bytes of device memory for a block.
  std::size_t bytes_of(const ModeRoom &room) const {
    const int samples = (room.shared.counts ? 1 : 2) * room.codes + (room.shared.codes ? 0 : area_);
    return divide_up(std::int64_t{2} * samples, 256) * 256;
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
