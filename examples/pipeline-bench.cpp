// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Throughput of an element in a GStreamer pipeline: a source that costs nothing, the element, a sink
/// that drops the frames. See --help.
#include <gst/base/gstpushsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "kernels/cuda_resources.h"
#include "kernels/exec.h"

// The source: hands out buffers of the pool that downstream proposes, each filled once.

struct BenchSrc {
  GstPushSrc parent;
  gboolean pageable;  ///< use a pool of plain system memory whatever is proposed
  GstVideoInfo info;
  guint64 frames;
  char *memory;  ///< allocator and pool of the buffers, for the user
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

/// Writes the benchmark's page into the luma plane and gray into the chroma planes.
bool fill(GstBuffer *buffer, const GstVideoInfo &info) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE)) return false;
  const int depth = GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0) > 8 ? 16 : 8;
  const int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  const auto page = cudascan::bench::make_content(
      cudascan::bench::Content::page,
      {GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame), depth}, stride);
  std::memcpy(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0), page.data(), page.size());
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
    // The pool has changed the configuration to one that it can serve.
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

GstFlowReturn bench_src_create(GstPushSrc *push, GstBuffer **out) {
  BenchSrc *self = BENCH_SRC(push);
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
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 60;
  GST_BUFFER_PTS(buffer) = self->frames++ * GST_BUFFER_DURATION(buffer);
  *out = buffer;
  return GST_FLOW_OK;
}

}  // namespace

static void bench_src_finalize(GObject *object) {
  g_free(BENCH_SRC(object)->memory);
  G_OBJECT_CLASS(bench_src_parent_class)->finalize(object);
}

static void bench_src_class_init(BenchSrcClass *klass) {
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "Benchmark source", "Source/Video",
                                        "Filled buffers at full speed", "gst-cudascan");
  // Not GST_CAPS_ANY: with those the base class skips the negotiation and the allocation query.
  GstCaps *caps = gst_caps_from_string("video/x-raw(ANY)");
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
  G_OBJECT_CLASS(klass)->finalize = bench_src_finalize;
  GST_BASE_SRC_CLASS(klass)->set_caps = bench_src_set_caps;
  GST_BASE_SRC_CLASS(klass)->decide_allocation = bench_src_decide_allocation;
  GST_PUSH_SRC_CLASS(klass)->create = bench_src_create;
}

