// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/gstcudascanfilter.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gst/cudaside.h"
#include "gst/formats.h"
#include "gst/mapped_frame.h"
#include "gst/report.h"
#include "gst/settings.h"
#include "gst/stats.h"

using namespace cudascan;
using namespace cudascan::gst;

namespace {

/// The formats of a frame before and after the operator.
struct Formats {
  GstVideoInfo in, out;
};

}  // namespace

struct GstCudaScanFilterPrivate {
  explicit GstCudaScanFilterPrivate(GstElement *element) : cuda(element, stats) {}

  Settings settings;                            // object lock
  Backend active_backend = Backend::automatic;  // object lock; automatic = not chosen yet
  std::vector<Formats> formats;                 // object lock; to load kernels for
  std::atomic<std::thread::id> syncing = {};  // the thread in which a GstController sets properties

  std::atomic<bool> interrupted = false;
  std::shared_ptr<Stats> stats = std::make_shared<Stats>();
  CudaSide cuda;

  // For the streaming thread.
  GstVideoInfo in_info, out_info;
  std::optional<Cpu> cpu;
  guint cpu_threads = 0;  // the number of threads of `cpu`
};

#define gst_cuda_scan_filter_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE(GstCudaScanFilter, gst_cuda_scan_filter, GST_TYPE_BASE_TRANSFORM);

namespace {

GstCudaScanFilter *self_of(gpointer instance) {
  return static_cast<GstCudaScanFilter *>(instance);
}
GstCudaScanFilterPrivate *priv_of(gpointer instance) {
  return self_of(instance)->priv;
}
GstCudaScanFilterClass *class_of(gpointer instance) {
  return reinterpret_cast<GstCudaScanFilterClass *>(G_OBJECT_GET_CLASS(instance));
}

Settings settings_of(gpointer instance) {
  GST_OBJECT_LOCK(instance);
  const Settings settings = priv_of(instance)->settings;
  GST_OBJECT_UNLOCK(instance);
  return settings;
}

Backend active_backend(gpointer instance) {
  GST_OBJECT_LOCK(instance);
  const Backend backend = priv_of(instance)->active_backend;
  GST_OBJECT_UNLOCK(instance);
  return backend;
}

void set_active_backend(gpointer instance, Backend backend) {
  GST_OBJECT_LOCK(instance);
  const bool changed = priv_of(instance)->active_backend != backend;
  priv_of(instance)->active_backend = backend;
  GST_OBJECT_UNLOCK(instance);
  if (changed) g_object_notify(G_OBJECT(instance), "active-backend");
}

/// Runs `work`; exceptions become element errors.
/// @return false if it threw
template <typename Work>
bool guarded(gpointer instance, Work work) {
  try {
    work();
    return true;
  } catch (const BadSetting &e) {
    GST_ELEMENT_ERROR(instance, RESOURCE, SETTINGS, ("%s", e.what()), (nullptr));
  } catch (const BadFrame &e) {
    GST_ELEMENT_ERROR(instance, STREAM, FORMAT, ("%s", e.what()), (nullptr));
  } catch (const std::bad_alloc &) {
    GST_ELEMENT_ERROR(instance, RESOURCE, NO_SPACE_LEFT, ("Out of memory."), (nullptr));
  } catch (const std::exception &e) {
    if (active_backend(instance) == Backend::cuda)
      GST_ELEMENT_ERROR(instance, LIBRARY, FAILED,
                        ("%s; backend=cpu does not use the GPU", e.what()), (nullptr));
    else
      GST_ELEMENT_ERROR(instance, LIBRARY, FAILED, ("%s", e.what()), (nullptr));
  }
  return false;
}

void select_backend(gpointer instance) {
  const Settings settings = settings_of(instance);
  CudaSide &cuda = priv_of(instance)->cuda;
  if (settings.backend == Backend::cuda) {
    try {
      cuda.open(settings.device_id);
    } catch (const Error &e) {
      throw BadSetting(std::string("backend = cuda: ") + e.what() +
                       "; backend = auto and cpu also work without a GPU");
    }
  } else if (settings.backend == Backend::automatic && CudaSide::usable()) {
    try {
      cuda.open(settings.device_id);
    } catch (const Error &e) {
      GST_CAT_WARNING_OBJECT(class_of(instance)->category, instance, "using the CPU: %s", e.what());
    }
  }
  set_active_backend(
      instance, settings.backend != Backend::cpu && cuda.is_open() ? Backend::cuda : Backend::cpu);
}

void reset(gpointer instance) {
  if (auto klass = class_of(instance); klass->reset)
    guarded(instance, [&] { klass->reset(self_of(instance)); });
}

/// The expected formats, before there are caps.
std::vector<Formats> usual_formats() {
  std::vector<Formats> formats;
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE}) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, format, 1920, 1080);
    formats.push_back({info, info});
  }
  return formats;
}

