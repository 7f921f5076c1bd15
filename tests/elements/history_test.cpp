// SPDX-License-Identifier: LGPL-2.1-or-later
// The history of elements from frame to frame, and when they forget it.
#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

/// A clip without a cut: each frame has one more dark row, of sixty.
Picture frame(GstVideoFormat format, int number) {
  Picture p = make_picture(format, 90, 60);
  const int shift = p.format_info()->shift[0];
  for (std::size_t i = 0; i < p.components[0].size(); ++i) {
    const bool shade = static_cast<int>(i / 90) < number;
    auto &sample = p.components[0][i];
    sample = static_cast<std::uint16_t>((sample >> shift) / (shade ? 4 : 2) << shift);
  }
  return p;
}

template <typename Params>
struct Carrying {
  std::string element;
  Params params;
};

const Carrying<AutothresholdParams> kThreshold = {"cudaautothreshold smoothing=0.9 hysteresis=1",
                                                  {.smoothing = 0.9, .hysteresis = 1}};
const Carrying<EqualizeParams> kEqualize = {"cudaequalize smoothing=0.9", {.smoothing = 0.9}};

class History : public BackendTest {
 protected:
  /// Sends two frames with `interrupt` between them. The second result must be that of a continued
  /// stream (`goes_on`), or of a new one.
  template <typename Params, typename Interrupt>
  void expect_second_frame(const Carrying<Params> &c, bool goes_on, Interrupt interrupt) {
    for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY16_LE}) {
      SCOPED_TRACE(c.element + " " + gst_video_format_to_string(format));
      Filter filter(c.element + " backend=" + GetParam());
      const Picture first = frame(format, 0), second = frame(format, 12);
      Cpu cpu;
      EXPECT_TRUE(same(filter.process(first), expected(first, c.params, format, nullptr, &cpu)));
      const Picture next = expected(second, c.params, format, nullptr, &cpu),
                    fresh = expected(second, c.params);
      ASSERT_FALSE(same(next, fresh)) << "the two results must differ";
      EXPECT_TRUE(same(interrupt(filter, second), goes_on ? next : fresh));
    }
  }
  template <typename Interrupt>
  void expect_second_frame(bool goes_on, Interrupt interrupt) {
    expect_second_frame(kThreshold, goes_on, interrupt);
    expect_second_frame(kEqualize, goes_on, interrupt);
  }
};
INSTANTIATE_BACKENDS(History);

Picture push_with_flag(Filter &filter, const Picture &in, guint flag) {
  Ref<GstBuffer> buffer = to_buffer(in);
  GST_BUFFER_PTS(buffer.get()) = GST_SECOND;
  GST_BUFFER_FLAG_SET(buffer.get(), flag);
  EXPECT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
  return to_picture(filter.pull().get(), filter.output_caps().get());
}

TEST_P(History, FramesGoOnFromThoseBefore) {
  expect_second_frame(true, [](Filter &filter, const Picture &in) { return filter.process(in); });
  expect_second_frame(true, [](Filter &filter, const Picture &in) {
    return push_with_flag(filter, in, GST_BUFFER_FLAG_MARKER);
  });
}

TEST_P(History, ADiscontinuityStartsAnew) {
  expect_second_frame(false, [](Filter &filter, const Picture &in) {
    return push_with_flag(filter, in, GST_BUFFER_FLAG_DISCONT);
  });
}

TEST_P(History, ADiscontinuityThatQosDropsStartsAnew) {
  expect_second_frame(false, [](Filter &filter, const Picture &in) {
    gst_harness_push_upstream_event(
        filter.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, 10 * GST_SECOND));
    Ref<GstBuffer> late = to_buffer(in), in_time = to_buffer(in);
    GST_BUFFER_FLAG_SET(late.get(), GST_BUFFER_FLAG_DISCONT);
    GST_BUFFER_PTS(late.get()) = 9 * GST_SECOND;
    GST_BUFFER_PTS(in_time.get()) = 11 * GST_SECOND;
    EXPECT_EQ(filter.push(std::move(late)), GST_FLOW_OK);
    EXPECT_EQ(gst_harness_buffers_in_queue(filter.harness()), 0u);
    EXPECT_EQ(filter.push(std::move(in_time)), GST_FLOW_OK);
    return to_picture(filter.pull().get(), filter.output_caps().get());
  });
}

TEST_P(History, AFlushStartsAnew) {
  expect_second_frame(false, [](Filter &filter, const Picture &in) {
    gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
    gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
    return filter.process(in);
  });
}

TEST_P(History, NewCapsStartAnew) {
  expect_second_frame(false, [](Filter &filter, const Picture &in) {
    Ref<GstCaps> caps = make_caps(in);
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 50, 1, nullptr);
    filter.set_caps(caps.get());
    return filter.process(in);
  });
}

TEST_P(History, ARestartStartsAnew) {
  expect_second_frame(false, [](Filter &filter, const Picture &in) {
    gst_element_set_state(filter.element(), GST_STATE_READY);
    gst_element_set_state(filter.element(), GST_STATE_PLAYING);
    filter.set_caps(make_caps(in).get());
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
    return filter.process(in);
  });
}

TEST_P(History, AnotherNumberOfThreadsGoesOn) {
  expect_second_frame(true, [](Filter &filter, const Picture &in) {
    g_object_set(filter.element(), "n-threads", 1, nullptr);
    return filter.process(in);
  });
}

TEST_P(History, ALongClip) {
  Filter threshold(launch("cudaautothreshold", "smoothing=0.8 hysteresis=2 method=li")),
      equalize(launch("cudaequalize", "smoothing=0.8")),
      binarize(launch("cudabinarize", "smoothing=0.8"));
  const AutothresholdParams t = {
      .method = AutothresholdMethod::li, .smoothing = 0.8, .hysteresis = 2};
  const EqualizeParams e = {.smoothing = 0.8};
  const BinarizeParams b = {.smoothing = 0.8};
  Cpu for_threshold, for_equalize, for_binarize;
  constexpr auto kFormat = GST_VIDEO_FORMAT_I420;
  for (int i = 0; i < 40; ++i) {
    const Picture in = i < 25 ? frame(kFormat, i) : make_picture(kFormat, 90, 60, i);
    ASSERT_TRUE(same(threshold.process(in), expected(in, t, kFormat, nullptr, &for_threshold)))
        << "frame " << i;
    ASSERT_TRUE(same(equalize.process(in), expected(in, e, kFormat, nullptr, &for_equalize)))
        << "frame " << i;
    ASSERT_TRUE(same(binarize.process(in), expected(in, b, kFormat, nullptr, &for_binarize)))
        << "frame " << i;
  }
}

}  // namespace
}  // namespace cudascan::elements
