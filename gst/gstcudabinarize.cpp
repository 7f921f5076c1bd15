// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudabinarize
 * @title: cudabinarize
 * @short_description: turns scans and video into black and white, with nothing to set
 *
 * Measures paper, ink and the width of strokes on each page, and chooses all sizes and levels by
 * them. Text stays readable on stained, faded or unevenly lit pages; large headings stay whole,
 * black margins become paper, and white on black is recognised. The luma plane is processed; the
 * chroma of the result is neutral. Runs on an NVIDIA GPU, with frames in system memory or
 * CUDAMemory, or on the CPU, with the same results.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudabinarize ! pngenc ! filesink location=clean.png
 * ]|
 * |[
 * gst-launch-1.0 videotestsrc ! cudabinarize level=fast smoothing=0.8 ! videoconvert ! autovideosink
 * ]| Video: the fastest level, and levels that do not jump from frame to frame.
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! cudabinarize report=message ! fakesink
 * ]| The messages tell whether a page is blank, the width of its strokes and its share of ink.
 * |[
 * gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudabinarize output=darkness ! pngenc ! filesink location=darkness.png
 * ]| The darkness of each pixel relative to the paper around it.
 */
#include "gst/element.h"
#include "gst/rectangle.h"
#include "kernels/binarize.h"

using namespace cudascan;
using namespace cudascan::gst;

template <>
struct cudascan::gst::EnumTable<BinarizeLevel> {
  static constexpr const char *type_name = "GstCudaBinarizeLevel";
  static constexpr EnumEntry<BinarizeLevel> values[] = {
      {BinarizeLevel::fast, "Fixed sizes; levels from the page", "fast"},
      {BinarizeLevel::sized, "Sizes from the width of the page's strokes, too", "sized"},
      {BinarizeLevel::full, "Also drops noise and margins, and fills headings and boxes", "full"}};
};

template <>
struct cudascan::gst::EnumTable<BinarizeInvert> {
  static constexpr const char *type_name = "GstCudaBinarizeInvert";
  static constexpr EnumEntry<BinarizeInvert> values[] = {
      {BinarizeInvert::automatic, "Recognised on each frame", "auto"},
      {BinarizeInvert::on, "The ink is lighter than the paper", "on"},
      {BinarizeInvert::off, "The ink is darker than the paper", "off"}};
};

template <>
struct cudascan::gst::EnumTable<BinarizeOutput> {
  static constexpr const char *type_name = "GstCudaBinarizeOutput";
  static constexpr EnumEntry<BinarizeOutput> values[] = {
      {BinarizeOutput::binary, "Black ink on white", "binary"},
      {BinarizeOutput::darkness, "How far each pixel lies below the paper around it", "darkness"}};
};

namespace {

struct Binarize {
  using Params = BinarizeParams;
  using Report = BinarizeReport;
  static constexpr const char *name = "cudabinarize";
  static constexpr const char *type_name = "GstCudaBinarize";
  static constexpr const char *long_name = "CUDA document binarization";
  static constexpr const char *description =
      "Turns scans and video into black and white with nothing to set: sizes and levels follow "
      "from "
      "the page";
  static constexpr std::tuple properties{
      Property{"level", "Level", "How much is done", &Params::level},
      Property{"invert", "Invert", "Whether the ink is lighter than the paper", &Params::invert},
      Property{"output", "Output", "What the frames show", &Params::output},
      Property{"smoothing", "Smoothing",
               "Weight of the previous frames in levels and stroke width, 0 to 0.999",
               &Params::smoothing, Limits{0, 0.999}},
      Property{"roi", "Region of interest",
               "Part of the frame for the statistics, <x, y, width, height> in pixels; "
               "empty = the whole frame",
               &Params::roi}};
  static constexpr std::tuple<> results{};

  static bool black_and_white(const Params &params) {
    return params.output == BinarizeOutput::binary;
  }
  static bool is_map(const Params &params) { return params.output == BinarizeOutput::darkness; }

  static constexpr const char *doubtful_field = "blank";
  static void fill(GstStructure *fields, const Params &, const Report &report) {
    gst_structure_set(fields, "blank", G_TYPE_BOOLEAN, report.blank, "inverted", G_TYPE_BOOLEAN,
                      report.inverted, "confidence", G_TYPE_DOUBLE, report.confidence,
                      "stroke-width", G_TYPE_DOUBLE, report.stroke_width, "threshold",
                      G_TYPE_DOUBLE, report.threshold, "paper-deviation", G_TYPE_DOUBLE,
                      report.paper_deviation, "ink-darkness", G_TYPE_DOUBLE, report.ink_darkness,
                      "ink-ratio", G_TYPE_DOUBLE, report.ink_ratio, nullptr);
  }
};

}  // namespace

CUDASCAN_ELEMENT_DEFINE(cudabinarize, Binarize)
