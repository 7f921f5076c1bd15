// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaequalize
 * @title: cudaequalize
 * @short_description: spreads the levels of scans and video evenly over the range
 *
 * Histogram equalization brings out details in a narrow range of levels: faded ink, fog, night.
 * method=clahe works tile by tile and limits the contrast. The luma plane is processed, the chroma
 * is copied; limited-range luma stays in its range. Runs on an NVIDIA GPU, with frames in system
 * memory or CUDAMemory, or on the CPU, with the same results. With 8 bits these are those of
 * OpenCV.
 *
 * In video, `smoothing` keeps the brightness from flickering. It starts again when the scene
 * changes and after a discontinuity, a flush or a change of caps.
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
 * ]| Blends in some of the input and keeps the brightness steady.
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! video/x-raw,format=NV12 ! cudaequalize report=message ! fakesink
 * ]| The messages have minimum, maximum, mean and histogram of each input frame.
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
      {EqualizeFormula::opencv, "As in OpenCV's equalizeHist: the lowest level becomes black",
       "opencv"},
      {EqualizeFormula::cdf, "floor(cdf (levels - 1) / pixels)", "cdf"}};
};

template <>
struct cudascan::gst::EnumTable<EqualizeAlgorithm> {
  static constexpr const char *type_name = "GstCudaEqualizeAlgorithm";
  static constexpr EnumEntry<EqualizeAlgorithm> values[] = {
      {EqualizeAlgorithm::automatic, "The fastest", "auto"},
      {EqualizeAlgorithm::naive, "Atomic increments in device memory, 8 bits, cdf (baseline)",
       "naive"},
      {EqualizeAlgorithm::shared, "Histograms in shared memory, 8 bits, cdf (baseline)", "shared"}};
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
      Property{"method", "Method", "One mapping for the frame, or one per tile", &Params::method},
      Property{"formula", "Formula", "Mapping of method=global", &Params::formula},
      Property{"clip-limit", "Clip limit",
               "With method=clahe, a level's count in a tile is limited to this many times the "
               "mean, 0 to 1000000; 0 = no limit",
               &Params::clip_limit, Limits{0, 1000000}},
      Property{"tiles-x", "Tiles in x", "Number of tiles in a row for method=clahe, 1 to 64",
               &Params::tiles_x, Limits{1, 64}},
      Property{"tiles-y", "Tiles in y", "Number of tiles in a column for method=clahe, 1 to 64",
               &Params::tiles_y, Limits{1, 64}},
      Property{"amount", "Amount", "Weight of the result against the input, 0 to 1; 0 = the input",
               &Params::amount, Limits{0, 1}},
      Property{"smoothing", "Smoothing",
               "Weight of the previous frames' mapping, 0 to 0.999; only with method=global",
               &Params::smoothing, Limits{0, 0.999}},
      Property{"roi", "Region of interest",
               "Part of the frame for the statistics of method=global, <x, y, width, "
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
