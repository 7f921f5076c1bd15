// SPDX-License-Identifier: LGPL-2.1-or-later
// One element used by many threads: one streams, others set and read properties, one flushes and
// changes the state, one takes results. No thread may crash or wait forever, and no frame may be
// lost without a reason. After that the element works like a new one.
#include <atomic>
#include <mutex>
#include <thread>

#include "tests/elements/random_draw.h"

namespace cudascan::elements {
namespace {

constexpr auto kPause = std::chrono::microseconds(200);

class Turmoil {
 public:
  Turmoil(std::uint64_t seed, const std::string &name, const std::string &backend, bool small)
      : seed_(seed),
        draw_(seed),
        small_(small),
        disturbed_(draw_.one_in(2)),
        wild_(draw_.one_in(3)),
        name_(name + " backend=" + backend),
        filter_(name_),
        properties_(drawn_properties(filter_.element())) {}

  void run() {
    std::thread streamer([this] { stream(); });
    std::thread setter([this] { set(); });
    std::thread reader([this] { read(); });
    std::thread disturber([this] { disturb(); });
    while (!done_) {
      take();
      std::this_thread::sleep_for(kPause);
    }
    for (std::thread *thread : {&streamer, &setter, &reader, &disturber}) thread->join();
    take();
    if (disturbed_) {
      EXPECT_GE(taken_, good_);
      EXPECT_LE(taken_, pushed_);
    } else {
      EXPECT_EQ(taken_, good_) << "frames were lost";
    }
    int errors = 0;
    while (filter_.pop(GST_MESSAGE_ERROR)) ++errors;
    EXPECT_GE(errors, failed_) << "frames failed without a message";
    if (!wild_ && !disturbed_) {
      EXPECT_EQ(good_ + refused_, pushed_);
    }
    works_as_a_fresh_one();
  }

 private:
  GstHarness *harness() const { return filter_.harness(); }
  bool send(GstEvent *event) { return gst_harness_push_event(harness(), event); }

  void begin_stream(GstCaps *caps) {
    send(gst_event_new_stream_start("random"));
    send(gst_event_new_caps(caps));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    send(gst_event_new_segment(&segment));
  }

  void stream() {
    Draw draw(seed_ * 4 + 1);
    Video video = draw_video(draw, small_);
    for (int i = 0; i < 60; ++i) {
      // The disturbing thread holds this lock while flushing ends or the element starts.
      const std::lock_guard lock(streaming_);
      if (draw.one_in(10)) video = draw_video(draw, small_), restart_ = true;
      if (restart_.exchange(false)) begin_stream(video.caps.get());
      const Picture in = make_picture(video.format, video.width, video.height, draw.bits());
      Ref<GstBuffer> buffer = to_buffer(in, draw_layout(draw, video));
      GST_BUFFER_PTS(buffer.get()) = i * kFrameTime;
      ++pushed_;
      const GstFlowReturn flow = filter_.push(std::move(buffer));
      switch (flow) {
        case GST_FLOW_OK:
          ++good_;
          break;
        case GST_FLOW_ERROR:
          // Caps and segments that arrive while pads shut down are an error in GStreamer itself.
          if (shutting_down_) break;
          ++failed_, ++refused_;
          break;
        case GST_FLOW_FLUSHING:
        case GST_FLOW_EOS:
          EXPECT_TRUE(disturbed_) << "the test did not flush";
          break;
        default:  // a drawn setting has made negotiation impossible
          ++refused_;
          EXPECT_EQ(flow, GST_FLOW_NOT_NEGOTIATED) << gst_flow_get_name(flow);
          restart_ = true;
      }
      if (draw.one_in(20)) {
        send(gst_event_new_eos());
        if (disturbed_) continue;  // the next flush ends this
        send(gst_event_new_flush_start());
        send(gst_event_new_flush_stop(TRUE));
        restart_ = true;
      }
    }
    done_ = true;
  }

  void set() {
    Draw draw(seed_ * 4 + 2);
    while (!done_) {
      const Setting setting(draw, draw.pick(properties_), wild_ && draw.one_in(3));
      setting.apply(filter_.element());
      std::this_thread::sleep_for(kPause);
    }
  }

