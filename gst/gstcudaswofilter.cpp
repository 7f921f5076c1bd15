// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaswofilter
 * @title: cudaswofilter
 * @short_description: sliding windows: ranks, statistics, morphology, thinning, reconstruction
 *
 * Computes each pixel of the result from the samples in the window around it; `operator` says what
 * to compute. Runs on an NVIDIA GPU, with frames in system memory or CUDAMemory, or on the CPU,
 * with the same results. The luma plane is processed, the chroma is copied. hit-or-miss, thin and
 * thicken take 0 as black and everything else as white. Their result is black and white with
 * neutral chroma; they also offer GRAY8 output for deeper input.
 *
 * The window is a rectangle, an ellipse, a cross, an octagon or a hexagon of `window-width` x
 * `window-height` pixels (`window` for both unless they are set). Or `shape` is a mask given as
 * text: rows of 0 and 1 separated by `;`. `border` says what is outside the frame.
 *
 * ## Properties of each operator
 *
 * - min, max, mean, median, midpoint, standard-deviation, mode, erode, dilate, open, close,
 *   gradient, top-hat, black-hat: only the window and `border`. `border-value` is used with
 *   border=constant, here and wherever `border` is used.
 * - rank: the same and `percentile`. alpha-trimmed-mean: the same and `alpha`.
 * - directional-median: the size of the window and `border`, not `shape`.
 * - hit-or-miss: the window and `border`. In a mask 1 means white, 0 black and - either; several
 *   masks are separated by blanks.
 * - recursive-erode, recursive-dilate: the window and `border`, which must be clip or constant.
 * - thin, thicken: `thinning` and `iterations`; with thinning=templates also `shape`, as masks of
 *   three rows of three cells (rectangle: the usual eight). They do not use the window and
 *   `border`.
 * - geodesic-erode, geodesic-dilate, reconstruct: `marker`, `connectivity`, `iterations`, and
 *   `height` with marker=shifted; neither the window nor `border`.
 * - h-dome, h-basin: `height`, `connectivity`, `iterations`; not the window, `border` and `marker`.
 * - fill-holes, clear-border: `connectivity`, `iterations`; not the window, `border`, `marker` and
 *   `height`.
 *
 * - custom: the window, `border`, and `expression` or `source`, see below.
 *
 * ## Your own filters
 *
 * `expression` is a formula that is computed for each pixel from the window p around it. p is the
 * sample at the pixel, p(dx, dy) the one dx columns to the right and dy rows below. p.min(),
 * p.max(), p.sum(), p.mean(), p.median(), p.rank(k), p.percentile(q), p.variance(), p.deviation()
 * and p.count() use the samples in the window. x and y are the position of the pixel, width and
 * height the size of the frame, and maximum its largest level. Functions are min, max, abs, clamp,
 * sqrt, exp, log, pow, sin, cos, atan2, floor and round. Samples are levels, 0 to maximum; results
 * are rounded and clamped to 0 and maximum.
 *
 * `source` is a C++ file with a function `float filter(auto p)`. It gets the same p and may use
 * helper functions, tables and loops. Or it is sequential C or C++ whose loops over the picture
 * have the pragmas of the GSWO model, which gswo-cc translates: the image that is read is the
 * frame, and names such as window, radius and r mean the window. Or it is the output of `emit-cuda`
 * for such a file, edited or not. `params` gives all of them numbers by name. The code is compiled
 * when it is first needed, by NVRTC of the CUDA Toolkit for the GPU and by the C++ compiler of the
 * system for the CPU, and kept in `cache-dir`. While frames flow, new settings take effect as soon
 * as they are compiled. With `reload` a saved file takes effect, too. If it does not compile, a
 * warning says why, and frames continue with the old code.
 *
 * `tile-width`, `tile-height`, `chunk-width`, `chunk-height` and `reads` set how the GPU divides
 * the work if the defaults are not good enough; `tune` tries them. `cuda-source`, `compile-log` and
 * `translator` can be read.
 *
 * Such code has the same rights as a plugin: run only code that you trust. `strict` allows only
 * code that can be checked. CUDASCAN_NO_USER_CODE=1 in the environment disables user code.
 *
 * `algorithm` does not change the picture. naive supports min, max, midpoint, erode, dilate,
 * gradient, mean, standard-deviation, median, rank, alpha-trimmed-mean, mode and directional-median
 * in windows of up to 15 x 15; everything else is computed as with auto.
 *
 * The report has `iterations`. For thin and thicken it is the number of passes, including the last
 * one that changed nothing, or the requested number. For geodesic operators it is the number of
 * passes if `iterations` is set. It is 0 for all other operators.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudaswofilter ! videoconvert ! autovideosink
 * ]| The median of 3x3 pixels.
 * |[
 * gst-launch-1.0 filesrc location=page.png ! decodebin ! videoconvert ! cudaswofilter operator=black-hat window=31 shape=ellipse ! videoconvert ! pngenc ! filesink location=ink.png
 * ]| Ink without the stains and shadows of the paper, white on black.
 * |[
 * gst-launch-1.0 -m filesrc location=page.png ! decodebin ! videoconvert ! cudanick invert=true ! cudaswofilter operator=thin report=message ! videoconvert ! pngenc ! filesink location=skeleton.png
 * ]| Writing as lines of one pixel; the message has the number of passes.
 * |[
 * gst-launch-1.0 filesrc location=form.png ! decodebin ! videoconvert ! cudanick invert=true ! cudaswofilter operator=clear-border ! cudaswofilter operator=fill-holes ! videoconvert ! pngenc ! filesink location=blobs.png
 * ]| Removes objects that touch the edges, and fills the holes of the others.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaswofilter operator=open window=15 shape=octagon ! videoconvert ! autovideosink
 * ]| Bright things that an octagon of 15x15 pixels fits into.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaswofilter operator=hit-or-miss shape="000;010;000" ! videoconvert ! autovideosink
 * ]| Isolated white pixels.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaswofilter expression="p + amount * (p - p.mean())" params="params,amount=1.5" window=5 ! videoconvert ! autovideosink
 * ]| Sharpens with a formula.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaswofilter source=mine.cpp reload=true ! videoconvert ! autovideosink
 * ]| Your own filter on the picture of a camera; save the file to see its new version.
 * |[
 * gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/median.cpp window=5 emit-cuda=median.cu ! pngenc ! filesink location=result.png
 * ]| Sequential code with pragmas, and its translation to CUDA.
 */
