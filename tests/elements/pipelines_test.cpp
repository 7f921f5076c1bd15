// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole pipelines with stock elements around ours, each frame compared.
#include <algorithm>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

class Pipelines : public BackendTest {};
INSTANTIATE_BACKENDS(Pipelines);

Picture moving(int i) {
  return make_picture(GST_VIDEO_FORMAT_GRAY8, 64, 48, static_cast<unsigned>(i));
}

TEST_P(Pipelines, DefaultsNegotiateBetweenStockElements) {
  for (const char *before :
       {"", "! videoconvert", "! video/x-raw,format=GRAY8", "! video/x-raw,format=I420", "! queue"})
    for (const char *after : {"! videoconvert", "! queue", "! videoscale ! videoconvert", ""}) {
      const std::string launch = std::string("videotestsrc num-buffers=3 ") + before + " ! " +
                                 nick() + after + " ! fakesink";
      Pipeline pipeline(launch);
      EXPECT_EQ(pipeline.play(), "") << launch;
    }
}

TEST_P(Pipelines, EveryElementRunsWithItsDefaultsAndBehindTheOthers) {
  std::string all = "videotestsrc num-buffers=3 ! ";
  for (const std::string &name : all_elements()) {
    const std::string one = launch(name);
    Pipeline pipeline("videotestsrc num-buffers=3 ! " + one + "! fakesink");
    EXPECT_EQ(pipeline.play(), "") << name;
    all += one + "! ";
  }
  Pipeline pipeline(all + "fakesink");
  EXPECT_EQ(pipeline.play(), "");
}

TEST_P(Pipelines, ThreeHundredFramesThroughQueuesOneByOne) {
  Pipeline pipeline("appsrc name=src ! queue ! " + nick("window=15 output=threshold") +
                    "! queue max-size-buffers=3 ! " + nick("window=9") +
                    "! queue ! appsink name=sink sync=false max-buffers=4");
  NickParams first, second;
  first.window = 15, first.output = NickOutput::threshold;
  second.window = 9;
  Ref<GstElement> sink = pipeline.find("sink");
  Feeder feeder(pipeline.find("src").get(), 300, moving);
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 300; ++i) {
    Ref<GstSample> sample = pull_sample(sink.get());
    ASSERT_TRUE(sample) << "frame " << i << " is missing";
    EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(sample.get())), i * kFrameTime);
    ASSERT_TRUE(same(to_picture(sample.get()), expected(expected(moving(i), first), second)))
        << "frame " << i;
  }
  EXPECT_FALSE(pull_sample(sink.get())) << "there are more results than frames";
  EXPECT_EQ(pipeline.wait(), "");
}

TEST_P(Pipelines, AConsumerMayHoldManyFrames) {
  Pipeline pipeline("appsrc name=src ! " + nick("window=15") +
                    "! queue ! appsink name=sink sync=false");
  NickParams params;
  params.window = 15;
  Ref<GstElement> sink = pipeline.find("sink");
  Feeder feeder(pipeline.find("src").get(), 120, moving);
  pipeline.set_state(GST_STATE_PLAYING);
  std::vector<Ref<GstSample>> held;
  for (int i = 0; i < 120; ++i) {
    held.push_back(pull_sample(sink.get()));
    ASSERT_TRUE(held.back()) << "frame " << i << " is missing";
  }
  for (int i = 0; i < 120; ++i)
    ASSERT_TRUE(same(to_picture(held[i].get()), expected(moving(i), params))) << "frame " << i;
}

TEST_P(Pipelines, ATeeGivesEveryBranchTheSameFrames) {
  Pipeline pipeline("appsrc name=src ! tee name=t  t. ! queue ! " + nick("window=15") +
                    "! appsink name=a sync=false  t. ! queue ! " + nick("window=31 invert=true") +
                    "! tee name=u  u. ! queue ! appsink name=b sync=false  u. ! queue ! " +
                    nick("window=5") + "! appsink name=c sync=false  " +
                    "t. ! queue ! appsink name=raw sync=false");
  NickParams a, b, c;
  a.window = 15, b.window = 31, b.invert = true, c.window = 5;
  Ref<GstElement> sinks[] = {pipeline.find("a"), pipeline.find("b"), pipeline.find("c"),
                             pipeline.find("raw")};
  Feeder feeder(pipeline.find("src").get(), 60, moving);
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 60; ++i) {
    const Picture wanted[] = {expected(moving(i), a), expected(moving(i), b),
                              expected(expected(moving(i), b), c), moving(i)};
    for (int branch = 0; branch < 4; ++branch) {
      Ref<GstSample> sample = pull_sample(sinks[branch].get());
      ASSERT_TRUE(sample);
      ASSERT_TRUE(same(to_picture(sample.get()), wanted[branch]))
          << "frame " << i << ", branch " << branch;
    }
  }
}

