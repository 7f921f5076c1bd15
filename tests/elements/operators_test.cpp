// SPDX-License-Identifier: LGPL-2.1-or-later
// Requirements for every element, tested with its default settings: formats, sizes and layouts of
// frames.
#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

class EveryOperator : public BackendTest {};
INSTANTIATE_BACKENDS(EveryOperator);

TEST_P(EveryOperator, MakesOfEveryFormatWhatTheKernelsMake) {
#define EXPECT_FORMATS(op, Name) expect_kernels_result<Name##Params>(launch("cuda" #op), {"", {}});
  CUDASCAN_OPERATORS(EXPECT_FORMATS)
}

template <typename Params>
void expect_layouts(const std::string &element) {
  SCOPED_TRACE(element);
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12,
                                      GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_I420_10LE}) {
    Filter filter(element);
    for (const Layout &layout : {Layout{.row_padding = 3, .pieces = 5},
                                 Layout{.plane_padding = 1, .row_bytes = 3, .upwards = true},
                                 Layout{.plane_padding = 3, .split = true, .row_bytes = 1}}) {
      const Picture in = make_picture(format, 61, 37);
      EXPECT_TRUE(same(filter.process(in, layout), expected(in, Params{})));
    }
  }
}

TEST_P(EveryOperator, TakesFramesThatLieAnywhere) {
#define EXPECT_LAYOUTS(op, Name) expect_layouts<Name##Params>(launch("cuda" #op));
  CUDASCAN_OPERATORS(EXPECT_LAYOUTS)
}

/// Reading a setting and writing it back changes nothing.
TEST_P(EveryOperator, TakesItsOwnSettings) {
  int written = 0;
  for (const std::string &name : all_elements()) {
    SCOPED_TRACE(name);
    Filter untouched(launch(name)), filter(launch(name));
    const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 61, 37);
    const Picture wanted = untouched.process(in);
    GstElement *element = filter.element();
    guint n = 0;
    g_autofree GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
    for (guint i = 0; i < n; ++i) {
      if (specs[i]->owner_type != G_OBJECT_TYPE(element) || !(specs[i]->flags & G_PARAM_WRITABLE))
        continue;
      SCOPED_TRACE(specs[i]->name);
      GValue value = G_VALUE_INIT;
      g_object_get_property(G_OBJECT(element), specs[i]->name, &value);
      g_object_set_property(G_OBJECT(element), specs[i]->name, &value);
      ++written;
      g_value_unset(&value);
      EXPECT_TRUE(same(filter.process(in), wanted));
    }
  }
  EXPECT_GT(written, 30) << "settings of all elements";
}

}  // namespace
}  // namespace cudascan::elements