  void read() {
    guint n = 0;
    GObjectClass *klass = G_OBJECT_GET_CLASS(filter_.element());
    g_autofree GParamSpec **all = g_object_class_list_properties(klass, &n);
    while (!done_) {
      for (guint i = 0; i < n; ++i)
        if (all[i]->flags & G_PARAM_READABLE) property_text(filter_.element(), all[i]->name);
      std::this_thread::sleep_for(kPause);
    }
  }

  /// Flushes and state changes begin while frames stream, as in an application.
  void disturb() {
    Draw draw(seed_ * 4 + 3);
    while (disturbed_ && !done_) {
      std::this_thread::sleep_for(kPause * draw.from(1, 20));
      shutting_down_ = true;
      if (draw.one_in(2)) {
        send(gst_event_new_flush_start());
        const std::lock_guard lock(streaming_);
        send(gst_event_new_flush_stop(TRUE));
        restart_ = true, shutting_down_ = false;
        continue;
      }
      gst_element_set_state(harness()->element,
                            draw.pick({GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL}));
      const std::lock_guard lock(streaming_);
      while (gst_element_set_state(harness()->element, GST_STATE_PLAYING) ==
             GST_STATE_CHANGE_FAILURE) {
        restore();  // repeated, as the other thread may set wrong values again at once
      }
      restart_ = true, shutting_down_ = false;
    }
  }

  void restore() {
    for (GParamSpec *spec : properties_) Setting(spec).apply(filter_.element());
  }

  /// Results must be readable and in order.
  void take() {
    while (gst_harness_buffers_in_queue(harness()) > 0) {
      const Ref<GstBuffer> buffer = filter_.pull();
      ++taken_;
      GstMapInfo map;
      ASSERT_TRUE(gst_buffer_map(buffer.get(), &map, GST_MAP_READ));
      gst_buffer_unmap(buffer.get(), &map);
      EXPECT_GT(static_cast<gint64>(GST_BUFFER_PTS(buffer.get())), latest_);
      latest_ = static_cast<gint64>(GST_BUFFER_PTS(buffer.get()));
    }
    while (const auto event = Ref<GstEvent>(gst_harness_try_pull_event(harness()))) {
    }
  }

  void works_as_a_fresh_one() {
    restore();
    gst_element_set_state(harness()->element, GST_STATE_NULL);
    ASSERT_NE(gst_element_set_state(harness()->element, GST_STATE_PLAYING),
              GST_STATE_CHANGE_FAILURE);
    Filter fresh(name_);
    GstElement *const element = filter_.element();
    for (GParamSpec *spec : properties_) Setting(spec).apply(fresh.element());
    const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 31, 17);
    begin_stream(make_caps(in).get());
    ASSERT_EQ(filter_.push(to_buffer(in)), GST_FLOW_OK) << property_text(element, "name");
    EXPECT_TRUE(
        same(to_picture(filter_.pull().get(), filter_.output_caps().get()), fresh.process(in)));
  }

  const std::uint64_t seed_;
  Draw draw_;
  const bool small_;
  const bool disturbed_;  ///< another thread flushes and changes the state
  const bool wild_;       ///< settings may be nonsense
  const std::string name_;
  Filter filter_;
  const std::vector<GParamSpec *> properties_;

  std::mutex streaming_;
  std::atomic<bool> restart_ = true, done_ = false;
  std::atomic<bool> shutting_down_ = false;               ///< until frames may come again
  int pushed_ = 0, good_ = 0, failed_ = 0, refused_ = 0;  ///< counted by the streaming thread
  int taken_ = 0;
  gint64 latest_ = -1;
};

class RandomThreads : public BackendTest {};
INSTANTIATE_BACKENDS(RandomThreads);

TEST_P(RandomThreads, LoseNothing) {
  const Complaints complaints;
  for (Rounds rounds("random threads", 5); rounds.next();) {
    Draw draw(rounds.seed());
    Turmoil(rounds.seed(), draw.pick(all_elements()), GetParam(), cuda()).run();
    EXPECT_EQ(Complaints::count(), 0) << "GLib or GStreamer printed warnings";
  }
}

}  // namespace
}  // namespace cudascan::elements