TEST_P(Pipelines, AProducerThatUsesTheProposedPool) {
  // videotestsrc writes into any pool that is proposed to it, and reuses its buffers.
  const std::string source =
      "videotestsrc num-buffers=200 pattern=ball ! video/x-raw,format=NV12,width=96,height=64 ! ";
  Pipeline plain(source + "appsink name=sink sync=false max-buffers=1");
  Pipeline pipeline(source + nick("window=15") + "! queue ! appsink name=sink sync=false");
  NickParams params;
  params.window = 15;
  Ref<GstElement> raw = plain.find("sink"), sink = pipeline.find("sink");
  plain.set_state(GST_STATE_PLAYING);
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 200; ++i) {
    Ref<GstSample> in = pull_sample(raw.get()), out = pull_sample(sink.get());
    ASSERT_TRUE(in && out) << "frame " << i;
    ASSERT_TRUE(same(to_picture(out.get()), expected(to_picture(in.get()), params)))
        << "frame " << i;
  }
}

TEST_P(Pipelines, CapsMayChangeBetweenFramesInFlight) {
  const auto picture = [](int i) {
    constexpr GstVideoFormat formats[] = {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12,
                                          GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_I420};
    const int change = i / 5;
    return make_picture(formats[change % 4], 33 + 7 * change, 20 + 3 * change, i);
  };
  Pipeline pipeline("appsrc name=src ! queue ! " + nick() + "! queue ! " + nick("window=9") +
                    "! queue ! appsink name=sink sync=false");
  NickParams second;
  second.window = 9;
  Ref<GstElement> sink = pipeline.find("sink");
  Feeder feeder(pipeline.find("src").get(), 100, picture);
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 100; ++i) {
    Ref<GstSample> sample = pull_sample(sink.get());
    ASSERT_TRUE(sample) << "frame " << i;
    ASSERT_TRUE(
        same(to_picture(sample.get()), expected(expected(picture(i), NickParams{}), second)))
        << "frame " << i;
  }
}

TEST_P(Pipelines, SeekingPlaysTheSegmentThatWasAskedFor) {
  Pipeline pipeline(
      "videotestsrc pattern=ball ! video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 ! " +
      nick("window=15") + "! appsink name=sink sync=false");
  Ref<GstElement> sink = pipeline.find("sink");
  ASSERT_NO_FATAL_FAILURE(pipeline.reach(GST_STATE_PAUSED));
  for (const GstClockTime start : {3 * GST_SECOND, 1 * GST_SECOND}) {
    ASSERT_TRUE(gst_element_seek(
        pipeline.get(), 1.0, GST_FORMAT_TIME,
        static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE), GST_SEEK_TYPE_SET,
        static_cast<gint64>(start), GST_SEEK_TYPE_SET, static_cast<gint64>(start + GST_SECOND)));
    pipeline.set_state(GST_STATE_PLAYING);
    for (int i = 0; i < 25; ++i) {
      Ref<GstSample> sample = pull_sample(sink.get());
      ASSERT_TRUE(sample) << "frame " << i;
      EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(sample.get())), start + i * kFrameTime);
      const Picture out = to_picture(sample.get());
      EXPECT_TRUE(std::all_of(out.components[0].begin(), out.components[0].end(),
                              [](auto p) { return p == 0 || p == 255; }));
    }
    EXPECT_FALSE(pull_sample(sink.get()));
  }
}

TEST_P(Pipelines, EveryElementPausesSeeksChangesCapsAndEnds) {
  for (const std::string &name : all_elements()) {
    SCOPED_TRACE(name);
    Pipeline pipeline(
        "videotestsrc ! capsfilter name=caps "
        "caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 ! " +
        launch(name) + "! appsink name=sink sync=false max-buffers=2");
    Ref<GstElement> sink = pipeline.find("sink"), filter = pipeline.find("caps");
    for (const GstState state : {GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED})
      ASSERT_NO_FATAL_FAILURE(pipeline.reach(state));
    Ref<GstCaps> caps = make_caps(GST_VIDEO_FORMAT_NV12, 50, 30);
    g_object_set(filter.get(), "caps", caps.get(), nullptr);
    ASSERT_TRUE(gst_element_seek(pipeline.get(), 1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                 GST_SEEK_TYPE_SET, GST_SECOND, GST_SEEK_TYPE_SET,
                                 static_cast<gint64>(2 * GST_SECOND)));
    ASSERT_NO_FATAL_FAILURE(pipeline.reach(GST_STATE_PAUSED));
    ASSERT_NO_FATAL_FAILURE(pipeline.reach(GST_STATE_PLAYING));
    for (int i = 0; i < kFps; ++i) {
      Ref<GstSample> sample = pull_sample(sink.get());
      ASSERT_TRUE(sample) << "frame " << i;
      EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(sample.get())), GST_SECOND + i * kFrameTime);
      const Picture picture = to_picture(sample.get());
      EXPECT_EQ(picture.width, 50);
      EXPECT_EQ(picture.height, 30);
    }
    EXPECT_FALSE(pull_sample(sink.get())) << "no end of stream";
    EXPECT_FALSE(Ref<GstMessage>(gst_bus_pop_filtered(
        pipeline.bus().get(),
        static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING))));
  }
}

