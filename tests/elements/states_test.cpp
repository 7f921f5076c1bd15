// SPDX-License-Identifier: LGPL-2.1-or-later
// State changes in any order, many elements at once, elements that come and go while frames flow.
#include <random>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

class States : public BackendTest {};
INSTANTIATE_BACKENDS(States);

constexpr const char *kSource = "videotestsrc ! video/x-raw,format=GRAY8,width=64,height=48 ! ";

TEST_P(States, TwoHundredChangesInAnyOrder) {
  Pipeline pipeline(kSource + nick() + "! queue ! " + nick("window=9") + "! fakesink sync=false");
  std::mt19937 random(20);
  constexpr GstState states[] = {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED,
                                 GST_STATE_PLAYING};
  for (int i = 0; i < 200; ++i) {
    const GstState state = states[random() % 4];
    ASSERT_NE(pipeline.set_state(state), GST_STATE_CHANGE_FAILURE) << "change " << i;
    // Sometimes frames flow before the next change; otherwise the next change interrupts this one.
    if (random() % 4 == 0) gst_element_get_state(pipeline.get(), nullptr, nullptr, GST_SECOND);
  }
  ASSERT_NO_FATAL_FAILURE(pipeline.reach(GST_STATE_PLAYING));
  EXPECT_FALSE(Ref<GstMessage>(gst_bus_pop_filtered(pipeline.bus().get(), GST_MESSAGE_ERROR)));
}

TEST_P(States, AnElementAloneChangesStateTwoHundredTimes) {
  Ref<GstElement> element(gst_element_factory_make("cudanick", nullptr));
  gst_object_ref_sink(element.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", GetParam());
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(gst_element_set_state(element.get(), i % 2 ? GST_STATE_READY : GST_STATE_PLAYING),
              GST_STATE_CHANGE_SUCCESS);
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
}

TEST_P(States, RestartingGivesTheSameFrames) {
  Pipeline pipeline(
      "videotestsrc num-buffers=5 pattern=ball ! video/x-raw,format=NV12,width=64,height=48 ! " +
      nick("window=15") + "! appsink name=sink sync=false");
  Ref<GstElement> sink = pipeline.find("sink");
  std::vector<Picture> first;
  for (int run = 0; run < 5; ++run) {
    ASSERT_NO_FATAL_FAILURE(pipeline.reach(GST_STATE_PLAYING));
    for (int i = 0; i < 5; ++i) {
      Ref<GstSample> sample = pull_sample(sink.get());
      ASSERT_TRUE(sample);
      const Picture picture = to_picture(sample.get());
      if (run == 0)
        first.push_back(picture);
      else
        EXPECT_TRUE(same(picture, first[i])) << "run " << run << ", frame " << i;
    }
    // NULL, as the appsink of GStreamer 1.22 keeps its end of stream in READY.
    pipeline.set_state(GST_STATE_NULL);
  }
}

TEST_P(States, StoppedInTheMiddleWhileFramesAreHeldAndQueued) {
  for (int i = 0; i < 10; ++i) {
    std::vector<Ref<GstSample>> held;
    std::vector<Picture> seen;
    {
      Pipeline pipeline(kSource + nick() + "! queue ! " + nick("window=9") +
                        "! queue ! appsink name=sink sync=false");
      Ref<GstElement> sink = pipeline.find("sink");
      pipeline.set_state(GST_STATE_PLAYING);
      for (int frame = 0; frame < i; ++frame) held.push_back(pull_sample(sink.get()));
    }
    // The pipeline is gone, but the memory of its results still exists.
    for (const auto &sample : held) {
      ASSERT_TRUE(sample);
      EXPECT_EQ(to_picture(sample.get()).width, 64);
    }
  }
}

TEST_P(States, ThirtyTwoInSeries) {
  std::string launch = nick("window=3 output=threshold");
  NickParams params;
  params.window = 3, params.output = NickOutput::threshold;
  for (int i = 1; i < 32; ++i)
    launch += (i == 16 ? "! queue ! " : "! ") + nick("window=3 output=threshold");
  Filter filter(launch);
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 40, 30, seed);
    Picture wanted = in;
    for (int i = 0; i < 32; ++i) wanted = expected(wanted, params);
    ASSERT_TRUE(same(filter.process(in), wanted));
  }
}

