// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.h"

#include <glib-unix.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "files.h"
#include "plots.h"

namespace cudascan::view {
namespace {

double number_of(const std::string &text) {
  return g_ascii_strtod(text.c_str(), nullptr);
}

/// The place before the name of a property, such as in 2.window; the first without one.
std::size_t split_place(std::string &name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return 0;
  const auto place = static_cast<std::size_t>(std::max(number_of(name.substr(0, dot)), 1.0));
  name.erase(0, dot + 1);
  return place - 1;
}

}  // namespace

Session::Session(const Options &options, Player &player, std::function<void(double)> set_divider)
    : options_(options), player_(player), set_divider_(std::move(set_divider)) {
  for (const int signal : {SIGINT, SIGTERM})
    signals_.push_back(g_unix_signal_add(
        signal,
        [](gpointer self) -> gboolean {
          static_cast<Session *>(self)->stopped_ = true;
          return G_SOURCE_CONTINUE;
        },
        this));
}

Session::~Session() {
  for (const guint id : signals_) g_source_remove(id);
}

void Session::run(const Action &action) {
  std::string name = action.name;
  const std::size_t place = split_place(name);
  if (name == "element")
    player_.use(place, action.value);
  else if (name == "add")
    player_.add(action.value);
  else if (name == "remove")
    player_.remove(static_cast<std::size_t>(std::max(number_of(action.value), 1.0)) - 1);
  else if (name == "preset")
    player_.load_preset(place, action.value);
  else if (name == "reset")
    player_.reset(place, action.value);
  else if (name == "open")
    open(player_, action.value);
  else if (name == "pause")
    player_.pause(action.value == "true");
  else if (name == "step")
    player_.step();
  else if (name == "save")
    save(player_, action.value);
  else if (name == "divider")
    set_divider_(number_of(action.value));
  else
    player_.set(place, name, action.value);
}

void Session::act() {
  for (; next_ < options_.actions.size() && seconds() >= options_.actions[next_].after; ++next_) {
    try {
      run(options_.actions[next_]);
    } catch (const std::exception &error) {
      if (player_.on_trouble) player_.on_trouble(error.what());
    }
  }
}

bool Session::over() const {
  const bool enough = (options_.frames > 0 && player_.frame() &&
                       player_.frames() >= static_cast<guint64>(options_.frames)) ||
                      (options_.seconds > 0 && seconds() >= options_.seconds);
  return stopped_ || (enough && next_ == options_.actions.size());
}

void Session::print_stats(double divider) const {
  const FrameTimes times = player_.times();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval &t) { return t.tv_sec * 1e3 + t.tv_usec / 1e3; };
  const double cpu = ms(usage.ru_utime) + ms(usage.ru_stime);
  std::string elements;
  for (const Stage &stage : player_.chain())
    elements += (elements.empty() ? "" : " ! ") + stage.element;
  g_autofree gchar *line = g_strescape(player_.launch_line().c_str(), nullptr);
  g_autofree gchar *latency =
      times.latency_ms.empty()
          ? g_strdup("null")
          : g_strdup_printf("{\"p50\": %.3f, \"p99\": %.3f, \"reported\": %.3f}",
                            percentile(times.latency_ms, 50), percentile(times.latency_ms, 99),
                            times.reported_ms);
  const auto frame = player_.frame();
  std::printf(
      "{\"element\": \"%s\", \"frames\": %llu, \"dropped\": %llu, \"frames_per_second\": %.2f, "
      "\"interval_ms\": {\"p50\": %.3f, \"p99\": %.3f}, \"element_ms\": {\"p50\": %.3f, \"p99\": "
      "%.3f}, "
      "\"latency_ms\": %s, \"cpu_ms_per_frame\": %.3f, \"divider\": %.4f, \"position_ms\": %lld, "
      "\"launch\": \"%s\"}\n",
      elements.c_str(), static_cast<unsigned long long>(player_.frames()),
      static_cast<unsigned long long>(times.in > times.out + 4 ? times.in - times.out : 0),
      times.interval_ms.empty() ? 0 : 1000 / std::max(percentile(times.interval_ms, 50), 1e-3),
      percentile(times.interval_ms, 50), percentile(times.interval_ms, 99),
      percentile(times.element_ms, 50), percentile(times.element_ms, 99), latency,
      player_.frames() ? cpu / static_cast<double>(player_.frames()) : 0, divider,
      frame && GST_CLOCK_TIME_IS_VALID(frame->stream_time())
          ? static_cast<long long>(frame->stream_time() / GST_MSECOND)
          : -1,
      line);
}

}  // namespace cudascan::view
