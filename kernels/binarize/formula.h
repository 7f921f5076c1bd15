// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What both backends of binarize.h compute in the same way from sums and histograms: levels,
/// sizes, and decisions on pixels. Levels are fixed-point numbers with 8 fractional bits, in levels
/// of darkness. Doubles are computed in a fixed order, without fused operations.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "common/api.h"
#include "kernels/binarize.h"

namespace cudascan::binarize {

/// Darkness has so many levels: 8 bits for 8-bit samples, 12 bits for deeper ones.
template <typename T>
inline constexpr int kDarkest = sizeof(T) == 1 ? 255 : 4095;

// Windows in samples of the quarter, those of erosions in pixels. The sixteenth has the maxima of
// 4x4 samples of the quarter.
inline constexpr int kFirstClosing = 15, kFirstErosion = 5;
inline constexpr int kPolarityBlock = 8, kDetailClosing = 3;
inline constexpr int kMostClosing = 51, kMostErosion = 33;
inline constexpr int kMostRun = 8617;  ///< 33.7 pixels, Q8: the run of these

/// The largest odd number that is at most run * factor + 1; run is Q8.
CUDASCAN_HD constexpr int odd_of(int run, int numerator, int denominator) {
  return 2 * (run * numerator / (denominator * 512)) + 1;
}
CUDASCAN_HD constexpr int limit(int x, int least, int most) {
  return x < least ? least : x > most ? most : x;
}

/// Sizes of windows from the median run of ink, Q8, in samples of the quarter unless stated
/// otherwise.
struct StrokeSizes {
  int closing;                       ///< the paper of strokes
  int erosion;                       ///< pixels: E
  int neighbourhood;                 ///< of the sixteenth: M
  int mean;                          ///< the mean darkness around
  int wide_closing, widest_closing;  ///< of the sixteenth: the paper of wide things
  int core;                          ///< what is wide
  int edge;                          ///< where the steps of edges are measured
  int margin;                        ///< by how much margins grow