void set_formats(gpointer instance, std::vector<Formats> formats) {
  GST_OBJECT_LOCK(instance);
  priv_of(instance)->formats = std::move(formats);
  const bool any = !priv_of(instance)->formats.empty();
  GST_OBJECT_UNLOCK(instance);
  if (any) guarded(instance, [&] { class_of(instance)->load_kernels(self_of(instance)); });
}

}  // namespace

void gst_cuda_scan_filter_load_kernels(GstCudaScanFilter *self,
                                       const std::function<void(Cuda &, const Luma &)> &run) {
  auto priv = priv_of(self);
  if (active_backend(self) != Backend::cuda) return;
  if (priv->syncing == std::this_thread::get_id()) return;
  GST_OBJECT_LOCK(self);
  const std::vector<Formats> formats = priv->formats;
  GST_OBJECT_UNLOCK(self);
  for (const auto &[in, out] : formats) priv->cuda.load_kernels(in, out, run);
}

void gst_cuda_scan_filter_settings_changed(GstCudaScanFilter *self) {
  gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
}

bool gst_cuda_scan_filter_is_interrupted(GstCudaScanFilter *self) {
  return self->priv->interrupted;
}

static void gst_cuda_scan_filter_init(GstCudaScanFilter *self) {
  self->priv = new GstCudaScanFilterPrivate(GST_ELEMENT(self));
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(self),
                                   TRUE);  // then the parent keeps the flag
}

