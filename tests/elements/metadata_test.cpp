// SPDX-License-Identifier: LGPL-2.1-or-later
// Data that accompanies a frame: times, flags, metas, and the report of measurements.
#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

constexpr GstVideoFormat kFormat = GST_VIDEO_FORMAT_GRAY8;

class Metadata : public BackendTest {
 protected:
  static void SetUpTestSuite() {
    static const gchar *no_tags[] = {nullptr}, *video[] = {GST_META_TAG_VIDEO_STR, nullptr};
    if (gst_meta_get_info("cudascan-test")) return;
    gst_meta_register_custom("cudascan-test", no_tags, nullptr, nullptr, nullptr);
    gst_meta_register_custom("cudascan-test-video", video, nullptr, nullptr, nullptr);
  }
};
INSTANTIATE_BACKENDS(Metadata);

TEST_P(Metadata, TimesAndOffsetsAreKept) {
  Filter filter(nick());
  const Picture in = make_picture(kFormat, 40, 30);
  filter.set_caps(make_caps(in).get());
  Ref<GstBuffer> buffer = to_buffer(in);
  GST_BUFFER_PTS(buffer.get()) = 5 * GST_SECOND + 1;
  GST_BUFFER_DTS(buffer.get()) = 4 * GST_SECOND + 3;
  GST_BUFFER_DURATION(buffer.get()) = 33 * GST_MSECOND;
  GST_BUFFER_OFFSET(buffer.get()) = 1234;
  GST_BUFFER_OFFSET_END(buffer.get()) = 1235;
  ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 5 * GST_SECOND + 1);
  EXPECT_EQ(GST_BUFFER_DTS(out.get()), 4 * GST_SECOND + 3);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 33 * GST_MSECOND);
  EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 1234u);
  EXPECT_EQ(GST_BUFFER_OFFSET_END(out.get()), 1235u);
}

TEST_P(Metadata, AFrameWithoutTimesIsProcessedWithoutTimes) {
  Filter filter(nick("report=message+meta"));
  const Picture in = make_picture(kFormat, 40, 30);
  filter.set_caps(make_caps(in).get());
  ASSERT_EQ(filter.push(to_buffer(in)), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();
  EXPECT_FALSE(GST_BUFFER_PTS_IS_VALID(out.get()));
  EXPECT_FALSE(GST_BUFFER_DURATION_IS_VALID(out.get()));
}

TEST_P(Metadata, FlagsAreKept) {
  Filter filter(nick());
  const Picture in = make_picture(kFormat, 40, 30);
  filter.set_caps(make_caps(in).get());
  filter.push(to_buffer(in));  // the first frame of a stream may be marked DISCONT
  filter.pull();
  for (guint flag : {guint{GST_BUFFER_FLAG_DISCONT}, guint{GST_BUFFER_FLAG_CORRUPTED},
                     guint{GST_BUFFER_FLAG_MARKER}, guint{GST_BUFFER_FLAG_HEADER},
                     guint{GST_BUFFER_FLAG_DROPPABLE}, guint{GST_BUFFER_FLAG_LIVE},
                     guint{GST_VIDEO_BUFFER_FLAG_RFF}}) {
    Ref<GstBuffer> buffer = to_buffer(in);
    GST_BUFFER_FLAG_SET(buffer.get(), flag);
    ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
    Ref<GstBuffer> out = filter.pull();
    EXPECT_EQ(GST_BUFFER_FLAGS(out.get()) & ~GST_BUFFER_FLAG_TAG_MEMORY, flag);
  }
}

TEST_P(Metadata, GapBuffersPass) {
  Filter filter(nick());
  const Picture in = make_picture(kFormat, 40, 30);
  filter.process(in);
  Ref<GstBuffer> buffer = to_buffer(in);
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS(buffer.get()) = GST_SECOND;
  ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), GST_SECOND);
  EXPECT_EQ(to_picture(out.get(), filter.output_caps().get()).width, 40);
  EXPECT_TRUE(same(filter.process(in), expected(in, NickParams{}))) << "the frame after the gap";
}