  static CUDASCAN_HD constexpr StrokeSizes of(int run) {
    StrokeSizes s{};
    s.closing = limit(odd_of(run, 2, 1), 5, kMostClosing);
    s.erosion = limit(odd_of(run, 1, 1), kFirstErosion, kMostErosion);
    const int six_runs = limit(odd_of(run, 3, 2), 5, kMostClosing);
    s.neighbourhood = limit(odd_of(run, 1, 1), 3, kMostNeighbourhood);
    s.mean = odd_of(run, 2, 1);
    s.wide_closing = odd_of(run, 7, 4);
    s.widest_closing = odd_of(run, 7, 1);
    s.core = limit(2 * (9 * six_runs / 20) + 1, 3, kMostClosing);
    s.edge = limit(odd_of(run, 9, 25), 5, kMostClosing);
    s.margin = limit(odd_of(run, 1, 2), 3, kMostClosing);
    return s;
  }
  static constexpr int kMostNeighbourhood = odd_of(kMostRun, 1, 1);
  static constexpr int kMostMean = odd_of(kMostRun, 2, 1);
  static constexpr int kMostCore = 2 * (9 * kMostClosing / 20) + 1;
  static constexpr int kMostWidest = odd_of(kMostRun, 7, 1);
};

/// The mean level of paper, weighted with itself so that dark margins count little, halved: paper
/// is not taken for darker. `sum` and `squares` are sums over the closing before its last step, the
/// erosion along rows.
CUDASCAN_HD inline int least_paper(std::uint64_t sum, std::uint64_t squares) {
  const std::uint64_t least = sum ? squares / (2 * sum) : 0;
  return least ? static_cast<int>(least) : 1;
}

/// What makes darkness of a distance to the paper.
/// @param darkest  kDarkest
CUDASCAN_HD inline float darkness_factor(int darkest, int paper, int least_paper) {
  return static_cast<float>(darkest) /
         static_cast<float>(paper > least_paper ? paper : least_paper);
}
CUDASCAN_HD inline int darkness(int sample, int paper, float factor) {
  const int distance = paper - sample;
  return distance > 0 ? static_cast<int>(static_cast<float>(distance) * factor + 0.5f) : 0;
}

/// A block of the quarter has enough contrast to tell the polarity.
/// @param high, low  the extrema of the block
CUDASCAN_HD constexpr bool has_contrast(unsigned high, unsigned low, unsigned maximum) {
  return 10 * (high - low) > maximum;
}
/// Whether the ink is lighter than the paper.
/// @param above, below  sums of the distances of samples to the maxima and minima of their blocks,
///                      over blocks that have contrast
CUDASCAN_HD constexpr bool light_on_dark(std::uint64_t above, std::uint64_t below) {
  return 5 * above > 6 * below;
}

// Details are how dark the darkest sample of the half under each sample of the quarter is, if the
// paper is a closing by kDetailClosing. They have 12 bits, whatever the image has.
inline constexpr int kDarkestDetail = 4095;
/// A page is blank if fewer details than this are above the level.
inline constexpr std::uint32_t kLeastDetails = 3;

/// The level of details, from the lower quartile of details.
CUDASCAN_HD constexpr int detail_level(int quartile) {
  return 434 + 3 * quartile / 2;
}
/// How far the noise of the paper reaches in details; at least 1.4 % of the paper.
CUDASCAN_HD constexpr int noise_of(int quartile) {
  return quartile > 58 ? quartile : 58;
}

/// The samples of the quarter whose first pixel is in a part of the image; all if there are none.
/// @param roi  inside the image, see clip_to_plane()
inline Rectangle quarter_of(const Rectangle &roi, int width, int height) {
  const int x = (roi.x + 3) / 4, y = (roi.y + 3) / 4;
  const Rectangle part{x, y, (roi.x + roi.width + 3) / 4 - x, (roi.y + roi.height + 3) / 4 - y};
  if (part.width > 0 && part.height > 0) return part;
  return {0, 0, (width + 3) / 4, (height + 3) / 4};
}

/// Histograms of darkness count one pixel of each row of 4x4 pixels, each in another column: x
/// with x % 4 == counted_column(y).
CUDASCAN_HD constexpr int counted_column(int y) {
  return 0x3120 >> y % 4 * 4 & 3;  // 0, 2, 1, 3
}

/// Levels of a histogram of darkness, Q8.
struct DarknessLevels {
  int threshold;  ///< t: Otsu's if it is clear, else such that level fast begins at the gate
  int deviation;  ///< s: of the darkness at or below Otsu's threshold
  bool clear;     ///< Otsu's threshold is far above the noise: the page has much ink
};

CUDASCAN_HD inline int to_fixed(double level) {
  return static_cast<int>(floor(level * 256 + 0.5));
}

/// The smallest deviation that is believed, in levels.
CUDASCAN_HD inline double least_deviation(int levels) {
  return levels <= 256 ? 1.5 : 6;
}

/// Sums over the levels of a histogram from 0 to some level, or to the last one.
struct LevelSums {
  std::uint64_t count, sum, squares;
};

/// Otsu's between-class variance, for n pixels, times a constant; 0 if a class is empty.
CUDASCAN_HD inline double separation_at(const LevelSums &below, const LevelSums &all) {
  const double n = static_cast<double>(all.count), below_n = static_cast<double>(below.count);
  const double mean_difference =
      static_cast<double>(all.sum) * below_n - static_cast<double>(below.sum) * n;
  const double weight = below_n * (n - below_n);
  return weight > 0 ? mean_difference * mean_difference / weight : 0;
}
/// Levels whose between-class variance is at least this are maxima.
CUDASCAN_HD inline double flat_maximum(double largest) {
  return largest * (1 - 1e-9);
}

CUDASCAN_HD inline double deviation_of(const LevelSums &sums) {
  if (sums.count == 0) return 0;
  const double n = static_cast<double>(sums.count), mean = static_cast<double>(sums.sum) / n;
  const double variance = static_cast<double>(sums.squares) / n - mean * mean;
  return variance > 0 ? sqrt(variance) : 0;
}

/// @param t       Otsu's threshold: the middle of the first and the last maximum, rounded down
/// @param below   sums up to t
/// @param levels  of the histogram
/// @param noise   noise_of()
CUDASCAN_HD inline DarknessLevels levels_at(int t, const LevelSums &below, const LevelSums &all,
                                            int levels, int noise) {
  const double least = least_deviation(levels), deviation = deviation_of(all);
  const double mean = all.count ? static_cast<double>(all.sum) / static_cast<double>(all.count) : 0;
  DarknessLevels found{};
  found.threshold = to_fixed(t + 0.5);
  found.deviation = to_fixed(deviation_of(below));
  found.clear = std::int64_t{2} * found.threshold * kDarkestDetail >=
                std::int64_t{7} * noise * 256 * (levels - 1);
  if (found.clear) return found;
  // The gate: what is five deviations darker than the mean.
  const int gate = to_fixed(mean + 5 * (deviation > least ? deviation : least));
  found.threshold = gate > 2 * found.deviation ? 2 * (gate - 2 * found.deviation) : 0;
  return found;
}

/// 2 T of level fast, in levels: ink is where 2 d - E is larger.
CUDASCAN_HD constexpr int plain_level(int threshold, int deviation) {
  return (threshold + 4 * deviation) / 256;
}

/// A weight for the median run, Q8: one for strokes of 5 pixels and more, one for strokes of 3 and
/// less, and between these on a line, rounded down.
CUDASCAN_HD constexpr int weight_of(int run, int thick, int thin) {
  return thick + ((thin - thick) * limit(5 * 256 - run, 0, 512) >> 9);
}

/// What counts how much in the second round.
struct InkWeights {
  int threshold;   ///< t, in 1/256
  int mean;        ///< the mean darkness around, in 1/256
  int least;       ///< E, in 1/16
  int core;        ///< the level for means of cores, in 1/16
  int deviations;  ///< 4 s counts up to so much of t, in 1/256
  bool has_cells;  ///< means of cores are those of squares of 4x4 pixels, not of 3x3 around

