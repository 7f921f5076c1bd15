// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/pipeline.h"

#include <algorithm>
#include <map>

#include "bench/bench.h"

namespace cudascan::bench {
namespace {

/// GST_MAP_CUDA of libgstcuda, which is not needed to build: map on the device.
constexpr guint kMapCuda = GST_MAP_FLAG_LAST << 1;

struct UnrefContext {
  void operator()(GstContext *context) const { gst_context_unref(context); }
};
using ContextRef = std::unique_ptr<GstContext, UnrefContext>;

/// Contexts by their types and GPUs, from the first pipeline that made them.
std::map<std::pair<std::string, guint>, ContextRef> shared_contexts;

void keep_context(GstMessage *message) {
  GstContext *context = nullptr;
  gst_message_parse_have_context(message, &context);
  ContextRef owned(context);
  guint gpu = 0;
  gst_structure_get_uint(gst_context_get_structure(context), "cuda-device-id", &gpu);
  if (gst_context_is_persistent(context))
    shared_contexts.try_emplace({gst_context_get_context_type(context), gpu}, std::move(owned));
}

[[noreturn]] void fail(GstMessage *message) {
  GError *error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
  g_error_free(error);
  gst_message_unref(message);
  throw Error(text);
}

std::string caps_of(const Launch &launch, const char *feature) {
  return "video/x-raw" + std::string(feature) + ",format=" + launch.format +
         ",width=" + std::to_string(launch.width) + ",height=" + std::to_string(launch.height) +
         ",framerate=" + std::to_string(launch.fps) + "/1";
}

bool has_property(GstElement *element, const char *name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
}

/// The `stats` of our elements; nullptr for others. Sinks have other `stats`.
GstStructure *stats_of(GstElement *element) {
  if (!has_property(element, "active-backend") || !has_property(element, "stats")) return nullptr;
  GstStructure *stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  return stats;
}

std::string backend_of(GstElement *element) {
  if (!has_property(element, "active-backend")) return {};
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), "active-backend", &value);
  g_autofree gchar *text = gst_value_serialize(&value);
  g_value_unset(&value);
  return text ? text : "?";
}

}  // namespace

Pipeline::Pipeline(const Launch &launch)
    : map_flags_(!launch.map   ? 0
                 : *launch.out ? GST_MAP_READ | kMapCuda
                               : static_cast<guint>(GST_MAP_READ)),
      live_(launch.source.live) {
  std::string text = std::string(kSource) + " name=src ! " + caps_of(launch, launch.in) + " ! " +
                     launch.chain + " ! video/x-raw" + launch.out + " ! ";
  if (!launch.before_sink.empty()) text += launch.before_sink + " ! ";
  text += "fakesink name=sink sync=false async=false";
  GError *error = nullptr;
  pipeline_.reset(
      gst_parse_launch_full(text.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
  if (!pipeline_) {
    const std::string why = error ? error->message : "cannot be parsed";
    g_clear_error(&error);
    throw Error(why);
  }
  source_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "src"));
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  set_source(source_.get(), launch.source);
  const Ref<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "sink"));
  const Ref<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, on_arrival, this, nullptr);
  for (const auto &element : elements()) {
    if (!has_property(element.get(), "active-backend")) continue;
    if (launch.backend != "auto")
      gst_util_set_object_arg(G_OBJECT(element.get()), "backend", launch.backend.c_str());
    if (launch.threads > 0)
      g_object_set(element.get(), "n-threads", static_cast<guint>(launch.threads), nullptr);
    if (launch.gpu >= 0) g_object_set(element.get(), "cuda-device-id", launch.gpu, nullptr);
  }
  for (const auto &[key, context] : shared_contexts)
    gst_element_set_context(pipeline_.get(), context.get());
}

Pipeline::~Pipeline() {
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);  // ends the threads that use *this
}

void Pipeline::set_state(GstState state) {
  const auto result = gst_element_set_state(pipeline_.get(), state);
  check();
  if (result == GST_STATE_CHANGE_FAILURE) throw Error("the pipeline does not start");
}

