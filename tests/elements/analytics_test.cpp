// SPDX-License-Identifier: LGPL-2.1-or-later
// Reports as the metas of GstAnalytics: classes, and tensors from GStreamer 1.26 on. The element
// messages of the same frames are the measure.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/analytics/analytics.h>

#include <map>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

constexpr GstVideoFormat kGray = GST_VIDEO_FORMAT_GRAY8;

class Analytics : public BackendTest {};
INSTANTIATE_BACKENDS(Analytics);

/// Class or tensor by name. A class has its confidence level.
using Named = std::map<std::string, std::string>;

/// The classes of a buffer, in their order.
std::vector<std::pair<std::string, float>> classes_of(GstBuffer *buffer) {
  std::vector<std::pair<std::string, float>> classes;
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  while (meta && gst_analytics_relation_meta_iterate(meta, &state,
                                                     gst_analytics_cls_mtd_get_mtd_type(), &mtd)) {
    EXPECT_EQ(gst_analytics_cls_mtd_get_length(&mtd), 1u);
    classes.emplace_back(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&mtd, 0)),
                         gst_analytics_cls_mtd_get_level(&mtd, 0));
  }
  return classes;
}

#if GST_CHECK_VERSION(1, 26, 0)
template <typename Number>
std::string text_of(const GstTensor *tensor) {
  std::vector<Number> numbers(tensor->dims[0]);
  const gsize bytes = numbers.size() * sizeof(Number);
  EXPECT_EQ(gst_buffer_get_size(tensor->data), bytes);
  gst_buffer_extract(tensor->data, 0, numbers.data(), bytes);
  std::string text;
  for (const Number number : numbers) text += std::to_string(number) + " ";
  return text;
}

/// The numbers of each tensor as text.
Named tensors_of(GstBuffer *buffer) {
  Named tensors;
  GstTensorMeta *meta = gst_buffer_get_tensor_meta(buffer);
  for (gsize i = 0; meta && i < meta->num_tensors; ++i) {
    const GstTensor *tensor = gst_tensor_meta_get(meta, i);
    EXPECT_EQ(tensor->num_dims, 1u);
    const std::string text =
        tensor->data_type == GST_TENSOR_DATA_TYPE_INT32     ? text_of<gint32>(tensor)
        : tensor->data_type == GST_TENSOR_DATA_TYPE_UINT32  ? text_of<guint32>(tensor)
        : tensor->data_type == GST_TENSOR_DATA_TYPE_INT64   ? text_of<gint64>(tensor)
        : tensor->data_type == GST_TENSOR_DATA_TYPE_FLOAT64 ? text_of<gdouble>(tensor)
                                                            : "another type";
    EXPECT_TRUE(tensors.emplace(g_quark_to_string(tensor->id), text).second);
  }
  return tensors;
}

void add_tensor(GstBuffer *buffer, const char *id, gint number) {
  gsize n = 1;
  GstTensor *tensor = gst_tensor_new_simple(g_quark_from_string(id), GST_TENSOR_DATA_TYPE_INT32,
                                            gst_buffer_new_memdup(&number, sizeof number),
                                            GST_TENSOR_DIM_ORDER_ROW_MAJOR, 1, &n);
  auto tensors = g_new(GstTensor *, 1);
  tensors[0] = tensor;
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(buffer), 1, tensors);
}

std::string number_text(const GValue *value) {
  if (G_VALUE_HOLDS_INT(value)) return std::to_string(g_value_get_int(value)) + " ";
  if (G_VALUE_HOLDS_UINT(value)) return std::to_string(g_value_get_uint(value)) + " ";
  if (G_VALUE_HOLDS_INT64(value)) return std::to_string(g_value_get_int64(value)) + " ";
  if (G_VALUE_HOLDS_DOUBLE(value)) return std::to_string(g_value_get_double(value)) + " ";
  return "";
}

/// The same of the fields of a message.
Named numbers_of(const GstStructure *fields) {
  Named numbers;
  for (int i = 0; i < gst_structure_n_fields(fields); ++i) {
    const char *field = gst_structure_nth_field_name(fields, static_cast<guint>(i));
    const GValue *value = gst_structure_get_value(fields, field);
    std::string text = number_text(value);
    for (guint k = 0; GST_VALUE_HOLDS_ARRAY(value) && k < gst_value_array_get_size(value); ++k)
      text += number_text(gst_value_array_get_value(value, k));
    if (!text.empty()) numbers[std::string(gst_structure_get_name(fields)) + "-" + field] = text;
  }
  return numbers;
}
#endif

