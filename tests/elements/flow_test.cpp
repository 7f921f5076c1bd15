// SPDX-License-Identifier: LGPL-2.1-or-later
// The stream around the frames: negotiation, events, queries, pools, quality of service,
// statistics.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

Picture page(unsigned seed = 1) {
  return make_picture(GST_VIDEO_FORMAT_GRAY8, 90, 60, seed);
}

class Flow : public BackendTest {};
INSTANTIATE_BACKENDS(Flow);

TEST_P(Flow, SizeAndFormatMayChangeInMidStream) {
  Filter filter(nick());
  int i = 0;
  for (GstVideoFormat format :
       {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_NV12,
        GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_GRAY8})
    for (const auto &[width, height] : {std::pair{64, 48}, std::pair{200, 100}, std::pair{5, 3}})
      for (int repeat = 0; repeat < 2; ++repeat) {
        const Picture in = make_picture(format, width, height, ++i);
        ASSERT_TRUE(same(filter.process(in), expected(in, NickParams{})));
      }
}

TEST_P(Flow, TheConsumerMayAskForAnotherFormatInMidStream) {
  Filter filter(nick());
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 64, 48);
  EXPECT_TRUE(same(filter.process(in), expected(in, NickParams{})));
  gst_harness_set_sink_caps_str(filter.harness(), "video/x-raw, format=GRAY8");
  gst_harness_push_upstream_event(filter.harness(), gst_event_new_reconfigure());
  EXPECT_TRUE(same(filter.process(in), expected(in, NickParams{}, GST_VIDEO_FORMAT_GRAY8)));
}

TEST_P(Flow, AFlushEmptiesAndTheStreamGoesOn) {
  Filter filter(nick());
  const Picture in = page();
  EXPECT_TRUE(same(filter.process(in), expected(in, NickParams{})));
  gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
  EXPECT_EQ(filter.push_picture(in), GST_FLOW_FLUSHING);
  gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_TRUE(same(filter.process(page(i)), expected(page(i), NickParams{})));
}

TEST_P(Flow, EventsPassInOrderWithTheFrames) {
  Filter filter(nick());
  filter.process(page());
  Ref<GstEvent> old;
  while (old.reset(gst_harness_try_pull_event(filter.harness())), old) {
  }
  GstEvent *events[] = {
      gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "page one", nullptr)),
      gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("turn-page")),
      gst_event_new_gap(GST_SECOND, GST_SECOND), gst_event_new_eos()};
  for (GstEvent *event : events) {
    const GstEventType type = GST_EVENT_TYPE(event);
    EXPECT_TRUE(gst_harness_push_event(filter.harness(), event));
    Ref<GstEvent> out(gst_harness_try_pull_event(filter.harness()));
    ASSERT_TRUE(out) << gst_event_type_get_name(type);
    EXPECT_EQ(GST_EVENT_TYPE(out.get()), type);
  }
  EXPECT_EQ(gst_harness_buffers_received(filter.harness()), 1u);
}

TEST_P(Flow, EndOfStreamComesAfterTheLastFrame) {
  Filter filter(nick() + "! " + nick() + "! " + nick());
  for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(filter.push_picture(page(i)), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(filter.harness(), gst_event_new_eos()));
  EXPECT_EQ(gst_harness_buffers_received(filter.harness()), 10u);
  EXPECT_EQ(filter.push_picture(page()), GST_FLOW_EOS);
}

