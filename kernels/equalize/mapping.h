// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The arithmetic of equalization for one level or one pixel, for both backends. Counting, adding
/// up and storing are in the backends; all rounding is here.
///
/// Statistics and mappings are over indices 0..Range::count - 1, the levels from nominal black to
/// white. Their distribution follows from that of the format's levels, so samples need no clamping:
///
///     cdf of index i = i < count - 1 ? cdf of level first + i : number of pixels
///
/// Numbers of pixels are below 2^31, also those of tiles with their border.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/equalize.h"

namespace cudascan::equalize {

/// The range of levels for statistics on a plane.
struct Range {
  Levels levels;  ///< of the format
  int first;      ///< level of nominal black
  int count;      ///< levels from there to nominal white

  /// @param maximum, black, white  those of the input plane, with black <= white <= maximum
  static constexpr Range of(unsigned maximum, unsigned black, unsigned white) {
    const Levels levels = Levels::of(maximum);
    const int first = static_cast<int>(black >> levels.shift);
    return {levels, first, static_cast<int>(white >> levels.shift) - first + 1};
  }
  /// Index of a level of the format; levels beyond black and white count as these.
  CUDASCAN_HD int index(int level) const {
    const int i = level - first;
    return i < 0 ? 0 : i < count ? i : count - 1;
  }
  CUDASCAN_HD int index_of_sample(unsigned sample) const { return index(levels.level(sample)); }
  CUDASCAN_HD unsigned sample(int index) const {
    return static_cast<unsigned>(first + index) << levels.shift;
  }
};

/// 1.5 * 2^23: adding it to a number from 0 to 2^22 leaves no bits for the fraction; the lowest
/// bits are the nearest integer, halves to even.
inline constexpr float kNoFraction = 12582912.f;

CUDASCAN_HD inline int round_half_even(float x) {
  return __builtin_bit_cast(int, x + kNoFraction) - __builtin_bit_cast(int, kNoFraction);
}

/// Throws BadSetting for parameters and planes that run() refuses.
template <typename T>
void check_call(const EqualizeParams &params, Plane<const T> in, Plane<T> out);

/// Makes the report of a histogram.
void fill_report(const Histogram &histogram, EqualizeReport &report);

// ---- One mapping for the image -----------------------------------------------------------------

/// Numbers for the mapping of an image, besides the distribution.
struct Statistics {
  std::uint32_t pixels;         ///< N
  std::uint32_t lowest_pixels;  ///< h(m), at the lowest index that occurs
};

/// Whether the formula opencv uses single precision.
CUDASCAN_HD inline bool single_precision(const Range &range) {
  return range.levels.count <= 256;
}

/// The new value of index i by a formula.
/// @param cdf  pixels of index i or below
CUDASCAN_HD inline int map(EqualizeFormula formula, const Range &range, const Statistics &s, int i,
                           std::uint32_t cdf) {
  const std::uint64_t top = range.count - 1;
  if (formula == EqualizeFormula::cdf) return static_cast<int>(cdf * top / s.pixels);
  const std::uint32_t others = s.pixels - s.lowest_pixels;
  if (others == 0) return i;
  if (cdf <= s.lowest_pixels) return 0;
  const std::uint32_t sum = cdf - s.lowest_pixels;
  if (!single_precision(range))
    return static_cast<int>((2 * top * sum + others) / (2 * std::uint64_t{others}));
  const float scale = static_cast<float>(range.count - 1) / static_cast<float>(others);
  const int mapped = round_half_even(static_cast<float>(sum) * scale);
  return mapped < range.count ? mapped : range.count - 1;
}

/// A weight of 0..1 in units of 1/65536.
inline std::uint32_t weight_of(double weight) {
  return static_cast<std::uint32_t>(weight * 65536 + 0.5);
}

/// Blends the mapping with the input. With an amount of 0, samples are copied, including those
/// beyond black and white.
/// @param amount  weight_of(EqualizeParams::amount)
CUDASCAN_HD inline int blend(int i, int mapped, std::uint32_t amount) {
  // at most 65536 * 65535 + 32768, which fits into 32 bits
  return static_cast<int>((amount * static_cast<std::uint32_t>(mapped) +
                           (65536 - amount) * static_cast<std::uint32_t>(i) + 32768) >>
                          16);
}

// ---- Smoothing ---------------------------------------------------------------------------------

/// Layout of Cpu::history() and Cuda::history() for smoothing: these numbers, then the counts of
/// all levels of the format, then the states of the indices. Frames without smoothing request
/// no_history_bytes, which ends an earlier history.
struct EqualizeHistory {
  std::uint32_t pixels;  ///< N of the frame before; 0 if there was none
  std::uint32_t unused[3];