#include "gst/element.h"
#include "gst/userfilter.h"
#include "kernels/swofilter.h"

using namespace cudascan;
using namespace cudascan::gst;

template <>
struct cudascan::gst::EnumTable<SwoFilterOperator> {
  using Op = SwoFilterOperator;
  static constexpr const char *type_name = "GstCudaSwoFilterOperator";
  static constexpr EnumEntry<Op> values[] = {
      {Op::minimum, "Smallest sample of the window", "min"},
      {Op::maximum, "Largest sample of the window", "max"},
      {Op::mean, "Mean of the window", "mean"},
      {Op::median, "Median of the window", "median"},
      {Op::midpoint, "Mean of its smallest and largest sample", "midpoint"},
      {Op::alpha_trimmed_mean, "Mean without the share alpha at each end", "alpha-trimmed-mean"},
      {Op::standard_deviation, "Standard deviation of the window", "standard-deviation"},
      {Op::mode, "Most frequent sample; of several, the lowest", "mode"},
      {Op::directional_median, "Median of medians along four lines; keeps thin lines",
       "directional-median"},
      {Op::rank, "Sample at a percentile of the window", "rank"},
      {Op::erode, "Erosion: smallest sample under the mask", "erode"},
      {Op::dilate, "Dilation: largest sample under the mask", "dilate"},
      {Op::open, "Erosion, then dilation: removes small bright objects", "open"},
      {Op::close, "Dilation, then erosion: removes small dark objects", "close"},
      {Op::gradient, "Dilation - erosion: edges", "gradient"},
      {Op::top_hat, "Input - opening: small bright objects", "top-hat"},
      {Op::black_hat, "Closing - input: small dark objects", "black-hat"},
      {Op::hit_or_miss, "White where a pattern of black and white fits", "hit-or-miss"},
      {Op::thin, "White thinned to lines", "thin"},
      {Op::thicken, "White grown until its parts nearly meet", "thicken"},
      {Op::recursive_erode, "Erosion in place, row by row", "recursive-erode"},
      {Op::recursive_dilate, "Dilation in place, row by row", "recursive-dilate"},
      {Op::geodesic_erode, "A marker shrinks down to the input", "geodesic-erode"},
      {Op::geodesic_dilate, "A marker grows up to the input", "geodesic-dilate"},
      {Op::reconstruct, "Marker grown as far as the input allows", "reconstruct"},
      {Op::h_dome, "Bright tops, up to height levels", "h-dome"},
      {Op::h_basin, "Dark bottoms, up to height levels", "h-basin"},
      {Op::fill_holes, "Fills dark objects that do not touch the edges", "fill-holes"},
      {Op::clear_border, "Removes bright objects that touch the edges", "clear-border"},
      {Op::custom, "Result of expression or of the code in source", "custom"}};
};

template <>
struct cudascan::gst::EnumTable<SwoFilterBorder> {
  static constexpr const char *type_name = "GstCudaSwoFilterBorder";
  static constexpr EnumEntry<SwoFilterBorder> values[] = {
      {SwoFilterBorder::clip, "Nothing: the window is clipped to the frame", "clip"},
      {SwoFilterBorder::replicate, "The nearest sample of the frame", "replicate"},
      {SwoFilterBorder::reflect, "The reflected frame, with its edges repeated", "reflect"},
      {SwoFilterBorder::constant, "The level border-value", "constant"}};
};

