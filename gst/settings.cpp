// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/settings.h"

#include "gst/enums.h"
#include "gst/numbers.h"

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
      {ReportTo::meta, "Custom meta cudascan-result on the buffer", "meta"},
      {ReportTo::analytics,
       "GstAnalytics metas on the buffer: classes, and tensors from GStreamer 1.26 on; needs 1.24",
       "analytics"}};
};

/// The values of `significant-bits`.
enum class BitCount { automatic = 0, b8 = 8, b9, b10, b11, b12, b13, b14, b15, b16 };

template <>
struct EnumTable<BitCount> {
  static constexpr const char *type_name = "GstCudaScanSignificantBits";
  static constexpr EnumEntry<BitCount> values[] = {
      {BitCount::automatic, "As the frames tell", "auto"},
      {BitCount::b8, "8 bits", "8"},
      {BitCount::b9, "9 bits", "9"},
      {BitCount::b10, "10 bits", "10"},
      {BitCount::b11, "11 bits", "11"},
      {BitCount::b12, "12 bits", "12"},
      {BitCount::b13, "13 bits", "13"},
      {BitCount::b14, "14 bits", "14"},
      {BitCount::b15, "15 bits", "15"},
      {BitCount::b16, "16 bits", "16"}};
};

template <>
struct EnumTable<BitAlignment> {
  static constexpr const char *type_name = "GstCudaScanBitAlignment";
  static constexpr EnumEntry<BitAlignment> values[] = {
      {BitAlignment::automatic, "As the frames tell", "auto"},
      {BitAlignment::low, "The high bits are 0: 12 bits are 0 to 4095", "low"},
      {BitAlignment::high, "The low bits are 0: 12 bits are multiples of 16", "high"}};
};

static void install_bits(GObjectClass *klass, GParamFlags readable, GParamFlags playing) {
  const auto install = [&](guint id, GParamSpec *spec) {
    g_object_class_install_property(klass, id, spec);
  };
  install(PROP_SIGNIFICANT_BITS,
          g_param_spec_enum("significant-bits", "Significant bits",
                            "Number of bits of the samples in GRAY16_LE: cameras have 10, 12 or "
                            "14; the caps of other formats tell it",
                            enum_type<BitCount>(), SignificantBits{}.count, playing));
  install(PROP_BIT_ALIGNMENT,
          g_param_spec_enum("bit-alignment", "Bit alignment",
                            "Whether fewer than 16 significant bits are the low or the high ones",
                            enum_type<BitAlignment>(),
                            static_cast<gint>(SignificantBits{}.alignment), playing));
  install(PROP_ACTIVE_SIGNIFICANT_BITS,
          g_param_spec_uint("active-significant-bits", "Active significant bits",
                            "Number of bits that samples are taken to have; 0 = no frame yet", 0,
                            16, 0, readable));
  install(PROP_ACTIVE_BIT_ALIGNMENT,
          g_param_spec_enum("active-bit-alignment", "Active bit alignment",
                            "Which bits samples are taken to have; auto = no frame yet, low also "
                            "if they have all",
                            enum_type<BitAlignment>(), static_cast<gint>(BitAlignment::automatic),
                            readable));
}

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
      number_spec({"cuda-device-id", "CUDA device ID",
                   "Number of the GPU to use; -1 = that of the neighbouring elements, or any"},
                  {-1, G_MAXINT}, Settings{}.device_id, kReady));
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
          "how often a thread slept until the GPU had a result, and how often because enough "
          "frames were in flight; number of frames copied from the memory of another GPU",
          GST_TYPE_STRUCTURE, kReadable));
  g_object_class_install_property(
      klass, PROP_SETTINGS_IN_USE,
      g_param_spec_boxed("settings-in-use", "Settings in use",
                         "Names of the properties that the result depends on with the present "
                         "settings, in the order of use",
                         G_TYPE_STRV, kReadable));
  install_bits(klass, kReadable, kPlaying);
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
    case PROP_SIGNIFICANT_BITS:
      settings.bits.count = g_value_get_enum(value);
      return true;
    case PROP_BIT_ALIGNMENT:
      settings.bits.alignment = static_cast<BitAlignment>(g_value_get_enum(value));
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
    case PROP_SIGNIFICANT_BITS:
      g_value_set_enum(value, settings.bits.count);
      return true;
    case PROP_BIT_ALIGNMENT:
      g_value_set_enum(value, static_cast<gint>(settings.bits.alignment));
      return true;
    default:
      return false;
  }
}

}  // namespace cudascan::gst
