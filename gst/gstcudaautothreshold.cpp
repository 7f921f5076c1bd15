// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaautothreshold
 * @title: cudaautothreshold
 * @short_description: turns scans and video into black and white by one threshold for the frame
 *
 * Finds a threshold T on the histogram of the luma plane. Pixels above T become white, the others
 * black; the chroma of the result is neutral. This suits evenly lit pages, objects on a plain
 * background and measurements; use cudanick for stained or unevenly lit pages. Runs on an NVIDIA
 * GPU, with frames in system memory or CUDAMemory, or on the CPU, with the same results.
 *
 * The methods define a good threshold in different ways: otsu is best for two classes of about the
 * same spread; triangle and the entropies suit a small object on a large background; `classes`
 * finds more than two classes. In video, `smoothing` and `hysteresis` keep the threshold steady.
 * They start again after a discontinuity, a flush or a change of caps.
 *
 * Levels are in steps of the format: 0 to 255 with 8 bits, 0 to 1023 with 10 bits and so on.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudaautothreshold ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaautothreshold method=triangle ! pngenc ! filesink location=clean.png
 * ]|
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaautothreshold smoothing=0.9 hysteresis=2 ! videoconvert ! autovideosink
 * ]| Steady thresholds for a camera.
 * |[
 * gst-launch-1.0 -v videotestsrc pattern=ball ! video/x-raw,format=NV12 ! cudaautothreshold apply=false roi="<10,20,300,200>" ! autovideosink
 * ]| Shows unchanged frames and prints the threshold of a part of them when it changes.
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! video/x-raw,format=NV12 ! cudaautothreshold classes=3 report=message ! fakesink
 * ]| The messages have the thresholds between three classes, how well they separate them, and the
 * histogram.
 */
#include "gst/element.h"
#include "gst/rectangle.h"
#include "kernels/autothreshold.h"

using namespace cudascan;
using namespace cudascan::gst;

template <>
struct cudascan::gst::EnumTable<AutothresholdMethod> {
  using Method = AutothresholdMethod;
  static constexpr const char *type_name = "GstCudaAutothresholdMethod";
  static constexpr EnumEntry<Method> values[] = {
      {Method::otsu, "Largest variance between the classes, Otsu 1979", "otsu"},
      {Method::isodata, "Midway between the means of the classes, Ridler and Calvard 1978",
       "isodata"},
      {Method::mcet, "Minimum cross entropy of all thresholds, Li and Lee 1993", "mcet"},
      {Method::triangle, "Farthest from the line between peak and end, Zack et al. 1977",
       "triangle"},
      {Method::max_entropy, "Largest sum of the entropies of the classes, Kapur et al. 1985",
       "max-entropy"},
      {Method::yen, "Largest correlation, Yen et al. 1995", "yen"},
      {Method::li, "Minimum cross entropy by iteration, Li and Tam 1998", "li"},
      {Method::minimum, "Valley of the smoothed histogram, Prewitt and Mendelsohn 1966", "minimum"},
      {Method::intermodes, "Midway between the peaks of the smoothed histogram, same source",
       "intermodes"},
      {Method::moments, "Keeps the first three moments, Tsai 1985", "moments"},
      {Method::huang, "Smallest fuzziness, Huang and Wang 1995", "huang"},
      {Method::renyi_entropy, "Renyi's entropy, Sahoo et al. 1997", "renyi-entropy"},
      {Method::shanbhag, "Information measure of fuzzy classes, Shanbhag 1994", "shanbhag"},
      {Method::percentile, "Half of the pixels on either side, Doyle 1962", "percentile"},
      {Method::mean, "Mean of the frame", "mean"}};
};

template <>
struct cudascan::gst::EnumTable<AutothresholdAlgorithm> {
  static constexpr const char *type_name = "GstCudaAutothresholdAlgorithm";
  static constexpr EnumEntry<AutothresholdAlgorithm> values[] = {
      {AutothresholdAlgorithm::automatic, "The fastest", "auto"},
      {AutothresholdAlgorithm::prahara,
       "Kernels of Prahara et al. 2021, 8 bits; otsu, isodata and mcet (baseline)", "prahara"}};
};

namespace {

struct Autothreshold {
  using Params = AutothresholdParams;
  using Report = AutothresholdReport;
  static constexpr const char *name = "cudaautothreshold";
  static constexpr const char *type_name = "GstCudaAutothreshold";
  static constexpr const char *long_name = "CUDA automatic threshold";
  static constexpr const char *description =
      "Binarizes scans and video by one threshold for the frame (Otsu, isodata, minimum cross "
      "entropy, triangle, entropies and more)";
  static constexpr std::tuple properties{
      Property{"method", "Method", "How the threshold is found on the histogram", &Params::method},
      Property{"classes", "Classes",
               "Number of classes, 2 to 4; more than 2 only with method=otsu, in equal steps "
               "from black to white",
               &Params::classes, Limits{2, 4}},
      Property{"apply", "Apply", "Paint black and white; false: only measure, pass frames through",
               &Params::apply},
      Property{"invert", "Invert", "Swap black and white", &Params::invert},
      Property{"offset", "Offset", "Levels added to the threshold, -65535 to 65535",
               &Params::offset, Limits{-65535, 65535}},
      Property{"smoothing", "Smoothing", "Weight of the previous frames' threshold, 0 to 0.999",
               &Params::smoothing, Limits{0, 0.999}},
      Property{"hysteresis", "Hysteresis",
               "The threshold changes only by more than this many levels, 0 to 65535",
               &Params::hysteresis, Limits{0, 65535}},
      Property{"ignore-black", "Ignore black", "Leave the lowest level out of the statistics",
               &Params::ignore_black},
      Property{"ignore-white", "Ignore white", "Leave the highest level out of the statistics",
               &Params::ignore_white},
      Property{"roi", "Region of interest",
               "Part of the frame for the statistics, <x, y, width, height> in pixels; "
               "empty = the whole frame",
               &Params::roi},
      Property{"algorithm", "Algorithm", "How the threshold is computed", &Params::algorithm}};
  static constexpr std::tuple results{
      Result{"threshold", "Threshold",
             "Level applied to the latest frame: above it is white; with more than 2 "
             "classes, the lowest threshold",
             &Report::threshold, Limits{-1, 65535}}};

  static bool black_and_white(const Params &params) { return params.apply && params.classes == 2; }
  static bool is_map(const Params &params) { return params.apply && params.classes > 2; }

  static void fill(GstStructure *fields, const Params &params, const Report &report) {
    gst_structure_set(fields, "threshold", G_TYPE_INT, report.threshold, "method", G_TYPE_STRING,
                      enum_nick(params.method), "mean-below", G_TYPE_DOUBLE, report.mean_below,
                      "mean-above", G_TYPE_DOUBLE, report.mean_above, "separability", G_TYPE_DOUBLE,
                      report.separability, nullptr);
    if (params.classes > 2) set_array(fields, "thresholds", report.thresholds);
    set_array(fields, "histogram", report.histogram);
  }
};

}  // namespace

CUDASCAN_ELEMENT_DEFINE(cudaautothreshold, Autothreshold)