template <>
struct cudascan::gst::EnumTable<SwoFilterThinning> {
  static constexpr const char *type_name = "GstCudaSwoFilterThinning";
  static constexpr EnumEntry<SwoFilterThinning> values[] = {
      {SwoFilterThinning::zhang_suen, "Zhang and Suen 1984", "zhang-suen"},
      {SwoFilterThinning::guo_hall, "Guo and Hall 1989", "guo-hall"},
      {SwoFilterThinning::templates,
       "Hit-or-miss with the masks in shape and their rotations by 90 degrees", "templates"}};
};

template <>
struct cudascan::gst::EnumTable<SwoFilterMarker> {
  static constexpr const char *type_name = "GstCudaSwoFilterMarker";
  static constexpr EnumEntry<SwoFilterMarker> values[] = {
      {SwoFilterMarker::shifted, "The input shifted by height", "shifted"},
      {SwoFilterMarker::border, "The input on the edges of the frame", "border"}};
};

template <>
struct cudascan::gst::EnumTable<SwoFilterAlgorithm> {
  static constexpr const char *type_name = "GstCudaSwoFilterAlgorithm";
  static constexpr EnumEntry<SwoFilterAlgorithm> values[] = {
      {SwoFilterAlgorithm::automatic, "The fastest", "auto"},
      {SwoFilterAlgorithm::naive,
       "A thread for each pixel visits its window, Yang et al. 2016 (baseline)", "naive"}};
};

namespace {

struct SwoFilter {
  using Params = SwoFilterParams;
  using Report = SwoFilterReport;
  static constexpr const char *name = "cudaswofilter";
  static constexpr const char *type_name = "GstCudaSwoFilter";
  static constexpr const char *long_name = "CUDA sliding-window filter";
  static constexpr const char *description =
      "Median and other ranks, statistics, morphology, thinning and reconstruction of scans and "
      "video";
  static constexpr std::tuple window_properties{
      Property{"operator", "Operator", "What is computed from the window", &Params::op},
      Property{"window", "Window", "Side of the window in pixels, odd, 1 to 255", &Params::window,
               Limits{1, 255}},
      Property{"window-width", "Window width",
               "Width of the window in pixels, odd, 1 to 255; 0 = window", &Params::window_width,
               Limits{0, 255}},
      Property{"window-height", "Window height",
               "Height of the window in pixels, odd, 1 to 255; 0 = window", &Params::window_height,
               Limits{0, 255}},
      Property{"shape", "Shape",
               "rectangle, ellipse, cross, octagon, hexagon, or a mask: rows of 0 and 1 separated "
               "by ; such as 010;111;010 (in hit-or-miss and templates, - means either)",
               &Params::shape},
      Property{"border", "Border", "What is outside the frame", &Params::border},
      Property{"border-value", "Border value",
               "Level outside the frame with border=constant, 0 to the largest of the format",
               &Params::border_value, Limits{0, 65535}},
      Property{"percentile", "Percentile",
               "For rank: place among the sorted samples in percent, 0 (smallest) to 100 (largest)",
               &Params::percentile, Limits{0, 100}},
      Property{"alpha", "Alpha", "For alpha-trimmed-mean: share left out at each end, 0 to 0.5",
               &Params::alpha, Limits{0, 0.5}},
      Property{"iterations", "Iterations",
               "Passes of thin, thicken and the geodesic operators; 0 = until nothing changes",
               &Params::iterations, Limits{0, G_MAXINT}},
      Property{"thinning", "Thinning", "How thin and thicken choose pixels", &Params::thinning},
      Property{"marker", "Marker",
               "Starting image of geodesic-erode, geodesic-dilate and reconstruct",
               &Params::marker},
      Property{"height", "Height", "Levels by which markers are shifted, 0 to 65535",
               &Params::height, Limits{0, 65535}},
      Property{"connectivity", "Connectivity",
               "Number of neighbours of a pixel in geodesic operators, 4 or 8",
               &Params::connectivity, Limits{4, 8}},
      Property{"algorithm", "Algorithm", "How it is computed; all give the same result",
               &Params::algorithm}};
  static constexpr std::tuple properties =
      std::tuple_cat(window_properties, of_part(&Params::custom, kUserFilterProperties));
  static constexpr std::tuple<> results{};

  using Code = UserFilterCode;
  static constexpr auto facts = kUserFilterFacts;

  static bool black_and_white(const Params &params) { return is_binary(params.op); }

  static const char *imply(Params &params, const char *property) {
    const std::string name = property;
    const bool code = (name == "expression" && !params.custom.expression.empty()) ||
                      (name == "source" && !params.custom.source.empty());
    if (!code || params.op == SwoFilterOperator::custom) return nullptr;
    params.op = SwoFilterOperator::custom;
    return "operator";
  }

  /// Presets do not contain code, its location, or how it is divided for a GPU.
  static bool in_presets(std::string_view property) { return !is_of_user_filter(property); }

  static void fill(GstStructure *fields, const Params &, const Report &report) {
    gst_structure_set(fields, "iterations", G_TYPE_INT, report.iterations, nullptr);
  }
};

}  // namespace

CUDASCAN_ELEMENT_DEFINE(cudaswofilter, SwoFilter)
