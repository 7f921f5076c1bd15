// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sliding windows: a window is laid on each pixel, and the result is computed from the samples in it.
/// The filters that Yang et al., "GSWO: A programming model for GPU-enabled parallelization of sliding
/// window operations in image processing", Signal Processing: Image Communication 47, 2016, measure
/// (their Table 6), and those beside them.
///
/// | operator                             | result at a pixel                         | defined in              |
/// |--------------------------------------|-------------------------------------------|-------------------------|
/// | min, max, midpoint                   | extrema of the window, and between them   | swofilter/extrema.h     |
/// | erode, dilate, open, close, gradient, top-hat, black-hat | morphology with the window as structuring element | swofilter/extrema.h |
/// | mean, standard-deviation             | sums over the window                      | swofilter/moments.h     |
/// | median, rank, alpha-trimmed-mean, mode, directional-median | order of the samples | swofilter/rank.h        |
/// | hit-or-miss, thin, thicken           | patterns of black and white               | swofilter/binary.h      |
/// | recursive-erode, recursive-dilate    | extrema of what is there, written in place | swofilter/recursive.h  |
/// | geodesic-dilate, geodesic-erode, reconstruct, h-dome, h-basin, fill-holes, clear-border | what a marker reaches under a mask | swofilter/geodesic.h |
/// | custom                               | what the user's own code makes of it      | swofilter/custom.h, gswo/window.h |
///
/// Each of these headers defines every tie, rounding and even case. What operators share:
///
/// - The window is a rectangle, an ellipse, a cross, or a mask given as text. It has an odd width and
///   height, and its middle lies on the pixel.
/// - What is outside of the image is said by `border`: nothing, so that the window is clipped; the
///   nearest sample of the image; the image reflected at its edges, which are repeated (c b a | a b c);
///   or one value. A window without any sample gives the pixel itself, but erosions give the largest,
///   dilations the smallest sample of the format.
/// - Formats that leave low bits unused, such as 10 bit in the high bits of 16, have levels without
///   these bits; results have them 0.
/// - Binary operators take 0 as black, everything else as white, and give 0 and Plane::maximum.
///
/// Everything but custom is integer arithmetic; CPU and CUDA results are identical, those of custom, too.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kernels/exec.h"

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

/// What is outside of the image.
enum class SwoFilterBorder { clip, replicate, reflect, constant };

/// How thin and thicken find the pixels that go.
enum class SwoFilterThinning { zhang_suen, guo_hall, templates };

/// Where geodesic operators start: `in` shifted by `height`, or `in` on the edges of the image only.
enum class SwoFilterMarker { shifted, border };

/// How the result is computed; all give the same picture.
enum class SwoFilterAlgorithm {
  automatic,  ///< the fastest
  /// As Yang et al. translate the sequential code: a thread for each pixel visits its whole window.
  naive,
};

/// Where the GPU reads the samples of a window of custom from.
enum class SwoFilterReads {
  automatic,  ///< what is best; whole large windows' min(), max(), median() from these operators
  global,     ///< the frame itself
  shared,  ///< shared memory, which each block of threads fills with its tile and what surrounds it
  texture,  ///< the frame, through a texture
};

/// A named number that the code of custom can use. An integer is known to the compiler, so that it can
/// be the size of an array; a real number is of type float, and changing it costs nothing.
struct SwoFilterConstant {
  std::string name;
  std::variant<std::int64_t, double> value;
  bool operator==(const SwoFilterConstant &) const = default;
};

struct SwoFilterReport;

struct SwoFilterParams {
  using Report = SwoFilterReport;  ///< what run() measures

  SwoFilterOperator op = SwoFilterOperator::median;
  int window = 3;         ///< side of the window in pixels, odd, 1..255
  int window_width = 0;   ///< width of the window, odd, 1..255; 0 = window
  int window_height = 0;  ///< height of the window, odd, 1..255; 0 = window
  /// rectangle; ellipse, cross (inscribed in the window); or a mask, whose size is the window's: rows of
  /// 0 and 1 from the top, with `;` between them, odd in number and length, at most 31, for instance
  /// "010;111;010". hit-or-miss and thinning by templates: 1 = white, 0 = black, - = either; several
  /// masks have blanks between them.
  std::string shape = "rectangle";
  SwoFilterBorder border = SwoFilterBorder::clip;
  int border_value = 0;    ///< level outside of the image with border = constant, 0..65535
  double percentile = 50;  ///< of rank, 0..100
  double alpha = 0.25;     ///< of alpha-trimmed-mean: share that is left out at each end, 0..0.5
  int iterations = 0;      ///< of thin, thicken and geodesic operators; 0 = until nothing changes
  SwoFilterThinning thinning = SwoFilterThinning::zhang_suen;
  SwoFilterMarker marker = SwoFilterMarker::shifted;
  int height = 32;       ///< levels by which markers are shifted, 0..65535
  int connectivity = 8;  ///< neighbours that geodesic operators go to, 4 or 8
  SwoFilterAlgorithm algorithm = SwoFilterAlgorithm::automatic;