TEST_P(States, ThirtyTwoPipelinesAtOnce) {
  const auto picture = [](int i) { return make_picture(GST_VIDEO_FORMAT_GRAY8, 80, 60, i); };
  std::vector<std::unique_ptr<Pipeline>> pipelines;
  std::vector<std::unique_ptr<Feeder>> feeders;
  for (int n = 0; n < 32; ++n) {
    pipelines.push_back(std::make_unique<Pipeline>("appsrc name=src ! " +
                                                   nick("window=" + std::to_string(2 * n + 3)) +
                                                   "! appsink name=sink sync=false"));
    feeders.push_back(std::make_unique<Feeder>(pipelines[n]->find("src").get(), 10, picture));
    pipelines[n]->set_state(GST_STATE_PLAYING);
  }
  for (int n = 0; n < 32; ++n) {
    NickParams params;
    params.window = 2 * n + 3;
    Ref<GstElement> sink = pipelines[n]->find("sink");
    for (int i = 0; i < 10; ++i) {
      Ref<GstSample> sample = pull_sample(sink.get());
      ASSERT_TRUE(sample) << "pipeline " << n << ", frame " << i;
      ASSERT_TRUE(same(to_picture(sample.get()), expected(picture(i), params)))
          << "pipeline " << n << ", frame " << i;
    }
  }
}

/// What the probe needs to replace an element.
struct Place {
  GstElement *pipeline;
  const char *backend;
};

/// A probe on the idle pad before the element `n`: replaces it with a new one whose window is 31.
GstPadProbeReturn exchange(GstPad *, GstPadProbeInfo *, gpointer data) {
  const auto *place = static_cast<const Place *>(data);
  const auto find = [&](const char *name) {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(place->pipeline), name));
  };
  Ref<GstElement> old = find("n"), before = find("before"), after = find("after");
  gst_element_unlink_many(before.get(), old.get(), after.get(), nullptr);
  gst_element_set_state(old.get(), GST_STATE_NULL);
  gst_bin_remove(GST_BIN(place->pipeline), old.get());
  GstElement *fresh = gst_element_factory_make("cudanick", "n");
  gst_util_set_object_arg(G_OBJECT(fresh), "backend", place->backend);
  g_object_set(fresh, "window", 31, nullptr);
  gst_bin_add(GST_BIN(place->pipeline), fresh);
  EXPECT_TRUE(gst_element_link_many(before.get(), fresh, after.get(), nullptr));
  EXPECT_TRUE(gst_element_sync_state_with_parent(fresh));
  return GST_PAD_PROBE_REMOVE;
}

/// Kernels have state that all threads of the process share, so sizes must not interfere.
TEST_P(States, WindowsOfManySizesSideBySide) {
  std::string launch;
  for (const int window : {3, 15, 33, 63, 95, 127, 201, 255})
    launch +=
        "videotestsrc num-buffers=30 ! video/x-raw,format=GRAY8,width=96,height=64 ! "
        "cudaswofilter operator=erode backend=" +
        std::string(GetParam()) + " window=" + std::to_string(window) + " ! fakesink sync=false ";
  EXPECT_EQ(Pipeline(launch).play(), "");
}

TEST_P(States, AnElementIsExchangedWhileFramesFlow) {
  constexpr int kFrames = 200;
  const auto picture = [](int i) { return make_picture(GST_VIDEO_FORMAT_GRAY8, 64, 48, i); };
  Place place{nullptr, GetParam()};  // must exist longer than the pipeline that uses it
  Pipeline pipeline("appsrc name=src ! queue name=before ! " + nick("name=n window=15") +
                    "! queue name=after ! appsink name=sink sync=false max-buffers=2");
  place.pipeline = pipeline.get();
  Ref<GstElement> sink = pipeline.find("sink");
  Feeder feeder(pipeline.find("src").get(), kFrames, picture);
  pipeline.set_state(GST_STATE_PLAYING);

  NickParams wide, narrow;
  wide.window = 31, narrow.window = 15;
  bool exchanged = false;
  for (int i = 0; i < kFrames; ++i) {
    if (i == 50) {
      Ref<GstElement> before = pipeline.find("before");
      Ref<GstPad> pad(gst_element_get_static_pad(before.get(), "src"));
      gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_IDLE, exchange, &place, nullptr);
    }
    Ref<GstSample> sample = pull_sample(sink.get());
    ASSERT_TRUE(sample) << "frame " << i;
    const Picture out = to_picture(sample.get());
    if (!exchanged && i >= 50) exchanged = !same(out, expected(picture(i), narrow));
    ASSERT_TRUE(same(out, expected(picture(i), exchanged ? wide : narrow))) << "frame " << i;
  }
  EXPECT_TRUE(exchanged);
  EXPECT_FALSE(pull_sample(sink.get()));
}

}  // namespace
}  // namespace cudascan::elements
