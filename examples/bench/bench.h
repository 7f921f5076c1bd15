// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The vocabulary of cudascan-bench: what is measured (Case), what came out (Row, Report), and the
/// parts of the program. A new operator adds its cases (cases.h) and functions of other libraries
/// that do the same (Peer).
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "examples/bench/parts.h"  // from meson.build
#include "kernels/exec.h"

namespace cudascan::bench {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

enum class Content {
  page,      ///< text on uneven paper with noise
  random,    ///< noise
  constant,  ///< one gray
  negative,  ///< the text of a page, with headings, in white on black
  natural,   ///< soft structures of all sizes
  spiral,    ///< one long black corridor between white walls
};

/// The value of --content for it.
const char *name(Content content);

struct Options {
  Content content = Content::page;  ///< for cases without a fixed content
  std::string filter;               ///< only cases and tables whose name contains this
  std::string paper;                ///< only the tables of this publication: "000"
  bool cuda = true, cpu = true, tables = true;
  bool quick = false;     ///< fewer cases and repetitions
  bool full = false;      ///< also what takes minutes: the serial algorithm on the largest images
  bool verify = false;    ///< compare every CUDA result with the CPU's
  int repeat = 0;         ///< measurements per case, 0 = as many as a fixed share of time allows
  int align = 256;        ///< the stride of the planes is a multiple of this many bytes
  double patience_s = 0;  ///< longest CPU run in tables; 0 = depends on quick and full
  std::string csv, json;

  int random_s = 0;       ///< seconds for random settings on each backend
  int seed = 1;           ///< of random settings
  int only_case = 0;      ///< number of the only random case; 0 = all
  bool run_once = false;  ///< do not repeat what is slow, not even to warm up

  /// Whether to measure a case or a table of this name.
  bool wants(const std::string &name) const {
    return name.find(filter) != std::string::npos &&
           (paper.empty() || name.find("paper " + paper) != std::string::npos);
  }
  /// Longest time for one run in a table; slower entries are left out. On the GPU a fifth of it.
  double patience_us(bool cuda = false) const {
    const double seconds = patience_s > 0 ? patience_s : full ? 1e6 : quick ? 0.3 : 2;
    return seconds * 1e6 / (cuda ? 5 : 1);
  }
};

/// A plane without its type: 8 or 16 bits a sample, or 32 for floating-point numbers.
struct AnyPlane {
  void *data;
  int width, height, depth;
  std::ptrdiff_t stride;

  template <typename T>
  Plane<T> as() const {
    return {static_cast<T *>(data), width, height, stride};
  }
};

struct Size {
  int width = 0, height = 0, depth = 8;

