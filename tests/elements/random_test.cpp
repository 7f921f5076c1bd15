// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends random streams through one element and through a twin. The twin runs on the CPU in one
// thread and gets the same frames in plain buffers. Both must give the same results. The test draws
// the element, good and bad settings, caps, memory layouts, wrong buffers, flushes, seeks, gaps,
// ends of stream and changes of state.
#include <deque>

#include "tests/elements/random_draw.h"

namespace cudascan::elements {
namespace {

/// The result of a frame.
struct Outcome {
  GstFlowReturn flow = GST_FLOW_OK;
  Ref<GstBuffer> buffer;
  std::string errors;   ///< messages of the element
  std::string reports;  ///< its reports
};

std::vector<guint8> bytes_of(GstBuffer *buffer) {
  std::vector<guint8> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

/// An element between unlinked pads, with functions to send it events and frames.
class Twin {
 public:
  Twin(const std::string &name, const std::string &settings) : filter_(name + " " + settings) {}

  GstElement *element() const { return filter_.element(); }
  GstHarness *harness() const { return filter_.harness(); }

  bool send(GstEvent *event) { return gst_harness_push_event(harness(), event); }
  void begin_stream(GstCaps *caps) {
    send(gst_event_new_stream_start("random"));
    if (caps) send(gst_event_new_caps(caps));
    begin_segment();
  }
  void begin_segment() {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    send(gst_event_new_segment(&segment));
  }
  /// Sets the state of the element, then PLAYING.
  /// @return whether it plays again
  bool pass_through(GstState state) {
    gst_element_set_state(harness()->element, state);
    const auto result = gst_element_set_state(harness()->element, GST_STATE_PLAYING);
    // The returned flow would not tell: an inactive pad keeps its last one.
    return result != GST_STATE_CHANGE_FAILURE;
  }

  Outcome push(Ref<GstBuffer> buffer) {
    Outcome outcome;
    outcome.flow = filter_.push(std::move(buffer));
    if (gst_harness_buffers_in_queue(harness()) > 0) outcome.buffer = filter_.pull();
    EXPECT_EQ(gst_harness_buffers_in_queue(harness()), 0u) << "two results for one frame";
    collect(outcome);
    return outcome;
  }
  void collect(Outcome &outcome) {
    while (const auto message =
               filter_.pop(static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT))) {
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
        outcome.errors += error_text(message.get()).message + "\n";
      } else {
        g_autofree char *text = gst_structure_to_string(gst_message_get_structure(message.get()));
        outcome.reports += text + std::string("\n");
      }
    }
  }
  void forget_events() {
    while (const auto event = Ref<GstEvent>(gst_harness_try_pull_event(harness()))) {
    }
    while (const auto event = Ref<GstEvent>(gst_harness_try_pull_upstream_event(harness()))) {
    }
  }
  Ref<GstCaps> output_caps() const { return filter_.output_caps(); }

 private:
  Filter filter_;
};

class RandomStream {
 public:
  RandomStream(Draw &draw, const std::string &name, const char *backend, bool small)
      : draw_(draw),
        small_(small),
        subject_(name, std::string("backend=") + backend),
        reference_(name, "backend=cpu n-threads=1"),
        properties_(drawn_properties(subject_.element())) {
    said_ = name;
    change_caps();
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
      subject_.forget_events();
      reference_.forget_events();
    }
    while (!kept_.empty() && !testing::Test::HasFailure()) let_go();
    if (testing::Test::HasFailure()) std::printf("what was done:\n%s\n", said_.c_str());
  }

 private:
  void step() {
    const int what = draw_.below(100);
    if (what < 55) {
      push_frame();
    } else if (what < 70) {
      change_setting();
    } else if (what < 76) {
      change_caps();
    } else if (what < 82) {
      push_wrong_buffer();
    } else if (what < 86) {
      flush();
    } else if (what < 89) {
      change_state();
    } else if (what < 91) {
      change_consumer();
    } else if (what < 93) {
      say("EOS");
      both([](Twin &twin) { twin.send(gst_event_new_eos()); });
      if (draw_.one_in(2)) push_frame();
      flush();
    } else if (what < 96) {
      send_upstream();
    } else if (what < 98) {
      refuse_caps();
    } else {
      read_all();
    }
  }

