// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudalinearopen
 * @title: cudalinearopen
 * @short_description: keeps or removes thin lines at any angle and measures their direction
 *
 * Openings and closings by line segments. An opening keeps bright structures that a segment of
 * `length` pixels fits into; a closing keeps dark ones. top-hat and black-hat show what these
 * remove: bright or dark structures that are shorter or have another direction. With `directions`
 * above 1, segments may have any of that many directions: fibres, cracks, vessels, ridges and staff
 * lines stay, whatever their direction, and specks are removed. Runs on an NVIDIA GPU, with frames
 * in system memory or CUDAMemory, or on the CPU, with the same results.
 *
 * Angles are in degrees, counter-clockwise from the positive x axis as seen on the screen. Pixels
 * outside the frame do not count. The luma plane is processed, the chroma is copied.
 *
 * With output=orientation the luma of each pixel is the angle of its strongest direction in whole
 * degrees, 0 to 179, in steps of the format. In YUV formats the chroma shows it as a hue; hues go
 * around once in 180 degrees. A chroma sample that covers several pixels shows the angle of the top
 * left one.
 *
 * The report has the response of each direction, the strongest direction (`dominant-angle`), and
 * whether it is reliable (`confidence`, `blank`). It tells, for instance, how far a page is
 * rotated.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudalinearopen ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 filesrc location=fingerprint.png ! decodebin ! videoconvert ! video/x-raw,format=Y444 ! cudalinearopen operation=closing directions=60 output=orientation ! videoconvert ! pngenc ! filesink location=ridges.png
 * ]| The directions of the ridges of a fingerprint, as colours.
 * |[
 * gst-launch-1.0 filesrc location=music.png ! decodebin ! videoconvert ! cudalinearopen operation=black-hat length=80 ! videoconvert ! pngenc ! filesink location=notes.png
 * ]| The dark parts of a straight music sheet except its staff lines, white on black.
 * |[
 * gst-launch-1.0 -m filesrc location=music.png ! decodebin ! videoconvert ! cudalinearopen operation=closing length=250 angle=-10 span=20 directions=81 report=message ! fakesink
 * ]| The message has the angle by which the page is rotated.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudalinearopen operation=top-hat length=15 directions=12 ! videoconvert ! autovideosink
 * ]| Small bright objects in front of a camera, without edges.
 */
#include "gst/element.h"
#include "kernels/linearopen.h"

using namespace cudascan;
using namespace cudascan::gst;

template <>
struct cudascan::gst::EnumTable<LinearOpenOperation> {
  static constexpr const char *type_name = "GstCudaLinearOpenOperation";
  static constexpr EnumEntry<LinearOpenOperation> values[] = {
      {LinearOpenOperation::opening, "Bright structures that a segment fits into", "opening"},
      {LinearOpenOperation::closing, "Dark structures that a segment fits into", "closing"},
      {LinearOpenOperation::top_hat, "Input - opening: the other bright structures", "top-hat"},
      {LinearOpenOperation::black_hat, "Closing - input: the other dark structures", "black-hat"}};
};

template <>
struct cudascan::gst::EnumTable<LinearOpenOutput> {
  static constexpr const char *type_name = "GstCudaLinearOpenOutput";
  static constexpr EnumEntry<LinearOpenOutput> values[] = {
      {LinearOpenOutput::filtered, "The filtered frame", "filtered"},
      {LinearOpenOutput::orientation,
       "The strongest direction in degrees, 0 to 179; in YUV formats the chroma shows it as a hue",
       "orientation"}};
};

template <>
struct cudascan::gst::EnumTable<LinearOpenLines> {
  static constexpr const char *type_name = "GstCudaLinearOpenLines";
  static constexpr EnumEntry<LinearOpenLines> values[] = {
      {LinearOpenLines::partition, "Parts of the translated lines that the frame is divided into",
       "partition"},
      {LinearOpenLines::invariant, "The same segment at every pixel, as with a mask", "invariant"}};
};

template <>
struct cudascan::gst::EnumTable<LinearOpenAlgorithm> {
  using Algorithm = LinearOpenAlgorithm;
  static constexpr const char *type_name = "GstCudaLinearOpenAlgorithm";
  static constexpr EnumEntry<Algorithm> values[] = {
      {Algorithm::automatic, "The fastest", "auto"},
      {Algorithm::bartovsky, "Queue, a thread for each line, Bartovsky et al. 2011 (baseline)",
       "bartovsky"},
      {Algorithm::morard, "Stack, a thread for each line, Morard et al. 2011 (baseline)", "morard"},
      {Algorithm::bartovsky_zones,
       "Queue, frame split into zones, Karas et al. 2015 (baseline; on the CPU as bartovsky)",
       "bartovsky-zones"}};
};

namespace {

struct LinearOpen {
  using Params = LinearOpenParams;
  using Report = LinearOpenReport;
  static constexpr const char *name = "cudalinearopen";
  static constexpr const char *type_name = "GstCudaLinearOpen";
  static constexpr const char *long_name = "CUDA opening by line segments";
  static constexpr const char *description =
      "Keeps or removes thin lines at any angle in scans and video (linear openings and closings), "
      "and finds their directions";
  static constexpr std::tuple properties{
      Property{"operation", "Operation", "What is kept or shown", &Params::operation},
      Property{"length", "Length",
               "Pixels of a segment along the axis that it is nearer to, 1 to 4096; 1 = the input",
               &Params::length, Limits{1, 4096}},
      Property{"angle", "Angle",
               "Degrees counter-clockwise from the positive x axis as seen on the screen, -360 to "
               "360; of the first direction",
               &Params::angle, Limits{-360, 360}},
      Property{"directions", "Directions",
               "Number of angles spread over span, 1 to 1024; the result is the largest of their "
               "openings or the smallest of their closings",
               &Params::directions, Limits{1, 1024}},
      Property{"span", "Span",
               "Degrees over which the directions are spread, above 0, up to 180; the last one is "
               "at the end, except with 180",
               &Params::span, Limits{0, 180}},
      Property{"output", "Output", "What the frames show", &Params::output},
      Property{"lines", "Lines", "Which segment a pixel has", &Params::lines},
      Property{"algorithm", "Algorithm", "How it is computed; all give the same result",
               &Params::algorithm}};
  static constexpr std::tuple<> results{};

  static bool black_and_white(const Params &) { return false; }
  static bool is_map(const Params &params) {
    return params.output == LinearOpenOutput::orientation;
  }
  static Chroma chroma(const Params &params) {
    return params.output == LinearOpenOutput::orientation ? Chroma::hue : Chroma::copied;
  }

  static void fill(GstStructure *fields, const Params &, const Report &report) {
    set_array(fields, "angles", report.angles);
    set_array(fields, "spectrum", report.spectrum);
    gst_structure_set(fields, "dominant-angle", G_TYPE_DOUBLE, report.dominant_angle, "confidence",
                      G_TYPE_DOUBLE, report.confidence, "blank", G_TYPE_BOOLEAN, report.blank,
                      nullptr);
  }
};

}  // namespace

CUDASCAN_ELEMENT_DEFINE(cudalinearopen, LinearOpen)