  static CUDASCAN_HD constexpr InkWeights of(int run) {
    const int above_5 = limit(run - 5 * 256, 0, 768);
    return {weight_of(run, 110, 100), weight_of(run, 48, 96),
            weight_of(run, 16, 20),   weight_of(run, 20, 13) + 4 * above_5 / 768,
            weight_of(run, 200, 300), run >= 1344};
  }
  /// Those of level fast.
  static CUDASCAN_HD constexpr InkWeights plain() { return {128, 0, 16, 16, 0, false}; }
};

/// 2^32 over the samples of a window, rounded up.
CUDASCAN_HD constexpr std::uint32_t inverse_area(int size) {
  const auto area = static_cast<std::uint64_t>(size) * size;
  return static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + area - 1) / area);
}
/// The mean of the samples of a window, rounded down; where the sum is large, possibly up.
CUDASCAN_HD constexpr int mean_of(std::uint32_t sum, std::uint32_t inverse_area) {
  return static_cast<int>(std::uint64_t{sum} * inverse_area >> 32);
}

/// The levels of a neighbourhood.
struct LocalLevels {
  int ink;   ///< 2 T
  int peak;  ///< a core is where d is larger, and the mean passes
  int most;  ///< E counts up to here

  /// @param darkest  M
  /// @param mean     the mean darkness around
  static CUDASCAN_HD constexpr LocalLevels of(int threshold, int deviation, bool clear,
                                              const InkWeights &weights, int darkest, int mean) {
    const int part = threshold * weights.threshold / 256, local = darkest * 90;
    const int least = threshold * (clear ? 51 : 70) / 256;
    const int lower = part < local ? part : local;
    const int level = (lower > least ? lower : least) + weights.mean * mean;
    const int peak = threshold * 288 / 256, local_peak = darkest * 140;
    const int deviations = 4 * deviation, most = threshold * weights.deviations / 256;
    return {(2 * level + (deviations < most ? deviations : most)) / 256,
            (peak < local_peak ? peak : local_peak) / 256, darkest / 2};
  }
  CUDASCAN_HD constexpr int counted(int least) const { return least < most ? least : most; }
  CUDASCAN_HD constexpr bool is_ink(const InkWeights &weights, int d, int least) const {
    return 32 * d - weights.least * counted(least) > 16 * ink;
  }
  /// @param sum9  of d over 3x3 pixels, or 9 times the mean of a square of 4x4
  CUDASCAN_HD constexpr bool is_core(const InkWeights &weights, int d, int least, int sum9) const {
    return 32 * sum9 - 9 * weights.least * counted(least) > 9 * weights.core * ink && d > peak;
  }
};

