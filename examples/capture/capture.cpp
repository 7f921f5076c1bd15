// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera's frames, through our elements, into a program of one's own: a place to start from.
// docs/capture.md explains it, capture.py is the same in Python.
#include <glib-unix.h>
#include <gst/app/gstappsink.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "cameras.h"
#include "frames.h"

namespace {

gboolean list, test, cuda;
gchar *camera, *output;
gint n_frames;
const GOptionEntry kOptions[] = {
    {"list", 'l', 0, G_OPTION_ARG_NONE, &list, "List the cameras and end", nullptr},
    {"camera", 'c', 0, G_OPTION_ARG_STRING, &camera, "Its number or name (0)", "CAMERA"},
    {"test", 't', 0, G_OPTION_ARG_NONE, &test, "Take a test picture instead", nullptr},
    {"cuda", 0, 0, G_OPTION_ARG_NONE, &cuda, "Take frames in CUDAMemory", nullptr},
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the frames' pixels", "FILE"},
    {"frames", 'n', 0, G_OPTION_ARG_INT, &n_frames, "End after so many", "N"},
    {}};

class Capture {
 public:
  Capture() {
    if (output) file_.open(output, std::ios::binary);
    if (!file_) throw Failure{kFailed, std::string(output) + ": cannot be written"};
  }
  ~Capture() { close(); }

  void run() {
    if (list) return cameras_.print(std::cout);
    for (const int number : {SIGINT, SIGTERM}) g_unix_signal_add(number, on_signal, this);
    open();
    if (failure_.status == kDone) g_main_loop_run(loop_.get());
    close();  // from here on no frame comes
    std::cout << frames_ << " frames, camera opened " << opened_ << " times" << std::endl;
    if (failure_.status != kDone) throw failure_;
  }

 private:
  void open() {
    source_ = test ? make("videotestsrc", {{"is-live", "true"}}) : cameras_.make_source(name_);
    if (!source_) return lost("no camera " + name_ + "; see --list, or try --test");
    const char *caps =
        cuda ? "video/x-raw(memory:CUDAMemory),format=GRAY8" : "video/x-raw,format=GRAY8";
    GstElement *sink = make("appsink", {{"sync", "false"}, {"max-buffers", "4"}, {"caps", caps}});
    GstAppSinkCallbacks callbacks{};
    callbacks.new_sample = on_frame;
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, this, nullptr);
    const std::vector<GstElement *> chain{
        source_,
        make("capsfilter", {{"caps", "video/x-raw"}}),
        make("videoconvert"),
        make("cudalinearopen", {{"length", "9"}, {"directions", "12"}, {"report", "message"}}),
        make("cudaautothreshold", {{"smoothing", "0.5"}, {"report", "message"}}),
        sink};

