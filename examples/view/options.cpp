// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <gst/video/video.h>

#include "../elements.h"

namespace cudascan::view {
namespace {

constexpr const char *kSummary =
    "Shows elements at work, before and after side by side; the mouse moves the divider.\n"
    "FILE is a picture, a video, or settings that were saved. PROPERTY=VALUE sets properties of\n"
    "the element. \"! ELEMENT PROPERTY=VALUE ...\" appends another element.";
constexpr const char *kDescription =
    "Exit status: 0 success; 1 the source or an element failed; 2 wrong options.\n"
    "Without a display, --picture FILE.png writes what the window would show.";

/// The words that are no options: a file, settings, and more elements after "!".
void add_words(Options &o, gchar **words) {
  bool is_element = false;
  for (; words && *words; ++words) {
    const std::string word = *words;
    const std::size_t equals = word.find('=');
    if (is_element) {
      o.chain.push_back({word});
      is_element = false;
    } else if (word == "!") {
      is_element = true;
    } else if (is_chain_file(word)) {
      if (o.chain != Chain{{kDefaultElement}})
        throw BadUsage(word + ": give either a file of settings or elements");
      o.chain = read_chain(word);
    } else if (equals == std::string::npos || g_file_test(word.c_str(), G_FILE_TEST_EXISTS)) {
      if (!o.source.file.empty()) throw BadUsage(word + ": give only one file");
      o.source.file = word;
    } else if (word.substr(0, equals) == "element") {
      o.chain.back().element = word.substr(equals + 1);
    } else {
      o.chain.back().settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  if (is_element) throw BadUsage("after ! there must be the name of an element");
}

Action parse_action(const std::string &text) {
  char *end = nullptr;
  const double after = g_ascii_strtod(text.c_str(), &end);
  const std::string rest = *end == ':' ? end + 1 : "";
  const std::size_t equals = rest.find('=');
  if (end == text.c_str() || equals == std::string::npos || !(after >= 0))
    throw BadUsage("--do " + text + ": must be SECONDS:NAME=VALUE, for instance 2:window=25");
  return {after, rest.substr(0, equals), rest.substr(equals + 1)};
}

void parse_size(Options &o, const std::string &text) {
  int width = 0, height = 0, length = 0;
  if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &length) != 2 ||
      length != static_cast<int>(text.size()) || width < 640 || height < 480 || width > 32767 ||
      height > 32767)
    throw BadUsage("--size " + text + ": must be WIDTHxHEIGHT, from 640x480 on");
  o.width = width;
  o.height = height;
}

/// Takes the text that GLib has allocated, if there is any.
void take(gchar *text, std::string &target) {
  if (text) target = text;
  g_free(text);
}

void check(const Options &o) {
  if (!(o.divider >= 0 && o.divider <= 1)) throw BadUsage("--divider must be from 0 to 1");
  if (o.frames < 0) throw BadUsage("--frames must be 1 or more");
  if (!(o.seconds >= 0)) throw BadUsage("--seconds must be more than 0");
  if (gst_video_format_from_string(o.format.c_str()) == GST_VIDEO_FORMAT_UNKNOWN)
    throw BadUsage("--format " + o.format +
                   ": unknown video format; use GRAY8 or I420, for instance");
  const int sources = !o.source.file.empty() + o.source.has_camera + o.source.has_gige +
                      !o.source.test.empty() + !o.source.launch.empty();
  if (sources > 1) throw BadUsage("use only one of FILE, --camera, --gige, --test and --source");
}

}  // namespace

Options parse_options(int &argc, char **&argv) {
  Options o;
  gchar *camera = nullptr, *gige = nullptr, *test = nullptr, *launch = nullptr, *element = nullptr,
        *format = nullptr, *picture = nullptr, *screenshot = nullptr, *size = nullptr;
  gchar **rest = nullptr, **actions = nullptr;
  gboolean version = FALSE, stats = FALSE;
  const GOptionEntry entries[] = {
      {"camera", 'c', 0, G_OPTION_ARG_STRING, &camera,
       "A Video4Linux camera, for instance /dev/video0; the first camera is the default source",
       "DEVICE"},
      {"gige", 'g', 0, G_OPTION_ARG_STRING, &gige,
       "A GigE Vision camera, by name or address; \"\" is the first", "NAME"},
      {"test", 't', 0, G_OPTION_ARG_STRING, &test,
       "A pattern of videotestsrc, such as smpte or ball", "PATTERN"},
      {"source", 's', 0, G_OPTION_ARG_STRING, &launch, "Any source in the syntax of gst-launch-1.0",
       "LINE"},
      {"element", 'e', 0, G_OPTION_ARG_STRING, &element, "The first element (cudabinarize)",
       "NAME"},
      {"format", 'f', 0, G_OPTION_ARG_STRING, &format,
       "Video format of the elements' frames (GRAY8)", "FORMAT"},
      {"divider", 'd', 0, G_OPTION_ARG_DOUBLE, &o.divider,
       "Position of the divider between before and after, 0 to 1 (0.5)", "SHARE"},
      {"size", 0, 0, G_OPTION_ARG_STRING, &size, "Size of the window (1400x860)", "WIDTHxHEIGHT"},
      {"picture", 'p', 0, G_OPTION_ARG_FILENAME, &picture,
       "Open no window: write the view to FILE.png and exit", "FILE"},
      {"screenshot", 0, 0, G_OPTION_ARG_FILENAME, &screenshot,
       "Write the window's contents to FILE.png at the end", "FILE"},
      {"frames", 'n', 0, G_OPTION_ARG_INT, &o.frames, "Exit after N frames", "N"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &o.seconds, "Exit after S seconds", "S"},
      {"do", 0, 0, G_OPTION_ARG_STRING_ARRAY, &actions,
       "Do something some seconds after the start, see the manual; may be repeated",
       "S:NAME=VALUE"},
      {"stats", 0, 0, G_OPTION_ARG_NONE, &stats,
       "Print frames, times and CPU time as JSON at the end", nullptr},
      {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", nullptr},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, nullptr,
       "[FILE] [PROPERTY=VALUE ...] [! ELEMENT [PROPERTY=VALUE ...] ...]"},
      {}};
  g_autoptr(GOptionContext) context = g_option_context_new(nullptr);
  g_option_context_set_summary(context, kSummary);
  g_option_context_set_description(context, kDescription);
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  g_autoptr(GError) error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) throw BadUsage(error->message);
  if (version) {
    std::puts("cudascan-view " VERSION);
    std::exit(0);
  }
  o.chain = {{kDefaultElement}};
  o.source.has_camera = camera;
  o.source.has_gige = gige;
  o.stats = stats;
  take(camera, o.source.camera);
  take(gige, o.source.gige);
  take(test, o.source.test);
  take(launch, o.source.launch);
  take(element, o.chain[0].element);
  take(format, o.format);
  take(picture, o.picture);
  take(screenshot, o.screenshot);
  std::string size_text;
  take(size, size_text);
  g_auto(GStrv) words = rest;
  g_auto(GStrv) action_words = actions;
  if (!size_text.empty()) parse_size(o, size_text);
  add_words(o, words);
  for (gchar **action = actions; action && *action; ++action)
    o.actions.push_back(parse_action(*action));
  std::stable_sort(o.actions.begin(), o.actions.end(),
                   [](const Action &a, const Action &b) { return a.after < b.after; });
  check(o);
  return o;
}

}  // namespace cudascan::view
