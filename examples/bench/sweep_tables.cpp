// SPDX-License-Identifier: LGPL-2.1-or-later
// Time against the window and against the frame size, 8 and 16 bits, compared with a copy of the
// plane and with other libraries.
#include <cmath>
#include <cstdio>
#include <functional>

#include "bench/operator_cases.h"
#include "bench/paper.h"
#include "bench/swofilter_cases.h"

namespace cudascan::bench {
namespace {

struct Series {
  std::string name;
  std::function<Case(double value, bool cuda)> make;
};

struct Sweep {
  std::string name;       ///< for --filter
  std::string parameter;  ///< "window" or "pixels"
  std::vector<double> values;
  std::vector<Series> series;
};

constexpr Size kSizes[] = {{640, 640, 8},   {1280, 720, 8},  {1920, 1080, 8}, {2560, 1440, 8},
                           {3840, 2160, 8}, {5120, 2880, 8}, {7680, 4320, 8}};

Size size_of(double pixels, int depth) {
  for (Size size : kSizes)
    if (size.pixels() == pixels) {
      size.depth = depth;
      return size;
    }
  throw Error("unknown size");
}

Sweep nick_against_window(const Options &options) {
  Sweep sweep{"nick against window", "window", {}, {}};
  for (const int window : {3, 5, 9, 15, 25, 33, 49, 75, 101, 151, 201, 255, 511, 1023})
    if (!options.quick || window == 3 || window == 15 || window == 255)
      sweep.values.push_back(window);
  const auto add = [&](const std::string &name, NickMethod method, Size size, bool peer) {
    sweep.series.push_back({name, [=](double value, bool cuda) {
                              const int window = static_cast<int>(value);
                              Case c = nick_case(size, window, method);
                              if (peer) c.peer = nick_peer(cuda, size, window, method);
                              return c;
                            }});
  };
  add("nick, 8 bit", NickMethod::nick, k4k, true);
  add("nick, 16 bit", NickMethod::nick, k4k16, false);
  add("sauvola, 8 bit", NickMethod::sauvola, k4k, false);
  return sweep;
}

/// @param make  makes a case of a size; the case has its peer for each backend
Sweep against_size(const Options &options, const std::string &name,
                   const std::function<Case(Size, bool cuda)> &make) {
  Sweep sweep{name + " against size", "pixels", {}, {}};
  for (const Size size : kSizes)
    if (!options.quick || size.width == 640 || size.width == 1920)
      sweep.values.push_back(size.pixels());
  for (const int depth : {8, 16})
    sweep.series.push_back({std::to_string(depth) + " bit", [=](double pixels, bool cuda) {
                              return make(size_of(pixels, depth), cuda);
                            }});
  return sweep;
}

Sweep swofilter_against_size(const Options &options) {
  const auto with = [](Size size, bool cuda, SwoFilterOperator op, int window) {
    const SwoFilterParams params = swofilter(op, window);
    Case c = swofilter_case(size, params);
    if (size.depth == 8) c.peer = cuda ? npp_window(params) : opencv_window(params);
    return c;
  };
  Sweep sweep{"swofilter against size", "pixels", {}, {}};
  for (const auto &[op, window] :
       {std::pair{SwoFilterOperator::minimum, 15}, std::pair{SwoFilterOperator::mean, 15},
        std::pair{SwoFilterOperator::median, 5}}) {
    const auto make = [=, op = op, window = window](Size size, bool cuda) {
      return with(size, cuda, op, window);
    };
    const Sweep one = against_size(options, "", make);
    sweep.values = one.values;
    for (Series series : one.series) {
      series.name = std::string(name(op)) + " " + std::to_string(window) + ", " + series.name;
      sweep.series.push_back(series);
    }
  }
  return sweep;
}

/// The setting that decides most about the time, for operators of each kind.
std::vector<Sweep> swofilter_against_shape(const Options &options) {
  using Op = SwoFilterOperator;
  std::vector<Sweep> sweeps;
  for (const Op op : {Op::minimum, Op::mean, Op::median, Op::alpha_trimmed_mean, Op::mode,
                      Op::directional_median, Op::recursive_erode}) {
    Sweep sweep{
        std::string("swofilter ") + name(op) + " against window and shape", "window", {}, {}};
    for (const int window : {3, 5, 9, 15, 33, 63, 99, 127, 255})
      if (!options.quick || window == 3 || window == 15) sweep.values.push_back(window);
    for (const Size size : {k4k, k4k16})  // in this order, so that pictures are made less often
      for (const char *shape : {"rectangle", "ellipse", "cross"}) {
        if (op == Op::directional_median && shape != std::string("rectangle")) continue;
        sweep.series.push_back({std::string(shape) + ", " + std::to_string(size.depth) + " bit",
                                [=](double window, bool) {
                                  SwoFilterParams params = swofilter(op, static_cast<int>(window));
                                  params.shape = shape;
                                  Case c = swofilter_case(size, params);
                                  c.content = Content::natural;
                                  return c;
                                }});
      }
    sweeps.push_back(sweep);
  }
  return sweeps;
}

/// One growing series. It ends when a time exceeds the patience; a peer that would take too long is
/// left out before.
struct Column {
  const Series *series;
  double us = 0, peer_us = 0, value = 1;