  friend bool operator==(const Size &, const Size &) = default;
  double pixels() const { return static_cast<double>(width) * height; }
  int sample_bytes() const { return depth / 8; }
  /// Bytes that are read and written: each sample is read once and, unless `reads_only`, written
  /// once.
  double bytes(bool reads_only = false) const {
    return (reads_only ? 1 : 2) * pixels() * sample_bytes();
  }
  std::string name() const;
};

/// An operator with its parameters, on any backend and depth.
struct Runner {
  std::function<void(Cuda &, AnyPlane in, AnyPlane out)> cuda;
  std::function<void(Cpu &, AnyPlane in, AnyPlane out)> cpu;
};

/// @param report  where the operator writes its measurements, or nullptr
template <typename Params, typename... Report>
Runner make_runner(Params params, std::shared_ptr<Report>... report) {
  const auto on = [=](auto &exec, AnyPlane in, AnyPlane out) {
    if (in.depth == 8)
      run(exec, in.as<const std::uint8_t>(), out.as<std::uint8_t>(), params, report.get()...);
    else if (in.depth == 16)
      run(exec, in.as<const std::uint16_t>(), out.as<std::uint16_t>(), params, report.get()...);
    else if constexpr (requires { run(exec, in.as<const float>(), out.as<float>(), params); })
      run(exec, in.as<const float>(), out.as<float>(), params, report.get()...);
    else
      throw Error("the operator does not take floating-point samples");
  };
  Runner runner;
#ifdef HAVE_CUDA  // otherwise the operators have no run() on Cuda
  runner.cuda = [on](Cuda &exec, AnyPlane in, AnyPlane out) { on(exec, in, out); };
#endif
  runner.cpu = [on](Cpu &exec, AnyPlane in, AnyPlane out) { on(exec, in, out); };
  return runner;
}

/// NPP: adaptive threshold by the mean of a square window (CUDA).
struct NppAdaptive {
  int window;
};
/// NPP: histogram of 256 levels (CUDA).
struct NppHistogram {};
/// NPP: opening by a line segment, as a mask (CUDA).
struct NppLineOpening {
  int length;
  double angle;
};
/// NPP: a filter over a square window, 8 bits; medians also 16 bits (CUDA).
struct NppWindow {
  enum class Filter { minimum, maximum, erode, dilate, mean, median };
  Filter filter;
  int window;
};
/// NPP: the luma of packed RGB with 3 or 4 samples a pixel (CUDA).
struct NppLuma {
  int channels;
};
/// A function of opencv_peer.cpp and its settings (CPU).
struct OpenCv {
  std::string function;
  std::vector<double> settings{};
};
/// A time that was published for the same size and other hardware.
struct Published {
  std::string where;
  double us;
};
/// The alternative that users would pick, measured along with a case.
using Peer = std::variant<std::monostate, NppAdaptive, NppHistogram, NppLineOpening, NppWindow,
                          NppLuma, OpenCv, Published>;

struct Case {
  std::string op;           ///< name of the operator
  std::string series;       ///< common name of cases that differ only in the parameter: "nick"
  std::string parameter;    ///< "window", "length", ...; empty: none
  double value = kUnknown;  ///< value of the parameter
  std::string variant;      ///< parameters as they are printed
  Size size;
  Runner runner;
  std::optional<Content> content{};  ///< unset: the options' content
  bool reads_only = false;           ///< the result is no picture
  bool report_only = false;          ///< the result is only a report: no plane is written
  bool two_valued = false;           ///< every byte of the result is 0 or 255
  double cuda_goal_us = kUnknown;
  double cpu_goal_mpx = kUnknown;    ///< on one core
  double cpu_goal_us = kUnknown;     ///< on one core
  double cpu_goal_ratio = kUnknown;  ///< the peer's time over this one's, on one core
  std::string spread;                ///< cases with the same text should take the same time
  double spread_goal = kUnknown;     ///< largest over smallest time
  double spread_goal_us = kUnknown;  ///< largest minus smallest time
  Peer peer;

  std::string name() const { return op + " " + variant + ", " + size.name(); }
};

std::vector<Case> cuda_cases(const Options &options);
std::vector<Case> cpu_cases(const Options &options);

/// A time in ms as a function of the number of pixels P: slope * P + offset.
struct LinearModel {
  double slope = kUnknown, offset = kUnknown;
  double r2 = kUnknown;  ///< coefficient of determination

  double us(Size size) const { return (slope * size.pixels() + offset) * 1e3; }
};

/// One measurement; what was not measured is NaN.
struct Row {
  std::string section, name;  ///< "cuda", "cpu 1", ..., and "nick window=15"
  Size size;
  bool reads_only = false;
  double us = kUnknown;         ///< CUDA: cold, in a graph
  double warm_us = kUnknown;    ///< CUDA: the same buffers again and again
  double single_us = kUnknown;  ///< CUDA: graph of one run, event to event
  double events_us = kUnknown;  ///< CUDA: one run without a graph, event to event
  double copy_us = kUnknown;    ///< time of a copy of the same plane
  double goal_us = kUnknown;
  double peer_us = kUnknown;
  std::string goal, peer, note, error;

  std::string table = "kernels";  ///< or its table or figure: "paper 001 table 1"
  std::string backend;            ///< "cuda" or "cpu"
  std::string op, series, parameter;
  double value = kUnknown;
  double baseline_us = kUnknown;  ///< a published algorithm, on this machine
  std::string published;          ///< the hardware of published numbers
  double published_us = kUnknown;
  double published_speedup = kUnknown;  ///< speed-up over the publication's code for one core
  double speedup = kUnknown;            ///< measured here: published algorithm over its CPU code

  /// Where the times are those of linear models.
  LinearModel model{}, baseline_model{}, published_model{};

  double ratio = kUnknown,
         goal_ratio = kUnknown;  ///< for a goal on several times: largest over smallest

