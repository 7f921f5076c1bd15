// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaswofilter
 * @title: cudaswofilter
 * @short_description: sliding windows: ranks, statistics, morphology, thinning, reconstruction
 *
 * Lays a window on each pixel and computes the result from the samples in it; `operator` says what.
 * Works on an NVIDIA GPU, in system memory or CUDAMemory, and on the CPU with the same results. The
 * luma plane is processed, the chroma is copied; hit-or-miss, thin and thicken take 0 as black and
 * everything else as white, give black and white with neutral chroma, and offer GRAY8 output for
 * deeper input, too.
 *
 * The window is a rectangle, an ellipse or a cross of `window-width` x `window-height` pixels (both
 * `window`, unless set), or `shape` is a mask as text, rows of 0 and 1 with `;` between them.
 * `border` says what is outside of the frame.
 *
 * ## What the operators use
 *
 * - min, max, mean, median, midpoint, standard-deviation, mode, erode, dilate, open, close,
 *   gradient, top-hat, black-hat: the window and `border`, nothing else. `border-value` counts with
 *   border=constant, here and wherever `border` does.
 * - rank: these and `percentile`. alpha-trimmed-mean: these and `alpha`.
 * - directional-median: the size of the window and `border`, not `shape`.
 * - hit-or-miss: the window and `border`. In a mask 1 asks for white, 0 for black, - for neither;
 *   several masks have blanks between them.
 * - recursive-erode, recursive-dilate: the window and `border`, which is clip or constant.
 * - thin, thicken: `thinning` and `iterations`; `shape` only with thinning=templates, as masks of
 *   three rows of three cells (rectangle: the usual eight); no other of the window's, no `border`.
 * - geodesic-erode, geodesic-dilate, reconstruct: `marker`, `connectivity`, `iterations`, and
 *   `height` with marker=shifted; no window, no `border`.
 * - h-dome, h-basin: `height`, `connectivity`, `iterations`; no window, no `border`, no `marker`.
 * - fill-holes, clear-border: `connectivity`, `iterations`; no window, no `border`, no `marker`, no
 *   `height`.
 *
 * - custom: the window, `border`, and `expression` or `source`, see below.
 *
 * ## Filters of your own
 *
 * `expression` is a formula that is computed for each pixel, from the window p around it: p is the
 * sample at the pixel, p(dx, dy) the one dx columns to the right and dy rows below; p.min(),
 * p.max(), p.sum(), p.mean(), p.median(), p.rank(k), p.percentile(q), p.variance(), p.deviation()
 * and p.count() are of the samples in the window; x, y, width, height and maximum say where the
 * pixel is, how large the frame is and what its largest level is. min, max, abs, clamp, sqrt, exp,
 * log, pow, sin, cos, atan2, floor and round are there, too. Samples are levels, 0 to maximum;
 * results are rounded and end at 0 and maximum.
 *
 * `source` is a C++ file with a function `float filter(auto p)` that gets the same p, and may have
 * helper functions, tables and loops. Or it is sequential C or C++ whose loops over the picture
 * have the pragmas of the GSWO model, which gswo-cc translates: the image that is read is the
 * frame, and the names window, radius, r and their likes stand for the window. Or it is what
 * `emit-cuda` wrote of that, edited or not. `params` gives all of them numbers by name. The code is
 * compiled when it is first needed, by NVRTC of the CUDA Toolkit for the GPU and by the C++
 * compiler of the system for the CPU, and kept in `cache-dir`; while frames flow, new settings take
 * effect as soon as they are compiled. With `reload` a saved file takes effect, too; when it does
 * not compile, a warning says why and the frames go on with the code before.
 *
 * `tile-width`, `tile-height`, `chunk-width`, `chunk-height` and `reads` say how the GPU shares the
 * work, where the best is not good enough; `tune` has them tried. `cuda-source`, `compile-log` and
 * `translator` can be read.
 *
 * This is code like that of a plugin: run only what you trust. `strict` takes only what can be
 * checked; CUDASCAN_NO_USER_CODE=1 in the environment turns it off.
 *
 * `algorithm` makes no difference to the picture. naive is there for min, max, midpoint, erode,
 * dilate, gradient, mean, standard-deviation, median, rank, alpha-trimmed-mean, mode and
 * directional-median in windows of up to 15 x 15; everything else is computed as with auto.
 *
 * The report has `iterations`: passes of thin and thicken, the last of which changed nothing, or as
 * many as were asked for; those that geodesic operators were asked for; 0 for the other operators.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudaswofilter ! videoconvert ! autovideosink
 * ]| The median of 3x3 pixels.
 * |[
 * gst-launch-1.0 filesrc location=page.png ! decodebin ! videoconvert ! cudaswofilter operator=black-hat window=31 shape=ellipse ! videoconvert ! pngenc ! filesink location=ink.png
 * ]| Ink without the stains and shadows of its paper, white on black.
 * |[
 * gst-launch-1.0 -m filesrc location=page.png ! decodebin ! videoconvert ! cudanick invert=true ! cudaswofilter operator=thin report=message ! videoconvert ! pngenc ! filesink location=skeleton.png
 * ]| Writing as lines of one pixel; the message tells how many passes it took.
 * |[
 * gst-launch-1.0 filesrc location=form.png ! decodebin ! videoconvert ! cudanick invert=true ! cudaswofilter operator=clear-border ! cudaswofilter operator=fill-holes ! videoconvert ! pngenc ! filesink location=blobs.png
 * ]| Nothing that touches the edges, and no holes in the rest.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaswofilter operator=hit-or-miss shape="000;010;000" ! videoconvert ! autovideosink
 * ]| White pixels that are alone.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaswofilter expression="p + amount * (p - p.mean())" params="params,amount=1.5" window=5 ! videoconvert ! autovideosink
 * ]| Sharpened, by a formula.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaswofilter source=mine.cpp reload=true ! videoconvert ! autovideosink
 * ]| A filter of your own on the picture of a camera; save the file to see what it does now.
 * |[
 * gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/median.cpp window=5 emit-cuda=median.cu ! pngenc ! filesink location=result.png
 * ]| Sequential code with pragmas, and what became of it as CUDA.
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
      {Op::mode, "Most frequent sample, the lowest of several", "mode"},
      {Op::directional_median, "Median of medians along four lines, keeps thin lines",
       "directional-median"},
      {Op::rank, "Sample at a percentile of the window", "rank"},
      {Op::erode, "Erosion: smallest sample under the mask", "erode"},
      {Op::dilate, "Dilation: largest sample under the mask", "dilate"},
      {Op::open, "Erosion, then dilation: without small bright things", "open"},
      {Op::close, "Dilation, then erosion: without small dark things", "close"},
      {Op::gradient, "Dilation - erosion: edges", "gradient"},
      {Op::top_hat, "Input - opening: small bright things", "top-hat"},
      {Op::black_hat, "Closing - input: small dark things", "black-hat"},
      {Op::hit_or_miss, "White where a pattern of black and white fits", "hit-or-miss"},
      {Op::thin, "White thinned to lines", "thin"},
      {Op::thicken, "White grown until its parts nearly meet", "thicken"},
      {Op::recursive_erode, "Erosion in place, row by row", "recursive-erode"},
      {Op::recursive_dilate, "Dilation in place, row by row", "recursive-dilate"},
      {Op::geodesic_erode, "A marker shrinks down to the input", "geodesic-erode"},
      {Op::geodesic_dilate, "A marker grows up to the input", "geodesic-dilate"},
      {Op::reconstruct, "What a marker reaches under the input", "reconstruct"},
      {Op::h_dome, "Bright tops, up to height levels of them", "h-dome"},
      {Op::h_basin, "Dark bottoms, up to height levels of them", "h-basin"},
      {Op::fill_holes, "Dark things that do not touch the edges filled", "fill-holes"},
      {Op::clear_border, "Bright things that touch the edges taken away", "clear-border"},
      {Op::custom, "What expression or the code in source makes of the window", "custom"}};
};

