// SPDX-License-Identifier: LGPL-2.1-or-later
// Figures 3 and 4 of Yang et al. as tables, their sliding window next to ours; and time against the
// window.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bench/swofilter_cases.h"

namespace cudascan::bench {
namespace {

using Op = SwoFilterOperator;
constexpr auto kFast = SwoFilterAlgorithm::automatic, kNaive = SwoFilterAlgorithm::naive;

/// The filters of Table 6 with one window; its opening and closing have two.
constexpr Op kFilters[] = {Op::minimum,
                           Op::maximum,
                           Op::median,
                           Op::midpoint,
                           Op::alpha_trimmed_mean,
                           Op::standard_deviation,
                           Op::mode,
                           Op::mean,
                           Op::directional_median,
                           Op::erode,
                           Op::dilate};
constexpr int kWindows[] = {3, 5, 7, 9};
constexpr int kNaiveSide = 15;  // larger windows have no naive form

struct Backend {
  std::string name;  ///< of the report's sections
  bool cuda;
  TimeCase time;
  double patience_us;  ///< for one run; slower entries are left out
};

bool sorts(Op op) {
  return op == Op::median || op == Op::alpha_trimmed_mean || op == Op::mode;
}

/// Measures cells of a growing window; stops when the last time predicts that the next takes too
/// long.
class Cells {
 public:
  /// @param report  nullptr if the time is only the baseline of another row
  Cells(const std::string &table, const Backend &backend, Report *report)
      : table_(table), backend_(&backend), report_(report) {}

  /// @param peer  NPP or OpenCV, not us
  /// @param baseline_us  of the published form of the same
  Row measure(Size size, const SwoFilterParams &params, bool peer = false,
              double baseline_us = kUnknown) {
    const double side = params.window;
    const bool slow = params.algorithm == kNaive && sorts(params.op);
    const double work = slow ? std::pow(side, 4) : side * side;  // at most
    Case c = swofilter_case(size, params);
    if (peer) c.peer = backend_->cuda ? npp_window(params) : opencv_window(params);
    Row row;
    if (us_of_work_ * work > backend_->patience_us || (peer && c.peer.index() == 0)) return row;
    row = backend_->time(c);
    row.section = table_ + ", " + row.section;
    row.table = table_;
    row.baseline_us = baseline_us;
    if (size.depth != 8) row.series += ", 16 bit";
    if (peer) row.series = row.peer + " " + row.series;
    if (peer) {
      row.name += ", " + row.peer;
      row.us = row.peer_us;
    }
    if (!std::isnan(row.us)) us_of_work_ = row.us / work;
    if (report_ && (!std::isnan(row.us) || !row.error.empty())) report_->record(row);
    return row;
  }

