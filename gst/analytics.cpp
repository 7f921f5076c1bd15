// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include "gst/analytics.h"

#include <gst/analytics/analytics.h>

#include <string>
#include <string_view>
#include <vector>

namespace cudascan::gst {
namespace {

class Collector {
 public:
  Collector(GstBuffer *buffer, const GstStructure *report, const char *doubtful)
      : buffer_(buffer), report_(report), doubtful_(doubtful ? doubtful : "") {}

  void add(const char *field, const GValue *value) {
    if (G_VALUE_HOLDS_BOOLEAN(value))
      add_class(field, g_value_get_boolean(value));
    else
      add_tensor(field, value);
  }

#if GST_CHECK_VERSION(1, 26, 0)
  /// Puts the tensors after those that the buffer has.
  void store_tensors() {
    if (tensors_.empty()) return;
    GstTensorMeta *meta = gst_buffer_get_tensor_meta(buffer_);
    if (!meta) meta = gst_buffer_add_tensor_meta(buffer_);
    meta->tensors = g_renew(GstTensor *, meta->tensors, meta->num_tensors + tensors_.size());
    for (GstTensor *tensor : tensors_) meta->tensors[meta->num_tensors++] = tensor;
  }
#else
  void store_tensors() {}
#endif

 private:
  GQuark quark_of(std::string_view word, const char *field) const {
    const std::string prefix = std::string(gst_structure_get_name(report_)) + "-";
    return g_quark_from_string((prefix + std::string(word) + field).c_str());
  }

  void add_class(const char *field, bool holds) {
    GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta(buffer_);
    if (!meta) meta = gst_buffer_add_analytics_relation_meta(buffer_);
    double confidence = 1;
    if (field == doubtful_) gst_structure_get_double(report_, "confidence", &confidence);
    GstAnalyticsClsMtd ignored;
    gst_analytics_relation_meta_add_one_cls_mtd(meta, static_cast<gfloat>(confidence),
                                                quark_of(holds ? "" : "not-", field), &ignored);
  }

#if GST_CHECK_VERSION(1, 26, 0)
  template <typename Number>
  void add_numbers(const char *field, const GValue *value, GstTensorDataType type,
                   Number (*get)(const GValue *)) {
    gsize n = 1;
    if (GST_VALUE_HOLDS_ARRAY(value)) n = gst_value_array_get_size(value);
    auto numbers = g_new(Number, n);
    if (GST_VALUE_HOLDS_ARRAY(value))
      for (gsize i = 0; i < n; ++i)
        numbers[i] = get(gst_value_array_get_value(value, static_cast<guint>(i)));
    else
      numbers[0] = get(value);
    tensors_.push_back(gst_tensor_new_simple(quark_of("", field), type,
                                             gst_buffer_new_wrapped(numbers, n * sizeof(Number)),
                                             GST_TENSOR_DIM_ORDER_ROW_MAJOR, 1, &n));
  }

  void add_tensor(const char *field, const GValue *value) {
    const GValue *first = value;
    if (GST_VALUE_HOLDS_ARRAY(value)) {
      if (gst_value_array_get_size(value) == 0) return;
      first = gst_value_array_get_value(value, 0);
    }
    if (G_VALUE_HOLDS_INT(first))
      add_numbers<gint>(field, value, GST_TENSOR_DATA_TYPE_INT32, g_value_get_int);
    else if (G_VALUE_HOLDS_UINT(first))
      add_numbers<guint>(field, value, GST_TENSOR_DATA_TYPE_UINT32, g_value_get_uint);
    else if (G_VALUE_HOLDS_INT64(first))
      add_numbers<gint64>(field, value, GST_TENSOR_DATA_TYPE_INT64, g_value_get_int64);
    else if (G_VALUE_HOLDS_DOUBLE(first))
      add_numbers<gdouble>(field, value, GST_TENSOR_DATA_TYPE_FLOAT64, g_value_get_double);
  }

  std::vector<GstTensor *> tensors_;
#else
  void add_tensor(const char *, const GValue *) {}
#endif

  GstBuffer *buffer_;
  const GstStructure *report_;
  std::string_view doubtful_;
};

}  // namespace

void require_analytics() {}

void add_analytics(GstBuffer *buffer, const GstStructure *report, const char *doubtful) {
  Collector collector(buffer, report, doubtful);
  const auto add = [](GQuark field, const GValue *value, gpointer to) -> gboolean {
    static_cast<Collector *>(to)->add(g_quark_to_string(field), value);
    return TRUE;
  };
  gst_structure_foreach(report, add, &collector);
  collector.store_tensors();
}

}  // namespace cudascan::gst
