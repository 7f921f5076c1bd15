// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaequalize
 * @title: cudaequalize
 * @short_description: spreads the levels of scans and video evenly over the range
 *
 * Histogram equalization brings out what lies in a narrow range of levels: faded ink, fog, night.
 * With method=clahe tile by tile and with a limit to the contrast. The luma plane is processed, the
 * chroma is copied; limited-range luma stays in its range. Works on an NVIDIA GPU, in system memory
 * or CUDAMemory, and on the CPU with the same results, which at 8 bit are those of OpenCV.
 *
 * In video, `smoothing` keeps the brightness from flickering. It starts anew when the scene
 * changes, after a discontinuity, a flush and a change of caps.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudaequalize ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaequalize method=clahe clip-limit=3 ! pngenc ! filesink location=clear.png
 * ]|
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaequalize smoothing=0.9 amount=0.7 ! videoconvert ! autovideosink
 * ]| A part of the input stays in the result, and its brightness is steady.
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! video/x-raw,format=NV12 ! cudaequalize report=message ! fakesink
 * ]| The messages tell minimum, maximum, mean and histogram of each frame as it came in.
 */
#include "gst/element.h"
#include "gst/rectangle.h"
#include "kernels/equalize.h"

using namespace cudascan;
using namespace cudascan::gst;

template <>
struct cudascan::gst::EnumTable<EqualizeMethod> {
  static constexpr const char *type_name = "GstCudaEqualizeMethod";
  static constexpr EnumEntry<EqualizeMethod> values[] = {
      {EqualizeMethod::global, "One mapping for the frame", "global"},
      {EqualizeMethod::clahe, "Contrast limited adaptive equalization in tiles, Zuiderveld 1994",
       "clahe"}};
};

template <>
struct cudascan::gst::EnumTable<EqualizeFormula> {
  static constexpr const char *type_name = "GstCudaEqualizeFormula";
  static constexpr EnumEntry<EqualizeFormula> values[] = {
      {EqualizeFormula::opencv, "As OpenCV's equalizeHist: the lowest level becomes black",
       "opencv"},
      {EqualizeFormula::cdf, "floor(cdf (levels - 1) / pixels)", "cdf"}};
};

template <>
struct cudascan::gst::EnumTable<EqualizeAlgorithm> {
  static constexpr const char *type_name = "GstCudaEqualizeAlgorithm";
  static constexpr EnumEntry<EqualizeAlgorithm> values[] = {
      {EqualizeAlgorithm::automatic, "The fastest", "auto"},
      {EqualizeAlgorithm::naive, "Atomic increments in device memory, 8 bit, cdf (baseline)",
       "naive"},
      {EqualizeAlgorithm::shared, "Histograms in shared memory, 8 bit, cdf (baseline)", "shared"}};
};

namespace {

struct Equalize {
  using Params = EqualizeParams;
  using Report = EqualizeReport;
  static constexpr const char *name = "cudaequalize";
  static constexpr const char *type_name = "GstCudaEqualize";
  static constexpr const char *long_name = "CUDA histogram equalization";
  static constexpr const char *description =
      "Equalizes the histogram of scans and video, in the whole frame or contrast limited in tiles "
      "(CLAHE)";
  static constexpr std::tuple properties{
      Property{"method", "Method", "One mapping for the frame, or tiles", &Params::method},
      Property{"formula", "Formula", "Mapping of method=global", &Params::formula},
      Property{"clip-limit", "Clip limit",
               "With method=clahe a level of a tile counts at most so many times the mean, 0 to "
               "1000000; 0 = no limit",
               &Params::clip_limit},
      Property{"tiles-x", "Tiles in x", "Tiles of method=clahe side by side, 1 to 64",
               &Params::tiles_x},
      Property{"tiles-y", "Tiles in y", "Tiles of method=clahe over each other, 1 to 64",
               &Params::tiles_y},
      Property{"amount", "Amount", "Weight of the result beside the input, 0 to 1; 0 = the input",
               &Params::amount},
      Property{"smoothing", "Smoothing",
               "Weight of the past frames' mapping in this one's, 0 to 0.999; method=global",
               &Params::smoothing},
      Property{"roi", "Region of interest",
               "Part of the frame that the statistics of method=global are from, <x, y, width, "
               "height> in pixels; empty = the whole frame",
               &Params::roi},
      Property{"algorithm", "Algorithm", "How the mapping of method=global is computed",
               &Params::algorithm}};
  static constexpr std::tuple<> results{};

  static bool black_and_white(const Params &) { return false; }

  static void fill(GstStructure *fields, const Params &, const Report &report) {
    gst_structure_set(fields, "minimum", G_TYPE_INT, report.minimum, "maximum", G_TYPE_INT,
                      report.maximum, "mean", G_TYPE_DOUBLE, report.mean, nullptr);
    set_array(fields, "histogram", report.histogram);
  }
};

}  // namespace

CUDASCAN_ELEMENT_DEFINE(cudaequalize, Equalize)