TEST_P(Pipelines, SegmentSeeksEndWithSegmentDone) {
  Pipeline pipeline("videotestsrc ! video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 ! " +
                    nick() + "! fakesink sync=false");
  ASSERT_NO_FATAL_FAILURE(pipeline.reach(GST_STATE_PAUSED));
  ASSERT_TRUE(
      gst_element_seek(pipeline.get(), 1.0, GST_FORMAT_TIME,
                       static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT),
                       GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, static_cast<gint64>(GST_SECOND)));
  pipeline.set_state(GST_STATE_PLAYING);
  Ref<GstMessage> message(gst_bus_timed_pop_filtered(
      pipeline.bus().get(), 60 * GST_SECOND,
      static_cast<GstMessageType>(GST_MESSAGE_SEGMENT_DONE | GST_MESSAGE_ERROR)));
  ASSERT_TRUE(message);
  EXPECT_EQ(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_SEGMENT_DONE);
}

TEST_P(Pipelines, ABadSettingStopsItsPipelineAndNoOther) {
  Pipeline good("videotestsrc num-buffers=200 ! video/x-raw,width=64,height=48 ! " + nick() +
                "! fakesink name=sink signal-handoffs=true sync=false");
  int frames = 0;
  g_signal_connect(good.find("sink").get(), "handoff",
                   G_CALLBACK(+[](GstElement *, GstBuffer *, GstPad *, gpointer count) {
                     ++*static_cast<int *>(count);
                   }),
                   &frames);
  Pipeline bad("videotestsrc ! video/x-raw,width=64,height=48 ! " + nick("name=n window=15") +
               "! queue ! fakesink");
  ASSERT_NO_FATAL_FAILURE(bad.reach(GST_STATE_PLAYING));
  good.set_state(GST_STATE_PLAYING);
  g_object_set(bad.find("n").get(), "window", 18, nullptr);
  const std::string error = bad.wait();
  EXPECT_NE(error.find("window"), std::string::npos) << error;
  EXPECT_NE(error.find("18"), std::string::npos) << error;
  EXPECT_EQ(bad.set_state(GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(good.wait(), "");
  EXPECT_EQ(frames, 200);
  // The stopped pipeline plays again with a valid setting.
  g_object_set(bad.find("n").get(), "window", 19, nullptr);
  ASSERT_NO_FATAL_FAILURE(bad.reach(GST_STATE_PLAYING));
}

TEST_P(Pipelines, ABadSettingInTheLaunchLineIsAnErrorFromTheStart) {
  for (const auto &[settings, name, value] :
       {std::tuple{"window=4", "window", "4"}, std::tuple{"k=nan", "k", "nan"},
        std::tuple{"r=0", "r", "0"},
        std::tuple{"window=31 algorithm=shared", "algorithm", "shared"}}) {
    Pipeline pipeline("videotestsrc num-buffers=3 ! " + nick(settings) + "! fakesink");
    const std::string error = pipeline.play();
    EXPECT_NE(error.find(name), std::string::npos) << settings << ": " << error;
    EXPECT_NE(error.find(value), std::string::npos) << settings << ": " << error;
  }
}

TEST_P(Pipelines, EveryFrameIsReportedOnce) {
  Pipeline pipeline("videotestsrc num-buffers=50 ! video/x-raw,format=GRAY8,width=64,height=48 ! " +
                    nick("report=message") + "! fakesink sync=false");
  ASSERT_EQ(pipeline.play(), "");
  // play() has removed the end of the stream and all reports before it from the bus, so the reports
  // of a second run are counted.
  pipeline.set_state(GST_STATE_READY);
  pipeline.set_state(GST_STATE_PLAYING);
  int reports = 0;
  for (;;) {
    Ref<GstMessage> message(gst_bus_timed_pop_filtered(
        pipeline.bus().get(), 60 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
    ASSERT_TRUE(message);
    if (GST_MESSAGE_TYPE(message.get()) != GST_MESSAGE_ELEMENT) {
      EXPECT_EQ(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_EOS);
      break;
    }
    reports += gst_message_has_name(message.get(), "cudanick");
  }
  EXPECT_EQ(reports, 50);
}

}  // namespace
}  // namespace cudascan::elements