  // Of custom. It is trusted code: it has all the rights of the process.
  std::string expression = {};  ///< a formula, for instance "p.max() - p.min()"; or
  /// path of a file: C++ with a function `float filter(auto p)`; C or C++ with the pragmas of the GSWO
  /// model; or what gswo-cc made of such a one, edited or not.
  std::string source = {};
  std::string function = "filter";                ///< its name, if the file has several
  std::vector<SwoFilterConstant> constants = {};  ///< names in the code
  bool reload = false;  ///< take what is in the file now, as soon as it has changed
  /// Folder for compiled code; "auto" = gst-cudascan in $XDG_CACHE_HOME or ~/.cache, "" = none.
  std::string cache_dir = "auto";
  std::string emit_cuda = {};  ///< path of a file that run() writes the CUDA code to; "" = none
  /// Take no code but formulas of samples, constants and mathematics, and sources with pragmas whose
  /// functions are all in the file or of mathematics, without assembler, pointers and endless loops.
  bool strict = false;
  // How the GPU shares the work; the result is the same.
  int tile_width = 0;   ///< columns of pixels for a block of threads, 1..1024; 0 = the best known
  int tile_height = 0;  ///< rows of pixels for a block, 1..1024; 0 = the best known
  /// Columns of a tile for a thread: 1, 2 or 4, of which tile_width is a multiple; 0 = the best known.
  int chunk_width = 0;
  /// Rows of a tile for a thread, 1..64, of which tile_height is a multiple; 0 = the best known.
  int chunk_height = 0;
  SwoFilterReads reads = SwoFilterReads::automatic;
  /// Try, on the first frame, what may be best of these on this GPU; what it was is kept in cache_dir.
  bool tune = false;

  bool operator==(const SwoFilterParams &) const = default;
};

/// What run() measured; valid after exec.synchronize().
struct SwoFilterReport {
  /// Passes after which nothing changed, or all that were asked for; 0 for operators without any.
  int iterations = 0;
};

/// Throws BadSetting when a parameter is out of its range, or does not go with the operator.
CUDASCAN_API void validate(const SwoFilterParams &params);

/// Whether run() could begin its work at once. If it would have to wait for code of custom to be
/// compiled, that begins now, in another thread. True for all other operators, and if run() would throw.
/// @param sample_bytes  1 or 2, of the samples that run() is to be given
/// @param maximum       their Plane::maximum
CUDASCAN_API bool prepare(Cpu &, int sample_bytes, unsigned maximum, const SwoFilterParams &);
CUDASCAN_API bool prepare(Cuda &, int sample_bytes, unsigned maximum, const SwoFilterParams &);

/// Why what is in a file now was not taken by the last run() with `reload`, which used what was there
/// before; "" if there is nothing to tell. Tells everything once.
CUDASCAN_API std::string take_warning(Cpu &);
CUDASCAN_API std::string take_warning(Cuda &);

/// What custom's code came to in the last run() of an executor.
struct SwoFilterCode {
  std::string cuda_source;  ///< as emit_cuda has it
  std::string log;          ///< what the translator had to say
};
/// Null for an executor that has not run custom. Another object when the code is another.
CUDASCAN_API std::shared_ptr<const SwoFilterCode> code_of(Cpu &);
CUDASCAN_API std::shared_ptr<const SwoFilterCode> code_of(Cuda &);

/// The version of gswo-cc, which translates sources with pragmas; "" if there is none that can be run.
CUDASCAN_API std::string translator_version();

/// Whether the operator gives black and white.
CUDASCAN_API bool is_binary(SwoFilterOperator op);

/// Filters `in`. `out` has the same size and does not overlap.
/// @throws BadSetting for parameters that validate() refuses, planes of different sizes, levels that the
///         format does not have, and another depth of the output unless is_binary(); Error when CUDA fails
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
