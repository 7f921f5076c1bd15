// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/formats.h"

#include <string>
#include <string_view>

#include "gst/luma_planes.h"

namespace cudascan::gst {
namespace {

constexpr const char *kCudaFeature = "memory:CUDAMemory";

// Not Y210, Y212_LE and Y412_LE: GStreamer 1.22 is wrong about the places of their samples.
constexpr const char *kColours8[] = {
    "NV12", "NV21", "NV16", "NV61", "NV24", "I420", "YV12", "Y42B", "Y444", "YUY2", "UYVY",
    "YVYU", "VYUY", "AYUV", "VUYA", "v308", "IYU2", "RGB",  "BGR",  "RGBx", "BGRx", "xRGB",
    "xBGR", "RGBA", "BGRA", "ARGB", "ABGR", "RBGA", "GBR",  "GBRA", "RGBP", "BGRP"};
constexpr const char *kFormats16[] = {
    "GRAY16_LE", "GRAY10_LE16", "GRAY10_LE32", "P010_10LE",  "P012_LE",   "P016_LE",
    "I420_10LE", "I420_12LE",   "I422_10LE",   "I422_12LE",  "Y444_10LE", "Y444_12LE",
    "Y444_16LE", "v210",        "v216",        "Y410",       "AYUV64",    "GBR_10LE",
    "GBR_12LE",  "GBR_16LE",    "GBRA_10LE",   "GBRA_12LE",  "RGBA64_LE", "BGRA64_LE",
    "ARGB64_LE", "ABGR64_LE",   "ARGB64",      "RGB10A2_LE", "BGR10A2_LE"};

/// Adds those that this GStreamer knows to "{ A, B".
template <std::size_t n>
std::string with_known(std::string list, const char *const (&formats)[n]) {
  for (const char *format : formats)
    if (gst_video_format_from_string(format) != GST_VIDEO_FORMAT_UNKNOWN)
      list += (list.back() == '{' ? " " : ", ") + std::string(format);
  return list;
}

/// The formats with chroma of 8 bits, and all but GRAY8, as lists that GValue understands.
const std::string &colours_8() {
  static const std::string list = with_known("{", kColours8) + " }";
  return list;
}
const std::string &all_but_gray8() {
  static const std::string list = with_known(with_known("{", kColours8), kFormats16) + " }";
  return list;
}

bool structure_is_cuda(const GstCaps *caps, guint i) {
  const GstCapsFeatures *features = gst_caps_get_features(caps, i);
  return features && gst_caps_features_contains(features, kCudaFeature);
}

template <typename Each>
void for_each_format(const GstStructure *structure, Each each) {
  const GValue *formats = gst_structure_get_value(structure, "format");
  if (!formats) return;
  if (G_VALUE_HOLDS_STRING(formats)) return each(g_value_get_string(formats));
  if (!GST_VALUE_HOLDS_LIST(formats)) return;
  for (guint i = 0; i < gst_value_list_get_size(formats); ++i)
    each(g_value_get_string(gst_value_list_get_value(formats, i)));
}

bool has_format(const GstStructure *structure, const char *format) {
  bool found = false;
  for_each_format(structure,
                  [&](const char *f) { found = found || std::string_view(f) == format; });
  return found;
}

/// Whether one of its formats is not GRAY8 and can become it.
bool can_become_gray8(const GstStructure *structure, Gray8From from) {
  bool found = false;
  for_each_format(structure, [&](const char *f) {
    const auto *info = gst_video_format_get_info(gst_video_format_from_string(f));
    found = found || (info && info->format != GST_VIDEO_FORMAT_GRAY8 &&
                      (from == Gray8From::any || sample_size(info) == 1));
  });
  return found;
}

/// Adds a copy of `structure` in one kind of memory.
void append(GstCaps *caps, const GstStructure *structure, bool cuda) {
  GstCapsFeatures *features =
      cuda ? gst_caps_features_new(kCudaFeature, nullptr) : gst_caps_features_new_empty();
  gst_caps_append_structure_full(caps, gst_structure_copy(structure), features);
}

/// The structure with the format (or formats, as a string that GValue understands) replaced and
/// without the description of the old colours.
GstStructure *with_format(const GstStructure *structure, const char *formats) {
  GstStructure *copy = gst_structure_copy(structure);
  gst_structure_remove_fields(copy, "colorimetry", "chroma-site", nullptr);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, *formats == '{' ? GST_TYPE_LIST : G_TYPE_STRING);
  gst_value_deserialize(&value, formats);
  gst_structure_take_value(copy, "format", &value);
  return copy;
}

template <typename Keep>
GstCaps *filter(GstCaps *caps, Keep keep) {
  GstCaps *kept = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (keep(i))
      gst_caps_append_structure_full(kept, gst_structure_copy(gst_caps_get_structure(caps, i)),
                                     gst_caps_features_copy(gst_caps_get_features(caps, i)));
  return kept;
}

}  // namespace

GstCaps *template_caps() {
  const std::string formats = with_known(with_known("{ GRAY8", kColours8), kFormats16) + " }";
  const std::string fields = ", format = " + formats +
                             ", width = [ 1, 32768 ], height = [ 1, 32768 ]"
                             ", framerate = " GST_VIDEO_FPS_RANGE;
  std::string caps = "video/x-raw" + fields;
#ifdef HAVE_GST_CUDA
  caps = "video/x-raw(memory:CUDAMemory)" + fields + "; " + caps;
#endif
  return gst_caps_from_string(caps.c_str());
}