static void gst_cuda_scan_filter_finalize(GObject *object) {
  delete priv_of(object);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void gst_cuda_scan_filter_set_property(GObject *object, guint id, const GValue *value,
                                              GParamSpec *pspec) {
  GST_OBJECT_LOCK(object);
  const bool known = set_setting(priv_of(object)->settings, id, value);
  GST_OBJECT_UNLOCK(object);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
}

static void gst_cuda_scan_filter_get_property(GObject *object, guint id, GValue *value,
                                              GParamSpec *pspec) {
  if (id == PROP_ACTIVE_BACKEND) {
    g_value_set_enum(value, static_cast<gint>(active_backend(object)));
  } else if (id == PROP_STATS) {
    guarded(object, [&] { priv_of(object)->cuda.collect_times(); });
    g_value_take_boxed(value, priv_of(object)->stats->to_structure());
  } else if (!get_setting(settings_of(object), id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static GstStateChangeReturn gst_cuda_scan_filter_change_state(GstElement *element,
                                                              GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY &&
      !guarded(element, [&] { select_backend(element); }))
    return GST_STATE_CHANGE_FAILURE;
  // The parent waits for the frame in flight.
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) priv_of(element)->interrupted = false;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) priv_of(element)->interrupted = true;
  const auto result = GST_ELEMENT_CLASS(parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    priv_of(element)->cuda.close();
    set_active_backend(element, Backend::automatic);
  }
  return result;
}

static void gst_cuda_scan_filter_set_context(GstElement *element, GstContext *context) {
  priv_of(element)->cuda.set_context(context, settings_of(element).device_id);
  GST_ELEMENT_CLASS(parent_class)->set_context(element, context);
}

static gboolean gst_cuda_scan_filter_start(GstBaseTransform *trans) {
  priv_of(trans)->stats->reset();
  return guarded(trans, [&] {
    class_of(trans)->validate(self_of(trans));
    select_backend(trans);
    reset(trans);
    set_formats(trans, usual_formats());
  });
}

static gboolean gst_cuda_scan_filter_stop(GstBaseTransform *trans) {
  return guarded(trans, [&] {
    set_formats(trans, {});
    priv_of(trans)->cuda.stop();
    priv_of(trans)->cpu.reset();
  });
}

static GstCaps *gst_cuda_scan_filter_transform_caps(GstBaseTransform *trans,
                                                    GstPadDirection direction, GstCaps *caps,
                                                    GstCaps *filter) {
  GstCaps *result = other_pad_caps(
      direction, caps, {CudaSide::usable(), class_of(trans)->black_and_white(self_of(trans))});
  if (!filter) return result;
  GstCaps *filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(result);
  return filtered;
}

/// Whether the result for these input caps should be in CUDAMemory if the next element lets us
/// choose. A frame stays in its memory; a frame computed on the GPU also stays there for an element
/// that prefers CUDAMemory. But an element that accepts anything (filesink, appsink) gets system
/// memory, because it may not be able to read CUDAMemory.
static bool prefer_cuda(GstBaseTransform *trans, const GstCaps *in) {
  g_autoptr(GstCaps) peer = gst_pad_peer_query_caps(trans->srcpad, nullptr);
  if (!names_cuda(peer)) return false;
  return is_cuda(in) || (active_backend(trans) == Backend::cuda && is_cuda(peer));
}

static GstCaps *gst_cuda_scan_filter_fixate_caps(GstBaseTransform *trans, GstPadDirection direction,
                                                 GstCaps *caps, GstCaps *candidates) {
  return fixate(candidates, caps,
                direction == GST_PAD_SINK ? prefer_cuda(trans, caps) : is_cuda(caps));
}

static gboolean gst_cuda_scan_filter_query(GstBaseTransform *trans, GstPadDirection direction,
                                           GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      priv_of(trans)->cuda.answer_context_query(query))
    return TRUE;
  const gboolean answered = GST_BASE_TRANSFORM_CLASS(parent_class)->query(trans, direction, query);
  if (answered && GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    GstCaps *caps = nullptr;
    gst_query_parse_caps_result(query, &caps);
    if (caps && !gst_caps_is_any(caps)) {
      caps = gst_caps_ref(caps);
      caps = CudaSide::usable() ? cuda_first(caps, settings_of(trans).backend != Backend::cpu)
                                : without_cuda(caps);
      gst_query_set_caps_result(query, caps);
      gst_caps_unref(caps);
    }
  }
  return answered;
}

static gboolean gst_cuda_scan_filter_set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out) {
  auto priv = priv_of(trans);
  if (!gst_video_info_from_caps(&priv->in_info, in) ||
      !gst_video_info_from_caps(&priv->out_info, out)) {
    GST_CAT_ERROR_OBJECT(class_of(trans)->category, trans,
                         "cannot use caps %" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT, in, out);
    return FALSE;
  }
  return guarded(trans, [&] {
    if (is_cuda(in) || is_cuda(out)) priv->cuda.open(settings_of(trans).device_id);
    reset(trans);
    set_formats(trans, {{priv->in_info, priv->out_info}});
  });
}

static gboolean gst_cuda_scan_filter_get_unit_size(GstBaseTransform *, GstCaps *caps, gsize *size) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

/// The size of a frame depends only on its caps, not on the strides of the other side.
static gboolean gst_cuda_scan_filter_transform_size(GstBaseTransform *trans, GstPadDirection,
                                                    GstCaps *, gsize, GstCaps *other_caps,
                                                    gsize *other_size) {
  return gst_cuda_scan_filter_get_unit_size(trans, other_caps, other_size);
}

