// SPDX-License-Identifier: LGPL-2.1-or-later
#include "elements/support.h"

#include <gst/app/app.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

namespace cudascan::elements {
namespace {

constexpr GstClockTime kPatience =
    120 * GST_SECOND;  ///< nothing waits longer; no test expects it to

/// A view of one component of a mapped frame.
struct Component {
  guint8 *data;
  int width, height, stride, step;
  bool deep;

  Component(GstVideoFrame &frame, int c)
      : data(static_cast<guint8 *>(
            GST_VIDEO_FRAME_PLANE_DATA(&frame, GST_VIDEO_FRAME_COMP_PLANE(&frame, c)))),
        width(GST_VIDEO_FRAME_COMP_WIDTH(&frame, c)),
        height(GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c)),
        stride(GST_VIDEO_FRAME_COMP_STRIDE(&frame, c)),
        step(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)),
        deep(GST_VIDEO_FRAME_COMP_DEPTH(&frame, c) > 8) {
    // Not COMP_DATA: GStreamer 1.22 puts the V of P010_10LE and its kin one byte behind U, not two.
    if (GST_VIDEO_FRAME_COMP_POFFSET(&frame, c)) data += deep ? 2 : 1;
  }

  template <typename Visit>
  void each(Visit visit) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        visit(
            data + static_cast<std::ptrdiff_t>(y) * stride + static_cast<std::ptrdiff_t>(x) * step,
            static_cast<std::size_t>(y) * width + x);
  }
};

/// NickParams on one plane of a picture, sample type by sample type.
template <typename In, typename Out>
std::vector<std::uint16_t> run_luma(const Picture &in, const Picture &out, const NickParams &params,
                                    NickReport *report) {
  const std::vector<In> source(in.components[0].begin(), in.components[0].end());
  std::vector<Out> result(source.size());
  Cpu cpu;
  run(cpu,
      Plane<const In>{source.data(), in.width, in.height,
                      static_cast<std::ptrdiff_t>(in.width * sizeof(In)),
                      static_cast<In>(in.maximum())},
      Plane<Out>{result.data(), in.width, in.height,
                 static_cast<std::ptrdiff_t>(in.width * sizeof(Out)),
                 static_cast<Out>(out.maximum())},
      params, report);
  return {result.begin(), result.end()};
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

const char *first_missing(std::initializer_list<const char *> factories) {
  for (const char *name : factories) {
    GstElementFactory *factory = gst_element_factory_find(name);
    if (!factory) return name;
    gst_object_unref(factory);
  }
  return nullptr;
}

std::uint16_t Picture::maximum() const {
  return static_cast<std::uint16_t>(((1u << format_info()->depth[0]) - 1)
                                    << format_info()->shift[0]);
}

std::uint16_t Picture::neutral() const {
  return static_cast<std::uint16_t>((1u << (format_info()->depth[0] - 1))
                                    << format_info()->shift[0]);
}

double Picture::black_ratio() const {
  const auto &luma = components[0];
  return static_cast<double>(std::count(luma.begin(), luma.end(), 0)) /
         static_cast<double>(luma.size());
}

Picture make_picture(GstVideoFormat format, int width, int height, unsigned seed) {
  Picture p{format, width, height, {}};
  const GstVideoFormatInfo *info = p.format_info();
  const int depth = info->depth[0], top = (1 << depth) - 1;
  std::uint32_t state = seed * 2654435761u + 12345u;
  const auto noise = [&state] { return state = state * 1664525u + 1013904223u, state >> 16; };
  for (unsigned c = 0; c < info->n_components; ++c) {
    const int w = p.component_width(c), h = p.component_height(c);
    auto &samples = p.components.emplace_back(static_cast<std::size_t>(w) * h);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const auto paper = static_cast<std::int64_t>(top) * (2 * w + x + y) / (3 * w + h + 1);
        const bool stroke =
            (x + 3 * y + static_cast<int>(seed)) % 11 < 3 && (y / 9 + seed) % 2 == 0;
        auto value = stroke ? paper / 3 : paper;
        value += static_cast<std::int64_t>(noise() % (top / 8 + 1)) - top / 16;
        if ((x / 8 + y / 8 + seed) % 9 == 0) value = top / 2;  // no deviation at all
        if (noise() % 97 == 0) value = noise() % 2 ? top : 0;
        samples[static_cast<std::size_t>(y) * w + x] =
            static_cast<std::uint16_t>(std::clamp<std::int64_t>(value, 0, top) << info->shift[c]);
      }
  }
  return p;
}

Picture expected(const Picture &in, const NickParams &params, GstVideoFormat out_format,
                 NickReport *report) {
  Picture out{
      out_format == GST_VIDEO_FORMAT_UNKNOWN ? in.format : out_format, in.width, in.height, {}};
  const bool deep_in = in.maximum() > 255, deep_out = out.maximum() > 255;
  if (deep_in && deep_out)
    out.components.push_back(run_luma<std::uint16_t, std::uint16_t>(in, out, params, report));
  else if (deep_in)
    out.components.push_back(run_luma<std::uint16_t, std::uint8_t>(in, out, params, report));
  else
    out.components.push_back(run_luma<std::uint8_t, std::uint8_t>(in, out, params, report));
  for (unsigned c = 1; c < out.format_info()->n_components; ++c) {
    if (params.output == NickOutput::threshold)
      out.components.push_back(in.components[c]);
    else
      out.components.emplace_back(
          static_cast<std::size_t>(out.component_width(c)) * out.component_height(c),
          out.neutral());
  }
  return out;
}

