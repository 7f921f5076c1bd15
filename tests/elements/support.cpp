// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/elements/support.h"

#include <gst/app/app.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "examples/elements.h"

namespace cudascan::elements {
namespace {

constexpr GstClockTime kPatience = 120 * GST_SECOND;  ///< longer than any test expects to wait

/// The CUDA context that elements share, as in a program with many pipelines. Creating a context
/// for every test would take most of the time. Null until an element has one.
Ref<GstContext> &cuda_context() {
  static Ref<GstContext> context;
  return context;
}

void offer_cuda_context(GstElement *element) {
  if (cuda_context()) gst_element_set_context(element, cuda_context().get());
}

/// Keeps the context of the elements that are linked to the pad.
void keep_cuda_context(GstPad *pad) {
  if (cuda_context()) return;
  g_autoptr(GstQuery) query = gst_query_new_context("gst.cuda.context");
  GstContext *context = nullptr;
  if (!gst_pad_peer_query(pad, query)) return;
  gst_query_parse_context(query, &context);
  if (context) cuda_context().reset(gst_context_ref(context));
}

}  // namespace

bool gpu_required() {
  const char *value = g_getenv("REQUIRE_GPU");
  return value && *value && std::strcmp(value, "0") != 0;
}

bool have_gpu() {
  static const bool have = Cuda::available();
  return have;
}

std::vector<std::string> all_elements() {
  return element_names();
}

const char *first_missing(std::initializer_list<const char *> factories) {
  for (const char *name : factories) {
    GstElementFactory *factory = gst_element_factory_find(name);
    if (!factory) return name;
    gst_object_unref(factory);
  }
  return nullptr;
}

Ref<GstCaps> make_caps(GstVideoFormat format, int width, int height, const char *feature) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, width, height);
  info.fps_n = kFps;
  info.fps_d = 1;
  Ref<GstCaps> caps(gst_video_info_to_caps(&info));
  if (feature) gst_caps_set_features(caps.get(), 0, gst_caps_features_new(feature, nullptr));
  return caps;
}

Ref<GstCaps> make_caps(const Picture &picture, const char *feature) {
  Ref<GstCaps> caps = make_caps(picture.format, picture.width, picture.height, feature);
  if (picture.full_range)  // by default, GStreamer sets bt601
    gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, "1:4:16:4", nullptr);
  return caps;
}

std::vector<GstVideoFormat> template_formats(const char *factory_name, GstPadDirection direction,
                                             const char *feature) {
  std::vector<GstVideoFormat> formats;
  GstElementFactory *factory = gst_element_factory_find(factory_name);
  if (!factory) return formats;
  Ref<GstCaps> wanted(gst_caps_new_empty_simple("video/x-raw"));
  if (feature) gst_caps_set_features(wanted.get(), 0, gst_caps_features_new(feature, nullptr));
  for (const GList *item = gst_element_factory_get_static_pad_templates(factory); item;
       item = item->next) {
    auto *templ = static_cast<GstStaticPadTemplate *>(item->data);
    if (templ->direction != direction) continue;
    Ref<GstCaps> all(gst_static_pad_template_get_caps(templ));
    Ref<GstCaps> caps(gst_caps_normalize(gst_caps_intersect(wanted.get(), all.get())));
    for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
      const char *name = gst_structure_get_string(gst_caps_get_structure(caps.get(), i), "format");
      const GstVideoFormat format =
          name ? gst_video_format_from_string(name) : GST_VIDEO_FORMAT_UNKNOWN;
      if (format != GST_VIDEO_FORMAT_UNKNOWN &&
          std::find(formats.begin(), formats.end(), format) == formats.end())
        formats.push_back(format);
    }
  }
  gst_object_unref(factory);
  return formats;
}

ErrorText error_text(GstMessage *message) {
  g_autoptr(GError) error = nullptr;
  g_autofree char *debug = nullptr;
  gst_message_parse_error(message, &error, &debug);
  return {error->message, debug ? debug : ""};
}

