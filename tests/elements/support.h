// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the element tests: pictures with the expected result of an element, an element under
/// test between two loose pads, and pipelines.
#pragma once
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "all_operators.h"

namespace cudascan::elements {

struct Release {
  void operator()(GstBuffer *x) const { gst_buffer_unref(x); }
  void operator()(GstBufferPool *x) const { gst_object_unref(x); }
  void operator()(GstBus *x) const { gst_object_unref(x); }
  void operator()(GstCaps *x) const { gst_caps_unref(x); }
  void operator()(GstContext *x) const { gst_context_unref(x); }
  void operator()(GstElement *x) const { gst_object_unref(x); }
  void operator()(GstEvent *x) const { gst_event_unref(x); }
  void operator()(GstMessage *x) const { gst_message_unref(x); }
  void operator()(GstPad *x) const { gst_object_unref(x); }
  void operator()(GstQuery *x) const { gst_query_unref(x); }
  void operator()(GstSample *x) const { gst_sample_unref(x); }
  void operator()(GstStructure *x) const { gst_structure_free(x); }
};
/// Owns one reference.
template <typename T>
using Ref = std::unique_ptr<T, Release>;

/// Whether a CUDA device can be used; a missing one is a failure under REQUIRE_GPU=1.
bool have_gpu();

/// Ends the test as skipped, or as failed under REQUIRE_GPU=1, when an element is not installed.
#define NEEDS_ELEMENTS(...)                                                       \
  if (const char *missing = ::cudascan::elements::first_missing({__VA_ARGS__})) { \
    if (::cudascan::elements::gpu_required()) FAIL() << "no element " << missing; \
    GTEST_SKIP() << "the element " << missing << " is not installed";             \
  }

/// Ends the test as skipped, or as failed under REQUIRE_GPU=1, when there is no CUDA device.
#define NEEDS_GPU()                                                                \
  if (!::cudascan::elements::have_gpu()) {                                         \
    if (::cudascan::elements::gpu_required()) FAIL() << "there is no CUDA device"; \
    GTEST_SKIP() << "there is no CUDA device";                                     \
  }

/// The elements of the plugin, by name, as the registry has them.
std::vector<std::string> all_elements();

const char *first_missing(std::initializer_list<const char *> factories);
bool gpu_required();

/// A frame as numbers: the samples as they are stored, component by component, without padding.
struct Picture {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  int width = 0;
  int height = 0;
  std::vector<std::vector<std::uint16_t>> components;
  bool full_range = false;  ///< of YUV

  const GstVideoFormatInfo *format_info() const { return gst_video_format_get_info(format); }
  /// The largest sample that the format can store, and the neutral value of a chroma sample.
  std::uint16_t maximum() const;
  std::uint16_t neutral() const;
  int component_width(int c) const {
    return GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(format_info(), c, width);
  }
  int component_height(int c) const {
    return GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(format_info(), c, height);
  }
  /// Share of luma samples that are 0.
  double black_ratio() const;
};

/// Uneven paper with dark strokes, flat areas, both extremes and noise; different for every seed.
Picture make_picture(GstVideoFormat format, int width, int height, unsigned seed = 1);

/// The expected result of an element for a picture, by the kernel library on the CPU.
/// @param cpu  has the history, if there is one
template <typename Params>
Picture expected(const Picture &in, const Params &params,
                 GstVideoFormat out_format = GST_VIDEO_FORMAT_UNKNOWN,
                 typename Params::Report * = nullptr, Cpu *cpu = nullptr);

/// The first difference, if there is one.
testing::AssertionResult same(const Picture &result, const Picture &expected);

struct Layout {
  int row_padding = 0;    ///< samples added to the rows of every plane
  int plane_padding = 0;  ///< bytes between two planes, and before the first
  bool split = false;     ///< each plane in a memory of its own
  int row_bytes = 0;      ///< bytes added to the rows of every plane
  bool upwards = false;   ///< the last row comes first in memory
  int pieces = 1;         ///< memories that the buffer is cut into, wherever planes and rows begin
};

/// A frame in system memory. A layout other than GStreamer's own is described by a GstVideoMeta.
Ref<GstBuffer> to_buffer(const Picture &picture, const Layout &layout = {});
/// Writes a picture into a buffer with any memory layout.
void fill(GstBuffer *buffer, const Picture &picture);
/// Reads a frame through the CPU, from any memory.
Picture to_picture(GstBuffer *buffer, const GstCaps *caps);
Picture to_picture(GstSample *sample);

inline constexpr int kFps = 25;
inline constexpr GstClockTime kFrameTime = GST_SECOND / kFps;

Ref<GstCaps> make_caps(GstVideoFormat format, int width, int height, const char *feature = nullptr);
Ref<GstCaps> make_caps(const Picture &picture, const char *feature = nullptr);
/// Caps with a format of the pad's template only where it lies in the given memory.
std::vector<GstVideoFormat> template_formats(const char *factory, GstPadDirection direction,
                                             const char *feature = nullptr);
inline constexpr const char *kCudaMemory = "memory:CUDAMemory";

/// The fields of an error message: what a user reads, and where it came from.
struct ErrorText {
  std::string message, debug;
  std::string all() const { return message + "\n" + debug; }
};
ErrorText error_text(GstMessage *message);

/// One element, or a chain of elements, between two loose pads; PLAYING.
class Filter {
 public:
  /// @param launch  as for gst-launch-1.0; the first element of the plugin in it is element()
  /// @param sink_caps  the caps of the loose sink after it, any if empty
  explicit Filter(const std::string &launch, const std::string &sink_caps = "");
  ~Filter();
  Filter(const Filter &) = delete;
  Filter &operator=(const Filter &) = delete;