testing::AssertionResult same(const Picture &a, const Picture &b) {
  if (a.format != b.format || a.width != b.width || a.height != b.height)
    return testing::AssertionFailure()
           << "the result is " << gst_video_format_to_string(a.format) << " " << a.width << "x"
           << a.height << ", expected " << gst_video_format_to_string(b.format) << " " << b.width
           << "x" << b.height;
  for (unsigned c = 0; c < b.components.size(); ++c) {
    const auto &x = a.components[c], &y = b.components[c];
    if (x == y) continue;
    std::size_t different = 0;
    for (std::size_t i = 0; i < x.size(); ++i) different += x[i] != y[i];
    const auto at =
        static_cast<std::size_t>(std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin());
    const std::size_t w = a.component_width(c);
    return testing::AssertionFailure()
           << gst_video_format_to_string(a.format) << " " << a.width << "x" << a.height
           << ": component " << c << " at (" << at % w << ", " << at / w << ") is " << x[at]
           << ", expected " << y[at] << "; " << different << " of " << x.size() << " differ";
  }
  return testing::AssertionSuccess();
}

Ref<GstBuffer> to_buffer(const Picture &picture, const Layout &layout) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, picture.format, picture.width, picture.height);
  const bool custom = layout.row_padding || layout.plane_padding || layout.split;
  Ref<GstBuffer> buffer;
  if (!custom) {
    buffer.reset(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  } else {
    buffer.reset(gst_buffer_new());
    const int bytes = picture.maximum() > 255 ? 2 : 1;
    gsize offset = layout.plane_padding, offsets[GST_VIDEO_MAX_PLANES] = {};
    gint strides[GST_VIDEO_MAX_PLANES] = {};
    for (unsigned plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
      gint components[GST_VIDEO_MAX_COMPONENTS];
      gst_video_format_info_component(info.finfo, plane, components);
      const int c = components[0];
      strides[plane] = picture.component_width(c) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, c) +
                       layout.row_padding * bytes;
      const gsize size = static_cast<gsize>(strides[plane]) * picture.component_height(c);
      offsets[plane] = offset;
      offset += size + layout.plane_padding;
      if (layout.split) {
        gst_buffer_append_memory(
            buffer.get(),
            gst_allocator_alloc(nullptr, offset - gst_buffer_get_size(buffer.get()), nullptr));
      }
    }
    if (!layout.split)
      gst_buffer_append_memory(buffer.get(), gst_allocator_alloc(nullptr, offset, nullptr));
    gst_buffer_memset(buffer.get(), 0, 0xa5, offset);
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, picture.format,
                                   picture.width, picture.height, GST_VIDEO_INFO_N_PLANES(&info),
                                   offsets, strides);
  }
  fill(buffer.get(), picture);
  return buffer;
}

void fill(GstBuffer *buffer, const Picture &picture) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, picture.format, picture.width, picture.height);
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE)) {
    ADD_FAILURE() << "the buffer cannot be mapped for writing";
    return;
  }
  for (unsigned c = 0; c < picture.components.size(); ++c) {
    Component component(frame, c);
    component.each([&](guint8 *at, std::size_t i) {
      const std::uint16_t value = picture.components[c][i];
      std::memcpy(at, &value, component.deep ? 2 : 1);  // little endian, as the formats tested
    });
  }
  gst_video_frame_unmap(&frame);
}

Picture to_picture(GstBuffer *buffer, const GstCaps *caps) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!caps || !gst_video_info_from_caps(&info, caps)) {
    ADD_FAILURE() << "the caps describe no video";
    return {};
  }
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
    ADD_FAILURE() << "the frame cannot be mapped for reading";
    return {};
  }
  Picture picture{
      GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), {}};
  for (unsigned c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    Component component(frame, c);
    auto &samples = picture.components.emplace_back(static_cast<std::size_t>(component.width) *
                                                    component.height);
    component.each([&](const guint8 *at, std::size_t i) {
      samples[i] = 0;
      std::memcpy(&samples[i], at, component.deep ? 2 : 1);
    });
  }
  gst_video_frame_unmap(&frame);
  return picture;
}

Picture to_picture(GstSample *sample) {
  return to_picture(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
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
  return make_caps(picture.format, picture.width, picture.height, feature);
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
  harness_ = gst_harness_new_with_element(bin, "sink", "src");
  if (!sink_caps.empty()) gst_harness_set_sink_caps_str(harness_, sink_caps.c_str());
  GstIterator *all = gst_bin_iterate_sorted(GST_BIN(bin));  // from the last to the first
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next(all, &item) == GST_ITERATOR_OK) {
    auto *element = GST_ELEMENT(g_value_get_object(&item));
    GstElementFactory *factory = gst_element_get_factory(element);
    if (factory && std::strcmp(GST_OBJECT_NAME(factory), "cudanick") == 0)
      element_.reset(GST_ELEMENT(gst_object_ref(element)));
    g_value_reset(&item);
  }
  g_value_unset(&item);
  gst_iterator_free(all);
  gst_object_unref(bin);
}

Filter::~Filter() {
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
      picture.height != shape_.height) {
    shape_ = {picture.format, picture.width, picture.height, {}};
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

Pipeline::Pipeline(const std::string &launch) {
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
  // A thread that waits for room in the queue of a pipeline that has stopped would wait for ever.
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
