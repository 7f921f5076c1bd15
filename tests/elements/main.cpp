// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs the element tests. GST_PLUGIN_PATH names the folder of the plugin. With GST_TRACERS=leaks,
/// an object that is alive at the end is a failure.
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

void init_gstreamer(int *argc, char ***argv) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // GStreamer's plugin scanner, another process, cannot load a plugin that was built with a
  // sanitizer: it scans the stock plugins, and ours are scanned in this process.
  const std::string path = g_getenv("GST_PLUGIN_PATH_1_0") ? g_getenv("GST_PLUGIN_PATH_1_0") : "";
  g_unsetenv("GST_PLUGIN_PATH_1_0");
  gst_init(argc, argv);
  gst_registry_fork_set_enabled(FALSE);
  gst_registry_scan_path(gst_registry_get(), path.c_str());
#else
  gst_init(argc, argv);
#endif
}

constexpr int kSkipped = 77;  ///< Meson's exit status for a skipped test

/// Prints the objects that the leaks tracer finds alive, and returns their number.
guint living_objects() {
  guint n = 0;
  GList *tracers = gst_tracing_get_active_tracers();
  for (GList *item = tracers; item; item = item->next) {
    if (g_strcmp0(G_OBJECT_TYPE_NAME(item->data), "GstLeaksTracer") != 0) continue;
    GstStructure *living = nullptr;
    g_signal_emit_by_name(item->data, "get-live-objects", &living);
    const GValue *list = gst_structure_get_value(living, "live-objects-list");
    for (guint i = 0; i < gst_value_list_get_size(list); ++i, ++n) {
      const GstStructure *one = gst_value_get_structure(gst_value_list_get_value(list, i));
      g_autofree char *text = gst_structure_to_string(one);
      std::fprintf(stderr, "leaked: %s\n", text);
    }
    gst_structure_free(living);
  }
  g_list_free_full(tracers, gst_object_unref);
  return n;
}

}  // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  init_gstreamer(&argc, &argv);
  GstElementFactory *factory = gst_element_factory_find("cudanick");
  if (!factory) {
    std::fprintf(stderr,
                 "GStreamer does not find cudanick; GST_PLUGIN_PATH must name its folder\n");
    return 1;
  }
  gst_object_unref(factory);

  const int failed = RUN_ALL_TESTS();
  // In GStreamer 1.22 a streaming thread drops its reference to the task a moment after the join.
  // Wait for the threads, or the tracer may find such a task alive.
  gst_task_cleanup_all();
  if (const guint n = living_objects()) {
    std::fprintf(stderr, "%u objects leaked\n", n);
    return 1;
  }
  const auto *result = testing::UnitTest::GetInstance();
  return !failed && result->successful_test_count() == 0 && result->skipped_test_count() > 0
             ? kSkipped
             : failed;
}
