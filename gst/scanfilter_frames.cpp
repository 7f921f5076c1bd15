// SPDX-License-Identifier: LGPL-2.1-or-later
// The base class: frames, metas and events.
#include <chrono>
#include <functional>
#include <thread>

#include "gst/luma_planes.h"
#include "gst/report.h"
#include "gst/scanfilter_private.h"

namespace cudascan::gst {

static GstBaseTransformClass *parent_class;

/// Metas that downstream asks for may come from upstream: neither size nor place changes here.
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
  if (type == GST_EVENT_FLUSH_STOP) reset(trans), restart_bits(trans);
  return parent_class->sink_event(trans, event);
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
  // Here, because a frame that QoS drops comes no further.
  if (GST_BUFFER_IS_DISCONT(buffer)) reset(trans);
  const GstFlowReturn result = parent_class->submit_input_buffer(trans, discont, buffer);
  if (result == GST_BASE_TRANSFORM_FLOW_DROPPED)  // by QoS
    priv_of(trans)->stats->add_dropped();
  return result;
}

static auto room_in(std::vector<std::max_align_t> &block) {
  return [&block](std::size_t bytes) {
    block.resize(MAX(block.size(), bytes / sizeof(std::max_align_t) + 1));
    return static_cast<void *>(block.data());
  };
}

static void process_on_cpu(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out, Chroma chroma,
                           guint n_threads, const std::function<void(Cpu &, const Luma &)> &run) {
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
  const LumaPlanes luma(from, to, room_in(priv->luma_in), room_in(priv->luma_out));
  const auto begin = std::chrono::steady_clock::now();
  run(*priv->cpu, luma.fetch(*priv->cpu));
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  priv->stats->add_time(Stats::kernel, time.count());
  if (!luma.put(*priv->cpu, chroma)) make_chroma(*priv->cpu, chroma, from, to);
  aligned_out.store(*priv->cpu);
}

/// The bits of the samples of a frame, which has one plane if its format does not tell.
template <typename Exec>
static BitRange bits_of_frame(GstBaseTransform *trans, Exec &exec, const Luma &luma,
                              const SignificantBits &wanted) {
  auto priv = priv_of(trans);
  if (!has_unknown_bits(priv->in_info)) {
    const GstVideoFormatInfo *format = priv->in_info.finfo;
    return {static_cast<int>(format->depth[0]), format->shift[0] > 0};
  }
  const bool waited =
      priv->bit_watch.look(exec, wanted, std::get<Plane<const std::uint16_t>>(luma.in));
  if (waited && std::is_same_v<Exec, Cuda>) priv->stats->add_host_synchronisation();
  return bit_range(wanted, priv->bit_watch.used());
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
    check_report_to(settings.report);
    const Chroma chroma = klass->begin_frame(self, in, priv->in_info);
    const bool on_cpu = active_backend(trans) != Backend::cuda;
    const bool with_report = settings.report || klass->wants_report(self, on_cpu);
    BitRange bits;
    const auto prepare = [&](auto &exec, const Luma &luma) {
      bits = bits_of_frame(trans, exec, luma, settings.bits);
      Luma narrowed = luma;
      if (has_unknown_bits(priv->in_info)) narrow(narrowed, bits, chroma == Chroma::neutral);
      return narrowed;
    };
    if (!on_cpu) {
      const auto run = [&](Cuda &cuda, const Luma &luma) {
        klass->run_cuda(self, cuda, prepare(cuda, luma), with_report);
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
      process_on_cpu(trans, in, out, chroma, settings.n_threads, [&](Cpu &cpu, const Luma &luma) {
        klass->run_cpu(self, cpu, prepare(cpu, luma), with_report);
      });
    }
    set_active_bits(trans, bits);
    priv->stats->add_frame();
    if (settings.report) {
      GstStructure *report = new_report(klass->report_name, trans->segment, out);
      klass->end_report(self, report);
      deliver_report(GST_ELEMENT(trans), report, klass->doubtful_field, out, settings.report);
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

void install_frames(GstBaseTransformClass *trans_class) {
  parent_class = GST_BASE_TRANSFORM_CLASS(g_type_class_peek_parent(trans_class));
  trans_class->filter_meta = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_filter_meta);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform_meta);
  trans_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_sink_event);
  trans_class->before_transform = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_before_transform);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_submit_input_buffer);
  trans_class->transform = GST_DEBUG_FUNCPTR(gst_cuda_scan_filter_transform);
}

}  // namespace cudascan::gst
