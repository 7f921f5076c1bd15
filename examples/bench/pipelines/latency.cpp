// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/latency.h"

#include <gst/gst.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace cudascan::bench {
namespace {

std::mutex mutex;
std::vector<double> latencies;  // microseconds

constexpr char kCategory[] = "GST_TRACER";
GstDebugCategory *tracer_category;

/// Receives the tracer's messages: "latency, src-element=(string)src, ...,
/// time=(guint64)NANOSECONDS, ts=(guint64)...;". All other messages go to the default log.
void on_log(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
            const gchar *function, gint line, GObject *object, GstDebugMessage *message,
            gpointer data) {
  if (category != tracer_category) {
    gst_debug_log_default(category, level, file, function, line, object, message, data);
    return;
  }
  // Parsed by hand: making a GstStructure from each line would delay the next frame.
  static constexpr char kBegin[] = "latency, ", kTime[] = " time=(guint64)";
  const char *text = gst_debug_message_get(message);
  if (!text || std::strncmp(text, kBegin, sizeof kBegin - 1) != 0) return;
  const char *time = std::strstr(text, kTime);
  if (!time) return;
  const double us = std::strtod(time + sizeof kTime - 1, nullptr) / 1e3;
  const std::lock_guard lock(mutex);
  latencies.push_back(us);
}

}  // namespace

Latency latency_of(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  const auto rank = [&](double share) {
    const auto n = static_cast<std::size_t>(std::ceil(share * static_cast<double>(us.size())));
    return us.at(n > 0 ? n - 1 : 0);
  };
  return {rank(0.5), rank(0.95), rank(0.99), us.back(), us.size()};
}

std::string start_latency_tracer() {
  static GstTracer *tracer = nullptr;
  if (tracer) return {};
  GstPluginFeature *feature =
      gst_registry_find_feature(gst_registry_get(), "latency", GST_TYPE_TRACER_FACTORY);
  if (!feature) return "GStreamer's plugin coretracers, which has the tracer latency, is missing";
  GstPluginFeature *loaded = gst_plugin_feature_load(feature);
  gst_object_unref(feature);
  if (!loaded) return "GStreamer's plugin coretracers cannot be loaded";
  const GType type = gst_tracer_factory_get_tracer_type(GST_TRACER_FACTORY(loaded));
  gst_object_unref(loaded);
  // The tracer is not used for single elements: each of them would log while the frame waits.
  tracer = GST_TRACER(g_object_new(type, "params", "flags=pipeline", nullptr));
  GST_DEBUG_CATEGORY_GET(tracer_category, kCategory);
  if (!tracer_category || g_strcmp0(gst_debug_category_get_name(tracer_category), kCategory) != 0)
    return "this GStreamer was built without a log";
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(on_log, nullptr, nullptr);
  gst_debug_set_threshold_for_name(kCategory, GST_LEVEL_TRACE);
  gst_debug_set_active(TRUE);
  return {};
}

void clear_latencies() {
  const std::lock_guard lock(mutex);
  latencies.clear();
}

std::vector<double> take_latencies() {
  const std::lock_guard lock(mutex);
  return std::exchange(latencies, {});
}

}  // namespace cudascan::bench