TEST_P(Metadata, MetasAreKept) {
  Filter filter(nick());
  const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 64, 48);
  filter.set_caps(make_caps(in).get());
  Ref<GstBuffer> buffer = to_buffer(in);
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), "word", 3, 4, 20, 10);
  roi->id = 77;
  gst_video_region_of_interest_meta_add_param(
      roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.75, nullptr));
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = 1, crop->y = 2, crop->width = 30, crop->height = 40;
  gst_buffer_add_video_time_code_meta_full(buffer.get(), 25, 1, nullptr,
                                           GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2, 3, 4, 0);
  Ref<GstCaps> clock(gst_caps_new_empty_simple("timestamp/x-unix"));
  gst_buffer_add_reference_timestamp_meta(buffer.get(), clock.get(), 42, GST_CLOCK_TIME_NONE);
  for (const char *name : {"cudascan-test", "cudascan-test-video"}) {
    GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer.get(), name);
    gst_structure_set(gst_custom_meta_get_structure(meta), "page", G_TYPE_INT, 12, nullptr);
  }
  ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();

  roi = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 77);
  ASSERT_TRUE(roi) << "the region of interest is lost";
  EXPECT_EQ(std::vector<guint>({roi->x, roi->y, roi->w, roi->h}),
            std::vector<guint>({3, 4, 20, 10}));
  EXPECT_STREQ(g_quark_to_string(roi->roi_type), "word");
  EXPECT_TRUE(gst_video_region_of_interest_meta_get_param(roi, "detection"));
  crop = gst_buffer_get_video_crop_meta(out.get());
  ASSERT_TRUE(crop) << "the crop is lost";
  EXPECT_EQ(std::vector<guint>({crop->x, crop->y, crop->width, crop->height}),
            std::vector<guint>({1, 2, 30, 40}));
  const GstVideoTimeCodeMeta *code = gst_buffer_get_video_time_code_meta(out.get());
  ASSERT_TRUE(code) << "the time code is lost";
  EXPECT_EQ(code->tc.frames, 4u);
  EXPECT_TRUE(gst_buffer_get_reference_timestamp_meta(out.get(), clock.get()));
  for (const char *name : {"cudascan-test", "cudascan-test-video"}) {
    GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), name);
    ASSERT_TRUE(meta) << name << " is lost";
    int number = 0;
    gst_structure_get_int(gst_custom_meta_get_structure(meta), "page", &number);
    EXPECT_EQ(number, 12);
  }
  // The crop does not reduce the processed part: it is the whole frame.
  EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), expected(in, NickParams{})));
}

/// Attaches metas of every kind that describes a frame, some of them twice.
void add_all_metas(GstBuffer *buffer) {
  for (const guint id : {5u, 6u}) {
    GstVideoRegionOfInterestMeta *roi =
        gst_buffer_add_video_region_of_interest_meta(buffer, "line", id, 2, 8, 4);
    roi->id = static_cast<gint>(id), roi->parent_id = 4;
  }
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = 1, crop->y = 2, crop->width = 30, crop->height = 10;
  gst_buffer_add_video_time_code_meta_full(buffer, 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE,
                                           1, 2, 3, 4, 0);
  for (const char *name : {"timestamp/x-unix", "timestamp/x-ntp"}) {
    Ref<GstCaps> clock(gst_caps_new_empty_simple(name));
    gst_buffer_add_reference_timestamp_meta(buffer, clock.get(), 42, GST_CLOCK_TIME_NONE);
  }
  gst_buffer_add_video_afd_meta(buffer, 0, GST_VIDEO_AFD_SPEC_ATSC_A53,
                                GST_VIDEO_AFD_4_3_FULL_16_9_FULL);
  gst_buffer_add_video_bar_meta(buffer, 0, TRUE, 3, 4);
  const guint8 bytes[] = {0x80, 0x80, 0x01};
  gst_buffer_add_video_caption_meta(buffer, GST_VIDEO_CAPTION_TYPE_CEA608_RAW, bytes, sizeof bytes);
  gst_buffer_add_protection_meta(buffer, gst_structure_new_empty("application/x-cenc"));
  Ref<GstBuffer> pixels(gst_buffer_new_allocate(nullptr, 2 * 2 * 4, nullptr));
  gst_buffer_memset(pixels.get(), 0, 0x55, 2 * 2 * 4);
  gst_buffer_add_video_meta(pixels.get(), GST_VIDEO_FRAME_FLAG_NONE,
                            GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 2, 2);
  GstVideoOverlayRectangle *rectangle = gst_video_overlay_rectangle_new_raw(
      pixels.get(), 0, 0, 2, 2, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  GstVideoOverlayComposition *overlay = gst_video_overlay_composition_new(rectangle);
  gst_buffer_add_video_overlay_composition_meta(buffer, overlay);
  gst_video_overlay_composition_unref(overlay);
  gst_video_overlay_rectangle_unref(rectangle);
  for (const char *name : {"cudascan-test", "cudascan-test-video"}) {
    GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, name);
    gst_structure_set(gst_custom_meta_get_structure(meta), "page", G_TYPE_INT, 12, nullptr);
  }
}

