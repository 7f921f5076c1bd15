// SPDX-License-Identifier: LGPL-2.1-or-later
// Passes a camera's frames through our elements into your own program; see docs/capture.md.
#include <gst/app/gstappsink.h>
#include <gst/video/video.h>
#ifdef HAVE_GST_CUDA
#include <gst/cuda/gstcudamemory.h>
#endif
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

namespace {

gboolean list, test, cuda;
gchar first[] = "0", nowhere[] = "/dev/null", *camera = first, *output = nowhere;
gint n_frames;
const GOptionEntry kOptions[] = {
    {"list", 'l', 0, G_OPTION_ARG_NONE, &list, "List the cameras and exit", nullptr},
    {"camera", 'c', 0, G_OPTION_ARG_STRING, &camera, "Its number or name (0)", "CAMERA"},
    {"test", 't', 0, G_OPTION_ARG_NONE, &test, "Use a test picture instead", nullptr},
    {"cuda", 0, 0, G_OPTION_ARG_NONE, &cuda, "Take frames in CUDAMemory", nullptr},
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the frames' pixels", "FILE"},
    {"frames", 'n', 0, G_OPTION_ARG_INT, &n_frames, "Exit after N frames", "N"},
    {}};

enum Status { kDone, kFailed, kUsage, kNoCamera };
constexpr const char *kNoFrames =
    "no whole frame for 5 s; packets may be lost, or the camera waits for a trigger";
using Failure = std::pair<Status, std::string>;  // how the program exits, and what it says

// The first one ends the stream, the second stops it at once. A source that does not stop is left
// with the third.
volatile std::sig_atomic_t signals;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGALRM};
void on_signal(int) {
  signals = signals + 1;
  alarm(signals == 1 ? 2 : 10);  // SIGALRM is the next signal if no other comes
  if (signals == 2)
    for (const int number : kSignals) std::signal(number, SIG_DFL);
}

/// Settings are text, such as {"method", "wolf"}; see gst-inspect-1.0 NAME.
GstElement *make(const char *name,
                 const std::vector<std::pair<const char *, std::string>> &settings = {}) {
  GstElement *element = gst_element_factory_make(name, nullptr);
  if (!element) throw Failure(kFailed, std::string(name) + ": there is no such element");
  for (const auto &[property, value] : settings)
    gst_util_set_object_arg(G_OBJECT(element), property, value.c_str());
  return element;
}

void on_removed(GstDevice *, GstElement *source) {
  GST_ELEMENT_ERROR(source, RESOURCE, NOT_FOUND, ("unplugged"), (nullptr));
}

void print_cameras(GstDeviceMonitor *monitor) {
  g_autolist(GstDevice) devices = gst_device_monitor_get_devices(monitor);
  for (guint i = 0; i < g_list_length(devices); ++i) {
    g_autofree char *name = gst_device_get_display_name(GST_DEVICE(g_list_nth_data(devices, i)));
    std::cout << i << ": " << name << std::endl;
  }
}

/// The source of the camera with this number or name, null if it is not there.
GstElement *make_source(GstDeviceMonitor *monitor, std::string &choice) {
  if (test) return make("videotestsrc", {{"is-live", "true"}});
  if (choice.starts_with("aravis:"))  // GigE Vision and USB3 Vision, unknown to the monitor
    return make("aravissrc", {{"camera-name", choice.substr(7)}});
  g_autolist(GstDevice) devices = gst_device_monitor_get_devices(monitor);
  for (guint i = 0; i < g_list_length(devices); ++i) {
    auto device = GST_DEVICE(g_list_nth_data(devices, i));
    g_autofree char *name = gst_device_get_display_name(device);
    if (choice != name && choice != std::to_string(i)) continue;
    choice = name;  // when the camera comes back, it may have another number
    GstElement *source = gst_device_create_element(device, name);
    g_signal_connect_object(device, "removed", G_CALLBACK(on_removed), source, GConnectFlags(0));
    return source;
  }
  return nullptr;
}

void print_report(const GstStructure *report) {
  int threshold = 0;
  double angle = 0;
  if (gst_structure_get_int(report, "threshold", &threshold))
    std::cout << "threshold " << threshold << std::endl;
  if (gst_structure_get_double(report, "dominant-angle", &angle))
    std::cout << "dominant-angle " << angle << std::endl;
}

/// Your code goes here, in place of the file. Returns false if no frame comes within 100 ms.
bool take_frame(GstElement *sink, std::ofstream &file) {
  g_autoptr(GstSample) sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), GST_SECOND / 10);
  if (!sample) return false;
  GstVideoInfo info;
  gst_video_info_from_caps(&info, gst_sample_get_caps(sample));
  GstVideoFrame frame;
  auto map = [&](int flags) {  // waits until the elements are done with the frame
    if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GstMapFlags(flags)))
      throw Failure(kFailed, "a frame cannot be read");
  };
