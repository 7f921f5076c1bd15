// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/random/summary.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace cudascan::bench {
namespace {

/// Settings in a table; --case prints all of a long mask.
std::string shortened(const std::string &line) {
  constexpr std::size_t kMost = 140;
  return line.size() <= kMost ? line : line.substr(0, kMost) + "...";
}

}  // namespace

std::vector<double> share_limits_ms(bool cuda) {
  if (cuda) return {0.1, 0.5, 1, 4.2, 16.7};
  return {16.7, 100, 500};
}

void print_shares(const std::vector<RandomTime> &times, const std::vector<double> &limits_ms) {
  std::map<std::string, std::vector<double>> by_op;
  for (const RandomTime &t : times) {
    by_op[""].push_back(t.us);  // sorts first
    by_op[t.op].push_back(t.us);
  }
  std::printf("\n%-16s %8s", "share within", "settings");
  for (const double ms : limits_ms) std::printf(" %7g ms", ms);
  std::printf(" %10s\n", "worst ms");
  for (const auto &[op, all] : by_op) {
    std::printf("%-16s %8zu", op.empty() ? "all" : op.c_str(), all.size());
    for (const double ms : limits_ms) {
      const auto within =
          std::count_if(all.begin(), all.end(), [&](double us) { return us <= ms * 1e3; });
      std::printf(" %8.2f %%",
                  100. * static_cast<double>(within) / static_cast<double>(all.size()));
    }
    std::printf(" %10.2f\n", *std::max_element(all.begin(), all.end()) / 1e3);
  }
}

void print_families(const std::vector<RandomTime> &times) {
  std::map<std::pair<const Family *, int>, std::vector<const RandomTime *>> families;
  for (const RandomTime &t : times) families[{t.family, t.depth}].push_back(&t);
  std::printf("\n%-42s %4s %8s %11s %11s %11s %7s  %s\n", "family", "bits", "settings", "median us",
              "worst us", "budget us", "ratio", "worst setting");
  for (const auto &[key, all] : families) {
    std::vector<double> us;
    for (const RandomTime *t : all) us.push_back(t->us);
    const RandomTime &worst =
        **std::max_element(all.begin(), all.end(), [](const RandomTime *a, const RandomTime *b) {
          return a->us / a->budget_us < b->us / b->budget_us;
        });
    std::printf("%-42s %4d %8zu %11s %11s %11s %7s  --case %d: %s\n", key.first->title().c_str(),
                key.second, all.size(), time_text(median(us)).c_str(), time_text(worst.us).c_str(),
                number(worst.budget_us, 0).c_str(), number(worst.us / worst.budget_us, 2).c_str(),
                worst.number, shortened(worst.line).c_str());
  }
}

}  // namespace cudascan::bench