/// The types of a buffer's metas, in their order, without the layout of the memory.
std::vector<std::string> metas_of(GstBuffer *buffer) {
  std::vector<std::string> types;
  gpointer state = nullptr;
  while (const GstMeta *meta = gst_buffer_iterate_meta(buffer, &state))
    if (meta->info->api != GST_VIDEO_META_API_TYPE)
      types.emplace_back(g_type_name(meta->info->type));
  return types;
}

TEST_P(Metadata, AllMetasPassAllElements) {
  for (const std::string &name : all_elements())
    for (const bool in_cuda : {false, true}) {
      if (in_cuda && !cuda()) continue;
      SCOPED_TRACE(name + (in_cuda ? ", in CUDAMemory" : ""));
      Filter filter(in_cuda ? launch(name) + "! " + launch("cudaequalize") : launch(name));
      const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 64, 48);
      filter.set_caps(make_caps(in).get());
      Ref<GstBuffer> buffer = to_buffer(in);
      add_all_metas(buffer.get());
      const std::vector<std::string> wanted = metas_of(buffer.get());
      EXPECT_EQ(wanted.size(), 13u);
      ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
      Ref<GstBuffer> out = filter.pull();
      ASSERT_TRUE(out);
      EXPECT_EQ(metas_of(out.get()), wanted);
      for (const gint id : {5, 6}) {
        const GstVideoRegionOfInterestMeta *roi =
            gst_buffer_get_video_region_of_interest_meta_id(out.get(), id);
        ASSERT_TRUE(roi);
        EXPECT_EQ(roi->x, static_cast<guint>(id));
        EXPECT_EQ(roi->parent_id, 4);
      }
    }
}

TEST_P(Metadata, TheLayoutOfTheInputIsNotClaimedForTheOutput) {
  Filter filter(nick());
  const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 50, 40);
  filter.set_caps(make_caps(in).get());
  ASSERT_EQ(filter.push(to_buffer(in, Layout{31, 17, true})), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();
  guint metas = 0;
  gpointer state = nullptr;
  while (gst_buffer_iterate_meta_filtered(out.get(), &state, GST_VIDEO_META_API_TYPE)) ++metas;
  EXPECT_LE(metas, 1u);
  EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), expected(in, NickParams{})));
}

/// Pushes one frame, ten seconds into a segment that begins at 100 s and is shown from 2 s on.
Ref<GstBuffer> push_timed(Filter &filter, const Picture &in) {
  filter.set_caps(make_caps(in).get());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.position = 100 * GST_SECOND;
  segment.time = 2 * GST_SECOND;
  segment.base = 50 * GST_SECOND;
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  Ref<GstBuffer> buffer = to_buffer(in);
  GST_BUFFER_PTS(buffer.get()) = 110 * GST_SECOND;
  GST_BUFFER_DURATION(buffer.get()) = kFrameTime;
  EXPECT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
  return filter.pull();
}

