// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes of 16-bit samples in large windows of any shape on the CPU, from the values that are
/// frequent in a part of a tile. As the windows of its pixels have most samples in common, only few
/// values can be modes: those that occur, in the part with its margin, at least as often as the
/// mode of some window. The most frequent ones come first. A sample counts for the pixels that have
/// it in their windows: for a block of them, these are bytes of the window's shape.
///
/// Where too many values are frequent a histogram slides instead; see tiles.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/swofilter/rank/tiling.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// The pixels of a block.
inline constexpr int kFrequentWidth = 64, kFrequentRows = 16;

/// The shape of a window. The bytes of a sample for a row of a block begin at cell(), and so do
/// those of the next rows, each one line before.
class FrequentWindow {
 public:
  FrequentWindow() = default;
  FrequentWindow(const std::vector<Run> &runs, int rx, int ry);

  /// Samples of a row that are in the windows of some pixels of a block, and in those of all.
  struct Reach {
    int first, last, first_of_all, last_of_all;  ///< columns from the block's first pixel on
  };

  int rx() const { return rx_; }
  int ry() const { return ry_; }
  /// Runs of the shape, which sliding takes time for.
  int runs() const { return runs_; }
  std::ptrdiff_t pitch() const { return pitch_; }
  /// @param y  of the row, from the block's first pixel on; some pixel's window has it
  const Reach &reach(int y) const { return reaches_[y + ry_]; }
  /// @param x, y  of the sample, from the block's first pixel on; some pixel's window has it
  const std::uint8_t *cell(int x, int y) const {
    return cells_.data() + (y + ry_ + kFrequentRows - 1) * pitch_ + rx_ + kFrequentWidth - 1 - x;
  }

 private:
  int rx_ = 0, ry_ = 0, runs_ = 0;
  std::ptrdiff_t pitch_ = 0;
  std::vector<std::uint8_t> cells_;
  std::vector<Reach> reaches_;
};

/// Memory for a tile.
struct FrequentMemory {
  static constexpr int kValues = 65536;

  std::uint32_t *counts, *next;  ///< of each value
  std::uint32_t *places;         ///< of frequent values
  std::uint16_t *values;         ///< that occur, and one more

  static std::size_t bytes(std::size_t samples) {
    return kValues * 2 * sizeof(*counts) + samples * sizeof(*places) +
           (kValues + 1) * sizeof(*values);
  }
  FrequentMemory(void *memory, std::size_t samples)
      : counts(static_cast<std::uint32_t *>(memory)),
        next(counts + kValues),
        places(next + kValues),
        values(reinterpret_cast<std::uint16_t *>(places + samples)) {}
};

}  // namespace cudascan::swo
