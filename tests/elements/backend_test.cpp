// SPDX-License-Identifier: LGPL-2.1-or-later
// Which backend runs, and what is said where there is no GPU.
#include <atomic>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

TEST(Backend, AutoIsTheGpuWhereThereIsOneAndTheCpuOtherwise) {
  Ref<GstElement> element(gst_element_factory_make("cudanick", nullptr));
  gst_object_ref_sink(element.get());
  std::atomic<int> notified = 0;
  g_signal_connect(element.get(), "notify::active-backend",
                   G_CALLBACK(+[](GObject *, GParamSpec *, gpointer count) {
                     ++*static_cast<std::atomic<int> *>(count);
                   }),
                   &notified);
  const std::string before = property_text(element.get(), "active-backend");
  GstHarness *harness = gst_harness_new_with_element(element.get(), "sink", "src");
  gst_harness_set_src_caps_str(harness, "video/x-raw,format=GRAY8,width=8,height=8,framerate=25/1");
  gst_buffer_unref(gst_harness_push_and_pull(
      harness, to_buffer(make_picture(GST_VIDEO_FORMAT_GRAY8, 8, 8)).release()));
  const std::string running = property_text(element.get(), "active-backend");
  EXPECT_EQ(running, have_gpu() ? "cuda" : "cpu");
  EXPECT_EQ(notified > 0, before != running) << before << " to " << running;
  gst_harness_teardown(harness);
}

TEST(Backend, AGpuThatIsMissingIsAnErrorAtReadyThatSaysSo) {
  if (have_gpu()) GTEST_SKIP() << "there is a CUDA device";
  Ref<GstElement> element(gst_element_factory_make("cudanick", nullptr));
  gst_object_ref_sink(element.get());
  Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cuda");
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  Ref<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  ASSERT_TRUE(message);
  const std::string text = error_text(message.get()).message;
  EXPECT_NE(text.find("backend = cuda"), std::string::npos) << text;
  EXPECT_GT(text.size(), 40u) << "the message does not say what is missing: " << text;
  gst_element_set_state(element.get(), GST_STATE_NULL);
  // After that the same element runs on the CPU.
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "auto");
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

TEST(CudaBackend, ADeviceThatIsNotThereIsAnError) {
  NEEDS_GPU();
  Ref<GstElement> element(gst_element_factory_make("cudanick", nullptr));
  gst_object_ref_sink(element.get());
  Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cuda");
  g_object_set(element.get(), "cuda-device-id", 99, nullptr);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  Ref<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  ASSERT_TRUE(message);
  const std::string text = error_text(message.get()).message;
  EXPECT_NE(text.find("99"), std::string::npos) << text;
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

}  // namespace
}  // namespace cudascan::elements
