// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/elements/random_draw.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

namespace cudascan::elements {
namespace {

constexpr unsigned kPatience =
    180;  ///< seconds that a round may take, on a busy machine and with sanitizers

char hung[200];  ///< the message about a round that hangs

void say_and_end(int) {
  if (write(STDERR_FILENO, hung, std::strlen(hung)) < 0) _exit(2);
  abort();
}

double number_of(const char *variable, double otherwise) {
  const char *const text = std::getenv(variable);
  return text && *text ? std::strtod(text, nullptr) : otherwise;
}

std::uint64_t first_seed() {
  const char *const text = std::getenv("CUDASCAN_RANDOM_SEED");
  return text && *text ? std::strtoull(text, nullptr, 10) : 1;
}

std::atomic<int> complaints = 0;
GLogFunc log_before = nullptr;

}  // namespace

Rounds::Rounds(const char *what, double seconds) : what_(what), seed_(first_seed() - 1) {
  seconds = number_of("CUDASCAN_RANDOM_SECONDS", seconds);
  end_ = std::chrono::steady_clock::now() +
         std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
  std::printf("%s: CUDASCAN_RANDOM_SEED=%llu CUDASCAN_RANDOM_SECONDS=%g\n", what_,
              static_cast<unsigned long long>(seed_ + 1), seconds);
  signal(SIGALRM, say_and_end);
}

Rounds::~Rounds() {
  alarm(0);
  std::printf("%s: %llu rounds\n", what_, static_cast<unsigned long long>(rounds_));
  if (testing::Test::HasFailure())
    std::printf("again: CUDASCAN_RANDOM_SEED=%llu\n", static_cast<unsigned long long>(seed_));
}

bool Rounds::next() {
  if (testing::Test::HasFailure()) return false;
  if (rounds_ > 0 && std::chrono::steady_clock::now() >= end_) return false;
  ++seed_, ++rounds_;
  std::snprintf(hung, sizeof hung, "%s: a round hangs, CUDASCAN_RANDOM_SEED=%llu\n", what_,
                static_cast<unsigned long long>(seed_));
  alarm(kPatience);
  return true;
}

Complaints::Complaints() {
  complaints = 0;
  log_before = g_log_set_default_handler(
      [](const char *domain, GLogLevelFlags level, const char *message, gpointer data) {
        if (level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) ++complaints;
        log_before(domain, level, message, data);
      },
      nullptr);
}
Complaints::~Complaints() {
  g_log_set_default_handler(log_before, nullptr);
}
int Complaints::count() {
  return complaints;
}

std::vector<GParamSpec *> drawn_properties(GstElement *element) {
  // Users' code and how the GPU shares its work; and properties that depend on the machine.
  static constexpr std::string_view kOthers[] = {
      "backend",     "cuda-device-id", "expression", "source", "function",   "params",
      "reload",      "cache-dir",      "emit-cuda",  "strict", "tile-width", "tile-height",
      "chunk-width", "chunk-height",   "reads",      "tune"};
  guint n = 0;
  g_autofree GParamSpec **all = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  std::vector<GParamSpec *> drawn;
  for (guint i = 0; i < n; ++i)
    if (g_type_is_a(all[i]->owner_type, g_type_from_name("GstCudaScanFilter")) &&
        (all[i]->flags & G_PARAM_WRITABLE) &&
        std::find(std::begin(kOthers), std::end(kOthers), all[i]->name) == std::end(kOthers))
      drawn.push_back(all[i]);
  return drawn;
}

namespace {

int draw_int(Draw &draw, bool wild) {
  if (wild && draw.one_in(2))
    return draw.pick({0, -1, 2, 4, 256, 1025, 4097, 65536, G_MAXINT, G_MININT});
  return draw.one_in(3) ? draw.from(1, 24) : 2 * draw.from(0, 8) + 1;
}

double draw_real(Draw &draw, bool wild) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (wild && draw.one_in(2))
    return draw.pick({std::nan(""), kInfinity, -kInfinity, 1e300, -1e300, 5e-324, -3.0, 1e9});
  return draw.pick({0.0, 0.1, 0.25, 0.4999, 0.5, 0.9, 1.0, -0.19, -0.2, 2.0, 10.0, 33.3, 45.0, 90.0,
                    100.0, 128.0, 180.0});
}

const char *draw_shape(Draw &draw, bool wild) {
  if (wild && draw.one_in(2))
    return draw.pick<const char *>({"", "0", "000;000;000", "01", "1;11", "101;2", "star",
                                    "111111111111111111;1", "-", ";;;;", "\xc3\xa4"});
  return draw.pick<const char *>({"rectangle", "ellipse", "cross", "octagon", "hexagon",
                                  "010;111;010", "1", "01-;110;-0-",
                                  "00100;01110;11111;01110;00100", "110;100;000", "111;000;000"});
}

void draw_roi(Draw &draw, bool wild, GValue *array) {
  if (draw.one_in(3)) return;
  const int n = wild && draw.one_in(3) ? draw.from(1, 6) : 4;
  for (int i = 0; i < n; ++i) {
    GValue number = G_VALUE_INIT;
    g_value_init(&number, G_TYPE_INT);
    g_value_set_int(&number, i < 2 ? draw.below(4) : wild ? draw_int(draw, true) : draw.from(1, 9));
    gst_value_array_append_and_take_value(array, &number);
  }
}

}  // namespace

