// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the tests of single elements.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/support.h"

namespace cudascan::elements {

/// Settings as text and as parameters of the kernel library.
template <typename Params>
struct Case {
  const char *settings;
  Params params;
};

/// A format of each kind. That the others are read and written as these, formats_test.cpp finds out
/// with one element.
inline constexpr GstVideoFormat kKindsOfFormats[] = {
    GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_Y444,      GST_VIDEO_FORMAT_P010_10LE,
    GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_Y444_16LE, GST_VIDEO_FORMAT_YUY2,
    GST_VIDEO_FORMAT_AYUV,      GST_VIDEO_FORMAT_RGB,       GST_VIDEO_FORMAT_BGRx,
    GST_VIDEO_FORMAT_GBR,       GST_VIDEO_FORMAT_GBR_10LE,  GST_VIDEO_FORMAT_RGBA64_LE,
    GST_VIDEO_FORMAT_v210,      GST_VIDEO_FORMAT_BGR10A2_LE};

/// In formats of each kind and some sizes, the element's result is that of the kernel library.
/// @param element   launch line without settings
/// @param gray8     request GRAY8 as output
template <typename Params>
void expect_kernels_result(const std::string &element, const Case<Params> &c, bool gray8 = false) {
  for (const GstVideoFormat format : kKindsOfFormats) {
    Filter filter(element + c.settings, gray8 ? "video/x-raw, format=GRAY8" : "");
    for (const auto &[width, height] : {std::pair{61, 37}, std::pair{1, 1}, std::pair{96, 50}}) {
      SCOPED_TRACE(c.settings);
      const Picture in = make_picture(format, width, height, width + height);
      const auto out_format = gray8 ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_UNKNOWN;
      ASSERT_TRUE(same(filter.process(in), expected(in, c.params, out_format)));
    }
  }
}

/// The settings have their effect in each of these formats.
template <typename Params>
void expect_settings_to_count(const std::string &element, const std::vector<Case<Params>> &cases) {
  for (const Case<Params> &c : cases)
    for (const GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12,
                                        GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_GRAY16_LE}) {
      SCOPED_TRACE(c.settings);
      const Picture in = make_picture(format, 93, 71);
      Filter at_once(element + c.settings);
      EXPECT_TRUE(same(at_once.process(in), expected(in, c.params)));
    }
}

/// A property that is set while frames flow, and the same change of the parameters.
template <typename Params>
struct Change {
  const char *property, *value;
  void (*apply)(Params &);
};

/// Each change takes effect with the next frame.
template <typename Params>
void expect_changes_to_count(const std::string &element,
                             const std::vector<Change<Params>> &changes) {
  Filter filter(element);
  const Picture in = make_picture(GST_VIDEO_FORMAT_I420, 90, 60);
  Params params;
  EXPECT_TRUE(same(filter.process(in), expected(in, params)));
  for (const Change<Params> &change : changes) {
    gst_util_set_object_arg(G_OBJECT(filter.element()), change.property, change.value);
    change.apply(params);
    EXPECT_TRUE(same(filter.process(in), expected(in, params)))
        << "after " << change.property << " = " << change.value;
  }
}

/// Refused settings, and words that the message must contain: property, value, remedy.
struct BadSettings {
  std::vector<std::pair<const char *, const char *>> settings;
  std::vector<std::string> said;
};

/// The error of the next frame; empty if there is none.
std::string error_of_next_frame(Filter &filter, const Picture &in);

/// Each setting causes an error that says what is allowed, at the start and while PLAYING. The
/// element works again when the setting is restored.
void expect_refusals(const std::string &element, const std::vector<BadSettings> &all);

/// Sets an array property.
template <typename T>
void set_array(GstElement *element, const char *property, std::initializer_list<T> numbers) {
  GValue array = G_VALUE_INIT, value = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&value, std::is_integral_v<T> ? G_TYPE_INT : G_TYPE_DOUBLE);
  for (const T number : numbers) {
    if constexpr (std::is_integral_v<T>)
      g_value_set_int(&value, number);
    else
      g_value_set_double(&value, number);
    gst_value_array_append_value(&array, &value);
  }
  g_object_set_property(G_OBJECT(element), property, &array);
  g_value_unset(&value);
  g_value_unset(&array);
}

/// A picture with the same level everywhere.
Picture flat(GstVideoFormat format, std::uint16_t luma);

template <typename T>
std::vector<T> numbers_of(const GstStructure *fields, const char *name) {
  std::vector<T> numbers;
  const GValue *array = gst_structure_get_value(fields, name);
  if (!array || !GST_VALUE_HOLDS_ARRAY(array)) {
    ADD_FAILURE() << "not an array: " << name;
    return numbers;
  }
  for (guint i = 0; i < gst_value_array_get_size(array); ++i) {
    const GValue *value = gst_value_array_get_value(array, i);
    if constexpr (std::is_same_v<T, double>)
      numbers.push_back(g_value_get_double(value));
    else if constexpr (std::is_same_v<T, std::int64_t>)
      numbers.push_back(g_value_get_int64(value));
    else if constexpr (std::is_signed_v<T>)
      numbers.push_back(g_value_get_int(value));
    else
      numbers.push_back(g_value_get_uint(value));
  }
  return numbers;
}

}  // namespace cudascan::elements
