// SPDX-License-Identifier: LGPL-2.1-or-later
// Milliseconds for a frame: functions of users' windows, such as p.min(), compared with built-in
// operators with the same windows. On the GPU they are also compared with what computes each pixel
// from its samples, with the seconds until that is compiled ("-": it cannot be run).
//
//     ninja -C build examples/bench/functions-bench
//     build/examples/bench/functions-bench [--cuda] [WIDTHxHEIGHT [THREADS [SECONDS
//         [SIDES [SHAPES]]]]]
//
// Times on the CPU are the sum over all threads, while they run. Times are the least of several
// runs, so that other programs disturb little. SECONDS is how long each function is measured; a run
// that takes longer is the only one. SIDES and SHAPES are those of the windows, such as 3,31,255
// and ellipse,cross.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "cpu_time.h"
#include "kernels/cuda_resources.h"
#include "kernels/swofilter.h"

namespace {

using namespace cudascan;
using Op = SwoFilterOperator;

struct Settings {
  int width = 640, height = 480, threads = 1;
  double seconds = 0.5;
  std::vector<std::string> sides{"3", "31", "101", "255"};
  std::vector<std::string> shapes{"rectangle", "ellipse", "cross", "octagon"};
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

std::vector<std::string> list(const char *text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

/// Frames in the memory of the CPU.
template <typename T>
class OnCpu {
 public:
  static constexpr bool kOnGpu = false;
  explicit OnCpu(const Settings &s)
      : s_(s), cpu_(s.threads), in_(picture<T>(s.width, s.height)), out_(in_.size()) {}

  void filter(const SwoFilterParams &p, int width, int height) {
    const std::ptrdiff_t stride = s_.width * static_cast<std::ptrdiff_t>(sizeof(T));
    run(cpu_, Plane<const T>{in_.data(), width, height, stride},
        Plane<T>{out_.data(), width, height, stride}, p);
  }
  double time(const SwoFilterParams &p) {
    filter(p, 1, 1);  // compiles it
    return least(CLOCK_PROCESS_CPUTIME_ID, s_.seconds, 1, [&] { filter(p, s_.width, s_.height); });
  }

 private:
  const Settings &s_;
  Cpu cpu_;
  const std::vector<T> in_;
  std::vector<T> out_;
};

#ifdef HAVE_CUDA
/// Frames in the memory of the GPU.
template <typename T>
class OnGpu {
 public:
  static constexpr bool kOnGpu = true;
  explicit OnGpu(const Settings &s) : s_(s) {
    const std::vector<T> in = picture<T>(s.width, s.height);
    const std::size_t bytes = in.size() * sizeof(T);
    cuda::copy_rows(in_.reserve(bytes), 0, in.data(), 0, bytes, 1, stream_.get());
    out_.reserve(bytes);
    cuda_.synchronize();
  }

  /// @param compiled  gets the seconds until the first result
  double time(const SwoFilterParams &p, double *compiled = nullptr) {
    const std::ptrdiff_t stride = s_.width * static_cast<std::ptrdiff_t>(sizeof(T));
    const Plane<const T> in{static_cast<const T *>(in_.data()), s_.width, s_.height, stride};
    const Plane<T> out{static_cast<T *>(out_.data()), s_.width, s_.height, stride};
    const auto runs = [&](int n) {
      for (int i = 0; i < n; ++i) run(cuda_, in, out, p);
      cuda_.synchronize();
    };
    const double begin = now(CLOCK_MONOTONIC);
    runs(1);
    if (compiled) *compiled = (now(CLOCK_MONOTONIC) - begin) / 1e3;
    // So many runs that they take far longer than the wait for the GPU.
    constexpr int kMost = 50;
    constexpr double kEnoughMs = 5;
    const double once = least(CLOCK_MONOTONIC, 0, 2, [&] { runs(1); });
    const int n = std::clamp(static_cast<int>(kEnoughMs / once), 1, kMost);
    return least(CLOCK_MONOTONIC, s_.seconds, 1, [&] { runs(n); }) / n;
  }

 private:
  const Settings &s_;
  cuda::Stream stream_;
  Cuda cuda_{stream_.get()};
  cuda::DeviceBuffer in_, out_;
};
#endif

template <typename Place>
void measure(const Settings &s, int bits) {
  Place place(s);
  for (const std::string &shape : s.shapes)
    for (const std::string &side : s.sides)
      for (const Function &function : kFunctions) {
        SwoFilterParams built_in{.op = function.op, .window = std::stoi(side)};
        built_in.shape = shape;
        built_in.percentile = function.percentile;
        SwoFilterParams own = built_in;
        own.op = Op::custom;
        own.custom.expression = function.expression;
        const double mine = place.time(own), theirs = place.time(built_in);
        std::printf("%2d bit %-9s %3s  %-19s %9.3f %9.3f %8.2f", bits, shape.c_str(), side.c_str(),
                    function.expression, mine, theirs, mine / theirs);
        if constexpr (Place::kOnGpu) {
          own.custom.reads = UserFilterReads::shared;
          try {
            double seconds = 0;
            const double samples = place.time(own, &seconds);
            std::printf(" %9.3f %9.1f", samples, seconds);
          } catch (const Error &) {
            std::printf(" %9s %9s", "-", "-");
          }
        }
        std::printf("\n");
        std::fflush(stdout);
      }
}

}  // namespace

int main(int argc, char **argv) try {
  Settings s;
  const bool on_gpu = argc > 1 && std::strcmp(argv[1], "--cuda") == 0;
  if (on_gpu) --argc, ++argv;
  if (argc > 6 || (argc > 1 && std::sscanf(argv[1], "%dx%d", &s.width, &s.height) != 2))
    throw Error(
        "usage: functions-bench [--cuda] [WIDTHxHEIGHT [THREADS [SECONDS [SIDES [SHAPES]]]]]");
  if (argc > 2) s.threads = std::atoi(argv[2]);
  if (argc > 3) s.seconds = std::atof(argv[3]);
  if (argc > 4) s.sides = list(argv[4]);
  if (argc > 5) s.shapes = list(argv[5]);
  std::printf("%d x %d, %s, milliseconds\n%-33s %9s %9s %8s %s\n", s.width, s.height,
              on_gpu ? "GPU" : (std::to_string(s.threads) + " threads").c_str(), "", "function",
              "operator", "times", on_gpu ? "  samples  compiled, s" : "");
#ifdef HAVE_CUDA
  if (on_gpu) {
    measure<OnGpu<std::uint8_t>>(s, 8);
    measure<OnGpu<std::uint16_t>>(s, 16);
    return 0;
  }
#else
  if (on_gpu) throw Error("--cuda: this build has no CUDA");
#endif
  measure<OnCpu<std::uint8_t>>(s, 8);
  measure<OnCpu<std::uint16_t>>(s, 16);
  return 0;
} catch (const std::exception &e) {
  std::fprintf(stderr, "functions-bench: %s\n", e.what());
  return 1;
}