  static constexpr std::size_t no_history_bytes = 16;
  static std::size_t bytes(const Range &range) {
    return sizeof(EqualizeHistory) +
           (std::size_t(range.levels.count) + range.count) * sizeof(std::uint32_t);
  }
  CUDASCAN_HD std::uint32_t *counts() { return reinterpret_cast<std::uint32_t *>(this + 1); }
  CUDASCAN_HD std::uint32_t *states(const Range &range) { return counts() + range.levels.count; }
};

/// Whether a frame differs completely from the one before. That is also the case if their
/// statistics are over different numbers of pixels.
/// @param differences  sum over the levels of |pixels of this frame - pixels of the one before|; a
///                     pixel that changes its level counts twice
CUDASCAN_HD inline bool scene_changes(std::uint32_t pixels, std::uint32_t pixels_before,
                                      std::uint64_t differences) {
  return pixels != pixels_before || 3 * differences > 2 * std::uint64_t{pixels};
}

/// A state is the new value of an index in units of 1/65536.
CUDASCAN_HD inline std::uint32_t first_state(int mapped) {
  return static_cast<std::uint32_t>(mapped) << 16;
}
/// @param smoothing  weight_of(EqualizeParams::smoothing)
CUDASCAN_HD inline std::uint32_t next_state(std::uint32_t state, int mapped,
                                            std::uint32_t smoothing) {
  const std::int64_t step = std::int64_t{first_state(mapped)} - state;
  return static_cast<std::uint32_t>(state + (step * (65536 - std::int64_t{smoothing}) >> 16));
}
CUDASCAN_HD inline int mapped_by(std::uint32_t state) {
  return static_cast<int>((state + 32768) >> 16);
}

// ---- CLAHE -------------------------------------------------------------------------------------

/// The tiles of a plane. If they do not divide both sides, both sides are extended by reflection to
/// the next multiple, even a side that is a multiple already; only histograms use the extension.
struct Tiles {
  int nx, ny;         ///< how many
  int width, height;  ///< of one

  Tiles() = default;
  Tiles(const EqualizeParams &p, int plane_width, int plane_height)
      : nx(p.tiles_x), ny(p.tiles_y), width(plane_width / nx), height(plane_height / ny) {
    if (plane_width % nx || plane_height % ny) {
      ++width;
      ++height;
    }
  }
  CUDASCAN_HD int pixels() const { return width * height; }
};

/// The column or row of the plane that is copied to one of the extended plane: c b | a b c | b a b
/// c
CUDASCAN_HD inline int source_index(int i, int size) {
  if (i < size) return i;
  if (size == 1) return 0;
  const int period = 2 * (size - 1), phase = i % period;
  return phase < size ? phase : period - phase;
}

/// The largest count that is not clipped.
inline int clip_limit(double limit, int tile_pixels, int bins) {
  if (limit <= 0) return tile_pixels;
  const double count = limit * tile_pixels / bins;
  return count < 1 ? 1 : count < tile_pixels ? static_cast<int>(count) : tile_pixels;
}

/// How the clipped pixels of a tile are redistributed: equally to all bins, the rest one by one to
/// bins at equal steps.
struct ClippedShare {
  int each, rest, step;
};
/// @param clipped  sum of the counts' excess above the limit
CUDASCAN_HD inline ClippedShare share_out(int clipped, int bins) {
  const int rest = clipped % bins;
  return {clipped / bins, rest, rest ? bins / rest : 1};
}

/// The pixels of bin i after that.
CUDASCAN_HD inline int clipped_count(int count, int i, int limit, const ClippedShare &share) {
  const bool takes_of_the_rest = i % share.step == 0 && i / share.step < share.rest;
  return (count < limit ? count : limit) + share.each + takes_of_the_rest;
}

/// The same for sums of bins.
struct SharedSteps {
  ClippedShare share;
  float inverse_step;

  SharedSteps() = default;
  CUDASCAN_HD explicit SharedSteps(const ClippedShare &share)
      : share(share), inverse_step(1.f / static_cast<float>(share.step)) {}
  /// What bins 0..i get. The number of steps is exact: its error is below i 2^-22, in bins, and it
  /// is at least half a bin from an integer.
  CUDASCAN_HD int up_to(int i) const {
    const int steps = static_cast<int>((static_cast<float>(i) + 0.5f) * inverse_step) + 1;
    return (i + 1) * share.each + (steps < share.rest ? steps : share.rest);
  }
};

/// The factor of tile_map().
inline float tile_scale(int bins, int tile_pixels) {
  return static_cast<float>(bins - 1) / static_cast<float>(tile_pixels);
}

/// The new value of a bin in a tile.
/// @param sum  of the clipped_count() of it and the bins below
CUDASCAN_HD inline int tile_map(int sum, float scale, int bins) {
  const int mapped = round_half_even(static_cast<float>(sum) * scale);
  return mapped < bins ? mapped : bins - 1;
}

/// The tiles whose centres are on both sides of a column or row.
struct TileNeighbours {
  int before, after;
  float weight_before, weight_after;
};
/// The column or row, counted in tiles from the centre of the first one.
/// @param inverse_size  1.f / width or height of the tiles
CUDASCAN_HD inline float tile_position(int i, float inverse_size) {
  return static_cast<float>(i) * inverse_size - 0.5f;
}
/// @param n  number of tiles in a row or column
CUDASCAN_HD inline TileNeighbours neighbours(int i, float inverse_size, int n) {
  const float position = tile_position(i, inverse_size);
  const int before = position < 0 ? -1 : static_cast<int>(position);
  const float after = position - static_cast<float>(before);
  return {before < 0 ? 0 : before, before + 1 < n ? before + 1 : n - 1, 1.f - after, after};
}

/// The new value of a pixel between four tiles, before blend().
/// @param x, y                                the neighbours of its column and of its row
/// @param before_before...after_after         new value of its index in the tile before in y and
///                                            before in x, and so on
CUDASCAN_HD inline float interpolate_unrounded(const TileNeighbours &x, const TileNeighbours &y,
                                               float before_before, float before_after,
                                               float after_before, float after_after) {
  const float above = before_before * x.weight_before + before_after * x.weight_after;
  const float below = after_before * x.weight_before + after_after * x.weight_after;
  return above * y.weight_before + below * y.weight_after;
}
CUDASCAN_HD inline int interpolate(const TileNeighbours &x, const TileNeighbours &y,
                                   float before_before, float before_after, float after_before,
                                   float after_after) {
  return round_half_even(
      interpolate_unrounded(x, y, before_before, before_after, after_before, after_after));
}

}  // namespace cudascan::equalize
