// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// cudascan-view: shows an element at work on a camera, a file or a test picture, before and after
/// side by side, with its measurements as plots and its properties as controls. See --help.
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "picture.h"
#include "player.h"
#include "source.h"
#include "window.h"

namespace {

using namespace cudascan::view;

constexpr int kBadUsage = 2, kFailed = 1;
struct BadUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something to do some time after the start.
struct Action {
  double after;  // seconds
  std::string name, value;
};

struct Options {
  SourceOptions source;
  std::string element = cudascan::kDefaultElement, format = "GRAY8", picture, screenshot;
  Settings settings;
  std::vector<Action> actions;
  double divider = 0.5, seconds = 0;
  int frames = 0;
  bool stats = false;
};

void add_word(Options &o, const std::string &word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || g_file_test(word.c_str(), G_FILE_TEST_EXISTS)) {
    if (!o.source.file.empty()) throw BadUsage(word + ": give only one file");
    o.source.file = word;
  } else if (word.substr(0, equals) == "element") {
    o.element = word.substr(equals + 1);
  } else {
    o.settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
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

Options parse(int &argc, char **&argv) {
  Options o;
  gchar *camera = nullptr, *gige = nullptr, *test = nullptr, *launch = nullptr, *element = nullptr,
        *format = nullptr, *picture = nullptr, *screenshot = nullptr;
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
       "Video format of the element's frames (GRAY8)", "FORMAT"},
      {"divider", 'd', 0, G_OPTION_ARG_DOUBLE, &o.divider,
       "Position of the divider between before and after, 0 to 1 (0.5)", "SHARE"},
      {"picture", 'p', 0, G_OPTION_ARG_FILENAME, &picture,
       "Open no window: write the view to FILE.png and exit", "FILE"},
      {"screenshot", 0, 0, G_OPTION_ARG_FILENAME, &screenshot,
       "Write the window's contents to FILE.png at the end", "FILE"},
      {"frames", 'n', 0, G_OPTION_ARG_INT, &o.frames, "Exit after N frames", "N"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &o.seconds, "Exit after S seconds", "S"},
      {"do", 0, 0, G_OPTION_ARG_STRING_ARRAY, &actions,
       "Set a property, element or divider some seconds after the start; may be repeated",
       "S:NAME=VALUE"},
      {"stats", 0, 0, G_OPTION_ARG_NONE, &stats,
       "Print frames, times and CPU time as JSON at the end", nullptr},
      {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", nullptr},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, nullptr,
       "[FILE] [PROPERTY=VALUE ...]"},
      {}};
  g_autoptr(GOptionContext) context = g_option_context_new(nullptr);
  g_option_context_set_summary(
      context,
      "Shows an element at work, before and after side by side; the mouse moves the divider.\n"
      "FILE is a picture or a video; PROPERTY=VALUE sets properties of the element.");
  g_option_context_set_description(
      context,
      "Exit status: 0 success; 1 the source or the element failed; 2 wrong options.\n"
      "Without a display, --picture FILE.png writes what the window would show.");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  g_autoptr(GError) error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) throw BadUsage(error->message);
  if (version) {
    std::puts("cudascan-view " VERSION);
    std::exit(0);
  }
  const auto take = [](gchar *text) {
    const std::string result = text ? text : "";
    g_free(text);
    return result;
  };
  o.source.has_camera = camera;
  o.source.has_gige = gige;
  o.source.camera = take(camera);
  o.source.gige = take(gige);
  o.source.test = take(test);
  o.source.launch = take(launch);
  if (element) o.element = take(element);
  if (format) o.format = take(format);
  o.picture = take(picture);
  o.screenshot = take(screenshot);
  o.stats = stats;
  for (gchar **word = rest; word && *word; ++word) add_word(o, *word);
  for (gchar **action = actions; action && *action; ++action)
    o.actions.push_back(parse_action(*action));
  g_strfreev(rest);
  g_strfreev(actions);
  std::stable_sort(o.actions.begin(), o.actions.end(),
                   [](const Action &a, const Action &b) { return a.after < b.after; });
  if (!(o.divider >= 0 && o.divider <= 1)) throw BadUsage("--divider must be from 0 to 1");
  if (o.frames < 0) throw BadUsage("--frames must be 1 or more");
  if (!(o.seconds >= 0)) throw BadUsage("--seconds must be more than 0");
  if (gst_video_format_from_string(o.format.c_str()) == GST_VIDEO_FORMAT_UNKNOWN)
    throw BadUsage("--format " + o.format +
                   ": unknown video format; use GRAY8 or I420, for instance");
  return o;
}

/// Runs until there is a reason to stop.
class Session {
 public:
  Session(const Options &options, Player &player)
      : options_(options), player_(player), begin_(g_get_monotonic_time()) {
    for (const int signal : {SIGINT, SIGTERM})
      signals_.push_back(g_unix_signal_add(
          signal,
          [](gpointer self) -> gboolean {
            static_cast<Session *>(self)->stopped_ = true;
            return G_SOURCE_CONTINUE;
          },
          this));
  }
  ~Session() {
    for (const guint id : signals_) g_source_remove(id);
  }

  /// Runs the actions that are due.
  void act() {
    for (; next_ < options_.actions.size() && seconds() >= options_.actions[next_].after; ++next_) {
      const Action &action = options_.actions[next_];
      try {
        if (action.name == "element")
          player_.use(action.value);
        else if (action.name == "divider")
          player_.set_divider(g_ascii_strtod(action.value.c_str(), nullptr));
        else
          player_.set(action.name, action.value);
      } catch (const std::exception &error) {
        if (player_.on_trouble) player_.on_trouble(error.what());
      }
    }
  }
  bool over() const {
    const bool shows = player_.wipe().times().out > 0;
    const bool enough = (options_.frames > 0 && shows &&
                         player_.frames() >= static_cast<guint64>(options_.frames)) ||
                        (options_.seconds > 0 && seconds() >= options_.seconds);
    return stopped_ || (enough && next_ == options_.actions.size());
  }
  bool stopped() const { return stopped_; }
  double seconds() const { return (g_get_monotonic_time() - begin_) / 1e6; }

