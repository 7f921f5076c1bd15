// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Elements, and cameras: those that GStreamer's device providers know, such as V4L2's, and those of
/// Aravis (GigE Vision, USB3 Vision), whose plugin has no provider.
#pragma once
#include <gst/gst.h>
#ifdef HAVE_ARAVIS
#include <arv.h>
#endif

#include <ostream>
#include <string>
#include <utility>
#include <vector>

/// Exit statuses of the program.
enum Status { kDone, kFailed, kUsage, kNoCamera };
struct Failure {
  Status status;
  std::string text;
};

/// @throws Failure when it is not installed
/// @param settings  as text, such as {"method", "wolf"}; see gst-inspect-1.0 NAME
inline GstElement *make(const char *name,
                        const std::vector<std::pair<const char *, const char *>> &settings = {}) {
  GstElement *element = gst_element_factory_make(name, nullptr);
  if (!element) throw Failure{kFailed, std::string(name) + ": there is no such element"};
  for (const auto &[property, value] : settings)
    gst_util_set_object_arg(G_OBJECT(element), property, value);
  return element;
}

/// The cameras of the machine, as they come and go.
class Cameras {
 public:
  /// @param on_message  of the main loop, told of GST_MESSAGE_DEVICE_ADDED and _REMOVED
  Cameras(GstBusFunc on_message, gpointer data) {
    gst_device_monitor_add_filter(monitor_, "Video/Source", nullptr);
    g_autoptr(GstBus) bus = gst_device_monitor_get_bus(monitor_);
    gst_bus_add_watch(bus, on_message, data);
    gst_device_monitor_start(monitor_);
  }
  ~Cameras() {
    g_autoptr(GstBus) bus = gst_device_monitor_get_bus(monitor_);
    gst_bus_remove_watch(bus);
    gst_device_monitor_stop(monitor_);
    gst_object_unref(monitor_);
  }
  Cameras(const Cameras &) = delete;
  Cameras &operator=(const Cameras &) = delete;

  /// Calls f(name, device) for each; those of Aravis come without a device.
  template <typename F>
  void for_each(F f) {
    GList *devices = gst_device_monitor_get_devices(monitor_);
    for (GList *item = devices; item; item = item->next) {
      g_autofree char *name = gst_device_get_display_name(GST_DEVICE(item->data));
      f(std::string(name), GST_DEVICE(item->data));
    }
    g_list_free_full(devices, gst_object_unref);
#ifdef HAVE_ARAVIS
    arv_update_device_list();
    for (guint i = 0; i < arv_get_n_devices(); ++i)
      f(kAravis + arv_get_device_id(i), static_cast<GstDevice *>(nullptr));
#endif
  }

  void print(std::ostream &to) {
    for_each([&, number = 0](const std::string &name, GstDevice *) mutable {
      to << number++ << ": " << name << '\n';
    });
  }

  /// The source of a camera, null when there is none of that name. Whether a camera of Aravis is there
  /// shows when its source starts: the name can also be an address that no list has, "aravis:ADDRESS".
  /// @param name  as of for_each(), or a number in that order, from 0, for which it becomes the name: the
  ///              number of a camera that comes back may be another
  GstElement *make_source(std::string &name) {
    GstElement *source = nullptr;
    bool found = name.starts_with(kAravis);
    int number = 0;
    if (!found)
      for_each([&, wanted = name](const std::string &each, GstDevice *device) {
        const bool is_it = std::to_string(number++) == wanted || each == wanted;
        if (found || !is_it) return;
        found = true;
        name = each;
        if (device) source = gst_device_create_element(device, nullptr);
      });
    if (!name.starts_with(kAravis)) return source;
    return make("aravissrc", {{"camera-name", name.c_str() + kAravis.size()}});
  }

 private:
  inline static const std::string kAravis = "aravis:";
  GstDeviceMonitor *monitor_ = gst_device_monitor_new();
};
