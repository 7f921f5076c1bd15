// SPDX-License-Identifier: LGPL-2.1-or-later
// Milliseconds for a frame on the CPU: functions of users' windows, such as p.min(), next to the
// built-in operators with the same windows. Times are the sum over all threads, while they run, the
// least of several runs, so that other programs disturb little.
//
//     ninja -C build examples/bench/functions-bench
//     build/examples/bench/functions-bench [WIDTHxHEIGHT [THREADS [SECONDS [SIDES]]]]
//
// SECONDS is how long each function is measured; a run that takes longer is the only one. SIDES are
// those of the windows, such as 3,31,101,255.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "cpu_time.h"
#include "kernels/swofilter.h"

namespace {

using namespace cudascan;
using Op = SwoFilterOperator;

struct Settings {
  int width = 640, height = 480, threads = 1;
  double seconds = 0.5;
  std::vector<int> sides{3, 31, 101, 255};
};

/// A formula, and the operator that computes the same or as much.
struct Function {
  const char *expression;
  Op op;
  double percentile = 50;
};

constexpr Function kFunctions[] = {
    {"p.min()", Op::minimum},           {"p.max() - p.min()", Op::gradient},
    {"p.median()", Op::median},         {"p.rank(5)", Op::rank, 10},
    {"p.percentile(90)", Op::rank, 90}, {"p.mean()", Op::mean},
    {"p.sum() / p.count()", Op::mean},  {"p.deviation()", Op::standard_deviation}};
constexpr const char *kShapes[] = {"rectangle", "ellipse", "cross", "octagon"};

template <typename T>
void measure(const Settings &s) {
  const std::vector<T> in = picture<T>(s.width, s.height);
  std::vector<T> out(in.size());
  Cpu cpu(s.threads);
  const auto filter = [&](const SwoFilterParams &p, int width, int height) {
    const std::ptrdiff_t stride = s.width * static_cast<std::ptrdiff_t>(sizeof(T));
    run(cpu, Plane<const T>{in.data(), width, height, stride},
        Plane<T>{out.data(), width, height, stride}, p);
  };
  for (const char *shape : kShapes)
    for (const int side : s.sides)
      for (const Function &function : kFunctions) {
        SwoFilterParams built_in{.op = function.op, .window = side};
        built_in.shape = shape;
        built_in.percentile = function.percentile;
        SwoFilterParams own = built_in;
        own.op = Op::custom;
        own.custom.expression = function.expression;
        const auto time = [&](const SwoFilterParams &p) {
          filter(p, 1, 1);  // compiles it
          return least(CLOCK_PROCESS_CPUTIME_ID, s.seconds, 1,
                       [&] { filter(p, s.width, s.height); });
        };
        const double mine = time(own), theirs = time(built_in);
        std::printf("%2d bit %-9s %3d  %-19s %9.2f %9.2f %8.2f\n", static_cast<int>(8 * sizeof(T)),
                    shape, side, function.expression, mine, theirs, mine / theirs);
        std::fflush(stdout);
      }
}

}  // namespace

int main(int argc, char **argv) try {
  Settings s;
  if (argc > 5 || (argc > 1 && std::sscanf(argv[1], "%dx%d", &s.width, &s.height) != 2))
    throw Error("usage: functions-bench [WIDTHxHEIGHT [THREADS [SECONDS [SIDES]]]]");
  if (argc > 2) s.threads = std::atoi(argv[2]);
  if (argc > 3) s.seconds = std::atof(argv[3]);
  if (argc > 4) {
    s.sides.clear();
    std::istringstream sides(argv[4]);
    for (std::string side; std::getline(sides, side, ',');) s.sides.push_back(std::stoi(side));
  }
  std::printf("%d x %d, %d threads, milliseconds\n%-33s %9s %9s %8s\n", s.width, s.height,
              s.threads, "", "function", "operator", "times");
  measure<std::uint8_t>(s);
  measure<std::uint16_t>(s);
  return 0;
} catch (const std::exception &e) {
  std::fprintf(stderr, "functions-bench: %s\n", e.what());
  return 1;
}
