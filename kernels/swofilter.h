// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sliding windows: the result at a pixel is computed from the samples in the window around it.
/// These are the filters of Table 6 in Yang et al., "GSWO: A programming model for GPU-enabled
/// parallelization of sliding window operations in image processing", Signal Processing: Image
/// Communication 47, 2016, and related ones.
///
/// | operators                            | result at a pixel                  | room            |
/// |--------------------------------------|------------------------------------|-----------------|
/// | min, max, midpoint                   | extrema and their midpoint         | extrema/        |
/// | erode, dilate, open, close, gradient, top-hat, black-hat | morphology     | extrema/        |
/// | mean, standard-deviation             | from sums over the window          | moments/        |
/// | median, rank, alpha-trimmed-mean, mode, directional-median | from order   | rank/           |
/// | hit-or-miss, thin, thicken           | patterns of black and white        | binary/         |
/// | recursive-erode, recursive-dilate    | extrema, written in place          | recursive/      |
/// | geodesic-dilate, geodesic-erode, reconstruct, h-dome, h-basin, fill-holes, clear-border |    |
/// |                                      | the reach of a marker under a mask | geodesic/       |
/// | custom                               | result of the user's own code      | userfilter.h    |
///
/// The window is the structuring element of the morphological operators. The headers of the rooms
/// (swofilter/extrema/extrema.h and so on) define every tie, rounding and even case. All operators
/// share:
///
/// - The window is a rectangle, an ellipse, a cross, an octagon, a hexagon, or a mask given as
///   text. It has an odd width and height, and its middle lies on the pixel.
/// - `border` says what is outside the image: nothing, so the window is clipped; the nearest sample
///   of the image; the image reflected at its edges, which are repeated (c b a | a b c); or one
///   value. A window without any sample gives the pixel itself, but erosions give the largest and
///   dilations the smallest sample of the format.
/// - Formats with unused low bits, such as 10 bits in the high bits of 16, have levels without
///   these bits; in results they are 0.
/// - Binary operators take 0 as black, everything else as white, and give 0 and Plane::maximum.
///
/// Everything but custom is integer arithmetic; CPU and CUDA results are identical, those of
/// custom, too.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/exec.h"
#include "kernels/userfilter.h"

namespace cudascan {

enum class SwoFilterOperator {
  minimum,
  maximum,
  midpoint,
  mean,
  standard_deviation,
  median,
  rank,
  alpha_trimmed_mean,
  mode,
  directional_median,
  erode,
  dilate,
  open,
  close,
  gradient,
  top_hat,
  black_hat,
  hit_or_miss,
  thin,
  thicken,
  recursive_erode,
  recursive_dilate,
  geodesic_erode,
  geodesic_dilate,
  reconstruct,
  h_dome,
  h_basin,
  fill_holes,
  clear_border,
  custom,
};

/// What is outside of the image; the members are clip, replicate, reflect and constant.
using SwoFilterBorder = WindowBorder;

/// How thin and thicken choose the pixels to remove.
enum class SwoFilterThinning { zhang_suen, guo_hall, templates };

/// Marker of geodesic operators: `in` shifted by `height`, or `in` on the edges of the image only.
enum class SwoFilterMarker { shifted, border };

/// How the result is computed; all give the same picture.
enum class SwoFilterAlgorithm {
  automatic,  ///< the fastest
  /// As Yang et al. translate sequential code: a thread for each pixel visits its whole window.
  naive,
};

struct SwoFilterReport;

struct SwoFilterParams {
  using Report = SwoFilterReport;  ///< what run() measures

  SwoFilterOperator op = SwoFilterOperator::median;
  int window = 3;         ///< side of the window in pixels, odd, 1..255
  int window_width = 0;   ///< width of the window, odd, 1..255; 0 = window
  int window_height = 0;  ///< height of the window, odd, 1..255; 0 = window
  /// rectangle; ellipse, cross, octagon, hexagon (inscribed in the window; swofilter/polygons.h
  /// defines the cells of the last two); or a mask, whose size is the window's: rows of 0 and 1
  /// from the top, with `;` between them, odd in number and length, at most 31, for instance
  /// "010;111;010". hit-or-miss and thinning by templates: 1 = white, 0 = black, - = either;
  /// several masks have blanks between them.
  std::string shape = "rectangle";
  SwoFilterBorder border = SwoFilterBorder::clip;
  int border_value = 0;    ///< level outside the image with border = constant, 0..65535
  double percentile = 50;  ///< of rank, 0..100
  double alpha = 0.25;     ///< of alpha-trimmed-mean: share left out at each end, 0..0.5
  int iterations = 0;      ///< of thin, thicken and geodesic operators; 0 = until nothing changes
  SwoFilterThinning thinning = SwoFilterThinning::zhang_suen;
  SwoFilterMarker marker = SwoFilterMarker::shifted;
  int height = 32;       ///< levels by which markers are shifted, 0..65535
  int connectivity = 8;  ///< neighbours of a pixel in geodesic operators, 4 or 8
  SwoFilterAlgorithm algorithm = SwoFilterAlgorithm::automatic;

  UserFilterParams custom = {};  ///< the user's filter, for the operator custom

  bool operator==(const SwoFilterParams &) const = default;
};

/// What run() measured; valid after exec.synchronize().
struct SwoFilterReport {
  /// Passes until nothing changed, or as many as requested; 0 for operators without passes.
  int iterations = 0;
};

/// Throws BadSetting when a parameter is out of range or does not apply to the operator.
CUDASCAN_API void validate(const SwoFilterParams &params);
/// The settings that the result depends on with these values, by their names in messages, in the
/// order of use. The others do not count, or do not change the result.
CUDASCAN_API std::vector<const char *> settings_in_use(const SwoFilterParams &params);

/// Whether run() could start its work at once. If custom's code must be compiled first, this starts
/// compiling it in another thread. True for all other operators, and if run() would throw.
/// @param sample_bytes  1 or 2, size of the samples that run() will get
/// @param maximum       their Plane::maximum
CUDASCAN_API bool prepare(Cpu &, int sample_bytes, unsigned maximum, const SwoFilterParams &);
CUDASCAN_API bool prepare(Cuda &, int sample_bytes, unsigned maximum, const SwoFilterParams &);

/// Whether the operator's result is black and white.
CUDASCAN_API bool is_binary(SwoFilterOperator op);

/// Filters `in`. `out` has the same size and does not overlap.
/// @throws BadSetting for parameters that validate() refuses, planes of different sizes, levels out
///         of the format's range, and an output of another depth unless is_binary(); Error when
///         CUDA fails
CUDASCAN_API void run(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const SwoFilterParams &, SwoFilterReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const SwoFilterParams &, SwoFilterReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const SwoFilterParams &, SwoFilterReport * = nullptr);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void run(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const SwoFilterParams &, SwoFilterReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const SwoFilterParams &, SwoFilterReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const SwoFilterParams &, SwoFilterReport * = nullptr);

}  // namespace cudascan