 private:
  std::string table_;
  const Backend *backend_;
  Report *report_;
  double us_of_work_ = 0;
};

std::string cell(const Row &row) {
  return row.error.empty() ? time_text(row.us) : "FAILED";
}

void print_heads(const char *key, const std::vector<std::string> &heads, int width) {
  std::printf("%-20s", key);
  for (const std::string &head : heads) std::printf(" %*s", width, head.c_str());
  std::printf("\n");
}

// ---- The filters of the paper -------------------------------------------------------------------

constexpr char kPaperTable[] = "paper 004 figures 3 and 4: swofilter naive and fast";
/// Of the naive form, by filter and window.
using Times = std::array<std::array<double, std::size(kWindows)>, std::size(kFilters)>;

std::string side_by_side(int window) {
  return std::to_string(window) + "x" + std::to_string(window);
}

Times paper_table(const Options &options, const Backend &backend, Report &report) {
  std::printf("\n%s, %s, us: %s, filters of Yang et al., Table 6\n", kPaperTable,
              backend.name.c_str(), kSeed.name().c_str());
  std::vector<std::string> heads;
  for (const int window : kWindows) {
    heads.push_back(side_by_side(window) + " naive");
    heads.push_back("fast");
    heads.push_back("ratio");
  }
  print_heads("filter", heads, 11);
  Times times{};
  for (auto &row : times) row.fill(kUnknown);
  for (std::size_t i = 0; i < std::size(kFilters); ++i) {
    if (options.quick && kFilters[i] != Op::minimum && kFilters[i] != Op::median) continue;
    Cells naive(kPaperTable, backend, nullptr), fast(kPaperTable, backend, &report);
    std::printf("%-20s", name(kFilters[i]));
    for (std::size_t j = 0; j < std::size(kWindows); ++j) {
      const Row slow = naive.measure(kSeed, swofilter(kFilters[i], kWindows[j], kNaive));
      const Row ours =
          fast.measure(kSeed, swofilter(kFilters[i], kWindows[j], kFast), false, slow.us);
      times[i][j] = slow.us;
      std::printf(" %11s %11s %11s", cell(slow).c_str(), cell(ours).c_str(),
                  number(slow.us / ours.us, 1, "x").c_str());
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  return times;
}

/// The paper's speed-up: the GPU against the CPU with the same code.
void print_speedups(const Times &cpu, const Times &cuda) {
  std::printf("\nSpeed-up of the naive form, CUDA over one CPU core, without transfers\n");
  std::vector<std::string> heads;
  for (const int window : kWindows) heads.push_back(side_by_side(window));
  print_heads("filter", heads, 9);
  for (std::size_t i = 0; i < std::size(kFilters); ++i) {
    if (std::isnan(cpu[i][0]) || std::isnan(cuda[i][0])) continue;
    std::printf("%-20s", name(kFilters[i]));
    for (std::size_t j = 0; j < std::size(kWindows); ++j)
      std::printf(" %9s", number(cpu[i][j] / cuda[i][j], 0, "x").c_str());
    std::printf("\n");
  }
}

// ---- Time against the window --------------------------------------------------------------------

struct Column {
  std::string head;
  SwoFilterParams params;
  bool peer;
  Cells cells;
  Size size = k4k;
};

void window_table(const std::string &title, const Options &options, const Backend &backend,
                  Report &report) {
  std::vector<Column> columns;
  const auto add = [&](const std::string &head, Op op, SwoFilterAlgorithm algorithm = kFast,
                       bool peer = false) {
    columns.push_back({head, swofilter(op, 3, algorithm), peer, {title, backend, &report}});
  };
  const std::string other = backend.cuda ? "NPP" : "OpenCV";
  for (const Op op : {Op::minimum, Op::open, Op::mean, Op::median, Op::mode}) add(name(op), op);
  add("deviation", Op::standard_deviation);
  add("trimmed mean", Op::alpha_trimmed_mean);
  for (const Op op : {Op::minimum, Op::mean, Op::median}) {
    add(name(op) + std::string(" 16"), op);
    columns.back().size = k4k16;
  }
  for (const Op op : {Op::minimum, Op::mean, Op::median})
    add(other + " " + name(op), op, kFast, true);
  for (const Op op : {Op::minimum, Op::median}) add(std::string("naive ") + name(op), op, kNaive);

  std::printf("\n%s, %s, us: %s\n", title.c_str(), backend.name.c_str(), k4k.name().c_str());
  std::vector<std::string> heads;
  for (const Column &column : columns) heads.push_back(column.head);
  print_heads("window", heads, 13);
  for (const int window : {3, 5, 7, 9, 11, 15, 21, 31, 63, 127, 255}) {
    if (options.quick && window != 3 && window != 15 && window != 255) continue;
    std::printf("%-20d", window);
    for (Column &column : columns) {
      column.params.window = window;
      const bool none = column.params.algorithm == kNaive && window > kNaiveSide;
      const Row row = none ? Row{} : column.cells.measure(column.size, column.params, column.peer);
      std::printf(" %13s", cell(row).c_str());
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

}  // namespace

/// The filters of Yang et al., Table 6: naive sliding window and ours, time against the window.
void swofilter_tables(const Options &options, bool with_cuda, Report &report) {
  const std::string against_window = "swofilter against window";
  const bool of_paper = options.wants(kPaperTable), of_windows = options.wants(against_window);
  if (!of_paper && !of_windows) return;
  std::vector<Backend> backends;
  if (with_cuda)
    if (const TimeCase time = cuda_timer(options))
      backends.push_back({"CUDA", true, time, options.patience_us(true)});
  if (options.cpu)
    backends.push_back({"one CPU core", false, cpu_timer(options), options.patience_us()});
  std::vector<Times> times;
  if (of_paper)
    for (const Backend &backend : backends) times.push_back(paper_table(options, backend, report));
  if (times.size() == 2) print_speedups(times[1], times[0]);
  if (of_windows)
    for (const Backend &backend : backends) window_table(against_window, options, backend, report);
}

}  // namespace cudascan::bench