  Row measure(const Sweep &sweep, const Backend &backend, double at, double patience_us) {
    Case c = series->make(at, backend.cuda);
    const double growth = sweep.parameter == "window" ? (at * at) / (value * value) : at / value;
    if (peer_us * growth > patience_us) c.peer = {};
    Row row = backend.time(c);
    if (!std::isnan(row.peer_us)) {
      peer_us = row.peer_us;
      value = at;
    }
    if (!std::isnan(row.us)) us = row.us;
    row.section = sweep.name + ", " + row.section;
    row.table = sweep.name;
    row.series = series->name;
    row.parameter = sweep.parameter;
    row.value = at;
    return row;
  }
};

void print(const Sweep &sweep, const Options &options, const Backend &backend, Report &report) {
  std::printf("\n%s, %s, us; after each, the other library's time\n%-12s", sweep.name.c_str(),
              backend.name.c_str(), sweep.parameter.c_str());
  for (const Series &series : sweep.series) std::printf(" %20s %10s", series.name.c_str(), "");
  std::printf(" %10s\n", "copy");
  std::vector<Column> columns;
  for (const Series &series : sweep.series) columns.push_back({&series});
  for (const double value : sweep.values) {
    std::printf("%-12.0f", value);
    double copy_us = kUnknown;
    for (Column &column : columns) {
      const double patience_us = options.patience_us(backend.cuda);
      if (column.us > patience_us) {
        std::printf(" %20s %10s", "-", "");
        continue;
      }
      const Row row = column.measure(sweep, backend, value, patience_us);
      report.record(row);
      if (&column == &columns.front()) copy_us = row.copy_us;
      std::printf(" %20s %10s", row.error.empty() ? time_text(row.us).c_str() : "FAILED",
                  time_text(row.peer_us).c_str());
      std::fflush(stdout);
    }
    std::printf(" %10s\n", time_text(copy_us).c_str());
  }
}

}  // namespace

void sweep_tables(const Options &options, bool with_cuda, Report &report) {
  std::vector<Sweep> sweeps{nick_against_window(options),
                            against_size(options, "nick",
                                         [](Size size, bool cuda) {
                                           Case c = nick_case(size, 15);
                                           c.peer = nick_peer(cuda, size, 15);
                                           return c;
                                         }),
                            against_size(options, "equalize",
                                         [](Size size, bool cuda) {
                                           Case c = equalize_case(size);
                                           if (!cuda && size.depth == 8)
                                             c.peer = OpenCv{"equalize"};
                                           return c;
                                         }),
                            against_size(options, "autothreshold",
                                         [](Size size, bool cuda) {
                                           Case c =
                                               autothreshold_case(size, AutothresholdMethod::otsu);
                                           if (!cuda)
                                             c.peer = opencv_threshold(AutothresholdMethod::otsu);
                                           return c;
                                         }),
                            swofilter_against_size(options)};
  for (const Sweep &sweep : swofilter_against_shape(options)) sweeps.push_back(sweep);
  std::vector<Backend> backends;
  for (const Sweep &sweep : sweeps) {
    if (!options.wants(sweep.name)) continue;
    if (backends.empty()) backends = table_backends(options, with_cuda);
    for (const Backend &backend : backends) print(sweep, options, backend, report);
  }
}

}  // namespace cudascan::bench
