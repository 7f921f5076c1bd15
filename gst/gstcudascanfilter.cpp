// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/gstcudascanfilter.h"

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gst/formats.h"
#include "gst/report.h"
#include "gst/scanfilter_private.h"

using namespace cudascan;
using namespace cudascan::gst;

#define gst_cuda_scan_filter_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE(GstCudaScanFilter, gst_cuda_scan_filter, GST_TYPE_BASE_TRANSFORM);

namespace cudascan::gst {
namespace {

void set_active_backend(gpointer instance, Backend backend) {
  GST_OBJECT_LOCK(instance);
  const bool changed = priv_of(instance)->active_backend != backend;
  priv_of(instance)->active_backend = backend;
  GST_OBJECT_UNLOCK(instance);
  if (changed) g_object_notify(G_OBJECT(instance), "active-backend");
}

void select_backend(gpointer instance) {
  const Settings settings = settings_of(instance);
  CudaSide &cuda = priv_of(instance)->cuda;
  if (settings.device_id < -1)
    throw BadSetting("cuda-device-id = " + std::to_string(settings.device_id) +
                     ": must be the number of a GPU from 0 on, or -1 for any");
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

void notify_bits(gpointer instance) {
  g_object_notify(G_OBJECT(instance), "active-significant-bits");
  g_object_notify(G_OBJECT(instance), "active-bit-alignment");
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

}  // namespace

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

void reset(gpointer instance) {
  if (auto klass = class_of(instance); klass->reset)
    guarded(instance, [&] { klass->reset(self_of(instance)); });
}

void restart_bits(gpointer instance) {
  priv_of(instance)->bit_watch.restart();
  GST_OBJECT_LOCK(instance);
  const bool changed = priv_of(instance)->bits.has_value();
  priv_of(instance)->bits.reset();
  GST_OBJECT_UNLOCK(instance);
  if (changed) notify_bits(instance);
}

void set_active_bits(gpointer instance, const BitRange &bits) {
  GST_OBJECT_LOCK(instance);
  const bool changed = priv_of(instance)->bits != bits;
  priv_of(instance)->bits = bits;
  GST_OBJECT_UNLOCK(instance);
  if (!changed) return;
  GST_CAT_INFO_OBJECT(class_of(instance)->category, instance,
                      "samples have %d significant bits, aligned %s", bits.count,
                      bits.high ? "high" : "low");
  notify_bits(instance);
}

void narrow(Luma &luma, const BitRange &bits, bool black_and_white) {
  if (auto *in = std::get_if<Plane<const std::uint16_t>>(&luma.in)) *in = with_bits(*in, bits);
  if (black_and_white) return;
  if (auto *out = std::get_if<Plane<std::uint16_t>>(&luma.out)) *out = with_bits(*out, bits);
}

void set_formats(gpointer instance, std::vector<Formats> formats) {
  GST_OBJECT_LOCK(instance);
  priv_of(instance)->formats = std::move(formats);
  const bool any = !priv_of(instance)->formats.empty();
  GST_OBJECT_UNLOCK(instance);
  if (any) guarded(instance, [&] { class_of(instance)->load_kernels(self_of(instance)); });
}

}  // namespace cudascan::gst

void gst_cuda_scan_filter_load_kernels(GstCudaScanFilter *self,
                                       const std::function<void(Cuda &, const Luma &)> &run) {
  auto priv = priv_of(self);
  if (active_backend(self) != Backend::cuda) return;
  if (priv->syncing == std::this_thread::get_id()) return;
  GST_OBJECT_LOCK(self);
  const std::vector<Formats> formats = priv->formats;
  const BitRange bits = priv->bits.value_or(bit_range(priv->settings.bits, 0));
  GST_OBJECT_UNLOCK(self);
  const bool black_and_white = class_of(self)->gray8_from(self) == Gray8From::any;
  const auto run_with_bits = [&](Cuda &loader, Luma luma) {
    narrow(luma, bits, black_and_white);
    run(loader, luma);
  };
  for (const auto &[in, out] : formats)
    if (has_unknown_bits(in))
      priv->cuda.load_kernels(in, out, run_with_bits);
    else
      priv->cuda.load_kernels(in, out, run);
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
  } else if (id == PROP_SETTINGS_IN_USE) {
    std::vector<const char *> names = class_of(object)->settings_in_use(self_of(object));
    names.push_back(nullptr);
    g_value_set_boxed(value, names.data());
  } else if (id == PROP_ACTIVE_SIGNIFICANT_BITS || id == PROP_ACTIVE_BIT_ALIGNMENT) {
    GST_OBJECT_LOCK(object);
    const std::optional<BitRange> bits = priv_of(object)->bits;
    GST_OBJECT_UNLOCK(object);
    const auto alignment = !bits        ? BitAlignment::automatic
                           : bits->high ? BitAlignment::high
                                        : BitAlignment::low;
    if (id == PROP_ACTIVE_SIGNIFICANT_BITS)
      g_value_set_uint(value, bits ? static_cast<guint>(bits->count) : 0);
    else
      g_value_set_enum(value, static_cast<gint>(alignment));
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
    check_report_to(settings_of(trans).report);
    class_of(trans)->validate(self_of(trans));
    select_backend(trans);
    reset(trans);
    restart_bits(trans);
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
  install_caps(trans_class);
  install_frames(trans_class);

  g_autoptr(GstCaps) caps = template_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_type_mark_as_plugin_api(GST_TYPE_CUDA_SCAN_FILTER, static_cast<GstPluginAPIFlags>(0));
}