static void bench_src_init(BenchSrc *self) {
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

namespace {

using cudascan::BadSetting;
using cudascan::Error;
using cudascan::bench::kUnknown;
using cudascan::bench::now_us;

constexpr char kCudaMemory[] = "(memory:CUDAMemory)";
constexpr char kQueue[] = "queue max-size-buffers=4 max-size-bytes=0 max-size-time=0";

struct Settings {
  std::string element = "cudanick", format = "GRAY8";
  std::string chain;  ///< to be measured instead of the variants of `element`
  int width = 3840, height = 2160;
  double seconds = 1.5;
  gboolean map = FALSE, quick = FALSE;
};

struct Variant {
  std::string name;
  std::string chain;               ///< launch fragment between source and sink
  const char *in = "", *out = "";  ///< caps feature of source and sink
  bool pageable = false;
  bool map = false;
  bool uploads = true, downloads = true;  ///< frames go over the link
  bool goal = false;
};

std::vector<Variant> make_variants(const Settings &settings) {
  const std::string &element = settings.element;
  if (!settings.chain.empty()) return {{.name = settings.chain, .chain = settings.chain}};
  const std::string two = element + " ! " + element;
  const std::string queued = element + " ! " + kQueue + " ! " + element;
  std::vector<Variant> variants{
      {.name = "system memory, pool of the element", .chain = element, .goal = true},
      {.name = "the same, result mapped", .chain = element, .map = true},
      {.name = "pageable source", .chain = element, .pageable = true},
      {.name = "a queue on both sides",
       .chain = std::string(kQueue) + " ! " + element + " ! " + kQueue},
      {.name = "upload only", .chain = element, .out = kCudaMemory, .downloads = false},
      {.name = "CUDA memory only",
       .chain = element,
       .in = kCudaMemory,
       .out = kCudaMemory,
       .uploads = false,
       .downloads = false},
      {.name = "download only", .chain = element, .in = kCudaMemory, .uploads = false},
      {.name = "two in a row", .chain = two},
      {.name = "two, a queue between", .chain = queued},
      {.name = "two in CUDA memory",
       .chain = two,
       .in = kCudaMemory,
       .out = kCudaMemory,
       .uploads = false,
       .downloads = false},
  };
  if (settings.quick) variants.resize(3);
  return variants;
}

/// Microseconds that a frame takes over the link.
struct Link {
  double up = kUnknown, down = kUnknown, both = kUnknown;
};

Link measure_link(std::size_t frame_bytes) {
  Link link;
  if (!cudascan::Cuda::available()) return link;
  using namespace cudascan::cuda;
  PinnedBuffer host_in(frame_bytes), host_out(frame_bytes);
  DeviceBuffer device_in(frame_bytes), device_out(frame_bytes);
  std::memset(host_in.data(), 0x5a, frame_bytes);
  std::memset(host_out.data(), 0xa5, frame_bytes);
  Stream up, down;
  const auto bytes = static_cast<std::ptrdiff_t>(frame_bytes);
  const auto time = [&](bool with_up, bool with_down) {
    constexpr int kFrames = 50;
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      const double begin = now_us();
      for (int frame = 0; frame < kFrames; ++frame) {
        if (with_up) copy_rows(device_in.data(), bytes, host_in.data(), bytes, bytes, 1, up.get());
        if (with_down)
          copy_rows(host_out.data(), bytes, device_out.data(), bytes, bytes, 1, down.get());
      }
      up.synchronize();
      down.synchronize();
      times.push_back((now_us() - begin) / kFrames);
    }
    return cudascan::bench::median(std::move(times));
  };
  link = {time(true, false), time(false, true), time(true, true)};
  std::printf(
      "PCIe link, pinned memory, %.1f MB: up %.1f us (%.1f GB/s), down %.1f us (%.1f GB/s), "
      "both at once %.1f us\n",
      frame_bytes / 1e6, link.up, frame_bytes / link.up / 1e3, link.down,
      frame_bytes / link.down / 1e3, link.both);
  return link;
}

double process_cpu_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval &t) { return t.tv_sec * 1e6 + t.tv_usec; };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

/// What has arrived at the sink.
class Arrivals {
 public:
  struct Mark {
    std::uint64_t frames = 0;
    double us = 0;  ///< arrival of the last of them
  };

  explicit Arrivals(bool map) : map_(map) {}

  void add(GstBuffer *buffer) {
    if (map_) {
      GstMapInfo map;
      if (gst_buffer_map(buffer, &map, GST_MAP_READ))
        gst_buffer_unmap(buffer, &map);
      else
        unreadable_ = true;
    }
    const std::lock_guard lock(mutex_);
    mark_ = {mark_.frames + 1, now_us()};
  }
  Mark mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
  }
  bool unreadable() const { return unreadable_; }

 private:
  const bool map_;
  std::atomic<bool> unreadable_{false};
  mutable std::mutex mutex_;
  Mark mark_;
};

GstPadProbeReturn on_arrival(GstPad *, GstPadProbeInfo *info, gpointer arrivals) {
  static_cast<Arrivals *>(arrivals)->add(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

template <typename T>
struct Unref {
  void operator()(T *object) const { gst_object_unref(object); }
};
template <typename T>
using Ref = std::unique_ptr<T, Unref<T>>;

/// Waits `seconds`; throws what the pipeline reports as an error meanwhile.
void wait(GstBus *bus, double seconds) {
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, static_cast<GstClockTime>(seconds * GST_SECOND),
                                 static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
  if (!message) return;
  std::string text = "the stream ended";
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
    g_error_free(error);
  }
  gst_message_unref(message);
  throw Error(text);
}

/// What the elements of the chain tell about themselves.
void print_stats(GstBin *pipeline) {
  std::vector<Ref<GstElement>> elements;
  GstIterator *iterator = gst_bin_iterate_sorted(pipeline);
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next(iterator, &item) == GST_ITERATOR_OK) {
    elements.emplace_back(GST_ELEMENT(g_value_dup_object(&item)));
    g_value_reset(&item);
  }
  g_value_unset(&item);
  gst_iterator_free(iterator);
  std::reverse(elements.begin(), elements.end());  // the iterator starts at the sink

  for (const auto &element : elements) {
    GObject *object = G_OBJECT(element.get());
    GParamSpec *stats = g_object_class_find_property(G_OBJECT_GET_CLASS(object), "stats");
    if (!stats || stats->value_type != GST_TYPE_STRUCTURE || GST_IS_BASE_SINK(object)) continue;
    std::printf("    %s:", GST_OBJECT_NAME(object));
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(object), "active-backend")) {
      GValue backend = G_VALUE_INIT;
      g_object_get_property(object, "active-backend", &backend);
      gchar *text = gst_value_serialize(&backend);
      std::printf(" %s", text ? text : "?");
      g_free(text);
      g_value_unset(&backend);
    }
    GstStructure *structure = nullptr;
    g_object_get(object, "stats", &structure, nullptr);
    for (int i = 0; structure && i < gst_structure_n_fields(structure); ++i) {
      const gchar *field = gst_structure_nth_field_name(structure, i);
      gchar *text = gst_value_serialize(gst_structure_get_value(structure, field));
      std::printf("%s %s %s", i ? "," : ";", field, text ? text : "?");
      g_free(text);
    }
    std::printf("\n");
    if (structure) gst_structure_free(structure);
  }
}