  void print_stats() const {
    const FrameTimes times = player_.times();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval &t) { return t.tv_sec * 1e3 + t.tv_usec / 1e3; };
    const double cpu = ms(usage.ru_utime) + ms(usage.ru_stime);
    g_autofree gchar *line = g_strescape(player_.launch_line().c_str(), nullptr);
    g_autofree gchar *latency =
        times.latency_ms.empty()
            ? g_strdup("null")
            : g_strdup_printf("{\"p50\": %.3f, \"p99\": %.3f, \"reported\": %.3f}",
                              percentile(times.latency_ms, 50), percentile(times.latency_ms, 99),
                              times.reported_ms);
    std::printf(
        "{\"element\": \"%s\", \"frames\": %llu, \"dropped\": %llu, \"frames_per_second\": %.2f, "
        "\"interval_ms\": {\"p50\": %.3f, \"p99\": %.3f}, \"element_ms\": {\"p50\": %.3f, \"p99\": "
        "%.3f}, "
        "\"latency_ms\": %s, \"cpu_ms_per_frame\": %.3f, \"divider\": %.4f, \"launch\": \"%s\"}\n",
        player_.element_name().c_str(), static_cast<unsigned long long>(player_.frames()),
        static_cast<unsigned long long>(times.in > times.out + 4 ? times.in - times.out : 0),
        times.interval_ms.empty() ? 0 : 1000 / std::max(percentile(times.interval_ms, 50), 1e-3),
        percentile(times.interval_ms, 50), percentile(times.interval_ms, 99),
        percentile(times.element_ms, 50), percentile(times.element_ms, 99), latency,
        player_.frames() ? cpu / static_cast<double>(player_.frames()) : 0, player_.divider(),
        line);
  }

 private:
  const Options &options_;
  Player &player_;
  const gint64 begin_;
  std::size_t next_ = 0;
  bool stopped_ = false;
  std::vector<guint> signals_;
};

GstElement *make_sink(const char *factory, const char *package) {
  GstElement *sink = gst_element_factory_make(factory, nullptr);
  if (!sink)
    throw std::runtime_error(std::string("GStreamer has no element ") + factory + "; install " +
                             package);
  return sink;
}

void start(Player &player, const Options &o) {
  player.set_divider(o.divider);
  player.use(o.element);
  for (const auto &[name, value] : o.settings) player.set(name, value);
}

int run_picture(const Options &o, const Source &source) {
  GstElement *sink = make_sink("fakesink", "gstreamer1.0-tools");
  g_object_set(sink, "sync", TRUE, "enable-last-sample", TRUE, nullptr);
  gst_object_ref_sink(sink);
  Player player(source, o.format, sink);
  std::string trouble;
  player.on_trouble = [&](const std::string &text) {
    if (!text.empty()) std::fprintf(stderr, "cudascan-view: %s\n", text.c_str());
    trouble = text;
  };
  start(player, o);
  Options limits = o;
  if (limits.frames == 0 && limits.seconds == 0) limits.frames = 5;
  Session session(limits, player);
  while (!session.over() && !player.failed()) {
    g_main_context_iteration(nullptr, FALSE);
    player.poll();
    session.act();
    g_usleep(10'000);
  }
  int status = player.failed() ? kFailed : 0;
  if (status == 0 && !session.stopped()) save_picture(player, sink, o.picture);
  if (o.stats) session.print_stats();
  gst_object_unref(sink);
  return status;
}

int run_window(const Options &o, const Source &source) {
  GstElement *sink = make_sink("gtksink", "gstreamer1.0-gtk3");
  GtkWidget *video = nullptr;
  g_object_get(sink, "widget", &video, nullptr);
  gst_object_ref_sink(sink);
  int status = 0;
  {
    Player player(source, o.format, sink);
    // If its widget is in no window when it starts, the sink opens a window itself.
    Window window(player, video);
    start(player, o);
    Session session(o, player);
    gint64 next = 0;
    while (!window.closed() && !session.over()) {
      g_main_context_iteration(nullptr, FALSE);
      const gint64 now = g_get_monotonic_time();
      if (now >= next) {
        session.act();
        window.update();
        next = now + 80'000;
      }
      if (!g_main_context_pending(nullptr)) g_usleep(2'000);
    }
    if (!o.screenshot.empty() && !window.closed()) {
      while (g_main_context_iteration(nullptr, FALSE)) {
      }
      if (!window.save(o.screenshot))
        throw std::runtime_error(o.screenshot + ": the picture cannot be written");
    }
    if (o.stats) session.print_stats();
    status = player.failed() ? kFailed : 0;
  }
  g_object_unref(video);
  gst_object_unref(sink);
  return status;
}

}  // namespace

int main(int argc, char **argv) try {
  const Options options = parse(argc, argv);
  const Source source = make_source(options.source);
  if (!options.picture.empty()) return run_picture(options, source);
  if (!gtk_init_check(&argc, &argv))
    throw std::runtime_error("there is no display; --picture FILE.png writes the view to a file");
  return run_window(options, source);
} catch (const BadUsage &error) {
  std::fprintf(stderr, "cudascan-view: %s\n", error.what());
  return kBadUsage;
} catch (const std::exception &error) {
  std::fprintf(stderr, "cudascan-view: %s\n", error.what());
  return kFailed;
}
