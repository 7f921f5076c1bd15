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

Source make_source(const SourceOptions &o) {
  const int asked =
      !o.file.empty() + o.has_camera + o.has_gige + !o.test.empty() + !o.launch.empty();
  if (asked > 1)
    throw std::runtime_error("use only one of FILE, --camera, --gige, --test and --source");
  Source source;
  if (!o.file.empty()) {
    if (!g_file_test(o.file.c_str(), G_FILE_TEST_IS_REGULAR))
      throw std::runtime_error(o.file + ": file not found");
    source.launch = "filesrc location=" + quoted(o.file) + " ! decodebin";
    source.is_picture = is_picture(o.file);
    if (source.is_picture)
      source.launch += " ! videoconvert ! imagefreeze is-live=true ! video/x-raw,framerate=15/1";
  } else if (o.has_gige) {
    source = {.launch = "aravissrc", .property = "camera-name", .device = o.gige, .is_live = true};
  } else if (!o.test.empty()) {
    source.launch = "videotestsrc is-live=true pattern=" + quoted(o.test) +
                    " ! video/x-raw,width=1280,height=720,framerate=30/1";
  } else if (!o.launch.empty()) {
    source.launch = o.launch;
  } else {
    source = {.launch = "v4l2src", .property = "device", .device = o.camera, .is_live = true};
  }
  return source;
}

}  // namespace cudascan::view