static gboolean gst_cuda_scan_filter_propose_allocation(GstBaseTransform *trans,
                                                        GstQuery *decide_query, GstQuery *query) {
  if (!GST_BASE_TRANSFORM_CLASS(parent_class)->propose_allocation(trans, decide_query, query))
    return FALSE;
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return FALSE;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return guarded(trans, [&] {
    if (is_cuda(caps) || active_backend(trans) == Backend::cuda)
      priv_of(trans)->cuda.propose_pool(query, info, is_cuda(caps));
  });
}

static gboolean gst_cuda_scan_filter_decide_allocation(GstBaseTransform *trans, GstQuery *query) {
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return FALSE;
  const bool ok = guarded(trans, [&] {
    if (is_cuda(caps) || active_backend(trans) == Backend::cuda)
      priv_of(trans)->cuda.decide_pool(query, info, is_cuda(caps));
  });
  if (!ok) return FALSE;

  // Without a pool, the parent's default would size output buffers like the input's.
  if (gst_query_get_n_allocation_pools(query) == 0)
    gst_query_add_allocation_pool(query, nullptr, GST_VIDEO_INFO_SIZE(&info), 0, 0);
  g_autoptr(GstBufferPool) pool = nullptr;
  guint size, min, max;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  if (!pool) pool = gst_video_buffer_pool_new();
  if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr)) {
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_set_config(pool, config);
  }
  gst_query_set_nth_allocation_pool(query, 0, pool, MAX(size, GST_VIDEO_INFO_SIZE(&info)), min,
                                    max);
  return GST_BASE_TRANSFORM_CLASS(parent_class)->decide_allocation(trans, query);
}

/// Upstream may provide the metas that downstream requests: size and positions do not change here.
static gboolean gst_cuda_scan_filter_filter_meta(GstBaseTransform *, GstQuery *, GType,
                                                 const GstStructure *) {
  return TRUE;
}

static gboolean gst_cuda_scan_filter_transform_meta(GstBaseTransform *, GstBuffer *, GstMeta *meta,
                                                    GstBuffer *) {
  static const GQuark memory = g_quark_from_static_string(GST_META_TAG_MEMORY_STR);
  return !gst_meta_api_type_has_tag(meta->info->api, memory);
}

static gboolean gst_cuda_scan_filter_sink_event(GstBaseTransform *trans, GstEvent *event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_START) priv_of(trans)->interrupted = true;
  if (type == GST_EVENT_FLUSH_STOP) priv_of(trans)->interrupted = false;
  if (type == GST_EVENT_FLUSH_STOP || type == GST_EVENT_EOS)
    guarded(trans, [&] { priv_of(trans)->cuda.release_inputs(); });
  if (type == GST_EVENT_FLUSH_STOP) reset(trans);
  return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
}

static void gst_cuda_scan_filter_before_transform(GstBaseTransform *trans, GstBuffer *buffer) {
  const GstClockTime time =
      gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) {
    priv_of(trans)->syncing = std::this_thread::get_id();
    gst_object_sync_values(GST_OBJECT(trans), time);
    priv_of(trans)->syncing = std::thread::id();
  }
  guarded(trans, [&] {
    if (priv_of(trans)->cuda.follow(buffer, settings_of(trans).device_id))
      gst_base_transform_reconfigure_src(trans);
  });
}

static GstFlowReturn gst_cuda_scan_filter_submit_input_buffer(GstBaseTransform *trans,
                                                              gboolean discont, GstBuffer *buffer) {
  // Here, because a frame that QoS drops does not get further.
  if (GST_BUFFER_IS_DISCONT(buffer)) reset(trans);
  const GstFlowReturn result =
      GST_BASE_TRANSFORM_CLASS(parent_class)->submit_input_buffer(trans, discont, buffer);
  if (result == GST_BASE_TRANSFORM_FLOW_DROPPED)  // by QoS
    priv_of(trans)->stats->add_dropped();
  return result;
}

