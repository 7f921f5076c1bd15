// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iomanip>

#include "common/error.h"
#include "progress.h"

namespace cudascan::scan {
namespace {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

void write_page(std::ostream &to, const PageRecord &page) {
  const Findings &f = page.found;
  to << "    {\"input\": " << quoted(page.input) << ", ";
  if (!page.problem.empty()) {
    to << "\"problem\": " << quoted(page.problem) << "}";
    return;
  }
  to << "\"output\": " << quoted(page.output) << ", \"angle\": " << f.angle
     << ", \"confidence\": " << f.confidence << ", \"turned\": " << (f.turned ? "true" : "false");
  if (f.threshold >= 0) to << ", \"threshold\": " << f.threshold;
  to << ", \"read_ms\": " << f.read_ms << ", \"straighten_ms\": " << f.straighten_ms
     << ", \"clean_ms\": " << f.clean_ms << ", \"write_ms\": " << f.write_ms
     << ", \"gpu_ms\": " << f.gpu_ms << "}";
}

}  // namespace

void write_stats(const std::string &path, const Totals &totals, const std::string &backend,
                 int jobs, const std::vector<PageRecord> &pages) {
  std::ofstream to(path);
  to << std::fixed << std::setprecision(3);
  const double seconds = std::max(totals.seconds, 1e-3);
  to << "{\n  \"backend\": " << quoted(backend) << ",\n  \"jobs\": " << jobs
     << ",\n  \"pages\": " << totals.pages << ",\n  \"failed\": " << totals.failed
     << ",\n  \"skipped\": " << totals.skipped
     << ",\n  \"interrupted\": " << (totals.interrupted ? "true" : "false")
     << ",\n  \"seconds\": " << totals.seconds
     << ",\n  \"pages_per_second\": " << totals.pages / seconds
     << ",\n  \"gpu_busy\": " << totals.gpu_ms / 1000 / seconds << ",\n  \"page_list\": [\n";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    write_page(to, pages[i]);
    to << (i + 1 < pages.size() ? ",\n" : "\n");
  }
  to << "  ]\n}\n";
  if (!to.flush()) throw Error(path + ": the statistics cannot be written");
}

}  // namespace cudascan::scan
