// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "bench/bench.h"

namespace cudascan::bench {
namespace {

std::string quoted(const std::string &text, char quote_escape) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || (c == '\\' && quote_escape == '\\')) result += quote_escape;
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

struct Field {
  const char *name;
  double value;
};

std::vector<Field> numbers(const Row &row) {
  const double seconds = row.us * 1e-6;
  return {{"width", double(row.size.width)},
          {"height", double(row.size.height)},
          {"depth", double(row.size.depth)},
          {"us", row.us},
          {"warm_us", row.warm_us},
          {"single_graph_us", row.single_us},
          {"events_us", row.events_us},
          {"mpx_per_s", row.size.pixels() / seconds / 1e6},
          {"gb_per_s", row.bytes() / seconds / 1e9},
          {"copy_us", row.copy_us},
          {"x_copy", row.us / row.copy_us},
          {"goal_us", row.goal_us},
          {"peer_us", row.peer_us},
          {"floor_us", row.copy_us},
          {"value", row.value},
          {"baseline_us", row.baseline_us},
          {"published_us", row.published_us},
          {"published_speedup", row.published_speedup},
          {"speedup", row.speedup},
          {"ms_per_pixel", row.model.slope},
          {"ms_offset", row.model.offset},
          {"r2", row.model.r2},
          {"baseline_ms_per_pixel", row.baseline_model.slope},
          {"baseline_ms_offset", row.baseline_model.offset},
          {"baseline_r2", row.baseline_model.r2},
          {"published_ms_per_pixel", row.published_model.slope},
          {"published_ms_offset", row.published_model.offset},
          {"ratio", row.ratio},
          {"goal_ratio", row.goal_ratio}};
}

std::ofstream open(const std::string &path) {
  std::ofstream file(path);
  if (!file) throw Error("cannot write " + path);
  file << std::setprecision(7);
  return file;
}

}  // namespace

std::string Size::name() const {
  return std::to_string(width) + "x" + std::to_string(height) + " " +
         (depth == 32 ? std::string("float") : std::to_string(depth) + " bit");
}