bool Pipeline::check() {
  const auto types =
      static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_HAVE_CONTEXT);
  bool ended = false;
  while (GstMessage *message = gst_bus_pop_filtered(bus_.get(), types)) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) fail(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_HAVE_CONTEXT) keep_context(message);
    ended = ended || GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_message_unref(message);
  }
  return ended;
}

GstPadProbeReturn Pipeline::on_arrival(GstPad *, GstPadProbeInfo *info, gpointer self) {
  static_cast<Pipeline *>(self)->arrive(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

void Pipeline::arrive(GstBuffer *buffer) {
  bool readable = true;
  if (map_flags_) {
    GstMapInfo map;
    readable = gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(map_flags_));
    if (readable) gst_buffer_unmap(buffer, &map);
  }
  double sensor_us = kUnknown;
  if (live_) {
    const GstClockTime now = gst_element_get_current_running_time(pipeline_.get());
    sensor_us = static_cast<double>(GST_CLOCK_DIFF(GST_BUFFER_PTS(buffer), now)) / 1e3;
  }
  const std::lock_guard lock(mutex_);
  arrivals_.push_back({GST_BUFFER_OFFSET(buffer), now_us(), sensor_us});
  ++frames_;
  unreadable_ = unreadable_ || !readable;
}

std::uint64_t Pipeline::frames() const {
  const std::lock_guard lock(mutex_);
  return frames_;
}

void Pipeline::clear() {
  const std::lock_guard lock(mutex_);
  arrivals_.clear();
}

std::vector<Arrival> Pipeline::arrivals() const {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

bool Pipeline::unreadable() const {
  const std::lock_guard lock(mutex_);
  return unreadable_;
}

std::vector<Ref<GstElement>> Pipeline::elements() const {
  std::vector<Ref<GstElement>> found;
  GstIterator *iterator = gst_bin_iterate_sorted(GST_BIN(pipeline_.get()));
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next(iterator, &item) == GST_ITERATOR_OK) {
    found.emplace_back(GST_ELEMENT(g_value_dup_object(&item)));
    g_value_reset(&item);
  }
  g_value_unset(&item);
  gst_iterator_free(iterator);
  std::reverse(found.begin(), found.end());  // the iterator starts at the sink
  return found;
}

Counts Pipeline::counts() const {
  Counts counts;
  for (const auto &element : elements())
    if (GstStructure *stats = stats_of(element.get())) {
      guint64 value = 0;
      for (const auto &[name, count] :
           {std::pair{"host-synchronisations", &counts.host_synchronisations},
            std::pair{"throttled", &counts.throttled},
            std::pair{"peer-copies", &counts.peer_copies}})
        if (gst_structure_get_uint64(stats, name, &value)) *count += static_cast<double>(value);
      gst_structure_free(stats);
    }
  return counts;
}

std::string Pipeline::backend() const {
  std::string all;
  for (const auto &element : elements())
    if (const std::string one = backend_of(element.get()); all.find(one) == std::string::npos)
      all += (all.empty() ? "" : ", ") + one;
  return all;
}

std::string Pipeline::stats() const {
  std::string lines;
  for (const auto &element : elements()) {
    GstStructure *stats = stats_of(element.get());
    if (!stats) continue;
    lines +=
        std::string("    ") + GST_OBJECT_NAME(element.get()) + ": " + backend_of(element.get());
    for (int i = 0; i < gst_structure_n_fields(stats); ++i) {
      const gchar *field = gst_structure_nth_field_name(stats, static_cast<guint>(i));
      g_autofree gchar *text = gst_value_serialize(gst_structure_get_value(stats, field));
      lines += std::string(i ? ", " : "; ") + field + " " + (text ? text : "?");
    }
    lines += "\n";
    gst_structure_free(stats);
  }
  return lines;
}

void drop_shared_contexts() {
  shared_contexts.clear();
}

}  // namespace cudascan::bench