TEST_P(Flow, UpstreamEventsPass) {
  Filter filter(nick());
  filter.process(page());
  Ref<GstEvent> old;
  while (old.reset(gst_harness_try_pull_upstream_event(filter.harness())), old) {
  }
  GstEvent *events[] = {
      gst_event_new_navigation(gst_structure_new(
          "application/x-gst-navigation", "event", G_TYPE_STRING, "mouse-move", "pointer_x",
          G_TYPE_DOUBLE, 3.0, "pointer_y", G_TYPE_DOUBLE, 4.0, nullptr)),
      gst_event_new_seek(1, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET, 0,
                         GST_SEEK_TYPE_NONE, 0),
      gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, 0),
      gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty("page-please"))};
  for (GstEvent *event : events) {
    const GstEventType type = GST_EVENT_TYPE(event);
    EXPECT_TRUE(gst_harness_push_upstream_event(filter.harness(), event));
    Ref<GstEvent> out(gst_harness_try_pull_upstream_event(filter.harness()));
    ASSERT_TRUE(out) << gst_event_type_get_name(type);
    EXPECT_EQ(GST_EVENT_TYPE(out.get()), type);
  }
}

TEST_P(Flow, CapsQueriesAnswerWithBothMemoriesAndAreNarrowedByTheOtherPad) {
  Filter filter(nick(), "video/x-raw, format=GRAY8, width=33, height=22");
  Ref<GstCaps> caps(gst_pad_peer_query_caps(filter.harness()->srcpad, nullptr));
  EXPECT_TRUE(gst_caps_can_intersect(caps.get(), make_caps(GST_VIDEO_FORMAT_GRAY8, 33, 22).get()));
  EXPECT_TRUE(
      gst_caps_can_intersect(caps.get(), make_caps(GST_VIDEO_FORMAT_GRAY16_LE, 33, 22).get()));
  EXPECT_FALSE(gst_caps_can_intersect(caps.get(), make_caps(GST_VIDEO_FORMAT_GRAY8, 34, 22).get()));
  if (cuda()) {
    EXPECT_TRUE(gst_caps_can_intersect(
        caps.get(), make_caps(GST_VIDEO_FORMAT_GRAY8, 33, 22, kCudaMemory).get()));
  }
}

TEST_P(Flow, AnAllocationQueryIsAnsweredForFramesInSystemMemory) {
  Filter filter(nick());
  const Picture in = page();
  Ref<GstCaps> caps = make_caps(in);
  filter.set_caps(caps.get());
  Ref<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_TRUE(gst_pad_peer_query(filter.harness()->srcpad, query.get()));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  GstVideoInfo info;
  gst_video_info_from_caps(&info, caps.get());
  if (cuda()) {
    ASSERT_GE(gst_query_get_n_allocation_pools(query.get()), 1u) << "no pinned pool";
  }
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query.get()); ++i) {
    GstBufferPool *pool = nullptr;
    guint size = 0, least = 0, most = 0;
    gst_query_parse_nth_allocation_pool(query.get(), i, &pool, &size, &least, &most);
    EXPECT_GE(size, info.size);
    if (pool) gst_object_unref(pool);
  }
}

