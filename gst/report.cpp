// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/report.h"

#include "gst/analytics.h"
#include "gst/settings.h"

namespace cudascan::gst {
namespace {

constexpr const char *kResultMeta = "cudascan-result";

}  // namespace

void register_result_meta() {
  static const gchar *tags[] = {nullptr};
  gst_meta_register_custom(kResultMeta, tags, nullptr, nullptr, nullptr);
}

GstStructure *new_report(const char *name, const GstSegment &segment, GstBuffer *buffer) {
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  return gst_structure_new(name, "timestamp", G_TYPE_UINT64, pts, "stream-time", G_TYPE_UINT64,
                           gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts),
                           "running-time", G_TYPE_UINT64,
                           gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts), "duration",
                           G_TYPE_UINT64, GST_BUFFER_DURATION(buffer), nullptr);
}

void check_report_to(guint to) {
  if (to & static_cast<guint>(ReportTo::analytics)) require_analytics();
}

void deliver_report(GstElement *element, GstStructure *report, const char *doubtful, GstBuffer *out,
                    guint to) {
  if (to & static_cast<guint>(ReportTo::analytics)) add_analytics(out, report, doubtful);
  if (to & static_cast<guint>(ReportTo::meta)) {
    GstStructure *fields =
        gst_custom_meta_get_structure(gst_buffer_add_custom_meta(out, kResultMeta));
    gst_structure_set(fields, "element", G_TYPE_STRING, gst_structure_get_name(report), nullptr);
    const auto copy_field = [](GQuark field, const GValue *value, gpointer copy) -> gboolean {
      gst_structure_id_set_value(static_cast<GstStructure *>(copy), field, value);
      return TRUE;
    };
    gst_structure_foreach(report, copy_field, fields);
  }
  if (to & static_cast<guint>(ReportTo::message))
    gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), report));
  else
    gst_structure_free(report);
}

bool is_watched(GstObject *object, const char *name) {
  static const guint notify = g_signal_lookup("notify", G_TYPE_OBJECT);
  static const guint deep_notify = g_signal_lookup("deep-notify", GST_TYPE_OBJECT);
  const GQuark detail = g_quark_from_static_string(name);
  bool watched = g_signal_has_handler_pending(object, notify, detail, FALSE);
  GstObject *bin = gst_object_get_parent(object);
  while (bin) {
    watched = watched || g_signal_has_handler_pending(bin, deep_notify, detail, FALSE);
    GstObject *parent = watched ? nullptr : gst_object_get_parent(bin);
    gst_object_unref(bin);
    bin = parent;
  }
  return watched;
}

}  // namespace cudascan::gst