    pipeline_ = gst_pipeline_new(nullptr);
    for (GstElement *element : chain) gst_bin_add(GST_BIN(pipeline_), element);
    for (std::size_t i = 1; i < chain.size(); ++i)
      if (!gst_element_link(chain[i - 1], chain[i]))
        throw Failure{kFailed, std::string(GST_OBJECT_NAME(chain[i])) + " takes no such frames" +
                                   (cuda ? "; --cuda needs an NVIDIA GPU" : "")};
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline_);
    gst_bus_add_watch(bus, on_message, this);
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);  // errors come as messages
    ++opened_;
  }

  void close() {
    if (!pipeline_) return;
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline_);
    gst_bus_remove_watch(bus);
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    g_clear_pointer(&pipeline_, gst_object_unref);
  }

  void end(const Failure &failure) {
    if (failure_.status == kDone) failure_ = failure;  // others only follow from the first
    g_main_loop_quit(loop_.get());
  }

  /// The camera is gone or not back yet: tries again. One that never gave a frame is not waited for.
  void lost(const std::string &why) {
    if (frames_ == 0) return end({kNoCamera, why});
    if (ending_) return g_main_loop_quit(loop_.get());
    if (retry_) return;
    std::cerr << "capture: " << why << "; trying again" << std::endl;
    retry_ = g_timeout_add_seconds(1, reopen, this);
  }

  static gboolean reopen(gpointer data) {
    auto self = static_cast<Capture *>(data);
    self->retry_ = 0;
    self->close();
    try {
      self->open();
    } catch (const Failure &failure) {  // it may have come back as another
      self->end(failure);
    }
    return G_SOURCE_REMOVE;
  }

  /// Lets the frames that are under way arrive; not after 2 s, nor when asked again.
  static gboolean on_signal(gpointer data) {
    auto self = static_cast<Capture *>(data);
    if (std::exchange(self->ending_, true) || self->retry_ || self->frames_ == 0 ||
        !gst_element_send_event(self->pipeline_, gst_event_new_eos()))
      g_main_loop_quit(self->loop_.get());
    g_timeout_add_seconds(2, on_signal, data);
    return G_SOURCE_CONTINUE;
  }

  static gboolean on_message(GstBus *, GstMessage *message, gpointer data) {
    auto self = static_cast<Capture *>(data);
    const GstStructure *fields = gst_message_get_structure(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {  // what an element measured in a frame
      int threshold = 0;
      double angle = 0;
      if (gst_structure_get_int(fields, "threshold", &threshold))
        std::cout << "threshold " << threshold << std::endl;
      if (gst_structure_get_double(fields, "dominant-angle", &angle))
        std::cout << "dominant-angle " << angle << std::endl;
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {  // it also comes behind an error
      if (!self->retry_) g_main_loop_quit(self->loop_.get());
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_DEVICE_REMOVED) {
      g_autoptr(GstDevice) device = nullptr;
      gst_message_parse_device_removed(message, &device);
      g_autofree char *name = gst_device_get_display_name(device);
      if (!test && self->name_ == name) self->lost(self->name_ + ": unplugged");
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      g_autoptr(GError) error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      const auto text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
      const auto source = GST_OBJECT(self->source_), culprit = GST_MESSAGE_SRC(message);
      if (culprit == source || gst_object_has_as_ancestor(culprit, source))
        self->lost(text);
      else
        self->end({kFailed, text});
    }
    return G_SOURCE_CONTINUE;
  }

  /// In the thread of the camera, which drops frames while a program takes its time here.
  static GstFlowReturn on_frame(GstAppSink *sink, gpointer data) {
    auto self = static_cast<Capture *>(data);
    g_autoptr(GstSample) sample = gst_app_sink_pull_sample(sink);
    if (!sample) return GST_FLOW_EOS;
    if (!take_frame(sample, cuda, self->file_)) {
      GST_ELEMENT_ERROR(sink, RESOURCE, WRITE,
                        ("%s: a frame cannot be taken", output ? output : "capture"), (nullptr));
      return GST_FLOW_ERROR;
    }
    return ++self->frames_ == n_frames ? GST_FLOW_EOS : GST_FLOW_OK;
  }

  std::unique_ptr<GMainLoop, decltype(&g_main_loop_unref)> loop_{g_main_loop_new(nullptr, FALSE),
                                                                 g_main_loop_unref};
  Cameras cameras_{on_message, this};
  std::string name_ = camera ? camera : "0";
  std::ofstream file_;
  GstElement *pipeline_ = nullptr, *source_ = nullptr;
  guint retry_ = 0;
  bool ending_ = false;
  std::atomic<int> frames_ = 0;
  int opened_ = 0;
  Failure failure_{kDone, ""};
};

int run(int argc, char **argv) try {
  g_autoptr(GOptionContext) context = g_option_context_new("- frames of a camera, thresholded");
  g_option_context_add_main_entries(context, kOptions, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  g_autoptr(GError) error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) throw Failure{kUsage, error->message};
  if (argc > 1) throw Failure{kUsage, std::string(argv[1]) + ": unknown argument; see --help"};
  Capture().run();
  return kDone;
} catch (const Failure &failure) {
  std::cerr << "capture: " << failure.text << std::endl;
  return failure.status;
}

}  // namespace

int main(int argc, char **argv) {
  const int status = run(argc, argv);
  gst_deinit();  // GST_TRACERS=leaks says now what is left
  return status;
}
