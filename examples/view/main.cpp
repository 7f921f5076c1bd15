// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// cudascan-view: shows elements at work on a camera, a file or a test picture, before and after
/// side by side, with their measurements as plots and their properties as controls. See --help.
#include <gtk/gtk.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>

#include "files.h"
#include "options.h"
#include "player.h"
#include "session.h"
#include "source.h"
#include "window.h"

namespace {

using namespace cudascan::view;

constexpr int kBadUsage = 2, kFailed = 1;
constexpr int kMostEvents = 200;
constexpr guint kPictureTick = 10, kWindowTick = 80;  // ms

/// Runs the main loop until `tick`, which it calls every so many milliseconds, returns false.
void run_loop(guint milliseconds, std::function<bool()> tick) {
  struct Loop {
    GMainLoop *loop;
    std::function<bool()> tick;
  } loop{g_main_loop_new(nullptr, FALSE), std::move(tick)};
  g_timeout_add(
      milliseconds,
      [](gpointer user) -> gboolean {
        auto &loop = *static_cast<Loop *>(user);
        if (loop.tick()) return G_SOURCE_CONTINUE;
        g_main_loop_quit(loop.loop);
        return G_SOURCE_REMOVE;
      },
      &loop);
  g_main_loop_run(loop.loop);
  g_main_loop_unref(loop.loop);
}

/// Elements, settings and a launch line that cannot be used are wrong options.
void start(Player &player, const Options &options, const Source &source) {
  if (cudascan::element_names().empty()) cudascan::check_element(options.chain[0].element);
  try {
    player.use(options.chain);
    player.open(source);
  } catch (const std::exception &error) {
    throw BadUsage(error.what());
  }
}

/// Ends at once if a camera does not stop: nothing else can stop its threads.
int finish(Player &player, int status) {
  if (player.stop()) return status;
  std::fflush(nullptr);
  _exit(status);
}

int run_picture(const Options &options, const Source &source) {
  if (source.launch.empty())
    throw std::runtime_error(no_camera_text() + " Give a FILE, or --test smpte.");
  Player player(options.format);
  player.on_trouble = [](const std::string &text) {
    if (!text.empty()) std::fprintf(stderr, "cudascan-view: %s\n", text.c_str());
  };
  start(player, options, source);
  Options limits = options;
  if (limits.frames == 0 && limits.seconds == 0) limits.frames = 5;
  double divider = options.divider;
  Session session(limits, player, [&](double share) { divider = share; });
  run_loop(kPictureTick, [&] {
    player.poll();
    session.act();
    return !session.over() && !player.failed();
  });
  if (!player.failed() && !session.stopped()) save_view(player, divider, options.picture);
  if (options.stats) session.print_stats(divider);
  return finish(player, player.failed() ? kFailed : 0);
}

int run_window(const Options &options, const Source &source) {
  Player player(options.format);
  start(player, options, source);
  int status = 0;
  {
    Window window(player, options.width, options.height);
    window.canvas().set_divider(options.divider);
    Session session(options, player, [&](double share) { window.canvas().set_divider(share); });
    run_loop(kWindowTick, [&] {
      session.act();
      window.update();
      if (!window.closed() && !session.over()) return true;
      window.end_dialogs();
      return false;
    });
    if (!options.screenshot.empty() && !window.closed()) {
      // Draws what is still to be drawn, but does not wait for what goes on for ever.
      for (int i = 0; i < kMostEvents && g_main_context_iteration(nullptr, FALSE); ++i) {
      }
      if (!window.save(options.screenshot))
        throw std::runtime_error(options.screenshot + ": the picture cannot be written");
    }
    if (options.stats) session.print_stats(window.canvas().divider());
    status = player.failed() ? kFailed : 0;
  }
  return finish(player, status);
}

}  // namespace

int main(int argc, char **argv) try {
  const Options options = parse_options(argc, argv);
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