std::string number(double value, int digits, const char *unit) {
  if (std::isnan(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f%s", digits, value, unit);
  return text;
}

std::string time_text(double us) {
  return number(us, us < 100 ? 2 : us < 10000 ? 1 : 0);
}

std::string goal_text(double value, const char *unit) {
  return number(value, 0) + " " + unit;
}

double median(std::vector<double> values) {
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

double time_host(const std::function<void()> &work, double budget_us, int repeat) {
  const auto once = [&] {
    const double begin = now_us();
    work();
    return now_us() - begin;
  };
  const std::clock_t begin = std::clock();
  const double first = once();
  if (first > budget_us && repeat == 0) {
    // Once is enough, unless the processor was busy with something else.
    const double busy_us = 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return busy_us < 0.9 * first ? std::min(first, once()) : first;
  }
  const int n =
      repeat > 0 ? repeat : static_cast<int>(std::clamp(budget_us / std::max(first, 1.), 3., 50.));
  std::vector<double> times;
  for (int i = 0; i < n; ++i) times.push_back(once());
  return median(std::move(times));
}

void Report::heading(const std::string &title, bool cuda) {
  cuda_ = cuda;
  std::printf("\n%s\n%-26s %-18s %10s", title.c_str(), "", "", cuda ? "cold us" : "us");
  if (cuda) std::printf(" %9s %9s %9s", "warm us", "1 in graph", "events");
  std::printf(" %9s %8s", "Mpx/s", "GB/s");
  if (cuda) std::printf(" %7s", "x copy");
  std::printf("\n");
}

void Report::add(const Row &row) {
  record(row);
  std::printf("%-26s %-18s", row.name.c_str(), row.size.name().c_str());
  if (!row.error.empty()) {
    std::printf(" FAILED: %s\n", row.error.c_str());
    std::fflush(stdout);
    return;
  }
  std::printf(" %10s", time_text(row.us).c_str());
  if (cuda_)
    std::printf(" %9s %9s %9s", time_text(row.warm_us).c_str(), time_text(row.single_us).c_str(),
                time_text(row.events_us).c_str());
  std::printf(" %9s %8s", number(row.size.pixels() / row.us, 0).c_str(),
              number(row.bytes() / row.us / 1e3, 1).c_str());
  if (cuda_) std::printf(" %7s", number(row.us / row.copy_us, 2).c_str());
  if (!std::isnan(row.goal_us))
    std::printf("  goal %s: %s", row.goal.c_str(), row.us <= row.goal_us ? "reached" : "MISSED");
  if (!std::isnan(row.peer_us))
    std::printf("  %s %s us: %sx", row.peer.c_str(), time_text(row.peer_us).c_str(),
                number(row.peer_us / row.us, 1).c_str());
  if (!row.note.empty()) std::printf("  (%s)", row.note.c_str());
  std::printf("\n");
  std::fflush(stdout);
}

void Report::record(const Row &row) {
  rows_.push_back(row);
  constexpr double kEveryUs = 5e6;
  if (!save_ || now_us() - saved_us_ < kEveryUs) return;
  save_();
  saved_us_ = now_us();
}

void Report::write_csv(const std::string &path) const {
  auto file = open(path);
  file << "section,name";
  for (const Field &field : numbers(Row())) file << ',' << field.name;
  file << ",peer,note,error\n";
  for (const Row &row : rows_) {
    file << quoted(row.section, '"') << ',' << quoted(row.name, '"');
    for (const Field &field : numbers(row)) {
      file << ',';
      if (std::isfinite(field.value)) file << field.value;
    }
    file << ',' << quoted(row.peer, '"') << ',' << quoted(row.note, '"') << ','
         << quoted(row.error, '"') << '\n';
  }
}

void Report::write_json(const std::string &path, const Machine &machine) const {
  auto file = open(path);
  file << "{\"machine\": {";
  for (const auto &[key, text] :
       {std::pair{"gpu", &machine.gpu}, std::pair{"cpu", &machine.cpu},
        std::pair{"driver", &machine.driver}, std::pair{"cuda", &machine.cuda},
        std::pair{"gstreamer", &machine.gstreamer}, std::pair{"date", &machine.date}})
    file << "\"" << key << "\": " << (text->empty() ? "null" : quoted(*text, '\\')) << ", ";
  if (machine.gpus > 0) file << "\"gpus\": " << machine.gpus << ", ";
  file << "\"cores\": " << machine.cores << "},\n\"rows\": [";
  const char *separator = "\n";
  for (const Row &row : rows_) {
    file << separator << "  {\"table\": " << quoted(row.table, '\\')
         << ", \"section\": " << quoted(row.section, '\\')
         << ", \"name\": " << quoted(row.name, '\\');
    for (const Field &field : numbers(row))
      if (std::isfinite(field.value)) file << ", \"" << field.name << "\": " << field.value;
    for (const auto &[key, text] :
         {std::pair{"backend", &row.backend}, std::pair{"operator", &row.op},
          std::pair{"series", &row.series}, std::pair{"parameter", &row.parameter},
          std::pair{"published", &row.published}, std::pair{"peer", &row.peer},
          std::pair{"note", &row.note}, std::pair{"error", &row.error}})
      if (!text->empty()) file << ", \"" << key << "\": " << quoted(*text, '\\');
    file << "}";
    separator = ",\n";
  }
  file << "\n]}\n";
}

int Report::failures() const {
  return static_cast<int>(
      std::count_if(rows_.begin(), rows_.end(), [](const Row &row) { return !row.error.empty(); }));
}

void print_spreads(const std::vector<Case> &cases, const std::vector<double> &times,
                   Report &report) {
  std::vector<std::string> done{""};
  for (const Case &group : cases) {
    if (std::find(done.begin(), done.end(), group.spread) != done.end()) continue;
    done.push_back(group.spread);
    double least = kUnknown, most = kUnknown;
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (cases[i].spread == group.spread) {
        least = std::fmin(least, times[i]);
        most = std::fmax(most, times[i]);
      }
    if (std::isnan(least)) continue;
    std::printf("%s: %s to %s us, max/min %s", group.spread.c_str(), time_text(least).c_str(),
                time_text(most).c_str(), number(most / least, 2).c_str());
    const auto print_goal = [](const std::string &goal, bool reached) {
      std::printf("  goal %s: %s", goal.c_str(), reached ? "reached" : "MISSED");
    };
    Row row;
    row.table = "spreads";
    row.section = "cuda";
    row.backend = "cuda";
    row.op = group.op;
    row.name = group.spread;
    row.size = group.size;
    row.us = most - least;
    row.goal_us = group.spread_goal_us;
    row.ratio = most / least;
    row.goal_ratio = group.spread_goal;
    report.record(row);
    if (!std::isnan(group.spread_goal))
      print_goal(number(group.spread_goal, 2), most / least <= group.spread_goal);
    if (!std::isnan(group.spread_goal_us))
      print_goal(goal_text(group.spread_goal_us, "us apart"), most - least <= group.spread_goal_us);
    std::printf("\n");
  }
}

}  // namespace cudascan::bench
