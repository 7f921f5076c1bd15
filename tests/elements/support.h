// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the element tests: pictures, the expected result of an element, an element between two
/// unlinked pads, and pipelines.
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
/// Owns one reference to an object.
template <typename T>
using Ref = std::unique_ptr<T, Release>;

/// Whether a CUDA device can be used. With REQUIRE_GPU=1, a missing device is a failure.
bool have_gpu();

/// Ends the test as skipped, or as failed under REQUIRE_GPU=1, when an element is not installed.
#define NEEDS_ELEMENTS(...)                                                       \
  if (const char *missing = ::cudascan::elements::first_missing({__VA_ARGS__})) { \
    if (::cudascan::elements::gpu_required())                                     \
      FAIL() << "the element " << missing << " is not installed";                 \
    GTEST_SKIP() << "the element " << missing << " is not installed";             \
  }

/// Ends the test as skipped, or as failed under REQUIRE_GPU=1, when there is no CUDA device.
#define NEEDS_GPU()                                                                \
  if (!::cudascan::elements::have_gpu()) {                                         \
    if (::cudascan::elements::gpu_required()) FAIL() << "there is no CUDA device"; \
    GTEST_SKIP() << "there is no CUDA device";                                     \
  }

/// The names of the plugin's elements in the registry.
std::vector<std::string> all_elements();

const char *first_missing(std::initializer_list<const char *> factories);
bool gpu_required();

/// A frame as numbers: the samples as they are stored, by component, without padding.
struct Picture {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  int width = 0;
  int height = 0;
  std::vector<std::vector<std::uint16_t>> components;
  bool full_range = false;  ///< for YUV: the range is full, not limited

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
  /// The share of luma samples that are 0.
  double black_ratio() const;
};

/// Uneven paper with dark strokes, flat areas, both extremes and noise. Each seed gives a different
/// picture.
Picture make_picture(GstVideoFormat format, int width, int height, unsigned seed = 1);

/// The expected result of an element for a picture, computed by the kernel library on the CPU.
/// @param cpu  holds the history of earlier frames, if there is one
template <typename Params>
Picture expected(const Picture &in, const Params &params,
                 GstVideoFormat out_format = GST_VIDEO_FORMAT_UNKNOWN,
                 typename Params::Report * = nullptr, Cpu *cpu = nullptr);

/// Success if the pictures are equal; otherwise describes the first difference.
testing::AssertionResult same(const Picture &result, const Picture &expected);

struct Layout {
  int row_padding = 0;    ///< samples added to the rows of every plane
  int plane_padding = 0;  ///< bytes between two planes, and before the first
  bool split = false;     ///< each plane in a memory of its own
  int row_bytes = 0;      ///< bytes added to the rows of every plane, also in parts of samples
  bool upwards = false;   ///< the last row comes first in memory
  int pieces = 1;         ///< memories that the buffer is divided into, anywhere
};

/// A frame in system memory. A GstVideoMeta describes a layout that differs from GStreamer's
/// default.
Ref<GstBuffer> to_buffer(const Picture &picture, const Layout &layout = {});
/// Writes a picture into a buffer with any memory layout.
void fill(GstBuffer *buffer, const Picture &picture);
/// Reads a frame through the CPU from memory of any kind.
Picture to_picture(GstBuffer *buffer, const GstCaps *caps);
Picture to_picture(GstSample *sample);

inline constexpr int kFps = 25;
inline constexpr GstClockTime kFrameTime = GST_SECOND / kFps;

Ref<GstCaps> make_caps(GstVideoFormat format, int width, int height, const char *feature = nullptr);
Ref<GstCaps> make_caps(const Picture &picture, const char *feature = nullptr);
/// Caps that offer the format only in the given memory, as in the pad's template.
std::vector<GstVideoFormat> template_formats(const char *factory, GstPadDirection direction,
                                             const char *feature = nullptr);
inline constexpr const char *kCudaMemory = "memory:CUDAMemory";

/// The parts of an error message: the text for the user, and the debug information.
struct ErrorText {
  std::string message, debug;
  std::string all() const { return message + "\n" + debug; }
};
ErrorText error_text(GstMessage *message);

/// An element, or a chain of elements, between two unlinked pads, in PLAYING.
class Filter {
 public:
  /// @param launch  as for gst-launch-1.0; element() is the first element of the plugin in it
  /// @param sink_caps  the caps of the sink pad after it, any if empty
  explicit Filter(const std::string &launch, const std::string &sink_caps = "");
  ~Filter();
  Filter(const Filter &) = delete;
  Filter &operator=(const Filter &) = delete;

  GstElement *element() const { return element_.get(); }
  GstHarness *harness() const { return harness_; }
  Ref<GstElement> find(const char *name) const;

  void set_caps(const GstCaps *caps);
  GstFlowReturn push(Ref<GstBuffer> buffer) { return gst_harness_push(harness_, buffer.release()); }
  /// The next result; null if there is none.
  Ref<GstBuffer> pull();
  /// Discards all output.
  void pull_all() {
    while (gst_harness_buffers_in_queue(harness_) > 0) pull();
  }
  Ref<GstCaps> output_caps() const {
    return Ref<GstCaps>(gst_pad_get_current_caps(harness_->sinkpad));
  }

  /// Pushes a picture and returns the result. If there is none, fails the test and returns an empty
  /// picture.
  Picture process(const Picture &picture, const Layout &layout = {});
  /// Pushes a picture and returns the flow.
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
  Picture shape_;  ///< the size and format of the current caps; has no components
  guint64 frames_ = 0;
};

/// Calls `call` for each notification of a property, in the notifying thread, while this object
/// exists.
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

/// The value of a property as text; for an enum, the nick.
std::string property_text(GstElement *element, const char *property);
guint64 stat(GstElement *element, const char *field);

/// A pipeline. The destructor sets its state to NULL.
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
  /// Fails the test if the state is not reached in time.
  void reach(GstState state);
  /// Plays until EOS or an error. Returns the text of the error, empty for EOS. Fails the test if
  /// neither arrives. The pipeline stays in its state.
  std::string play();
  /// The same for a pipeline that plays already.
  std::string wait();

 private:
  Ref<GstElement> pipeline_;
};

/// Pushes pictures into an appsrc in a thread of its own, then ends the stream.
class Feeder {
 public:
  Feeder(GstElement *appsrc, int n, std::function<Picture(int)> picture);
  ~Feeder();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The next sample of an appsink; null at EOS, after an error, and after a timeout.
Ref<GstSample> pull_sample(GstElement *appsink);

/// The path of a shared image in the folder CUDASCAN_TEST_DATA; empty if that is not set.
std::string data_file(const std::string &name);

/// Runs every test of a suite with backend=cpu and, if there is a device, with backend=cuda.
class BackendTest : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override;
  bool cuda() const { return std::string(GetParam()) == "cuda"; }
  /// A launch line of one cudanick with the backend of the test.
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