  GstElement *element() const { return element_.get(); }
  GstHarness *harness() const { return harness_; }
  Ref<GstElement> find(const char *name) const;

  void set_caps(const GstCaps *caps);
  GstFlowReturn push(Ref<GstBuffer> buffer) { return gst_harness_push(harness_, buffer.release()); }
  /// The next frame of the output; null if none has come.
  Ref<GstBuffer> pull();
  /// Discards all output.
  void pull_all() {
    while (gst_harness_buffers_in_queue(harness_) > 0) pull();
  }
  Ref<GstCaps> output_caps() const {
    return Ref<GstCaps>(gst_pad_get_current_caps(harness_->sinkpad));
  }

  /// Sends a picture through. Gives an empty picture and fails the test if nothing comes out.
  Picture process(const Picture &picture, const Layout &layout = {});
  /// Sends it and returns the flow return.
  GstFlowReturn push_picture(const Picture &picture, const Layout &layout = {});

  /// The next message of these types; null if there is none.
  Ref<GstMessage> pop(GstMessageType types) {
    return Ref<GstMessage>(gst_bus_pop_filtered(bus_.get(), types));
  }
  std::string get_string(const char *property) const;

 private:
  Ref<GstBus> bus_;
  Ref<GstElement> element_;
  GstHarness *harness_ = nullptr;
  Picture shape_;  ///< of the caps that were set last; no components
  guint64 frames_ = 0;
};

/// Calls `call` for each notification of a property while this lives, in the notifying thread.
class Listener {
 public:
  Listener(gpointer object, const std::string &signal, std::function<void()> call)
      : object_(object), call_(std::move(call)) {
    id_ = g_signal_connect_swapped(object, signal.c_str(),
                                   G_CALLBACK(+[](Listener *self) { self->call_(); }), this);
  }
  ~Listener() { g_signal_handler_disconnect(object_, id_); }
  Listener(const Listener &) = delete;
  Listener &operator=(const Listener &) = delete;

 private:
  gpointer object_;
  std::function<void()> call_;
  gulong id_;
};

/// An enum property as its nick, any other as text.
std::string property_text(GstElement *element, const char *property);
guint64 stat(GstElement *element, const char *field);

/// A pipeline whose destructor sets it to NULL.
class Pipeline {
 public:
  /// @param own_context  do not use the CUDA context that the tests share
  explicit Pipeline(const std::string &launch, bool own_context = false);
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  GstElement *get() const { return pipeline_.get(); }
  Ref<GstElement> find(const char *name) const;
  Ref<GstBus> bus() const { return Ref<GstBus>(gst_element_get_bus(pipeline_.get())); }
  GstStateChangeReturn set_state(GstState state) {
    return gst_element_set_state(pipeline_.get(), state);
  }
  /// Fails the test unless the state is reached in time.
  void reach(GstState state);
  /// Plays until EOS or an error; the text of the error, empty for EOS. Fails the test if neither
  /// comes. The state is left as it is.
  std::string play();
  /// Waits for EOS or an error of a pipeline that plays already.
  std::string wait();

 private:
  Ref<GstElement> pipeline_;
};

/// Pushes pictures into an appsrc, in another thread than the caller's, and ends the stream.
class Feeder {
 public:
  Feeder(GstElement *appsrc, int n, std::function<Picture(int)> picture);
  ~Feeder();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The next sample of an appsink; null at EOS, on error, and after a timeout.
Ref<GstSample> pull_sample(GstElement *appsink);

/// Where the shared images are: the environment's CUDASCAN_TEST_DATA, or empty.
std::string data_file(const std::string &name);

/// Runs every test of a suite with backend=cpu and, where there is a device, with backend=cuda.
class BackendTest : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override;
  bool cuda() const { return std::string(GetParam()) == "cuda"; }
  /// A launch line of one cudanick on the backend of the test.
  std::string nick(const std::string &settings = "") const { return launch("cudanick", settings); }
  std::string launch(const std::string &element, const std::string &settings = "") const {
    return element + " backend=" + GetParam() + " " + settings + " ";
  }
};

#define INSTANTIATE_BACKENDS(Suite)                                                              \
  INSTANTIATE_TEST_SUITE_P(On, Suite, testing::Values("cpu", "cuda"),                            \
                           [](const testing::TestParamInfo<const char *> &info) -> std::string { \
                             return std::string(info.param) == "cpu" ? "Cpu" : "Cuda";           \
                           })

}  // namespace cudascan::elements
