// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/source.h"

#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "bench/bench.h"

struct BenchSrc {
  GstPushSrc parent;
  gboolean pageable;
  GstVideoInfo info;
  guint64 frames, most_frames;
  GstClockTime start;  ///< running time of the first frame
  char *memory;        ///< allocator and pool of the buffers, for the user
};
struct BenchSrcClass {
  GstPushSrcClass parent_class;
};

G_DEFINE_TYPE(BenchSrc, bench_src, GST_TYPE_PUSH_SRC)
#define BENCH_SRC(object) (G_TYPE_CHECK_INSTANCE_CAST((object), bench_src_get_type(), BenchSrc))

namespace {

GQuark filled_quark() {
  return g_quark_from_static_string("cudascan-bench-filled");
}

/// The latest page, shared by all buffers and sources: making it takes longer than copying it.
class Pages {
 public:
  using Page = std::shared_ptr<const std::vector<std::uint8_t>>;

  Page get(cudascan::bench::Size size, int stride) {
    const std::lock_guard lock(mutex_);
    if (!page_ || size != size_ || stride != stride_)
      page_ = std::make_shared<std::vector<std::uint8_t>>(
          cudascan::bench::make_content(cudascan::bench::Content::page, size, stride));
    size_ = size;
    stride_ = stride;
    return page_;
  }

 private:
  std::mutex mutex_;
  Page page_;
  cudascan::bench::Size size_;
  int stride_ = 0;
} pages;

/// Writes the benchmark's page into the luma plane and gray into the chroma planes.
bool fill(GstBuffer *buffer, const GstVideoInfo &info) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE)) return false;
  const int depth = GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0) > 8 ? 16 : 8;
  const int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  const auto page =
      pages.get({GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame), depth}, stride);
  std::memcpy(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0), page->data(), page->size());
  for (guint plane = 1; plane < GST_VIDEO_FRAME_N_PLANES(&frame); ++plane)
    std::memset(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane), 128,
                static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane)) *
                    GST_VIDEO_FRAME_COMP_HEIGHT(&frame, plane));
  gst_video_frame_unmap(&frame);
  return true;
}

gboolean bench_src_set_caps(GstBaseSrc *base, GstCaps *caps) {
  return gst_video_info_from_caps(&BENCH_SRC(base)->info, caps);
}

/// Takes the proposed pool, or makes one of system memory.
gboolean bench_src_decide_allocation(GstBaseSrc *base, GstQuery *query) {
  BenchSrc *self = BENCH_SRC(base);
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstBufferPool *pool = nullptr;
  guint size = GST_VIDEO_INFO_SIZE(&self->info), min = 0, max = 0;
  const bool proposed = gst_query_get_n_allocation_pools(query) > 0;
  if (proposed && !self->pageable)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  if (!pool) {
    if (gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory")) {
      GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                        ("The element proposes no pool of CUDA memory to its source."), (nullptr));
      return FALSE;
    }
    pool = gst_video_buffer_pool_new();
    min = max = 0;
  }
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config)) {
    // The pool has changed the configuration to one that it supports.
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, size, min, max) ||
        !gst_buffer_pool_set_config(pool, config)) {
      GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("The proposed pool cannot be configured."),
                        (nullptr));
      gst_object_unref(pool);
      return FALSE;
    }
  }
  while (gst_query_get_n_allocation_params(query) > 0)
    gst_query_remove_nth_allocation_param(query, 0);
  if (proposed)
    gst_query_set_nth_allocation_pool(query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool(query, pool, size, min, max);
  gst_object_unref(pool);
  return TRUE;
}

/// Running time of the pipeline since it went to PLAYING; 0 without a clock.
GstClockTime running_time(GstElement *element) {
  GstClock *clock = gst_element_get_clock(element);
  if (!clock) return 0;
  const GstClockTime now = gst_clock_get_time(clock), base = gst_element_get_base_time(element);
  gst_object_unref(clock);
  return now > base ? now - base : 0;
}