void run_variant(const Settings &settings, const Variant &variant, const Link &link) {
  const std::string caps = std::string(settings.format) +
                           ",width=" + std::to_string(settings.width) +
                           ",height=" + std::to_string(settings.height) + ",framerate=60/1";
  const std::string launch = "cudascanbenchsrc name=src ! video/x-raw" + std::string(variant.in) +
                             ",format=" + caps + " ! " + variant.chain + " ! video/x-raw" +
                             variant.out + " ! fakesink name=sink sync=false async=false";
  std::printf("%-36s", variant.name.c_str());
  std::fflush(stdout);
  GError *error = nullptr;
  Ref<GstElement> pipeline(
      gst_parse_launch_full(launch.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
  if (!pipeline) {
    const std::string text = error ? error->message : "cannot be parsed";
    g_clear_error(&error);
    throw Error(text);
  }
  const Ref<GstElement> source(gst_bin_get_by_name(GST_BIN(pipeline.get()), "src"));
  const Ref<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  const Ref<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
  const Ref<GstBus> bus(gst_element_get_bus(pipeline.get()));
  BENCH_SRC(source.get())->pageable = variant.pageable;
  Arrivals arrivals(variant.map || settings.map);
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, on_arrival, &arrivals, nullptr);

  // Stops the streaming threads before `arrivals` goes.
  struct Stop {
    GstElement *pipeline;
    ~Stop() { gst_element_set_state(pipeline, GST_STATE_NULL); }
  } stop{pipeline.get()};
  if (gst_element_set_state(pipeline.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    wait(bus.get(), 1);
    throw Error("the pipeline does not start");
  }
  // Warm up: context, kernels and pools; the first frames can take a second.
  const auto few = [&](int tenths) {
    const std::uint64_t frames = arrivals.mark().frames;
    return frames < 2 || (frames < 20 && tenths < 20);
  };
  for (int tenths = 0; tenths < 100 && few(tenths); ++tenths) wait(bus.get(), 0.1);
  if (arrivals.mark().frames == 0) throw Error("no frame arrived in ten seconds");
  wait(bus.get(), 0.2);

  const auto first = arrivals.mark();
  const double begin = now_us(), cpu_begin = process_cpu_us();
  wait(bus.get(), settings.seconds);
  const double cpu_share = (process_cpu_us() - cpu_begin) / (now_us() - begin);
  const auto last = arrivals.mark();
  if (last.frames == first.frames) throw Error("no frame arrived while measuring");
  const double us = (last.us - first.us) / static_cast<double>(last.frames - first.frames);
  const double cpu_us = cpu_share * us;

  // What the link allows: the slower direction as if it were alone, and both in each other's way.
  const double alone =
      std::fmax(variant.uploads ? link.up : kUnknown, variant.downloads ? link.down : kUnknown);
  const double together = variant.uploads && variant.downloads ? link.both : alone;
  std::printf(" %9.1f %10.1f", 1e6 / us, us);
  for (const double limit : {alone, together})
    if (std::isnan(limit))
      std::printf(" %9s", "-");
    else
      std::printf(" %8.0f%%", 100 * limit / us);
  std::printf(" %9.1f", cpu_us);
  if (variant.goal && !std::isnan(alone))
    std::printf("  goal 80%% of one way: %s, CPU 60 us: %s",
                alone / us >= 0.8 ? "reached" : "MISSED", cpu_us < 60 ? "reached" : "MISSED");
  if (arrivals.unreadable()) std::printf("  (results could not be mapped)");
  std::printf("\n");
  GST_OBJECT_LOCK(source.get());
  std::printf("    source: %s\n", BENCH_SRC(source.get())->memory);
  GST_OBJECT_UNLOCK(source.get());
  print_stats(GST_BIN(pipeline.get()));
}

void parse(int &argc, char **&argv, Settings &settings) {
  g_autofree char *element = nullptr;
  g_autofree char *chain = nullptr;
  g_autofree char *format = nullptr;
  const GOptionEntry entries[] = {
      {"element", 'e', 0, G_OPTION_ARG_STRING, &element, "Launch fragment to measure (cudanick)",
       "FRAGMENT"},
      {"chain", 'c', 0, G_OPTION_ARG_STRING, &chain,
       "Measure only this chain, with system memory at both ends", "FRAGMENT"},
      {"format", 'f', 0, G_OPTION_ARG_STRING, &format, "Video format (GRAY8)", "FORMAT"},
      {"width", 0, 0, G_OPTION_ARG_INT, &settings.width, "Width (3840)", "PIXELS"},
      {"height", 0, 0, G_OPTION_ARG_INT, &settings.height, "Height (2160)", "PIXELS"},
      {"seconds", 's', 0, G_OPTION_ARG_DOUBLE, &settings.seconds, "Time for each row (1.5)", "S"},
      {"map", 'm', 0, G_OPTION_ARG_NONE, &settings.map, "Map every result for reading", nullptr},
      {"quick", 'q', 0, G_OPTION_ARG_NONE, &settings.quick, "Only the first three rows", nullptr},
      {}};
  GOptionContext *context = g_option_context_new("- throughput of an element in a pipeline");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  GError *error = nullptr;
  const bool parsed = g_option_context_parse(context, &argc, &argv, &error);
  g_option_context_free(context);
  if (!parsed) {
    const std::string text = error->message;
    g_error_free(error);
    throw BadSetting(text);
  }
  if (element) settings.element = element;
  if (chain) settings.chain = chain;
  if (format) settings.format = format;
  if (argc > 1) throw BadSetting(std::string("unknown argument ") + argv[1]);
  if (!(settings.seconds > 0)) throw BadSetting("--seconds must be more than 0");
}

}  // namespace

int main(int argc, char **argv) try {
  Settings settings;
  parse(argc, argv, settings);
  if (!gst_element_register(nullptr, "cudascanbenchsrc", GST_RANK_NONE, bench_src_get_type()))
    throw Error("the source cannot be registered");
  GstVideoInfo info;
  const GstVideoFormat format = gst_video_format_from_string(settings.format.c_str());
  if (format == GST_VIDEO_FORMAT_UNKNOWN ||
      !gst_video_info_set_format(&info, format, settings.width, settings.height))
    throw BadSetting("no such video: " + settings.format + " " + std::to_string(settings.width) +
                     "x" + std::to_string(settings.height));
  std::printf("%s %dx%d through %s\n", settings.format.c_str(), settings.width, settings.height,
              (settings.chain.empty() ? settings.element : settings.chain).c_str());
  Link link;
  try {
    link = measure_link(GST_VIDEO_INFO_SIZE(&info));
  } catch (const std::exception &error) {
    std::printf("(the PCIe link was not measured: %s)\n", error.what());
  }
  std::printf("\n%-36s %9s %10s %9s %9s %9s\n", "", "frames/s", "us/frame", "of 1 way", "of 2 ways",
              "CPU us");
  int failed = 0;
  const auto variants = make_variants(settings);
  for (const Variant &variant : variants) {
    try {
      run_variant(settings, variant, link);
    } catch (const std::exception &error) {
      std::printf(" not measured: %s\n", error.what());
      ++failed;
    }
  }
  if (failed < static_cast<int>(variants.size())) return 0;
  std::printf(
      "Nothing was measured. GStreamer finds the elements of a build folder in its "
      "`meson devenv`, or with GST_PLUGIN_PATH.\n");
  return 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "cudascan-pipeline-bench: %s\n", error.what());
  return 2;
}
