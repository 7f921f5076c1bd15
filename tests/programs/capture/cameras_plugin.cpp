// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A GStreamer plugin for tests with cameras that are plugged in and out. Each file in the folder
/// CAMERAS is a camera of that name, which shows the test picture. If the name begins with Odd, it
/// has 61x43 pixels, otherwise 320x240. If the name begins with Endless, the camera does not report
/// its end. The plugin checks the folder every 50 ms.
#include <gst/gst.h>

#include <map>
#include <set>
#include <string>

struct TestCamera {
  GstDevice parent;
};
struct TestCameraClass {
  GstDeviceClass parent_class;
};
G_DEFINE_TYPE(TestCamera, test_camera, GST_TYPE_DEVICE)

static GstPadProbeReturn drop_eos(GstPad *, GstPadProbeInfo *info, gpointer) {
  return GST_EVENT_TYPE(gst_pad_probe_info_get_event(info)) == GST_EVENT_EOS ? GST_PAD_PROBE_DROP
                                                                             : GST_PAD_PROBE_OK;
}

static GstElement *test_camera_create_element(GstDevice *device, const gchar *element_name) {
  g_autofree char *name = gst_device_get_display_name(device);
  const bool odd = g_str_has_prefix(name, "Odd");
  GstElement *element =
      gst_parse_bin_from_description(odd ? "videotestsrc is-live=true ! capsfilter "
                                           "caps=video/x-raw,format=GRAY8,width=61,height=43"
                                         : "videotestsrc is-live=true",
                                     TRUE, nullptr);
  if (element_name) gst_object_set_name(GST_OBJECT(element), element_name);
  if (g_str_has_prefix(name, "Endless")) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, drop_eos, nullptr, nullptr);
  }
  return element;
}
static void test_camera_init(TestCamera *) {}
static void test_camera_class_init(TestCameraClass *klass) {
  GST_DEVICE_CLASS(klass)->create_element = test_camera_create_element;
}

struct TestCameras {
  GstDeviceProvider parent;
  GThread *thread;
  gint stop;
};
struct TestCamerasClass {
  GstDeviceProviderClass parent_class;
};
G_DEFINE_TYPE(TestCameras, test_cameras, GST_TYPE_DEVICE_PROVIDER)

namespace {

std::set<std::string> names() {
  std::set<std::string> names;
  g_autoptr(GDir) folder = g_dir_open(g_getenv("CAMERAS") ? g_getenv("CAMERAS") : "", 0, nullptr);
  while (const char *name = folder ? g_dir_read_name(folder) : nullptr) names.insert(name);
  return names;
}

GstDevice *make_device(const std::string &name) {
  g_autoptr(GstCaps) caps = gst_caps_new_empty_simple("video/x-raw");
  return GST_DEVICE(g_object_new(test_camera_get_type(), "display-name", name.c_str(),
                                 "device-class", "Video/Source", "caps", caps, nullptr));
}

using Devices = std::map<std::string, GstDevice *>;

void look(GstDeviceProvider *provider, Devices &devices) {
  const auto present = names();
  for (const std::string &name : present)
    if (!devices.contains(name))
      gst_device_provider_device_add(provider, devices[name] = make_device(name));
  std::erase_if(devices, [&](const auto &entry) {
    const bool gone = !present.contains(entry.first);
    if (gone) gst_device_provider_device_remove(provider, entry.second);
    return gone;
  });
}

gpointer watch(gpointer data) {
  auto self = static_cast<TestCameras *>(data);
  Devices devices;
  // start() has added the cameras that exist at the start.
  GST_OBJECT_LOCK(self);
  for (GList *item = self->parent.devices; item; item = item->next) {
    g_autofree char *name = gst_device_get_display_name(GST_DEVICE(item->data));
    devices[name] = GST_DEVICE(item->data);
  }
  GST_OBJECT_UNLOCK(self);
  while (!g_atomic_int_get(&self->stop)) {
    look(&self->parent, devices);
    g_usleep(50000);
  }
  return nullptr;
}

}  // namespace

static gboolean test_cameras_start(GstDeviceProvider *provider) {
  Devices devices;
  look(provider, devices);
  auto self = reinterpret_cast<TestCameras *>(provider);
  self->stop = 0;
  self->thread = g_thread_new("cameras", watch, self);
  return TRUE;
}
static void test_cameras_stop(GstDeviceProvider *provider) {
  auto self = reinterpret_cast<TestCameras *>(provider);
  g_atomic_int_set(&self->stop, 1);
  g_thread_join(self->thread);
}
static void test_cameras_init(TestCameras *) {}
static void test_cameras_class_init(TestCamerasClass *klass) {
  auto provider = GST_DEVICE_PROVIDER_CLASS(klass);
  provider->start = test_cameras_start;
  provider->stop = test_cameras_stop;
  gst_device_provider_class_set_static_metadata(provider, "Test cameras", "Source/Video",
                                                "Cameras that come and go",
                                                "The gst-cudascan developers");
}

static gboolean init_plugin(GstPlugin *plugin) {
  return gst_device_provider_register(plugin, "testcameras", GST_RANK_PRIMARY,
                                      test_cameras_get_type());
}

#define PACKAGE "gst-cudascan"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, testcameras, "Cameras that come and go",
                  init_plugin, "0", "LGPL", PACKAGE, "gst-cudascan")
