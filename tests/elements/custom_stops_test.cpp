// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaswofilter stops while a compiler runs.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/elements/custom.h"

namespace cudascan::elements {
namespace {

/// A compiler that never ends, and the process ID of a child that it started.
class EndlessCompiler {
 public:
  EndlessCompiler() {
    std::filesystem::create_directories(folder_ / "work");
    std::ofstream(folder_ / "cxx")
        << "#!/bin/sh\nsleep 600 &\necho $! >" << (folder_ / "pid").string() << "\nwait\n";
    std::filesystem::permissions(folder_ / "cxx", std::filesystem::perms::owner_all);
    g_setenv("CUDASCAN_CXX", (folder_ / "cxx").c_str(), TRUE);
    g_setenv("TMPDIR", (folder_ / "work").c_str(), TRUE);
  }
  ~EndlessCompiler() {
    g_unsetenv("CUDASCAN_CXX");
    g_unsetenv("TMPDIR");
    EXPECT_TRUE(soon([&] { return left_nothing(); }));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  bool runs() const {
    std::ifstream file(folder_ / "pid");
    std::string pid;
    if (!(file >> pid)) return false;
    std::ifstream stat("/proc/" + pid + "/stat");
    const std::string status{std::istreambuf_iterator<char>(stat), {}};
    return !status.empty() && status[status.rfind(')') + 2] != 'Z';
  }
  bool left_nothing() const { return !runs() && std::filesystem::is_empty(folder_ / "work"); }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("endless-compiler-" + std::to_string(getpid()));
};

TEST(CustomFilterStops, WhileItsCodeIsCompiled) {
  const EndlessCompiler compiler;
  Filter filter("cudaswofilter backend=cpu cache-dir=\"\" expression=\"p + 4713\"");
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread stream(
      [&] { flow = filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10)); });
  EXPECT_TRUE(soon([&] { return compiler.runs(); }));
  const auto begin = std::chrono::steady_clock::now();
  gst_element_set_state(filter.element(), GST_STATE_NULL);
  stream.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20))
      << "the compiler would go on for a minute";
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  EXPECT_FALSE(filter.pop(GST_MESSAGE_ERROR));
  EXPECT_TRUE(soon([&] { return compiler.left_nothing(); }));
}

TEST(CustomFilterStops, WhenItIsFlushed) {
  const EndlessCompiler compiler;
  Filter filter("cudaswofilter backend=cpu cache-dir=\"\" expression=\"p + 4714\"");
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread stream(
      [&] { flow = filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10)); });
  EXPECT_TRUE(soon([&] { return compiler.runs(); }));
  gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
  stream.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  EXPECT_TRUE(compiler.runs()) << "the next frame needs the same code";
}

}  // namespace
}  // namespace cudascan::elements
