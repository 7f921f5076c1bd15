// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/paper.h"

#include <cmath>
#include <cstdio>

namespace cudascan::bench {
namespace {

/// A ratio with about two digits.
std::string ratio_text(double ratio) {
  return number(ratio, ratio < 10 ? 1 : 0, "x");
}

}  // namespace

PaperTable::PaperTable(Report &report, std::string table, const std::string &title)
    : report_(&report), table_(std::move(table)) {
  std::printf("\n%s [%s]\n%-34s %-17s %-5s %12s %9s %12s %9s %11s %9s %9s\n", title.c_str(),
              table_.c_str(), "", "", "", "published us", "speed-up", "baseline us", "speed-up",
              "ours us", "floor us", "x base");
}

void PaperTable::add(Row row) {
  row.table = table_;
  if (row.section.empty()) row.section = table_;
  std::printf("%-34s %-17s %-5s", row.name.c_str(), row.size.name().c_str(), row.backend.c_str());
  if (!row.error.empty()) {
    std::printf(" FAILED: %s\n", row.error.c_str());
  } else {
    std::printf(" %12s %9s %12s %9s %11s %9s %9s", time_text(row.published_us).c_str(),
                ratio_text(row.published_speedup).c_str(), time_text(row.baseline_us).c_str(),
                ratio_text(row.speedup).c_str(), time_text(row.us).c_str(),
                time_text(row.copy_us).c_str(), ratio_text(row.baseline_us / row.us).c_str());
    if (!std::isnan(row.peer_us))
      std::printf("  %s %s", row.peer.c_str(), time_text(row.peer_us).c_str());
    if (!row.published.empty()) std::printf("  (%s)", row.published.c_str());
    if (!row.note.empty() && row.note != printed_note_)
      std::printf("  (%s)", (printed_note_ = row.note).c_str());
    std::printf("\n");
  }
  std::fflush(stdout);
  report_->record(row);
}

void set_baseline(Row &row, const Row &published) {
  row.baseline_us = published.us;
  if (!published.error.empty()) row.error = "the published algorithm: " + published.error;
}

std::vector<Backend> table_backends(const Options &options, bool with_cuda) {
  std::vector<Backend> backends;
  if (with_cuda)
    if (TimeCase time = cuda_timer(options)) backends.push_back({"CUDA", true, std::move(time)});
  if (options.cpu) backends.push_back({"one CPU core", false, cpu_timer(options)});
  return backends;
}

Row Patience::measure(const Case &c, double work) {
  Row row;
  if (us_of_work_ * work > patience_us_) return row;
  row = backend_->time(c);
  const double us = std::isnan(row.peer_us) ? row.us : row.peer_us;
  if (!std::isnan(us)) us_of_work_ = us / work;
  return row;
}

}  // namespace cudascan::bench
