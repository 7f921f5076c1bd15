// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/elements/operators.h"

namespace cudascan::elements {

std::string error_of_next_frame(Filter &filter, const Picture &in) {
  const GstFlowReturn flow = filter.push_picture(in);
  Ref<GstMessage> message = filter.pop(GST_MESSAGE_ERROR);
  EXPECT_EQ(flow == GST_FLOW_ERROR, message != nullptr) << gst_flow_get_name(flow);
  filter.pull_all();
  return message ? error_text(message.get()).message : "";
}

void expect_refusals(const std::string &element, const std::vector<BadSettings> &all) {
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 90, 60);
  for (const BadSettings &bad : all)
    for (const bool playing : {false, true}) {
      SCOPED_TRACE(bad.settings[0].first + std::string(" = ") + bad.settings[0].second +
                   (playing ? ", while playing" : ", from the start"));
      Filter filter(element);
      GObject *object = G_OBJECT(filter.element());
      std::vector<std::string> before;
      for (const auto &[property, value] : bad.settings)
        before.push_back(filter.get_string(property));
      if (playing) filter.process(in);
      for (const auto &[property, value] : bad.settings)
        gst_util_set_object_arg(object, property, value);
      const std::string text = error_of_next_frame(filter, in);
      for (const std::string &word : bad.said)
        EXPECT_NE(text.find(word), std::string::npos) << '"' << word << "\" is not in: " << text;
      for (std::size_t i = 0; i < before.size(); ++i)
        gst_util_set_object_arg(object, bad.settings[i].first, before[i].c_str());
      EXPECT_EQ(error_of_next_frame(filter, in), "") << "after the setting was corrected";
    }
}

Picture flat(GstVideoFormat format, std::uint16_t luma) {
  Picture p = make_picture(format, 16, 8);
  p.components[0].assign(p.components[0].size(), luma);
  return p;
}

}  // namespace cudascan::elements
