// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudanick
 * @title: cudanick
 * @short_description: turns scans and video into black and white by local thresholds
 *
 * Compares every pixel with a threshold that is computed from the window around it, by NICK or a
 * related method. Text stays readable on stained, faded or unevenly lit pages. The luma plane is
 * processed; the chroma of the result is neutral. Runs on an NVIDIA GPU, with frames in system
 * memory or CUDAMemory, or on the CPU, with the same results.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudanick ! videoconvert ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudanick window=45 ! pngenc ! filesink location=clean.png
 * ]|
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! cudanick method=sauvola k=0.3 report=message ! fakesink
 * ]| The messages have the share of black pixels in each frame.
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! qtdemux ! h264parse ! nvh264dec ! cudanick ! nvh264enc ! h264parse ! mp4mux ! filesink location=clean.mp4
 * ]| Frames stay on the GPU from the decoder to the encoder.
 */
#include "gst/element.h"
#include "kernels/nick.h"

using namespace cudascan;
using namespace cudascan::gst;

template <>
struct cudascan::gst::EnumTable<NickMethod> {
  static constexpr const char *type_name = "GstCudaNickMethod";
  static constexpr EnumEntry<NickMethod> values[] = {
      {NickMethod::nick, "m + k sqrt((sum p^2 - m^2) / N), Khurshid et al. 2009", "nick"},
      {NickMethod::niblack, "m + k s, Niblack 1985", "niblack"},
      {NickMethod::sauvola, "m (1 + k (s/r - 1)), Sauvola and Pietikainen 2000", "sauvola"},
      {NickMethod::wolf, "m - k (1 - s/max s) (m - min p), Wolf and Jolion 2003", "wolf"},
      {NickMethod::bradley, "m (1 - k), Bradley and Roth 2007", "bradley"},
      {NickMethod::phansalkar, "m (1 + 2 exp(-10 m/max) + k (s/r - 1)), Phansalkar et al. 2011",
       "phansalkar"}};
};

template <>
struct cudascan::gst::EnumTable<NickOutput> {
  static constexpr const char *type_name = "GstCudaNickOutput";
  static constexpr EnumEntry<NickOutput> values[] = {
      {NickOutput::binary, "Black and white", "binary"},
      {NickOutput::threshold, "The threshold of every pixel, rounded", "threshold"}};
};

template <>
struct cudascan::gst::EnumTable<NickAlgorithm> {
  static constexpr const char *type_name = "GstCudaNickAlgorithm";
  static constexpr EnumEntry<NickAlgorithm> values[] = {
      {NickAlgorithm::automatic, "The fastest; its cost hardly depends on the window", "auto"},
      {NickAlgorithm::global, "Windows summed from device memory (reference)", "global"},
      {NickAlgorithm::global_shared, "Windows summed from device and shared memory (reference)",
       "global-shared"},
      {NickAlgorithm::shared, "Windows up to 15 summed from shared memory (reference)", "shared"}};
};

namespace {

struct Nick {
  using Params = NickParams;
  using Report = NickReport;
  static constexpr const char *name = "cudanick";
  static constexpr const char *type_name = "GstCudaNick";
  static constexpr const char *long_name = "CUDA local threshold";
  static constexpr const char *description =
      "Binarizes scans and video by local thresholds (NICK, Niblack, Sauvola, Wolf, Bradley, "
      "Phansalkar)";
  static constexpr std::tuple properties{
      Property{"method", "Method",
               "Formula of the threshold T; m: mean, s: standard deviation of the window, "
               "N: its number of pixels",
               &Params::method},
      Property{"window", "Window", "Side of the square window in pixels, odd, 3 to 1023",
               &Params::window, Limits{3, 1023}},
      Property{"window-width", "Window width",
               "Width of a rectangular window in pixels, odd, 3 to 1023; 0 = window",
               &Params::window_width, Limits{0, 1023}},
      Property{"window-height", "Window height",
               "Height of a rectangular window in pixels, odd, 3 to 1023; 0 = window",
               &Params::window_height, Limits{0, 1023}},
      Property{"k", "k",
               "Weight of the deviation, -2 to 2; if unset, the default of the method (nick -0.19, "
               "niblack -0.2, sauvola 0.5, wolf 0.5, bradley 0.15, phansalkar 0.25)",
               &Params::k, Limits{-2, 2}, k_in_use},
      Property{"r", "r",
               "Dynamic range of the standard deviation in 8-bit levels, 1 to 1024; sauvola and "
               "phansalkar",
               &Params::r, Limits{1, 1024}},
      Property{"invert", "Invert", "Swap black and white", &Params::invert},
      Property{"output", "Output", "What the frames show", &Params::output},
      Property{"algorithm", "Algorithm", "How it is computed; all give the same picture",
               &Params::algorithm}};
  static constexpr std::tuple<> results{};

  static bool black_and_white(const Params &params) { return params.output == NickOutput::binary; }
  static bool is_map(const Params &params) { return params.output == NickOutput::threshold; }

  static void fill(GstStructure *fields, const Params &, const Report &report) {
    gst_structure_set(fields, "black-ratio", G_TYPE_DOUBLE, report.black_ratio, nullptr);
  }
};

}  // namespace

CUDASCAN_ELEMENT_DEFINE(cudanick, Nick)