static void process_on_cpu(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out, Chroma chroma,
                           bool with_report, guint n_threads) {
  auto priv = priv_of(trans);
  const int threads = static_cast<int>(MIN(n_threads, G_MAXINT));
  if (!priv->cpu)
    priv->cpu.emplace(threads);
  else if (priv->cpu_threads != n_threads)
    priv->cpu->set_threads(threads);
  priv->cpu_threads = n_threads;
  const MappedFrame in_frame(priv->in_info, in, GST_MAP_READ);
  const MappedFrame out_frame(priv->out_info, out, GST_MAP_WRITE);
  AlignedPicture aligned_in(in_frame.picture()), aligned_out(out_frame.picture());
  aligned_in.fetch(*priv->cpu);
  const Picture &from = aligned_in.picture(), &to = aligned_out.picture();
  const auto begin = std::chrono::steady_clock::now();
  class_of(trans)->run_cpu(self_of(trans), *priv->cpu, {from.in_plane(0), to.out_plane(0)},
                           with_report);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  priv->stats->add_time(Stats::kernel, time.count());
  make_chroma(*priv->cpu, chroma, from, to);
  aligned_out.store(*priv->cpu);
}

static GstFlowReturn gst_cuda_scan_filter_transform(GstBaseTransform *trans, GstBuffer *in,
                                                    GstBuffer *out) {
  auto priv = priv_of(trans);
  auto klass = class_of(trans);
  auto self = self_of(trans);
  const auto run_frame = [&] {
    if (const std::string failure = priv->stats->take_failure(); !failure.empty())
      throw Error(failure);
    const Settings settings = settings_of(trans);
    const Chroma chroma = klass->begin_frame(self);
    const bool on_cpu = active_backend(trans) != Backend::cuda;
    const bool with_report = settings.report || klass->wants_report(self, on_cpu);
    if (!on_cpu) {
      const auto run = [&](Cuda &cuda, const Luma &luma) {
        klass->run_cuda(self, cuda, luma, with_report);
      };
      priv->cuda.process({.in_info = priv->in_info,
                          .in = in,
                          .out_info = priv->out_info,
                          .out = out,
                          .chroma = chroma,
                          .wait = with_report,
                          .n_threads = settings.n_threads,
                          .run = std::ref(run)});
    } else {
      process_on_cpu(trans, in, out, chroma, with_report, settings.n_threads);
    }
    priv->stats->add_frame();
    if (settings.report) {
      GstStructure *report = new_report(klass->report_name, trans->segment, out);
      klass->end_report(self, report);
      deliver_report(GST_ELEMENT(trans), report, out, settings.report);
    } else if (with_report) {
      klass->end_report(self, nullptr);
    }
  };
  try {
    return guarded(trans, run_frame) ? GST_FLOW_OK : GST_FLOW_ERROR;
  } catch (const Interrupted &) {
    return GST_FLOW_FLUSHING;
  }
}

static void gst_cuda_scan_filter_class_init(GstCudaScanFilterClass *klass) {
  auto object_class = G_OBJECT_CLASS(klass);
  auto element_class = GST_ELEMENT_CLASS(klass);
  auto trans_class = GST_BASE_TRANSFORM_CLASS(klass);

  object_class->finalize = gst_cuda_scan_filter_finalize;
  object_class->set_property = gst_cuda_scan_filter_set_property;
  object_class->get_property = gst_cuda_scan_filter_get_property;
  install_settings(object_class);

  element_class->change_state = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_set_context);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_start);
  trans_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_fixate_caps);
  trans_class->query = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_query);
  trans_class->set_caps = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_set_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_get_unit_size);
  trans_class->transform_size = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform_size);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_propose_allocation);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_decide_allocation);
  trans_class->filter_meta = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_filter_meta);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform_meta);
  trans_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_sink_event);
  trans_class->before_transform = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_before_transform);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_submit_input_buffer);
  trans_class->transform = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform);

  g_autoptr(GstCaps) caps = template_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_type_mark_as_plugin_api(GST_TYPE_CUDA_SCAN_FILTER, static_cast<GstPluginAPIFlags>(0));
}
