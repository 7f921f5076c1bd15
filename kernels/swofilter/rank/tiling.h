// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Areas of an image in tiles, and all samples that the windows of a tile's pixels need.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/exec.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// Bytes; all arrays of a tile are aligned to it.
inline constexpr int kTileLine = 64;

template <typename N>
constexpr N up_to_multiple(N n, N unit) {
  return (n + unit - 1) / unit * unit;
}

/// Where samples go that are sorted by their lower byte, then by their upper one, each time in the
/// order before.
struct DigitPlaces {
  std::uint32_t lower[256]{}, upper[256]{};  ///< of the next sample with a digit

  void count(std::uint8_t sample) { ++lower[sample]; }
  void count(std::uint16_t sample) { ++lower[sample & 255], ++upper[sample >> 8]; }
  /// After all samples have been counted.
  void begin() {
    for (std::uint32_t *const digit : {lower, upper}) {
      std::uint32_t total = 0;
      for (int i = 0; i < 256; ++i) total += std::exchange(digit[i], total);
    }
  }
};

/// Pixels or samples [x0, x1) x [y0, y1).
struct TileBox {
  int x0, x1, y0, y1;

  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
  bool operator==(const TileBox &) const = default;
};

/// The samples of the windows of these pixels.
inline TileBox samples_of(const TileBox &pixels, const Mask &mask) {
  return {pixels.x0 - mask.rx(), pixels.x1 + mask.rx(), pixels.y0 - mask.ry(),
          pixels.y1 + mask.ry()};
}

/// Those of them that count: with clip only the ones of the image.
inline TileBox present(const TileBox &all, int width, int height, const FilterJob &job) {
  if (job.border != SwoFilterBorder::clip) return all;
  return {std::max(all.x0, 0), std::min(all.x1, width), std::max(all.y0, 0),
          std::min(all.y1, height)};
}

/// Copies the samples of a box, including those outside of the image.
/// @param to      the sample at the box's upper left corner
/// @param dx, dy  distances in memory from sample to sample
template <typename To, typename T>
void copy_samples(const Plane<const T> &in, const FilterJob &job, const TileBox &box, To *to,
                  std::ptrdiff_t dx, std::ptrdiff_t dy) {
  const auto outside = static_cast<To>(job.outside);
  for (int y = box.y0; y < box.y1; ++y) {
    To *const line = to + (y - box.y0) * dy - box.x0 * dx;
    const int row = resolve(y, in.height, job.border);
    if (row < 0) {
      for (int x = box.x0; x < box.x1; ++x) line[x * dx] = outside;
      continue;
    }
    const T *const from = in.row(row);
    const int begin = std::clamp(0, box.x0, box.x1), end = std::clamp(in.width, begin, box.x1);
    const auto resolved = [&](int x) {
      const int column = resolve(x, in.width, job.border);
      line[x * dx] = column < 0 ? outside : static_cast<To>(from[column]);
    };
    for (int x = box.x0; x < begin; ++x) resolved(x);
    if (dx == 1) {
      std::copy(from + begin, from + end, line + begin);
    } else {
      for (int x = begin; x < end; ++x) line[x * dx] = static_cast<To>(from[x]);
    }
    for (int x = end; x < box.x1; ++x) resolved(x);
  }
}

/// Calls tile(box, memory) for tiles of about the same size that make up an area, in several
/// threads, which have `bytes` of memory each.
template <typename Tile>
void for_tiles(Cpu &cpu, const TileBox &area, int most_width, int most_height, std::size_t bytes,
               const Tile &tile) {
  const int across = (area.width() + most_width - 1) / most_width;
  const int down = (area.height() + most_height - 1) / most_height;
  const int tiles = across * down, slots = std::min(cpu.threads(), tiles);
  const auto memory = static_cast<unsigned char *>(cpu.scratch(bytes * slots));
  cpu.for_bands(slots, 1, [&](int begin, int end) {
    const auto first_tile = [&](int slot) {
      return static_cast<int>(std::int64_t{tiles} * slot / slots);
    };
    for (int i = first_tile(begin); i < first_tile(end); ++i) {
      const int column = i % across, row = i / across;
      const auto part = [](int from, int n, int k, int parts) {
        return from + static_cast<int>(std::int64_t{n} * k / parts);
      };
      tile(TileBox{part(area.x0, area.width(), column, across),
                   part(area.x0, area.width(), column + 1, across),
                   part(area.y0, area.height(), row, down),
                   part(area.y0, area.height(), row + 1, down)},
           memory + bytes * begin);
    }
  });
}

}  // namespace cudascan::swo