TEST_P(Flow, FramesFromTheProposedPoolComeBackToIt) {
  Filter filter(nick());
  const Picture shape = page();
  Ref<GstCaps> caps = make_caps(shape);
  filter.set_caps(caps.get());
  Ref<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_TRUE(gst_pad_peer_query(filter.harness()->srcpad, query.get()));
  if (!cuda() && gst_query_get_n_allocation_pools(query.get()) == 0)
    GTEST_SKIP() << "the CPU needs no pool";
  ASSERT_GE(gst_query_get_n_allocation_pools(query.get()), 1u);
  GstBufferPool *raw = nullptr;
  guint size = 0, least = 0, most = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, &size, &least, &most);
  if (!raw) GTEST_SKIP() << "the CPU needs no pool";
  Ref<GstBufferPool> pool(raw);
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps.get(), size, 2, 2);
  ASSERT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  GstBufferPoolAcquireParams dont_wait{};
  dont_wait.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  for (unsigned i = 0; i < 100; ++i) {
    GstBuffer *buffer = nullptr;
    // An upload may still be running, so the frame before last has some time to come back.
    for (int waited = 0;
         gst_buffer_pool_acquire_buffer(pool.get(), &buffer, &dont_wait) == GST_FLOW_EOS &&
         waited < 5000;
         ++waited)
      g_usleep(1000);
    ASSERT_TRUE(buffer) << "no buffer came back before frame " << i;
    fill(buffer, page(i));
    GST_BUFFER_PTS(buffer) = i * kFrameTime;
    ASSERT_EQ(filter.push(Ref<GstBuffer>(buffer)), GST_FLOW_OK);
    ASSERT_TRUE(same(to_picture(filter.pull().get(), filter.output_caps().get()),
                     expected(page(i), NickParams{})))
        << "frame " << i;
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST_P(Flow, LateFramesAreDroppedAndCounted) {
  Filter filter(nick());
  const Picture in = page();
  filter.process(in);
  // The sink got the frame at 0 half a second late: frames before then cannot arrive in time.
  gst_harness_push_upstream_event(
      filter.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND / 2, 0));
  const auto send = [&](GstClockTime pts) {
    Ref<GstBuffer> buffer = to_buffer(in);
    GST_BUFFER_PTS(buffer.get()) = pts;
    GST_BUFFER_DURATION(buffer.get()) = kFrameTime;
    EXPECT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
    Ref<GstBuffer> out(gst_harness_try_pull(filter.harness()));
    return out != nullptr;
  };
  EXPECT_FALSE(send(kFrameTime));
  EXPECT_FALSE(send(2 * kFrameTime));
  EXPECT_TRUE(send(60 * GST_SECOND)) << "this frame is in time";
  EXPECT_EQ(stat(filter.element(), "dropped"), 2u);
  EXPECT_EQ(stat(filter.element(), "frames"), 2u);
  g_object_set(filter.element(), "qos", FALSE, nullptr);
  gst_harness_push_upstream_event(
      filter.harness(),
      gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND / 2, 100 * GST_SECOND));
  EXPECT_TRUE(send(60 * GST_SECOND + kFrameTime)) << "quality of service is turned off";
  EXPECT_EQ(stat(filter.element(), "dropped"), 2u);
}

/// System memory whose map function waits for another thread, at most 10 s.
struct PatientAllocator {
  GstAllocator parent;

  static inline std::mutex mutex;
  static inline std::condition_variable changed;
  static inline bool mapping = false, done = false, in_time = false;

  static gpointer map(GstMemory *memory, gsize, GstMapFlags) {
    std::unique_lock lock(mutex);
    mapping = true;
    changed.notify_all();
    in_time = changed.wait_for(lock, std::chrono::seconds(10), [] { return done; });
    return reinterpret_cast<Memory *>(memory)->bytes;
  }

  struct Memory {
    GstMemory parent;
    gpointer bytes;
  };
  static GstMemory *alloc(GstAllocator *allocator, gsize size, GstAllocationParams *) {
    auto memory = g_new0(Memory, 1);
    memory->bytes = g_malloc0(size);
    gst_memory_init(&memory->parent, static_cast<GstMemoryFlags>(0), allocator, nullptr, size, 0, 0,
                    size);
    return &memory->parent;
  }
  static void free(GstAllocator *, GstMemory *memory) {
    g_free(reinterpret_cast<Memory *>(memory)->bytes);
    g_free(memory);
  }
  static GType type() {
    static const GType type = g_type_register_static_simple(
        GST_TYPE_ALLOCATOR, "PatientAllocator", sizeof(GstAllocatorClass),
        [](gpointer klass, gpointer) {
          static_cast<GstAllocatorClass *>(klass)->alloc = alloc;
          static_cast<GstAllocatorClass *>(klass)->free = free;
        },
        sizeof(PatientAllocator),
        [](GTypeInstance *instance, gpointer) {
          auto allocator = reinterpret_cast<GstAllocator *>(instance);
          GST_OBJECT_FLAG_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
          allocator->mem_map = map;
          allocator->mem_unmap = [](GstMemory *) {};
        },
        static_cast<GTypeFlags>(0));
    return type;
  }
};