GstCaps *other_pad_caps(GstPadDirection direction, const GstCaps *caps, Abilities abilities) {
  GstCaps *result = gst_caps_new_empty();
  const guint n = gst_caps_get_size(caps);
  const bool is_input = direction == GST_PAD_SINK;
  const std::string &others =
      abilities.gray8_from == Gray8From::any ? all_but_gray8() : colours_8();
  for (const bool other_format : {false, true}) {
    if (other_format && abilities.gray8_from == Gray8From::gray8) break;
    for (const bool other_memory : {false, true}) {
      for (guint i = 0; i < n; ++i) {
        const bool cuda = structure_is_cuda(caps, i);
        if (!abilities.cuda_memory && (cuda || other_memory)) continue;
        const GstStructure *structure = gst_caps_get_structure(caps, i);
        if (!other_format) {
          append(result, structure, cuda != other_memory);
        } else if (is_input ? can_become_gray8(structure, abilities.gray8_from)
                            : has_format(structure, "GRAY8")) {
          g_autoptr(GstStructure) converted =
              with_format(structure, is_input ? "GRAY8" : others.c_str());
          append(result, converted, cuda != other_memory);
        }
      }
    }
  }
  return result;
}

GstCaps *fixate(GstCaps *candidates, const GstCaps *caps, bool in_cuda) {
  const char *format = gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
  guint best = 0;
  int best_score = -1;
  for (guint i = 0; i < gst_caps_get_size(candidates); ++i) {
    const GstStructure *structure = gst_caps_get_structure(candidates, i);
    const int score = 2 * (structure_is_cuda(candidates, i) == in_cuda) +
                      (format && has_format(structure, format));
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  GstCaps *fixed = filter(candidates, [&](guint i) { return i == best; });
  gst_caps_unref(candidates);
  if (gst_caps_is_empty(fixed)) return fixed;
  if (format) gst_structure_fixate_field_string(gst_caps_get_structure(fixed, 0), "format", format);
  return gst_caps_fixate(fixed);
}

bool is_cuda(const GstCaps *caps) {
  return !gst_caps_is_any(caps) && !gst_caps_is_empty(caps) && structure_is_cuda(caps, 0);
}

bool names_cuda(const GstCaps *caps) {
  if (gst_caps_is_any(caps)) return false;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (structure_is_cuda(caps, i)) return true;
  return false;
}

GstCaps *without_cuda(GstCaps *caps) {
  GstCaps *kept = filter(caps, [&](guint i) { return !structure_is_cuda(caps, i); });
  gst_caps_unref(caps);
  return kept;
}

GstCaps *cuda_first(GstCaps *caps, bool cuda) {
  GstCaps *first = filter(caps, [&](guint i) { return structure_is_cuda(caps, i) == cuda; });
  gst_caps_append(first, filter(caps, [&](guint i) { return structure_is_cuda(caps, i) != cuda; }));
  gst_caps_unref(caps);
  return first;
}

guint maximum(const GstVideoFormatInfo *format) {
  return ((1u << format->depth[0]) - 1) << format->shift[0];
}

Range luma_range(const GstVideoInfo &info) {
  const GstVideoFormatInfo *format = info.finfo;
  const bool limited = GST_VIDEO_FORMAT_INFO_IS_YUV(format)
                           ? info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255
                           : info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
  if (!limited) return {0, maximum(format)};
  const guint shift = format->depth[0] - 8 + format->shift[0];
  return {16u << shift, 235u << shift};
}

LumaWeights weights_of(const GstVideoInfo &info) {
  GstVideoColorMatrix matrix = info.colorimetry.matrix;
  if (matrix == GST_VIDEO_COLOR_MATRIX_RGB || matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN) {
    switch (info.colorimetry.primaries) {
      case GST_VIDEO_COLOR_PRIMARIES_BT470M:
      case GST_VIDEO_COLOR_PRIMARIES_BT470BG:
      case GST_VIDEO_COLOR_PRIMARIES_SMPTE170M:
        matrix = GST_VIDEO_COLOR_MATRIX_BT601;
        break;
      case GST_VIDEO_COLOR_PRIMARIES_SMPTE240M:
        matrix = GST_VIDEO_COLOR_MATRIX_SMPTE240M;
        break;
      case GST_VIDEO_COLOR_PRIMARIES_BT2020:
        matrix = GST_VIDEO_COLOR_MATRIX_BT2020;
        break;
      default:
        matrix = GST_VIDEO_COLOR_MATRIX_BT709;
    }
  }
  gdouble kr = 0, kb = 0;
  gst_video_color_matrix_get_Kr_Kb(matrix, &kr, &kb);
  return luma_weights(kr, kb);
}

bool has_unknown_bits(const GstVideoInfo &info) {
  return GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_GRAY16_LE;
}

guint neutral_chroma(const GstVideoFormatInfo *format) {
  return (1u << (format->depth[1] - 1)) << format->shift[1];
}

bool has_luma_plane(const GstVideoFormatInfo *format) {
  return !GST_VIDEO_FORMAT_INFO_IS_RGB(format) && format->pixel_stride[0] == sample_size(format);
}

std::optional<Tens> tens_of(const GstVideoFormatInfo *format) {
  switch (format->format) {
    case GST_VIDEO_FORMAT_GRAY10_LE32:
      return Tens::gray;
    case GST_VIDEO_FORMAT_v210:
      return Tens::yuv422;
    case GST_VIDEO_FORMAT_Y410:
      return Tens::yuv444;
    case GST_VIDEO_FORMAT_RGB10A2_LE:
      return Tens::rgb;
    case GST_VIDEO_FORMAT_BGR10A2_LE:
      return Tens::bgr;
    default:
      return {};
  }
}

int sample_size(const GstVideoFormatInfo *format) {
  return format->depth[0] + format->shift[0] > 8 ? 2 : 1;
}

}  // namespace cudascan::gst