Setting::Setting(GParamSpec *spec) : spec_(spec) {
  g_value_init(&value_, spec->value_type);
  g_param_value_set_default(spec, &value_);
}

Setting::Setting(Draw &draw, GParamSpec *spec, bool wild) : Setting(spec) {
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass *kind = G_PARAM_SPEC_ENUM(spec)->enum_class;
    g_value_set_enum(&value_, kind->values[draw.below(static_cast<int>(kind->n_values))].value);
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    GFlagsClass *kind = G_PARAM_SPEC_FLAGS(spec)->flags_class;
    guint mask = kind->mask;
#ifndef HAVE_GST_ANALYTICS
    // Refused, so that frames would rarely be compared.
    if (const GFlagsValue *refused = g_flags_get_value_by_nick(kind, "analytics"))
      mask &= ~refused->value;
#endif
    g_value_set_flags(&value_, draw.bits() & mask);
  } else if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    g_value_set_boolean(&value_, draw.one_in(2));
  } else if (G_IS_PARAM_SPEC_INT(spec)) {
    g_value_set_int(&value_, draw_int(draw, wild));
  } else if (G_IS_PARAM_SPEC_UINT(spec)) {
    g_value_set_uint(&value_, wild ? draw.bits() : static_cast<guint>(draw.below(9)));
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    g_value_set_double(&value_, draw_real(draw, wild));
  } else if (G_IS_PARAM_SPEC_STRING(spec)) {
    g_value_set_string(&value_, draw_shape(draw, wild));
  } else if (GST_IS_PARAM_SPEC_ARRAY_LIST(spec)) {
    draw_roi(draw, wild, &value_);
  } else {
    ADD_FAILURE() << spec->name
                  << ": values of this type cannot be drawn: " << g_type_name(spec->value_type);
  }
}

std::string Setting::text() const {
  g_autofree char *text = g_strdup_value_contents(&value_);
  return std::string(spec_->name) + " = " + text;
}

Layout draw_layout(Draw &draw, const Video &video) {
  Layout layout = video.plain;
  if (draw.one_in(3)) return layout;
  if (draw.one_in(3)) layout.row_padding = draw.from(1, 40);
  if (draw.one_in(3)) layout.plane_padding = draw.from(1, 9);
  if (draw.one_in(3)) layout.row_bytes = draw.from(1, 5);
  layout.split = draw.one_in(4);
  layout.upwards = draw.one_in(4);
  if (draw.one_in(4)) layout.pieces = draw.from(2, 6);
  return layout;
}

