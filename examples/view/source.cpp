// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source.h"

#include <gio/gio.h>

#include <stdexcept>

namespace cudascan::view {
namespace {

/// Whether the file is a picture, judged by its name and first bytes.
bool is_picture(const std::string &path) {
  g_autofree gchar *start = nullptr;
  gsize size = 0;
  g_autoptr(GFile) file = g_file_new_for_path(path.c_str());
  if (g_autoptr(GFileInputStream) stream = g_file_read(file, nullptr, nullptr)) {
    start = static_cast<gchar *>(g_malloc(4096));
    g_input_stream_read_all(G_INPUT_STREAM(stream), start, 4096, &size, nullptr, nullptr);
  }
  g_autofree gchar *type =
      g_content_type_guess(path.c_str(), reinterpret_cast<const guchar *>(start), size, nullptr);
  return g_str_has_prefix(type, "image/");
}

constexpr const char *kCameras = "/dev/video";

bool has_camera() {
  g_autoptr(GDir) folder = g_dir_open("/dev", 0, nullptr);
  while (const gchar *name = folder ? g_dir_read_name(folder) : nullptr)
    if (g_str_has_prefix(("/dev/" + std::string(name)).c_str(), kCameras)) return true;
  return false;
}

}  // namespace

std::string quoted(const std::string &word) {
  const auto plain = [](unsigned char c) {
    return g_ascii_isalnum(c) || std::string("_-./:,+=@%").find(c) != std::string::npos;
  };
  bool all_plain = !word.empty();
  for (const char c : word) all_plain = all_plain && plain(c);
  if (all_plain) return word;
  g_autofree gchar *text = g_shell_quote(word.c_str());
  return text;
}

std::string Source::line() const {
  return launch + (device.empty() ? "" : " " + property + "=" + quoted(device));
}

Source file_source(const std::string &path) {
  if (!g_file_test(path.c_str(), G_FILE_TEST_IS_REGULAR))
    throw std::runtime_error(path + ": file not found");
  Source source;
  source.name = path;
  source.launch = "filesrc location=" + quoted(path) + " ! decodebin";
  source.is_picture = is_picture(path);
  if (source.is_picture)
    source.launch += " ! videoconvert ! imagefreeze is-live=true ! video/x-raw,framerate=15/1";
  return source;
}

Source test_source(const std::string &pattern) {
  Source source;
  source.launch = "videotestsrc is-live=true pattern=" + quoted(pattern) +
                  " ! video/x-raw,width=1280,height=720,framerate=30/1";
  return source;
}

std::string no_camera_text() {
  return "No camera was found: there is no " + std::string(kCameras) +
         "*. For a GigE Vision camera, start this program with --gige NAME.";
}

Source make_source(const SourceOptions &o) {
  if (!o.file.empty()) return file_source(o.file);
  if (!o.test.empty()) return test_source(o.test);
  Source source;
  if (o.has_gige)
    return {.launch = "aravissrc", .property = "camera-name", .device = o.gige, .is_live = true};
  if (!o.launch.empty())
    source.launch = o.launch;
  else if (o.has_camera || has_camera())
    source = {.launch = "v4l2src", .property = "device", .device = o.camera, .is_live = true};
  return source;
}

}  // namespace cudascan::view
