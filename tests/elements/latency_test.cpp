// SPDX-License-Identifier: LGPL-2.1-or-later
// What the elements say of their latency, and whether it is true: no frame waits for a later one.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/check/gsttestclock.h>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

class Latency : public BackendTest {
 protected:
  /// A chain of three elements, and each element alone.
  std::vector<std::string> chains() const {
    std::vector<std::string> all{launch("cudaequalize") + "! " + launch("cudaswofilter") + "! " +
                                 launch("cudanick")};
    for (const std::string &element : all_elements()) all.push_back(launch(element));
    return all;
  }
};
INSTANTIATE_BACKENDS(Latency);

constexpr const char *kFormat = "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1";

struct Answer {
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
};

/// What the sink of a chain learns from a source with this latency.
Answer ask(const std::string &chain, bool live, gint64 min, gint64 max) {
  Pipeline pipeline("appsrc name=source format=time ! " + chain + "! appsink name=sink");
  Ref<GstElement> source = pipeline.find("source"), sink = pipeline.find("sink");
  g_object_set(source.get(), "is-live", live, "min-latency", min, "max-latency", max, nullptr);
  pipeline.reach(GST_STATE_READY);
  Ref<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
  Ref<GstQuery> query(gst_query_new_latency());
  EXPECT_TRUE(gst_pad_peer_query(pad.get(), query.get())) << chain;
  Answer answer;
  gst_query_parse_latency(query.get(), &answer.live, &answer.min, &answer.max);
  return answer;
}

TEST_P(Latency, TheAnswerIsThatOfTheSource) {
  NEEDS_ELEMENTS("appsrc", "appsink");
  for (const std::string &chain : chains()) {
    const Answer limited = ask(chain, true, 40 * GST_MSECOND, 90 * GST_MSECOND);
    EXPECT_TRUE(limited.live) << chain;
    EXPECT_EQ(limited.min, 40 * GST_MSECOND) << chain;
    EXPECT_EQ(limited.max, 90 * GST_MSECOND) << chain;
    const Answer unlimited = ask(chain, true, 7, -1);
    EXPECT_EQ(unlimited.min, 7u) << chain;
    EXPECT_EQ(unlimited.max, GST_CLOCK_TIME_NONE) << chain;
    EXPECT_FALSE(ask(chain, false, 0, -1).live) << chain;
  }
}

/// A live pipeline whose time stands still unless the test moves it.
class StandingPipeline {
 public:
  explicit StandingPipeline(const std::string &chain)
      : pipeline_("appsrc name=source is-live=true format=time min-latency=" +
                  std::to_string(kSourceLatency) + " caps=" + kFormat + " ! " + chain +
                  "! appsink name=sink processing-deadline=0"),
        source_(pipeline_.find("source")),
        sink_(pipeline_.find("sink")),
        clock_(GST_TEST_CLOCK(gst_test_clock_new_with_start_time(kStart))) {
    gst_pipeline_use_clock(GST_PIPELINE(pipeline_.get()), GST_CLOCK(clock_));
    pipeline_.set_state(GST_STATE_PLAYING);
  }
  ~StandingPipeline() {
    pipeline_.set_state(GST_STATE_NULL);
    gst_object_unref(clock_);
  }

  /// Takes a picture at its time.
  void capture(const Picture &picture, int i) {
    gst_test_clock_set_time(clock_, kStart + i * kFrameTime);
    Ref<GstBuffer> buffer = to_buffer(picture);
    GST_BUFFER_PTS(buffer.get()) = i * kFrameTime;
    GST_BUFFER_DURATION(buffer.get()) = kFrameTime;
    EXPECT_EQ(gst_app_src_push_buffer(GST_APP_SRC(source_.get()), buffer.release()), GST_FLOW_OK);
  }

  /// The running time at which the sink wants to show the frame that it has; none if it has none.
  GstClockTime shown_at() {
    GList *pending = nullptr;
    if (!gst_test_clock_timed_wait_for_multiple_pending_ids(clock_, 1, kPatience, &pending))
      return GST_CLOCK_TIME_NONE;
    const GstClockTime time = gst_clock_id_get_time(pending->data);
    g_list_free_full(pending, reinterpret_cast<GDestroyNotify>(gst_clock_id_unref));
    return time - kStart;
  }

  /// Lets that time come.
  /// @return the frame
  Ref<GstSample> show() {
    gst_test_clock_crank(clock_);
    return pull_sample(sink_.get());
  }

  GstElement *get() const { return pipeline_.get(); }

  static constexpr GstClockTime kSourceLatency = 15 * GST_MSECOND;

 private:
  static constexpr GstClockTime kStart = 100 * GST_SECOND;
  static constexpr guint kPatience = 20'000;  // milliseconds

  Pipeline pipeline_;
  Ref<GstElement> source_, sink_;
  GstTestClock *clock_;
};

TEST_P(Latency, EveryFrameIsAtTheSinkBeforeTheNextIsTaken) {
  NEEDS_ELEMENTS("appsrc", "appsink");
  for (const std::string &chain : chains()) {
    SCOPED_TRACE(chain);
    StandingPipeline pipeline(chain);
    const auto take = [&](int i) {
      pipeline.capture(make_picture(GST_VIDEO_FORMAT_GRAY8, 64, 48, i), i);
      return pipeline.shown_at();
    };
    // A sink without a frame does not know the latency yet.
    ASSERT_NE(take(0), GST_CLOCK_TIME_NONE);
    ASSERT_TRUE(pipeline.show());
    gst_bin_recalculate_latency(GST_BIN(pipeline.get()));
    for (int i = 1; i < 5; ++i) {
      ASSERT_EQ(take(i), i * kFrameTime + pipeline.kSourceLatency) << "frame " << i;
      const Ref<GstSample> sample = pipeline.show();
      ASSERT_TRUE(sample);
      EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(sample.get())), i * kFrameTime);
    }
  }
}

}  // namespace
}  // namespace cudascan::elements