/// The median run, Q8, interpolated, from the bin that holds it; 6 pixels if there are no runs.
/// @param before  runs shorter than `length`
CUDASCAN_HD constexpr int median_run(std::uint64_t runs, int length, std::uint64_t before,
                                     std::uint64_t in_bin) {
  if (runs == 0) return 6 * 256;
  const std::uint64_t run = ((2 * length - 1) * in_bin + runs - 2 * before) * 128 / in_bin;
  return run < kMostRun ? static_cast<int>(run) : kMostRun;
}

/// D is the median darkness of ink in every so many-th row.
inline constexpr int kInkRows = 4;

/// A thing is dark, and its pixels in the quarter are; `ink` is D.
CUDASCAN_HD constexpr bool is_dark(int darkness, int ink) {
  return 5 * darkness > 4 * ink;
}
/// The same for margins, which must also be darker than half the paper: stains at the edge of the
/// image stay paper or ink.
CUDASCAN_HD constexpr bool is_dark_margin(int darkness, int ink, int darkest) {
  return is_dark(darkness, ink) && 2 * darkness > darkest;
}
/// The darkness changes little across an edge.
CUDASCAN_HD constexpr bool is_soft(int step, int ink) {
  return 5 * step < 4 * ink;
}
/// Too much of a thing's edge is soft.
CUDASCAN_HD constexpr bool fades(std::uint32_t soft, std::uint32_t edge) {
  return soft * std::uint64_t{8} > edge;
}
/// A pixel of the image next to a dark thing belongs to it.
CUDASCAN_HD constexpr bool belongs(int darkness, int ink) {
  return 2 * darkness > ink;
}

/// The sample that shows a darkness.
CUDASCAN_HD constexpr unsigned shown_darkness(unsigned darkness, unsigned darkest,
                                              unsigned maximum) {
  return (darkness * maximum + darkest / 2) / darkest;
}

/// Levels and sizes that are carried from frame to frame; all zero at first.
struct BinarizeHistory {
  struct Value {
    std::int64_t state;  ///< Q16 of a Q8 number

    CUDASCAN_HD int smooth(int found, bool first, int weight) {
      const std::int64_t target = static_cast<std::int64_t>(found) << 16;
      state = first ? target : state + ((target - state) * (65536 - weight) >> 16);
      return static_cast<int>((state + 32768) >> 16);
    }
  };
  /// Whether the frame before had values for the coarse round, and for the second one and the run.
  std::uint32_t going[2];
  std::uint32_t inverted;  ///< of the frame before; if it changes, nothing goes on
  Value threshold[2], deviation[2], run;
};

/// Q16.
inline int smoothing_weight(const BinarizeParams &p) {
  return static_cast<int>(p.smoothing * 65536 + 0.5);
}

}  // namespace cudascan::binarize