  /// Copies the case's description.
  void describe(const Case &c) {
    op = c.op;
    series = c.series;
    parameter = c.parameter;
    value = c.value;
  }
  double bytes() const { return size.bytes(reads_only); }
};

/// "-" if unknown.
std::string number(double value, int digits = 1, const char *unit = "");
/// A time with about three digits.
std::string time_text(double us);
std::string goal_text(double value, const char *unit);

/// The machine that measured; empty or 0 means unknown or missing.
struct Machine {
  std::string gpu, cpu, driver, cuda, gstreamer;
  std::string date;  ///< today, such as 2026-11-27, in this time zone
  int gpus = 0;      ///< that CUDA can use
  int cores = 0;     ///< available to the process
};
Machine this_machine();
/// Fills in GPU, driver and CUDA if there is a device.
void describe_gpu(Machine &machine);

/// Prints rows as they come and keeps them for the files.
class Report {
 public:
  void heading(const std::string &title, bool cuda);
  void add(const Row &row);
  /// Keeps a row for the files without printing it.
  void record(const Row &row);
  /// `save` writes the files. It is called every few seconds while rows come, so that a run that is
  /// stopped keeps them.
  void save_by(std::function<void()> save) { save_ = std::move(save); }
  void write_csv(const std::string &path) const;
  /// {"machine": {...}, "rows": [{...}, ...]}; missing values are left out.
  void write_json(const std::string &path, const Machine &machine) const;
  int failures() const;

 private:
  bool cuda_ = false;
  std::vector<Row> rows_;
  std::function<void()> save_;
  double saved_us_ = 0;
};

/// Prints largest over smallest time of each group of cases on the GPU, and keeps them as rows of
/// the table "spreads"; times[i] belongs to cases[i].
void print_spreads(const std::vector<Case> &cases, const std::vector<double> &times,
                   Report &report);

/// The same picture on every machine, in rows of `stride` bytes.
std::vector<std::uint8_t> make_content(Content content, Size size, std::ptrdiff_t stride);
std::ptrdiff_t stride_of(Size size, int align);

double median(std::vector<double> values);
/// Microseconds by the steady clock.
double now_us();
/// Median time of `work` on the host, measured for about `budget_us`. Longer work is run once, or
/// twice (the shorter time counts) if the first run did not have the processor to itself.
double time_host(const std::function<void()> &work, double budget_us, int repeat);

/// Measures a case and its peer; prints nothing.
using TimeCase = std::function<Row(const Case &)>;
/// @param threads  as for Cpu; the peer and goals are only for one
TimeCase cpu_timer(const Options &options, int threads = 1);
/// Measures on the GPU, only the time with cold caches in a graph. Empty without a GPU.
TimeCase cuda_timer(const Options &options);

void bench_cpu(const Options &options, Report &report);
/// If there is no device to measure on, prints why and returns false.
bool bench_cuda(const Options &options, Report &report);

/// Times of one image on the GPU in microseconds, NaN if it failed.
struct TransferTimes {
  double kernel = kUnknown;    ///< cold, in a graph
  double pinned = kUnknown;    ///< upload, kernel and download, with pinned host memory
  double pageable = kUnknown;  ///< the same with memory from malloc
  double upload = kUnknown, download = kUnknown;  ///< one copy, from or to such memory
};
/// One entry per size; without a GPU, prints why and returns nothing.
std::vector<TransferTimes> time_transfers(const Options &options, const std::vector<Size> &sizes,
                                          const Runner &runner);

/// Prints a table of a publication, or one of our own, if the options select it.
using PrintTable = void(const Options &options, bool with_cuda, Report &report);
#define DECLARE_TABLE(function) PrintTable function;
PAPERS(DECLARE_TABLE)
TABLES(DECLARE_TABLE)
#undef DECLARE_TABLE
/// Operators for many windows and sizes, with 8 and 16 bits.
PrintTable sweep_tables;
/// How fast host memory, GPUs and other GPUs reach each other.
PrintTable link_tables;
/// Random settings until the time is over: bench/random.
PrintTable random_settings;

/// Time of a function of OpenCV on one core; NaN if OpenCV is missing or refuses.
double opencv_us(AnyPlane in, AnyPlane out, const OpenCv &peer, const Options &options);

}  // namespace cudascan::bench
