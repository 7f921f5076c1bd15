// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/ink.h"

#include <atomic>
#include <bit>
#include <mutex>

#include "kernels/binarize/extrema.h"

namespace cudascan::binarize {

using runlengths::BitPlane;

namespace {

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

/// The levels of the rows of an image, from top to bottom.
template <typename T>
class LevelRows {
 public:
  LevelRows(const InkLevels<T> &levels, int width, RowMemory &memory) : levels_(levels) {
    for (std::int16_t **row : {&row_.ink, &row_.peak, &row_.most})
      *row = memory.row<std::int16_t>(width + 3);
    if (levels.around) return;
    const int level = plain_level(levels.round.threshold, levels.round.deviation);
    std::fill_n(row_.ink, width, static_cast<std::int16_t>(std::min(level, 2 * kDarkest<T>)));
    std::fill_n(row_.most, width, static_cast<std::int16_t>(kDarkest<T>));
  }

  const LevelRow &at(int y) {
    if (levels_.around && y / 4 != y_) {
      y_ = y / 4;
      const auto &[darkest, cells, mean] = *levels_.around;
      rows<T>().levels(darkest.row(y_ / 4), mean.row(y_), mean.width, levels_.round,
                       levels_.weights, row_);
    }
    return row_;
  }

 private:
  const InkLevels<T> levels_;
  LevelRow row_{};
  int y_ = -1;
};

}  // namespace

template <typename T>
void find_ink(Cpu &cpu, Plane<const T> d, const InkLevels<T> &levels, const BitPlane &ink,
              const BitPlane *cores) {
  const int width = d.width, height = d.height;
  const int radius = std::min(levels.erosion / 2, height - 1);
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    RowMemory memory;
    RowWindows<T> along(false, levels.erosion, width, memory);
    ColumnWindows<T> down(false, 2 * radius + 1, width, memory);
    LevelRows<T> level_rows(levels, width, memory);
    T *const eroded = memory.row<T>(width), *const least = memory.row<T>(width);
    for (int ahead = std::max(begin - radius, 0); ahead < end + radius; ++ahead) {
      if (ahead < height) {
        along.in_padded(d.row(ahead), eroded);
        down.next(eroded, least);
      } else {
        down.next_outside(least);
      }
      const int y = ahead - radius;
      if (y < begin) continue;
      const LevelRow &level = level_rows.at(y);
      rows<T>().ink(d.row(y), least, level, levels.weights, width, ink.row(y));
      if (!cores) continue;
      const T *const around[] = {d.row(std::max(y - 1, 0)), d.row(y),
                                 d.row(std::min(y + 1, height - 1))};
      rows<T>().cores(around, least, levels.around->cells.row(y / 4), level, levels.weights,
                      ink.row(y), width, cores->row(y));
    }
  });
}

std::uint64_t count_ink(Cpu &cpu, const BitPlane &ink) {
  std::atomic<std::uint64_t> count = 0;
  cpu.for_bands(ink.height, kMinRows, [&](int begin, int end) {
    count += words().count(ink.row(begin), ink.row(end) - ink.row(begin));
  });
  return count;
}

template <typename T>
int median_darkness(Cpu &cpu, Plane<const T> d, const BitPlane &ink) {
  constexpr int kLevels = kDarkest<T> + 1;
  std::vector<std::uint64_t> counts(kLevels);
  std::mutex mutex;
  cpu.for_bands(d.height, kMinRows, [&](int begin, int end) {
    std::vector<std::uint32_t> band(kLevels);
    for (int y = (begin + kInkRows - 1) / kInkRows * kInkRows; y < end; y += kInkRows)
      for (int i = 0; i < ink.words(); ++i) {
        const T *const row = d.row(y) + i * kWordBits;
        for (Word word = ink.row(y)[i]; word; word &= word - 1) ++band[row[std::countr_zero(word)]];
      }
    const std::lock_guard lock(mutex);
    for (int i = 0; i < kLevels; ++i) counts[i] += band[i];
  });
  std::uint64_t all = 0, so_far = 0;
  for (const std::uint64_t count : counts) all += count;
  if (all == 0) return -1;
  int level = 0;
  while (so_far += counts[level], 2 * so_far < all) ++level;
  return level;
}

#define INSTANTIATE(T)                                                                  \
  template void find_ink(Cpu &, Plane<const T>, const InkLevels<T> &, const BitPlane &, \
                         const BitPlane *);                                             \
  template int median_darkness(Cpu &, Plane<const T>, const BitPlane &);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint16_t)

}  // namespace cudascan::binarize