#ifdef HAVE_GST_CUDA
  if (cuda) {
    map(GST_MAP_READ | GST_MAP_CUDA);
    std::cout << "on the GPU at " << frame.data[0] << std::endl;  // an address for your kernels
    gst_video_frame_unmap(&frame);
  }
#endif
  map(GST_MAP_READ);
  auto row = static_cast<const char *>(frame.data[0]);
  for (int y = 0; y < info.height; ++y, row += frame.info.stride[0]) file.write(row, info.width);
  gst_video_frame_unmap(&frame);
  if (!file.flush()) throw Failure(kFailed, std::string(output) + ": cannot be written");
  return true;
}

/// Takes and counts frames until the end. Returns why the camera is gone if that was the reason.
std::string play(GstElement *source, std::ofstream &file, int &frames) {
  const std::string left = std::to_string(n_frames - frames);
  // Later frames are not even reported.
  gst_util_set_object_arg(G_OBJECT(source), "num-buffers", left.c_str());
  const std::string raw = cuda ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw";
  const std::vector<GstElement *> chain{
      source,
      make("capsfilter", {{"caps", "video/x-raw"}}),
      make("videoconvert"),
      make("cudalinearopen", {{"length", "9"}, {"directions", "12"}, {"report", "message"}}),
      make("cudaautothreshold", {{"smoothing", "0.5"}, {"report", "message"}}),
      make("appsink", {{"max-buffers", "4"}, {"sync", "false"}, {"caps", raw + ",format=GRAY8"}})};
  const std::shared_ptr<GstElement> pipeline(gst_pipeline_new(nullptr), [](GstElement *element) {
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
  });
  for (GstElement *element : chain) gst_bin_add(GST_BIN(pipeline.get()), element);
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (!gst_element_link(chain[i - 1], chain[i]))
      throw Failure(kFailed, std::string(GST_OBJECT_NAME(chain[i])) + " rejects these frames" +
                                 (cuda ? "; --cuda needs an NVIDIA GPU" : ""));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);  // errors come as messages

  // For how many times 100 ms there was no frame.
  int missed = 0;
  for (bool ending = false; signals < 2;) {  // after the first, frames in flight still arrive
    if (signals && !ending) ending = gst_element_send_event(pipeline.get(), gst_event_new_eos());
    g_autoptr(GstMessage) message = gst_bus_pop(GST_ELEMENT_BUS(pipeline.get()));
    if (message ? GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS : frames == n_frames) break;
    if (!message) {
      const bool taken = take_frame(chain.back(), file);
      frames += taken;
      missed = taken ? 0 : missed + 1;
      if (missed == 50) std::cerr << "capture: " << kNoFrames << std::endl;
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
      print_report(gst_message_get_structure(message));
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      g_autoptr(GError) error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      const auto text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
      for (int i = 0; i < 4 && take_frame(chain.back(), file); ++i) ++frames;  // appsink keeps 4
      if (gst_object_has_as_ancestor(GST_MESSAGE_SRC(message), GST_OBJECT(source))) return text;
      throw Failure(kFailed, text);
    }
  }
  return "";
}

/// Takes frames until the end. Waits for a camera that was lost, but not for one that never gave a
/// frame.
void run(GstDeviceMonitor *monitor) {
  std::ofstream file(output, std::ios::binary);
  if (!file) throw Failure(kFailed, std::string(output) + ": cannot be written");
  std::string choice = camera;
  int frames = 0, opened = 0;
  while (signals == 0) {
    GstElement *source = make_source(monitor, choice);
    if (source) ++opened;
    const auto why = source ? play(source, file, frames) : "no camera " + choice + "; see --list";
    if (why.empty()) break;
    if (frames == 0) throw Failure(kNoCamera, why);
    if (signals == 0) std::cerr << "capture: " << why << "; trying again" << std::endl;
    sleep(1);  // or until a signal
  }
  std::cout << frames << " frames, camera opened " << opened << " times" << std::endl;
}

}  // namespace

int main(int argc, char **argv) try {
  const std::shared_ptr<void> gst(nullptr, [](void *) { gst_deinit(); });  // for GST_TRACERS=leaks
  g_autoptr(GOptionContext) context = g_option_context_new("- frames of a camera, thresholded");
  g_option_context_add_main_entries(context, kOptions, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  g_autoptr(GError) error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) throw Failure(kUsage, error->message);
  if (argc > 1) throw Failure(kUsage, std::string(argv[1]) + ": unknown argument; see --help");
  if (n_frames <= 0) n_frames = G_MAXINT;
  for (const int number : kSignals) std::signal(number, on_signal);
  const std::shared_ptr<GstDeviceMonitor> monitor(gst_device_monitor_new(), [](auto *monitor) {
    gst_device_monitor_stop(monitor);
    gst_object_unref(monitor);
  });
  gst_device_monitor_add_filter(monitor.get(), "Video/Source", nullptr);
  gst_device_monitor_start(monitor.get());
  list ? print_cameras(monitor.get()) : run(monitor.get());
  return kDone;
} catch (const Failure &failure) {
  std::cerr << "capture: " << failure.second << std::endl;
  return failure.first;
}