GstFlowReturn bench_src_create(GstPushSrc *push, GstBuffer **out) {
  BenchSrc *self = BENCH_SRC(push);
  if (self->most_frames > 0 && self->frames == self->most_frames) return GST_FLOW_EOS;
  GstBufferPool *pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(push));
  if (!pool) return GST_FLOW_NOT_NEGOTIATED;
  GstBuffer *buffer = nullptr;
  const GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr);
  if (flow == GST_FLOW_OK && !self->memory) {
    const GstAllocator *allocator = gst_buffer_peek_memory(buffer, 0)->allocator;
    GST_OBJECT_LOCK(self);
    self->memory = g_strdup_printf("%s from %s", allocator->mem_type, G_OBJECT_TYPE_NAME(pool));
    GST_OBJECT_UNLOCK(self);
  }
  gst_object_unref(pool);
  if (flow != GST_FLOW_OK) return flow;
  GstMiniObject *object = GST_MINI_OBJECT(buffer);
  if (!gst_mini_object_get_qdata(object, filled_quark())) {
    if (!fill(buffer, self->info)) {
      GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("The source's buffer cannot be mapped."),
                        (nullptr));
      gst_buffer_unref(buffer);
      return GST_FLOW_ERROR;
    }
    gst_mini_object_set_qdata(object, filled_quark(), GINT_TO_POINTER(1), nullptr);
  }
  // The time before the first frame (caps, pools, filling it) does not count as delay.
  if (self->frames == 0 && gst_base_src_is_live(GST_BASE_SRC(self)))
    self->start = running_time(GST_ELEMENT(self));
  const auto time_of = [&](guint64 frame) {
    return gst_util_uint64_scale(frame, GST_SECOND * GST_VIDEO_INFO_FPS_D(&self->info),
                                 GST_VIDEO_INFO_FPS_N(&self->info));
  };
  GST_BUFFER_OFFSET(buffer) = self->frames;
  GST_BUFFER_PTS(buffer) = self->start + time_of(self->frames);
  GST_BUFFER_DURATION(buffer) = time_of(self->frames + 1) - time_of(self->frames);
  ++self->frames;
  *out = buffer;
  return GST_FLOW_OK;
}

/// A live source waits for the time of its frame.
void bench_src_get_times(GstBaseSrc *base, GstBuffer *buffer, GstClockTime *start,
                         GstClockTime *end) {
  *start = *end = GST_CLOCK_TIME_NONE;
  if (!gst_base_src_is_live(base)) return;
  *start = GST_BUFFER_PTS(buffer);
  *end = *start + GST_BUFFER_DURATION(buffer);
}

}  // namespace

static void bench_src_finalize(GObject *object) {
  g_free(BENCH_SRC(object)->memory);
  G_OBJECT_CLASS(bench_src_parent_class)->finalize(object);
}

static void bench_src_class_init(BenchSrcClass *klass) {
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "Benchmark source", "Source/Video",
                                        "Filled buffers at full speed or by the clock",
                                        "gst-cudascan");
  // Not GST_CAPS_ANY: with it the base class skips negotiation and the allocation query.
  GstCaps *caps = gst_caps_from_string("video/x-raw(ANY)");
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
  G_OBJECT_CLASS(klass)->finalize = bench_src_finalize;
  GST_BASE_SRC_CLASS(klass)->set_caps = bench_src_set_caps;
  GST_BASE_SRC_CLASS(klass)->decide_allocation = bench_src_decide_allocation;
  GST_BASE_SRC_CLASS(klass)->get_times = bench_src_get_times;
  GST_PUSH_SRC_CLASS(klass)->create = bench_src_create;
}

static void bench_src_init(BenchSrc *self) {
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

namespace cudascan::bench {

void register_source() {
  if (!gst_element_register(nullptr, kSource, GST_RANK_NONE, bench_src_get_type()))
    throw Error("the source cannot be registered");
}

void set_source(GstElement *source, const SourceSettings &settings) {
  BENCH_SRC(source)->pageable = settings.pageable;
  BENCH_SRC(source)->most_frames = settings.frames;
  gst_base_src_set_live(GST_BASE_SRC(source), settings.live);
}

std::string source_memory(GstElement *source) {
  GST_OBJECT_LOCK(source);
  const std::string memory = BENCH_SRC(source)->memory ? BENCH_SRC(source)->memory : "";
  GST_OBJECT_UNLOCK(source);
  return memory;
}

}  // namespace cudascan::bench