TEST_P(Flow, StatisticsDoNotWaitForAFrame) {
  Filter filter(nick());
  filter.process(page());
  PatientAllocator::mapping = PatientAllocator::done = false;
  bool read = false;
  std::thread reader([&] {
    std::unique_lock lock(PatientAllocator::mutex);
    PatientAllocator::changed.wait(lock, [] { return PatientAllocator::mapping; });
    lock.unlock();
    read = stat(filter.element(), "frames") == 1;
    lock.lock();
    PatientAllocator::done = true;
    PatientAllocator::changed.notify_all();
  });
  auto allocator = static_cast<GstAllocator *>(g_object_new(PatientAllocator::type(), nullptr));
  gst_object_ref_sink(allocator);
  Ref<GstBuffer> frame(gst_buffer_new());
  // GStreamer's rows begin at multiples of 4 bytes.
  gst_buffer_append_memory(frame.get(), gst_allocator_alloc(allocator, 92 * 60, nullptr));
  gst_object_unref(allocator);
  GST_BUFFER_PTS(frame.get()) = kFrameTime;
  EXPECT_EQ(filter.push(std::move(frame)), GST_FLOW_OK);
  reader.join();
  EXPECT_TRUE(read);
  EXPECT_TRUE(PatientAllocator::in_time) << "statistics could only be read after the frame";
}

TEST_P(Flow, StatisticsCountFrames) {
  Filter filter(nick());
  for (unsigned i = 0; i < 7; ++i) filter.process(page(i));
  GstStructure *raw = nullptr;
  g_object_get(filter.element(), "stats", &raw, nullptr);
  ASSERT_TRUE(raw);
  Ref<GstStructure> stats(raw);
  g_autofree char *text = gst_structure_to_string(stats.get());
  for (const char *field :
       {"frames", "dropped", "kernel-mean", "kernel-max", "upload-mean", "upload-max",
        "download-mean", "download-max", "host-synchronisations", "throttled", "peer-copies"})
    EXPECT_TRUE(gst_structure_has_field_typed(stats.get(), field, G_TYPE_UINT64))
        << field << " in " << text;
  EXPECT_EQ(stat(filter.element(), "frames"), 7u);
  EXPECT_EQ(stat(filter.element(), "dropped"), 0u);
  EXPECT_GT(stat(filter.element(), "kernel-max"), 0u);
  EXPECT_GE(stat(filter.element(), "kernel-max"), stat(filter.element(), "kernel-mean"));
  if (!cuda()) {
    EXPECT_EQ(stat(filter.element(), "upload-max"), 0u);
    EXPECT_EQ(stat(filter.element(), "host-synchronisations"), 0u);
  }
}

TEST_P(Flow, AChainGivesWhatItsPartsGive) {
  Filter filter(nick("window=15 output=threshold") + "! " + nick("window=5 k=-0.2") + "! " +
                nick("window=31 invert=true"));
  NickParams a, b, c;
  a.window = 15, a.output = NickOutput::threshold;
  b.window = 5, b.k = -0.2;
  c.window = 31, c.invert = true;
  for (GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE,
                                GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE})
    for (unsigned seed = 0; seed < 5; ++seed) {
      const Picture in = make_picture(format, 77, 55, seed);
      ASSERT_TRUE(same(filter.process(in), expected(expected(expected(in, a), b), c)));
    }
}

TEST_P(Flow, ABufferOfTheWrongSizeIsAnErrorAndNoCrash) {
  Filter filter(nick());
  filter.set_caps(make_caps(GST_VIDEO_FORMAT_NV12, 64, 48).get());
  Ref<GstBuffer> small(gst_buffer_new_allocate(nullptr, 100, nullptr));
  EXPECT_EQ(filter.push(std::move(small)), GST_FLOW_ERROR);
  EXPECT_TRUE(filter.pop(GST_MESSAGE_ERROR));
}

}  // namespace
}  // namespace cudascan::elements
