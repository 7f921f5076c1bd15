// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudalinearopen
 * @title: cudalinearopen
 * @short_description: keeps or removes thin lines at any angle, and tells in which direction they
 * run
 *
 * Openings and closings by line segments. An opening keeps what a segment of `length` pixels fits
 * into and is bright; a closing keeps what is dark. top-hat and black-hat are what they take away:
 * all bright, all dark structures that are shorter or run elsewhere. With `directions` above 1
 * segments may lie in any of so many directions: fibres, cracks, vessels, ridges and staff lines
 * stay, whichever way they run, and specks go. Works on an NVIDIA GPU, in system memory or
 * CUDAMemory, and on the CPU with the same results.
 *
 * Angles are in degrees, counter-clockwise from the positive x axis as one sees it on the screen.
 * Outside of the frame nothing counts. The luma plane is processed, the chroma is copied.
 *
 * With output=orientation the luma of each pixel is the angle of its strongest direction in whole
 * degrees, 0 to 179, in steps of the format. In YUV formats the chroma shows it as a hue, which
 * goes once around in 180 degrees; a chroma sample for more than one pixel shows the one at their
 * top left.
 *
 * The report tells how much of the frame stays in each direction, in which one most does
 * (`dominant-angle`), and whether there is one at all (`confidence`, `blank`): how far a page is
 * turned.
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
 * ]| What is dark on a music sheet that lies straight, but for its staff lines, white on black.
 * |[
 * gst-launch-1.0 -m filesrc location=music.png ! decodebin ! videoconvert ! cudalinearopen operation=closing length=250 angle=-10 span=20 directions=81 report=message ! fakesink
 * ]| The message tells by which angle the page is turned.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudalinearopen operation=top-hat length=15 directions=12 ! videoconvert ! autovideosink
 * ]| Small bright things in front of a camera, without edges.
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
      {LinearOpenLines::partition, "Parts of the translated lines that the frame is cut into",
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
       "Queue, the frame split in zones, Karas et al. 2015 (baseline; on the CPU as bartovsky)",
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
      Property{"operation", "Operation", "What is kept", &Params::operation},
      Property{"length", "Length",
               "Pixels of a segment along the axis that it is nearer to, 1 to 4096; 1 = the input",
               &Params::length},
      Property{"angle", "Angle",
               "Degrees counter-clockwise from the positive x axis as seen on the screen, -360 to "
               "360; of the first direction",
               &Params::angle},
      Property{"directions", "Directions",
               "Number of angles, spread over span, 1 to 1024: the largest of their openings, the "
               "smallest of their closings",
               &Params::directions},
      Property{
          "span", "Span",
          "Degrees that the directions are spread over, above 0, up to 180; the last is at the "
          "end, unless that is 180",
          &Params::span},
      Property{"output", "Output", "What is painted", &Params::output},
      Property{"lines", "Lines", "What a segment is at a pixel", &Params::lines},
      Property{"algorithm", "Algorithm", "How it is computed; all give the same result",
               &Params::algorithm}};
  static constexpr std::tuple<> results{};

  static bool black_and_white(const Params &) { return false; }
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