  template <typename Do>
  void both(Do act) {
    act(subject_);
    act(reference_);
  }
  void say(const std::string &what) { said_ += "\n  " + what; }

  /// A picture whose samples have the bits that are set.
  Picture draw_picture() {
    Picture p = make_picture(video_.format, video_.width, video_.height, draw_.bits());
    gint bits = 0;
    g_object_get(subject_.element(), "significant-bits", &bits, nullptr);
    if (video_.format != GST_VIDEO_FORMAT_GRAY16_LE || bits == 0) return p;
    const bool low = property_text(subject_.element(), "bit-alignment") == "low";
    for (auto &sample : p.components[0])
      sample = static_cast<std::uint16_t>(sample >> (16 - bits) << (low ? 0 : 16 - bits));
    return p;
  }

  void push_frame() {
    const Picture in = draw_picture();
    const Layout layout = draw_layout(draw_, video_);
    Ref<GstBuffer> buffer = to_buffer(in, layout), plain = to_buffer(in, video_.plain);
    const bool gap = draw_.one_in(20), discont = draw_.one_in(10);
    for (GstBuffer *one : {buffer.get(), plain.get()}) {
      if (!draw_.one_in(8)) GST_BUFFER_PTS(one) = time_;
      if (gap) GST_BUFFER_FLAG_SET(one, GST_BUFFER_FLAG_GAP);
      if (discont || reference_must_forget_) GST_BUFFER_FLAG_SET(one, GST_BUFFER_FLAG_DISCONT);
    }
    GST_BUFFER_PTS(plain.get()) = GST_BUFFER_PTS(buffer.get());
    if (!discont) GST_BUFFER_FLAG_UNSET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
    time_ += kFrameTime;
    if (draw_.one_in(4))
      for (guint i = 0; i < gst_buffer_n_memory(buffer.get()); ++i)
        GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer.get(), i), GST_MEMORY_FLAG_READONLY);
    say("frame" + std::string(gap ? " GAP" : "") + (discont ? " DISCONT" : "") + " padding " +
        std::to_string(layout.row_padding) + ", " + std::to_string(layout.row_bytes) +
        " bytes, offset " + std::to_string(layout.plane_padding) +
        (layout.upwards ? ", upwards" : "") + (layout.split ? ", split" : "") + ", " +
        std::to_string(layout.pieces) + " pieces");
    const GstClockTime pts = GST_BUFFER_PTS(buffer.get());
    const Ref<GstBuffer> held(draw_.one_in(2) ? gst_buffer_ref(buffer.get()) : nullptr);
    const std::vector<guint8> bytes = bytes_of(buffer.get());
    const guint64 dropped = stat(subject_.element(), "dropped");
    Outcome got = subject_.push(std::move(buffer));
    if (held) {
      EXPECT_EQ(bytes_of(held.get()), bytes) << "the input has changed";
    }
    if (got.flow == GST_FLOW_OK && !got.buffer) {
      EXPECT_EQ(stat(subject_.element(), "dropped"), dropped + 1)
          << "a frame was lost without being counted";
      reference_must_forget_ = reference_must_forget_ || discont;
      return;
    }
    Outcome wanted = reference_.push(std::move(plain));
    reference_must_forget_ = false;
    compare(got, wanted);
    if (testing::Test::HasFailure() || !got.buffer) return;
    EXPECT_EQ(GST_BUFFER_PTS(got.buffer.get()), pts);
    EXPECT_EQ(bool(GST_BUFFER_FLAG_IS_SET(got.buffer.get(), GST_BUFFER_FLAG_GAP)), gap);
    keep(std::move(got.buffer), wanted.buffer.get());
  }

  void compare(const Outcome &got, const Outcome &wanted) {
    EXPECT_EQ(got.flow, wanted.flow) << got.errors << "; expected " << wanted.errors;
    EXPECT_EQ(got.errors, wanted.errors);
    EXPECT_EQ(got.reports, wanted.reports);
    EXPECT_EQ(got.buffer != nullptr, wanted.buffer != nullptr);
    EXPECT_EQ(got.flow == GST_FLOW_OK, got.buffer != nullptr);
    EXPECT_EQ(got.flow == GST_FLOW_ERROR, !got.errors.empty()) << got.errors;
    if (got.errors.empty()) return;
    say("refused: " + got.errors.substr(0, got.errors.size() - 1));
    restore();
  }

  /// Keeps results and checks them again later: nothing may write to a result while it is held.
  void keep(Ref<GstBuffer> buffer, GstBuffer *wanted) {
    const Ref<GstCaps> caps = subject_.output_caps();
    ASSERT_TRUE(gst_caps_is_equal(caps.get(), reference_.output_caps().get()));
    const Picture picture = to_picture(wanted, caps.get());
    EXPECT_TRUE(same(to_picture(buffer.get(), caps.get()), picture));
    kept_.push_back({std::move(buffer), Ref<GstCaps>(gst_caps_copy(caps.get())), picture});
    while (kept_.size() > 8 || (!kept_.empty() && draw_.one_in(2))) let_go();
  }
  void let_go() {
    const Kept &oldest = kept_.front();
    EXPECT_TRUE(same(to_picture(oldest.buffer.get(), oldest.caps.get()), oldest.picture))
        << "a result that was held has changed";
    kept_.pop_front();
  }

  void change_setting() {
    if (properties_.empty()) return;
    const Setting setting(draw_, draw_.pick(properties_), draw_.one_in(6));
    say(setting.text());
    both([&](Twin &twin) { setting.apply(twin.element()); });
    // The number of threads must not matter.
    if (draw_.one_in(2)) g_object_set(reference_.element(), "n-threads", 1u, nullptr);
  }

  void restore() {
    for (GParamSpec *spec : properties_) {
      const Setting setting(spec);
      both([&](Twin &twin) { setting.apply(twin.element()); });
    }
  }

  void change_caps() {
    video_ = draw_video(draw_, small_);
    g_autofree char *text = gst_caps_to_string(video_.caps.get());
    say(text);
    both([&](Twin &twin) { twin.begin_stream(video_.caps.get()); });
  }

  void refuse_caps() {
    const Ref<GstCaps> caps = draw_wrong_caps(draw_);
    g_autofree char *text = gst_caps_to_string(caps.get());
    say(std::string("wrong ") + text);
    both([&](Twin &twin) {
      twin.send(gst_event_new_caps(caps.get()));
      const Outcome outcome =
          twin.push(Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 1, nullptr)));
      EXPECT_EQ(outcome.flow, GST_FLOW_NOT_NEGOTIATED) << text;
    });
    change_caps();
  }

  void push_wrong_buffer() {
    const Picture in = make_picture(video_.format, video_.width, video_.height);
    say("wrong buffer");
    const guint64 dropped = stat(subject_.element(), "dropped");
    const Outcome got = subject_.push(draw_wrong_buffer(draw_, in));
    if (got.flow == GST_FLOW_OK && stat(subject_.element(), "dropped") > dropped) return;
    EXPECT_NE(got.flow, GST_FLOW_OK);
    EXPECT_FALSE(got.buffer);
    EXPECT_EQ(got.flow == GST_FLOW_ERROR, !got.errors.empty()) << gst_flow_get_name(got.flow);
  }

  void flush() {
    say("flush");
    both([](Twin &twin) { twin.send(gst_event_new_flush_start()); });
    if (draw_.one_in(2)) {
      const Picture in = make_picture(video_.format, video_.width, video_.height);
      both([&](Twin &twin) { EXPECT_EQ(twin.push(to_buffer(in)).flow, GST_FLOW_FLUSHING); });
    }
    both([](Twin &twin) {
      twin.send(gst_event_new_flush_stop(TRUE));
      twin.begin_segment();
    });
    time_ = 0;
  }

  void change_state() {
    const auto state = draw_.pick({GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED});
    say(std::string("to ") + gst_element_state_get_name(state) + " and back");
    const bool plays = subject_.pass_through(state);
    EXPECT_EQ(plays, reference_.pass_through(state));
    Outcome got, wanted;
    subject_.collect(got);
    reference_.collect(wanted);
    EXPECT_EQ(got.errors, wanted.errors);
    EXPECT_EQ(plays, got.errors.empty());
    if (!plays) {
      restore();
      both([](Twin &twin) { EXPECT_TRUE(twin.pass_through(GST_STATE_NULL)); });
    }
    both([&](Twin &twin) { twin.begin_stream(video_.caps.get()); });
  }

  void change_consumer() {
    const char *const caps = draw_.pick<const char *>(
        {"video/x-raw", "video/x-raw, format=GRAY8", "video/x-raw, format={GRAY8, NV12}"});
    say(std::string("the consumer takes ") + caps);
    both([&](Twin &twin) {
      gst_harness_set_sink_caps_str(twin.harness(), caps);
      gst_harness_push_upstream_event(twin.harness(), gst_event_new_reconfigure());
    });
    if (draw_.one_in(2)) push_frame();
    both([](Twin &twin) {
      gst_harness_set_sink_caps_str(twin.harness(), "video/x-raw");
      gst_harness_push_upstream_event(twin.harness(), gst_event_new_reconfigure());
    });
    both([&](Twin &twin) { twin.begin_stream(video_.caps.get()); });
  }

  void send_upstream() {
    switch (draw_.below(3)) {
      case 0:
        say("late");
        gst_harness_push_upstream_event(
            subject_.harness(),
            gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 0.5, 100 * GST_MSECOND, time_));
        break;
      case 1:
        say("seek");
        both([&](Twin &twin) {
          gst_harness_push_upstream_event(
              twin.harness(),
              gst_event_new_seek(1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
                                 static_cast<gint64>(time_), GST_SEEK_TYPE_NONE, 0));
        });
        flush();
        break;
      default:
        both([&](Twin &twin) { twin.send(gst_event_new_gap(time_, kFrameTime)); });
    }
  }

  void read_all() {
    guint n = 0;
    GObjectClass *klass = G_OBJECT_GET_CLASS(subject_.element());
    g_autofree GParamSpec **all = g_object_class_list_properties(klass, &n);
    for (guint i = 0; i < n; ++i)
      if (all[i]->flags & G_PARAM_READABLE) property_text(subject_.element(), all[i]->name);
  }

  struct Kept {
    Ref<GstBuffer> buffer;
    Ref<GstCaps> caps;
    Picture picture;
  };

  Draw &draw_;
  const bool small_;
  Twin subject_, reference_;
  const std::vector<GParamSpec *> properties_;
  Video video_;
  GstClockTime time_ = 0;
  bool reference_must_forget_ = false;
  std::deque<Kept> kept_;
  std::string said_;
};

class RandomElements : public BackendTest {};
INSTANTIATE_BACKENDS(RandomElements);

TEST_P(RandomElements, DoWhatTheLibraryDoes) {
  const Complaints complaints;
  for (Rounds rounds("random elements", 5); rounds.next();) {
    Draw draw(rounds.seed());
    RandomStream stream(draw, draw.pick(all_elements()), GetParam(), cuda());
    stream.run(60);
    EXPECT_EQ(Complaints::count(), 0) << "GLib or GStreamer printed warnings";
  }
}

}  // namespace
}  // namespace cudascan::elements