template <>
struct cudascan::gst::EnumTable<SwoFilterBorder> {
  static constexpr const char *type_name = "GstCudaSwoFilterBorder";
  static constexpr EnumEntry<SwoFilterBorder> values[] = {
      {SwoFilterBorder::clip, "Nothing: the window is what is in the frame", "clip"},
      {SwoFilterBorder::replicate, "The nearest sample of the frame", "replicate"},
      {SwoFilterBorder::reflect, "The frame reflected, its edges repeated", "reflect"},
      {SwoFilterBorder::constant, "The level border-value", "constant"}};
};

template <>
struct cudascan::gst::EnumTable<SwoFilterThinning> {
  static constexpr const char *type_name = "GstCudaSwoFilterThinning";
  static constexpr EnumEntry<SwoFilterThinning> values[] = {
      {SwoFilterThinning::zhang_suen, "Zhang and Suen 1984", "zhang-suen"},
      {SwoFilterThinning::guo_hall, "Guo and Hall 1989", "guo-hall"},
      {SwoFilterThinning::templates,
       "Hit-or-miss with the masks in shape, and turned by 90 degrees", "templates"}};
};

template <>
struct cudascan::gst::EnumTable<SwoFilterMarker> {
  static constexpr const char *type_name = "GstCudaSwoFilterMarker";
  static constexpr EnumEntry<SwoFilterMarker> values[] = {
      {SwoFilterMarker::shifted, "The input, shifted by height", "shifted"},
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
      Property{"window", "Window", "Side of the window in pixels, odd, 1 to 255", &Params::window},
      Property{"window-width", "Window width",
               "Width of the window in pixels, odd, 1 to 255; 0 = window", &Params::window_width},
      Property{"window-height", "Window height",
               "Height of the window in pixels, odd, 1 to 255; 0 = window", &Params::window_height},
      Property{"shape", "Shape",
               "rectangle, ellipse, cross, or a mask: rows of 0 and 1 with ; between them, such as "
               "010;111;010; - is neither in hit-or-miss and templates",
               &Params::shape},
      Property{"border", "Border", "What is outside of the frame", &Params::border},
      Property{"border-value", "Border value",
               "Level outside of the frame with border = constant, 0 to the largest of the format",
               &Params::border_value},
      Property{"percentile", "Percentile", "Of rank: 0 (smallest) to 100 (largest)",
               &Params::percentile},
      Property{"alpha", "Alpha", "Of alpha-trimmed-mean: share left out at each end, 0 to 0.5",
               &Params::alpha},
      Property{"iterations", "Iterations",
               "Passes of thin, thicken and the geodesic operators; 0 = until nothing changes",
               &Params::iterations},
      Property{"thinning", "Thinning", "Which pixels thin and thicken take", &Params::thinning},
      Property{"marker", "Marker", "Where geodesic-erode, geodesic-dilate and reconstruct start",
               &Params::marker},
      Property{"height", "Height", "Levels by which markers are shifted, 0 to 65535",
               &Params::height},
      Property{"connectivity", "Connectivity",
               "Neighbours that geodesic operators go to from a pixel, 4 or 8",
               &Params::connectivity},
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

  /// Not code, nor where it is kept and how it is cut for a GPU.
  static bool in_presets(std::string_view property) { return !is_of_user_filter(property); }

  static void fill(GstStructure *fields, const Params &, const Report &report) {
    gst_structure_set(fields, "iterations", G_TYPE_INT, report.iterations, nullptr);
  }
};

}  // namespace

CUDASCAN_ELEMENT_DEFINE(cudaswofilter, SwoFilter)