void check_report(const GstStructure *report, const Picture &result, const NickReport &measured) {
  ASSERT_TRUE(report);
  const auto time = [&](const char *field) {
    guint64 value = GST_CLOCK_TIME_NONE;
    EXPECT_TRUE(gst_structure_get_uint64(report, field, &value)) << "no field " << field;
    return value;
  };
  EXPECT_EQ(time("timestamp"), 110 * GST_SECOND);
  EXPECT_EQ(time("stream-time"), 12 * GST_SECOND);
  EXPECT_EQ(time("running-time"), 60 * GST_SECOND);
  EXPECT_EQ(time("duration"), kFrameTime);
  double black = -1;
  EXPECT_TRUE(gst_structure_get_double(report, "black-ratio", &black));
  EXPECT_EQ(black, measured.black_ratio);
  EXPECT_DOUBLE_EQ(black, result.black_ratio());
}

TEST_P(Metadata, ReportsComeAsMessageAsMetaAsBothOrNotAtAll) {
  for (const std::string report : {"", "report=message", "report=meta", "report=message+meta"})
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_P010_10LE}) {
      SCOPED_TRACE(report);
      Filter filter(nick("window=15 " + report));
      const Picture in = make_picture(format, 101, 47);
      NickParams params;
      params.window = 15;
      NickReport measured;
      const Picture wanted = expected(in, params, format, &measured);
      Ref<GstBuffer> out = push_timed(filter, in);
      EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), wanted));

      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
      ASSERT_EQ(message != nullptr, report.find("message") != std::string::npos);
      if (message) {
        EXPECT_EQ(GST_MESSAGE_SRC(message.get()), GST_OBJECT(filter.element()));
        EXPECT_TRUE(gst_message_has_name(message.get(), "cudanick"));
        check_report(gst_message_get_structure(message.get()), wanted, measured);
        EXPECT_FALSE(filter.pop(GST_MESSAGE_ELEMENT)) << "two messages for one frame";
      }
      GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "cudascan-result");
      ASSERT_EQ(meta != nullptr, report.find("meta") != std::string::npos);
      if (meta) check_report(gst_custom_meta_get_structure(meta), wanted, measured);
    }
}

#ifndef HAVE_GST_ANALYTICS
TEST_P(Metadata, AnalyticsAreRefusedWhereGStreamerHasNone) {
  Filter filter(nick());
  const Picture in = make_picture(kFormat, 40, 30);
  filter.process(in);
  gst_util_set_object_arg(G_OBJECT(filter.element()), "report", "meta+analytics");
  EXPECT_EQ(filter.push_picture(in), GST_FLOW_ERROR);
  Ref<GstMessage> message = filter.pop(GST_MESSAGE_ERROR);
  ASSERT_TRUE(message);
  const std::string text = error_text(message.get()).message;
  for (const char *part : {"report = analytics", "1.24", "report = meta"})
    EXPECT_NE(text.find(part), std::string::npos) << text;

  // At the start of a stream, too.
  gst_element_set_state(filter.element(), GST_STATE_NULL);
  EXPECT_EQ(gst_element_set_state(filter.element(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
}
#endif

TEST_P(Metadata, ReportsCanBeTurnedOnAndOffWhilePlaying) {
  Filter filter(nick());
  const Picture in = make_picture(kFormat, 40, 30);
  for (const bool on : {false, true, false, true}) {
    gst_util_set_object_arg(G_OBJECT(filter.element()), "report", on ? "message" : "0");
    filter.process(in);
    EXPECT_EQ(filter.pop(GST_MESSAGE_ELEMENT) != nullptr, on);
  }
}

TEST_P(Metadata, EveryFrameHasItsOwnReport) {
  Filter filter(nick("window=15 report=message"));
  NickParams params;
  params.window = 15;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Picture in = make_picture(kFormat, 60, 40, seed), out = filter.process(in);
    Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
    ASSERT_TRUE(message);
    double black = -1;
    gst_structure_get_double(gst_message_get_structure(message.get()), "black-ratio", &black);
    EXPECT_DOUBLE_EQ(black, out.black_ratio());
  }
}

}  // namespace
}  // namespace cudascan::elements