std::string property_text(GstElement *element, const char *property) {
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  if (!spec) return "(no such property)";
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  g_object_get_property(G_OBJECT(element), property, &value);
  std::string text;
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumValue *entry =
        g_enum_get_value(G_PARAM_SPEC_ENUM(spec)->enum_class, g_value_get_enum(&value));
    text = entry ? entry->value_nick : "(unknown)";
  } else {
    g_autofree char *serialized = gst_value_serialize(&value);
    text = serialized ? serialized : "";
  }
  g_value_unset(&value);
  return text;
}

guint64 stat(GstElement *element, const char *field) {
  GstStructure *raw = nullptr;
  g_object_get(element, "stats", &raw, nullptr);
  Ref<GstStructure> stats(raw);
  guint64 value = 0;
  if (!stats || !gst_structure_get_uint64(stats.get(), field, &value))
    ADD_FAILURE() << "stats has no field " << field << " of type guint64";
  return value;
}

Filter::Filter(const std::string &launch, const std::string &sink_caps) : bus_(gst_bus_new()) {
  g_autoptr(GError) error = nullptr;
  GstElement *bin = gst_parse_bin_from_description(launch.c_str(), TRUE, &error);
  if (!bin || error) {
    ADD_FAILURE() << launch << ": " << (error ? error->message : "cannot be parsed");
    g_clear_object(&bin);
    bin = gst_parse_bin_from_description("cudanick", TRUE, nullptr);
  }
  gst_object_ref_sink(bin);
  gst_element_set_bus(bin, bus_.get());
  offer_cuda_context(bin);
  harness_ = gst_harness_new_with_element(bin, "sink", "src");
  if (!sink_caps.empty()) gst_harness_set_sink_caps_str(harness_, sink_caps.c_str());
  GstIterator *all = gst_bin_iterate_sorted(GST_BIN(bin));  // in order from the last to the first
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next(all, &item) == GST_ITERATOR_OK) {
    auto *element = GST_ELEMENT(g_value_get_object(&item));
    if (g_type_is_a(G_OBJECT_TYPE(element), g_type_from_name("GstCudaScanFilter")))
      element_.reset(GST_ELEMENT(gst_object_ref(element)));
    g_value_reset(&item);
  }
  g_value_unset(&item);
  gst_iterator_free(all);
  gst_object_unref(bin);
}

Filter::~Filter() {
  keep_cuda_context(harness_->sinkpad);
  gst_element_set_bus(harness_->element, nullptr);
  gst_harness_teardown(harness_);
}

Ref<GstElement> Filter::find(const char *name) const {
  return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(harness_->element), name));
}

void Filter::set_caps(const GstCaps *caps) {
  gst_harness_set_src_caps(harness_, gst_caps_copy(caps));
}

Ref<GstBuffer> Filter::pull() {
  return Ref<GstBuffer>(gst_harness_pull(harness_));
}

GstFlowReturn Filter::push_picture(const Picture &picture, const Layout &layout) {
  if (picture.format != shape_.format || picture.width != shape_.width ||
      picture.height != shape_.height || picture.full_range != shape_.full_range) {
    shape_ = {picture.format, picture.width, picture.height, {}, picture.full_range};
    // Not gst_harness_set_src_caps(), which aborts the process when the caps are refused.
    Ref<GstCaps> caps = make_caps(picture);
    if (!gst_harness_push_event(harness_, gst_event_new_caps(caps.get())))
      return GST_FLOW_NOT_NEGOTIATED;
    if (frames_ == 0) {
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      gst_harness_push_event(harness_, gst_event_new_segment(&segment));
    }
  }
  Ref<GstBuffer> buffer = to_buffer(picture, layout);
  GST_BUFFER_PTS(buffer.get()) = frames_++ * kFrameTime;
  GST_BUFFER_DURATION(buffer.get()) = kFrameTime;
  return push(std::move(buffer));
}

Picture Filter::process(const Picture &picture, const Layout &layout) {
  const GstFlowReturn flow = push_picture(picture, layout);
  if (flow != GST_FLOW_OK) {
    Ref<GstMessage> message = pop(GST_MESSAGE_ERROR);
    ADD_FAILURE() << "the flow returned " << gst_flow_get_name(flow) << " "
                  << (message ? error_text(message.get()).all() : "without an error message");
    return {};
  }
  Ref<GstBuffer> buffer = pull();
  if (!buffer) {
    ADD_FAILURE() << "no frame came out";
    return {};
  }
  return to_picture(buffer.get(), output_caps().get());
}