Video draw_video(Draw &draw, bool small) {
  static const std::vector<GstVideoFormat> formats = template_formats("cudanick", GST_PAD_SINK);
  Video video{nullptr,
              draw.pick(formats),
              draw.from(1, small ? 40 : 90),
              draw.from(1, small ? 30 : 70),
              {}};
  if (draw.one_in(6)) video.width = video.height = 1;
  if (draw.one_in(6)) (draw.one_in(2) ? video.width : video.height) = 1;
  if (!small && draw.one_in(12))
    video.width = draw.from(100, 1500), video.height = draw.from(1, 40);
  video.caps = make_caps(video.format, video.width, video.height);
  GstCaps *caps = video.caps.get();
  if (draw.one_in(3)) gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 0, 1, nullptr);
  if (draw.one_in(3)) {
    gst_caps_set_simple(caps, "interlace-mode", G_TYPE_STRING,
                        draw.pick<const char *>({"interleaved", "mixed", "fields"}), nullptr);
    video.plain.row_padding = 1;
  }
  if (draw.one_in(3))
    gst_caps_set_simple(
        caps, "colorimetry", G_TYPE_STRING,
        draw.pick<const char *>({"bt601", "bt709", "1:4:16:4", "2:4:5:1", "bt2020-10"}), nullptr);
  if (draw.one_in(4))
    gst_caps_set_simple(caps, "pixel-aspect-ratio", GST_TYPE_FRACTION, draw.from(1, 64),
                        draw.from(1, 45), nullptr);
  return video;
}

Ref<GstCaps> draw_wrong_caps(Draw &draw) {
  Ref<GstCaps> caps = make_caps(GST_VIDEO_FORMAT_GRAY8, 16, 16);
  switch (draw.below(5)) {
    case 0:
      gst_caps_set_simple(caps.get(), "format", G_TYPE_STRING, "RGB16", nullptr);
      break;
    case 1:
      gst_caps_set_simple(caps.get(), "width", G_TYPE_INT, 0, nullptr);
      break;
    case 2:
      gst_caps_set_simple(caps.get(), "height", G_TYPE_INT, G_MAXINT, nullptr);
      break;
    case 3:
      gst_structure_remove_field(gst_caps_get_structure(caps.get(), 0), "width");
      break;
    default:
      caps.reset(gst_caps_new_empty_simple("audio/x-raw"));
  }
  return caps;
}

Ref<GstBuffer> draw_wrong_buffer(Draw &draw, const Picture &picture) {
  Ref<GstBuffer> buffer = to_buffer(
      picture, {.row_padding = 2, .split = draw.one_in(3), .pieces = draw.one_in(3) ? 3 : 1});
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer.get());
  const auto plane = static_cast<guint>(draw.below(static_cast<int>(meta->n_planes)));
  switch (draw.below(7)) {
    case 0:
      return Ref<GstBuffer>(gst_buffer_new());
    case 1:
      meta->offset[plane] = draw.one_in(2) ? G_MAXSIZE - draw.below(9) : gsize{1} << 30;
      break;
    case 2:
      meta->stride[plane] = draw.pick({G_MAXINT, G_MININT, G_MININT + 1, 1 << 28, -(1 << 28)});
      meta->offset[plane] += picture.height > 2 ? 0 : gsize{1} << 32;
      break;
    case 3:
      (draw.one_in(2) ? meta->width : meta->height) = 0;
      break;
    case 4:
      meta->format = GST_VIDEO_FORMAT_RGB16;
      break;
    case 5:
      meta->n_planes = draw.one_in(2) ? 0 : meta->n_planes % GST_VIDEO_MAX_PLANES + 1;
      break;
    default:  // cuts off the end of the frame
      gst_buffer_resize(buffer.get(), 0, picture.width * picture.height > 1 ? draw.below(2) : 0);
  }
  return buffer;
}

}  // namespace cudascan::elements
