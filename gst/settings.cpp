// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/settings.h"

#include "gst/enums.h"

namespace cudascan::gst {

template <>
struct EnumTable<Backend> {
  static constexpr const char *type_name = "GstCudaScanBackend";
  static constexpr EnumEntry<Backend> values[] = {
      {Backend::automatic, "CUDA if a device can be opened, else the CPU", "auto"},
      {Backend::cuda, "CUDA; an error if there is none", "cuda"},
      {Backend::cpu, "CPU", "cpu"}};
};

template <>
struct EnumTable<ReportTo> {
  static constexpr const char *type_name = "GstCudaScanReport";
  static constexpr bool is_flags = true;
  static constexpr EnumEntry<ReportTo> values[] = {
      {ReportTo::nobody, "Do not report", "none"},
      {ReportTo::message, "Element message with the name of the element", "message"},
      {ReportTo::meta, "Custom meta cudascan-result on the buffer", "meta"}};
};

void install_settings(GObjectClass *klass) {
  constexpr auto kReadable = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  constexpr auto kReady = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  constexpr auto kPlaying =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                               GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
  g_object_class_install_property(
      klass, PROP_BACKEND,
      g_param_spec_enum("backend", "Backend", "Where frames are processed; results are the same",
                        enum_type<Backend>(), static_cast<gint>(Backend::automatic), kReady));
  g_object_class_install_property(
      klass, PROP_ACTIVE_BACKEND,
      g_param_spec_enum("active-backend", "Active backend",
                        "Where frames are processed now; auto = not chosen yet",
                        enum_type<Backend>(), static_cast<gint>(Backend::automatic), kReadable));
  g_object_class_install_property(
      klass, PROP_CUDA_DEVICE_ID,
      g_param_spec_int("cuda-device-id", "CUDA device ID",
                       "GPU to use; -1 = that of the neighbouring elements, or any", -1, G_MAXINT,
                       -1, kReady));
  g_object_class_install_property(
      klass, PROP_N_THREADS,
      g_param_spec_uint("n-threads", "Threads",
                        "Threads of the CPU backend; 0 = the number of cores; more threads than "
                        "cores are allowed, but not faster",
                        0, G_MAXUINT, 0, kPlaying));
  g_object_class_install_property(
      klass, PROP_REPORT,
      g_param_spec_flags("report", "Report",
                         "How to deliver what was measured; if set, every frame waits for the GPU",
                         enum_type<ReportTo>(), 0, kPlaying));
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Number of frames and of dropped frames; mean and maximum of the kernel, upload and "
          "download times in ns (measured on the GPU for the first frames and every sixteenth); "
          "how "
          "often a thread slept until the GPU had a result, and how often because enough frames "
          "were in flight",
          GST_TYPE_STRUCTURE, kReadable));
}

bool set_setting(Settings &settings, guint id, const GValue *value) {
  switch (id) {
    case PROP_BACKEND:
      settings.backend = static_cast<Backend>(g_value_get_enum(value));
      return true;
    case PROP_CUDA_DEVICE_ID:
      settings.device_id = g_value_get_int(value);
      return true;
    case PROP_N_THREADS:
      settings.n_threads = g_value_get_uint(value);
      return true;
    case PROP_REPORT:
      settings.report = g_value_get_flags(value);
      return true;
    default:
      return false;
  }
}

bool get_setting(const Settings &settings, guint id, GValue *value) {
  switch (id) {
    case PROP_BACKEND:
      g_value_set_enum(value, static_cast<gint>(settings.backend));
      return true;
    case PROP_CUDA_DEVICE_ID:
      g_value_set_int(value, settings.device_id);
      return true;
    case PROP_N_THREADS:
      g_value_set_uint(value, settings.n_threads);
      return true;
    case PROP_REPORT:
      g_value_set_flags(value, settings.report);
      return true;
    default:
      return false;
  }
}

}  // namespace cudascan::gst