TEST_P(Analytics, EveryBooleanIsAClassAndEveryNumberATensor) {
  std::size_t n_classes = 0;
  for (const std::string &name : all_elements())
    for (const GstVideoFormat format : {kGray, GST_VIDEO_FORMAT_GRAY16_LE}) {
      SCOPED_TRACE(name);
      Filter filter(launch(name, "report=message+analytics"));
      ASSERT_EQ(filter.push_picture(make_picture(format, 101, 47)), GST_FLOW_OK);
      Ref<GstBuffer> out = filter.pull();
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
      ASSERT_TRUE(message);
      const GstStructure *fields = gst_message_get_structure(message.get());
      std::map<std::string, bool> wanted, found;
      for (int i = 0; i < gst_structure_n_fields(fields); ++i) {
        const char *field = gst_structure_nth_field_name(fields, static_cast<guint>(i));
        gboolean value = FALSE;
        if (gst_structure_get_boolean(fields, field, &value))
          wanted[name + (value ? "-" : "-not-") + field] = true;
      }
      for (const auto &[label, level] : classes_of(out.get())) found[label] = true;
      EXPECT_EQ(found, wanted);
      n_classes += found.size();
#if GST_CHECK_VERSION(1, 26, 0)
      EXPECT_EQ(tensors_of(out.get()), numbers_of(fields));
#endif
      EXPECT_FALSE(gst_buffer_get_custom_meta(out.get(), "cudascan-result"));
    }
  EXPECT_GE(n_classes, 6u) << "two of cudabinarize and one of cudalinearopen, in two formats";
}

TEST_P(Analytics, ABlankPageIsClassifiedAsCertainAsTheReportIs) {
  Picture blank = make_picture(kGray, 120, 90);
  for (auto &sample : blank.components[0]) sample = 230;
  for (const Picture &in : {blank, make_picture(kGray, 120, 90)}) {
    Filter filter(launch("cudabinarize", "report=message+analytics"));
    ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
    Ref<GstBuffer> out = filter.pull();
    Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
    ASSERT_TRUE(message);
    double confidence = -1;
    gst_structure_get_double(gst_message_get_structure(message.get()), "confidence", &confidence);
    const char *label =
        in.components == blank.components ? "cudabinarize-blank" : "cudabinarize-not-blank";
    EXPECT_EQ(classes_of(out.get()),
              (std::vector<std::pair<std::string, float>>{{label, static_cast<float>(confidence)},
                                                          {"cudabinarize-not-inverted", 1.f}}));
  }
}

TEST_P(Analytics, MetasOfOthersComeFirst) {
  Filter filter(launch("cudalinearopen", "report=analytics directions=4") + "! " +
                launch("cudabinarize", "report=analytics"));
  const Picture in = make_picture(kGray, 64, 48);
  filter.set_caps(make_caps(in).get());
  for (int frame = 0; frame < 3; ++frame) {  // buffers of a pool come back
    SCOPED_TRACE(frame);
    Ref<GstBuffer> buffer = to_buffer(in);
    GstAnalyticsClsMtd mtd;
    gst_analytics_relation_meta_add_one_cls_mtd(
        gst_buffer_add_analytics_relation_meta(buffer.get()), 0.25f, g_quark_from_string("letter"),
        &mtd);
#if GST_CHECK_VERSION(1, 26, 0)
    add_tensor(buffer.get(), "of-others", 42);
#endif
    ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
    Ref<GstBuffer> out = filter.pull();
    const auto classes = classes_of(out.get());
    ASSERT_EQ(classes.size(), 4u);
    EXPECT_EQ(classes[0], (std::pair<std::string, float>("letter", 0.25f)));
    EXPECT_NE(classes[1].first.find("cudalinearopen-"), std::string::npos);
    EXPECT_NE(classes[2].first.find("cudabinarize-"), std::string::npos);
#if GST_CHECK_VERSION(1, 26, 0)
    const Named tensors = tensors_of(out.get());
    // Some versions of GStreamer do not copy tensors from buffer to buffer.
    if (gst_tensor_meta_get_info()->transform_func) {
      EXPECT_EQ(tensors.at("of-others"), "42 ");
      EXPECT_TRUE(tensors.count("cudalinearopen-spectrum"));
    }
    EXPECT_TRUE(tensors.count("cudabinarize-ink-ratio"));
#endif
  }
}

TEST_P(Analytics, FramesHaveNoneUnlessAsked) {
  Filter filter(launch("cudabinarize", "report=meta+message"));
  ASSERT_EQ(filter.push_picture(make_picture(kGray, 64, 48)), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();
  EXPECT_TRUE(classes_of(out.get()).empty());
#if GST_CHECK_VERSION(1, 26, 0)
  EXPECT_TRUE(tensors_of(out.get()).empty());
#endif
}

}  // namespace
}  // namespace cudascan::elements
