// SPDX-License-Identifier: LGPL-2.1-or-later
// The measurements of figures 8 to 11 of Karas et al. as tables, for more lengths, angles and
// directions.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/line_mask.h"
#include "bench/linearopen_cases.h"

namespace cudascan::bench {
namespace {

constexpr int kLength = 41;    // of Karas et al.
constexpr double kAngle = 30;  // not a row, column or diagonal

struct Backend {
  std::string name;  ///< of the report's sections
  bool cuda;
  TimeCase time;
  double patience_us;  ///< longest time for one run; slower entries are left out
};

/// A row of a table.
struct Point {
  std::string label;
  LinearOpenParams params;
  Size size = k4k;
};

struct Column {
  std::string head;
  std::function<void(Point &)> change;  ///< adapts the row's parameters to the column
  bool peer = false;                    ///< NPP or OpenCV, not us
  /// On the GPU, the ratio to the time of a copy of the plane follows.
  bool beside_copy = false;
  /// The time for one direction follows.
  bool for_one = false;
  std::vector<double> us{};
  double us_of_work = 0;  ///< time of the last row, per unit of work
};

struct Table {
  std::string name;         ///< for --filter
  std::string title;        ///< what is measured
  std::string key;          ///< what changes from row to row
  std::string parameter{};  ///< the same as one word, for the files
  std::vector<Point> points;
  std::vector<Column> columns;
};

/// The time of the published algorithms and of OpenCV is proportional to this; for NPP, to the same
/// with the bounding box of the line in place of its pixels.
double work(const Column &column, const Point &point, bool cuda) {
  const double openings = point.size.pixels() * point.params.directions;
  if (!column.peer) return openings;
  if (!cuda) return openings * point.params.length;
  const LineMask mask = line_mask(point.params.length, point.params.angle);
  return openings * mask.width * mask.height;
}

/// Value of the parameter that changes from row to row.
double value_of(const Table &table, const Point &point) {
  if (table.parameter == "length") return point.params.length;
  if (table.parameter == "angle") return point.params.angle;
  if (table.parameter == "directions") return point.params.directions;
  return point.size.pixels();
}

Row measure(const Backend &backend, const Column &column, const Point &point) {
  Case c = linearopen_case(point.size, point.params);
  if (column.peer && backend.cuda)
    c.peer = NppLineOpening{point.params.length, point.params.angle};
  else if (column.peer)
    c.peer = opencv_openings(point.params);
  Row row = backend.time(c);
  if (column.peer) {
    row.name += ", " + row.peer;
    row.us = row.peer_us;
  }
  return row;
}

void print_head(const Table &table, const Backend &backend) {
  std::printf("\n%s, %s, us: %s\n%-10s", table.name.c_str(), backend.name.c_str(),
              table.title.c_str(), table.key.c_str());
  if (backend.cuda) std::printf(" %9s", "copy");
  for (const Column &column : table.columns) {
    std::printf(" %11s", column.head.c_str());
    if (column.beside_copy && backend.cuda) std::printf(" %6s", "x copy");
    if (column.for_one) std::printf(" %8s", "each");
  }
  std::printf("\n");
}

/// Measures one cell and updates the column's expected time; empty if it would take too long.
Row measure_cell(const Table &table, const Backend &backend, Column &column, const Point &point,
                 Report &report) {
  const double amount = work(column, point, backend.cuda);
  Row row;
  if (column.us_of_work * amount <= backend.patience_us) {
    row = measure(backend, column, point);
    row.section = table.name + ", " + row.section;
    row.table = table.name;
    row.series = column.head == "us" ? "opening" : column.head;
    row.parameter = table.parameter;
    row.value = value_of(table, point);
    if (!std::isnan(row.us)) column.us_of_work = row.us / amount;
    if (!std::isnan(row.us) || !row.error.empty()) report.record(row);
  }
  column.us.push_back(row.us);
  return row;
}

/// Measures and prints a table, row by row.
void fill(Table &table, const Backend &backend, Report &report) {
  print_head(table, backend);
  for (const Point &point : table.points) {
    std::string line;
    const auto print = [&](int width, const std::string &text) {
      line += ' ' + std::string(std::max(width - static_cast<int>(text.size()), 0), ' ') + text;
    };
    for (Column &column : table.columns) {
      Point mine = point;
      if (column.change) column.change(mine);
      const Row row = measure_cell(table, backend, column, mine, report);
      if (backend.cuda && &column == &table.columns.front()) print(9, time_text(row.copy_us));
      print(11, row.error.empty() ? time_text(row.us) : "FAILED");
      if (column.beside_copy && backend.cuda) print(6, number(row.us / row.copy_us, 1));
      if (column.for_one) print(8, time_text(row.us / mine.params.directions));
    }
    std::printf("%-10s%s\n", point.label.c_str(), line.c_str());
    std::fflush(stdout);
  }
}

/// @param goal  of the GPU
void print_ratio(const std::string &what, double ratio, double goal, const Backend &backend,
                 Report &report) {
  if (std::isnan(ratio)) return;
  if (backend.cuda) {
    Row row;
    row.table = "spreads";
    row.section = "cuda";
    row.backend = "cuda";
    row.op = "linearopen";
    row.name = "linearopen, " + what;
    row.size = k4k;
    row.ratio = ratio;
    row.goal_ratio = goal;
    report.record(row);
  }
  std::printf("%s: %s", what.c_str(), number(ratio, 2).c_str());
  if (backend.cuda)
    std::printf("  goal %s: %s", number(goal, 1).c_str(), ratio <= goal ? "reached" : "MISSED");
  std::printf("\n");
}

Column at(double angle) {
  return {number(angle, 0) + " deg", [=](Point &p) { p.params.angle = angle; }, false, true};
}

/// @param angle  kUnknown = the angle of the row
Column of_16_bit(double angle = kUnknown) {
  return {"16 bit", [=](Point &p) {
            p.size.depth = 16;
            if (!std::isnan(angle)) p.params.angle = angle;
          }};
}

/// The published algorithms and the other library, at the angle of the row or at `angle`.
void add_others(std::vector<Column> &columns, const Backend &backend, bool with_peer,
                double angle = kUnknown) {
  const auto turn = [=](Point &p) {
    if (!std::isnan(angle)) p.params.angle = angle;
  };
  for (const auto algorithm : kPublishedOpenings) {
    if (algorithm == LinearOpenAlgorithm::bartovsky_zones && !backend.cuda) continue;  // the same
    columns.push_back({name(algorithm), [=](Point &p) {
                         turn(p);
                         p.params.algorithm = algorithm;
                       }});
  }
  if (with_peer) columns.push_back({backend.cuda ? "NPP" : "OpenCV", turn, true});
}

LinearOpenParams line(int length, double angle = kAngle, int directions = 1) {
  LinearOpenParams params;
  params.length = length;
  params.angle = angle;
  params.directions = directions;
  return params;
}

Table against_length(const Options &options, const Backend &backend) {
  Table table{"linearopen against length",
              "one opening of " + k4k.name() + "; others at 30 degrees",
              "length",
              "length",
              {},
              {}};
  for (const int length : {2, 3, 5, 9, 15, 16, 17, 25, 41, 81, 161, 321, 640, 1000})
    if (!options.quick || length == 3 || length == kLength || length == 1000)
      table.points.push_back({std::to_string(length), line(length)});
  for (const double angle : {0., kAngle, 90.}) table.columns.push_back(at(angle));
  table.columns.push_back(of_16_bit(kAngle));
  add_others(table.columns, backend, true, kAngle);
  return table;
}

Table against_angle(const Options &options, const Backend &backend) {
  Table table{"linearopen against angle",
              "one opening of length 41, " + k4k.name(),
              "degrees",
              "angle",
              {},
              {}};
  for (int angle = 0; angle < 180; ++angle)
    if (options.quick ? angle % 30 == 0 : angle % 5 == 0 || std::abs(angle - 45) == 1)
      table.points.push_back({std::to_string(angle), line(kLength, angle)});
  table.columns.push_back({"us", {}, false, true});
  table.columns.push_back(of_16_bit());
  add_others(table.columns, backend, true);
  return table;
}

Table against_directions(const Options &options, const Backend &backend) {
  Table table{"linearopen against directions",
              "length 41, " + kTexture.name() + " unless stated otherwise",
              "directions",
              "directions",
              {},
              {}};
  for (const int n : {1, 2, 4, 8, 18, 36, 90, 180, 360})
    if (!options.quick || n == 1 || n == 18 || n == 180)
      table.points.push_back({std::to_string(n), line(kLength, 0, n), kTexture});
  table.columns.push_back({"us", {}, false, true, true});
  table.columns.push_back(
      {"orientation", [](Point &p) { p.params.output = LinearOpenOutput::orientation; }});
  table.columns.push_back({"3840x2160", [](Point &p) { p.size = k4k; }, false, false, true});
  table.columns.push_back(of_16_bit());
  add_others(table.columns, backend, !backend.cuda);
  return table;
}

Table against_size(const Options &options, const Backend &backend) {
  Table table{"linearopen against size",
              "one opening of length 41; others at 30 degrees",
              "size",
              "pixels",
              {},
              {}};
  for (const Size size : {kTexture, Size{1280, 720, 8}, Size{1920, 1080, 8}, Size{2560, 1440, 8},
                          k4k, Size{5120, 2880, 8}})
    if (!options.quick || size == kTexture || size == k4k)
      table.points.push_back(
          {std::to_string(size.width) + "x" + std::to_string(size.height), line(kLength), size});
  for (const double angle : {0., kAngle, 90.}) table.columns.push_back(at(angle));
  table.columns.push_back(of_16_bit(kAngle));
  table.columns.push_back({"180 dirs", [](Point &p) {
                             p.params.angle = 0;
                             p.params.directions = 180;
                           }});
  add_others(table.columns, backend, true, kAngle);
  return table;
}

void print_tables(const Options &options, const Backend &backend, Report &report) {
  const auto wanted = [&](const Table &table) { return options.wants(table.name); };
  if (Table table = against_length(options, backend); wanted(table)) {
    fill(table, backend, report);
    const auto row_of = [&](const char *label) {
      return std::find_if(table.points.begin(), table.points.end(),
                          [&](const Point &p) { return p.label == label; }) -
             table.points.begin();
    };
    for (const Column &column : table.columns)
      if (column.beside_copy)
        print_ratio("length 1000 over length 41, " + column.head,
                    column.us[row_of("1000")] / column.us[row_of("41")], 2, backend, report);
  }
  if (Table table = against_angle(options, backend); wanted(table)) {
    fill(table, backend, report);
    double least = kUnknown, most = kUnknown;
    for (const double us : table.columns.front().us) {
      least = std::fmin(least, us);
      most = std::fmax(most, us);
    }
    print_ratio("worst over best angle", most / least, 1.5, backend, report);
  }
  if (Table table = against_directions(options, backend); wanted(table))
    fill(table, backend, report);
  if (Table table = against_size(options, backend); wanted(table)) fill(table, backend, report);
}

}  // namespace

/// Openings along lines: time against length, angle, number of directions, size of the image.
void linearopen_tables(const Options &options, bool with_cuda, Report &report) {
  if (with_cuda)
    if (const TimeCase time = cuda_timer(options))
      print_tables(options, {"CUDA", true, time, options.patience_us(true)}, report);
  if (options.cpu)
    print_tables(options, {"one CPU core", false, cpu_timer(options), options.patience_us()},
                 report);
}

}  // namespace cudascan::bench