std::string Filter::get_string(const char *property) const {
  return property_text(element_.get(), property);
}

Pipeline::Pipeline(const std::string &launch, bool own_context) {
  g_autoptr(GError) error = nullptr;
  GstElement *element =
      gst_parse_launch_full(launch.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!element || error) {
    ADD_FAILURE() << launch << ": " << (error ? error->message : "cannot be parsed");
    element = gst_pipeline_new(nullptr);
  } else if (!GST_IS_PIPELINE(element)) {
    GstElement *pipeline = gst_pipeline_new(nullptr);
    gst_bin_add(GST_BIN(pipeline), element);
    element = pipeline;
  }
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(element)));
  if (!own_context) offer_cuda_context(pipeline_.get());
}

Pipeline::~Pipeline() {
  set_state(GST_STATE_NULL);
}

Ref<GstElement> Pipeline::find(const char *name) const {
  Ref<GstElement> element(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  if (!element) ADD_FAILURE() << "the pipeline has no element named " << name;
  return element;
}

void Pipeline::reach(GstState state) {
  GstStateChangeReturn result = set_state(state);
  if (result == GST_STATE_CHANGE_ASYNC)
    result = gst_element_get_state(pipeline_.get(), nullptr, nullptr, kPatience);
  ASSERT_TRUE(result == GST_STATE_CHANGE_SUCCESS || result == GST_STATE_CHANGE_NO_PREROLL)
      << "the pipeline did not reach " << gst_element_state_get_name(state) << ": "
      << gst_element_state_change_return_get_name(result);
}

std::string Pipeline::play() {
  set_state(GST_STATE_PLAYING);
  return wait();
}

std::string Pipeline::wait() {
  Ref<GstMessage> message(gst_bus_timed_pop_filtered(
      bus().get(), kPatience, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (!message) {
    ADD_FAILURE() << "neither EOS nor an error came";
    return "nothing came";
  }
  return GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS ? "" : error_text(message.get()).all();
}

struct Feeder::Impl {
  Ref<GstElement> appsrc;
  std::thread thread;
};

Feeder::Feeder(GstElement *appsrc, int n, std::function<Picture(int)> picture)
    : impl_(new Impl{Ref<GstElement>(GST_ELEMENT(gst_object_ref(appsrc))), {}}) {
  g_object_set(appsrc, "format", GST_FORMAT_TIME, "block", TRUE, "max-buffers", guint64{4},
               "max-bytes", guint64{0}, nullptr);
  impl_->thread = std::thread([source = GST_APP_SRC(appsrc), n, picture = std::move(picture)] {
    Picture last;
    for (int i = 0; i < n; ++i) {
      const Picture p = picture(i);
      if (p.format != last.format || p.width != last.width || p.height != last.height) {
        gst_app_src_set_caps(source, make_caps(p).get());
        last = p;
      }
      Ref<GstBuffer> buffer = to_buffer(p);
      GST_BUFFER_PTS(buffer.get()) = i * kFrameTime;
      GST_BUFFER_DURATION(buffer.get()) = kFrameTime;
      if (gst_app_src_push_buffer(source, buffer.release()) != GST_FLOW_OK) return;
    }
    gst_app_src_end_of_stream(source);
  });
}

Feeder::~Feeder() {
  // Otherwise the thread would wait forever for space in the queue of a stopped pipeline.
  gst_element_set_state(impl_->appsrc.get(), GST_STATE_NULL);
  impl_->thread.join();
}

Ref<GstSample> pull_sample(GstElement *appsink) {
  return Ref<GstSample>(gst_app_sink_try_pull_sample(GST_APP_SINK(appsink), kPatience));
}

std::string data_file(const std::string &name) {
  const char *root = g_getenv("CUDASCAN_TEST_DATA");
  const std::filesystem::path path =
      std::filesystem::path(root && *root ? root : "../shared/data") / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

void BackendTest::SetUp() {
  if (cuda()) NEEDS_GPU();
}

}  // namespace cudascan::elements
