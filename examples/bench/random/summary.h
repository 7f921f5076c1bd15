// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What random settings cost, by operator and by family.
#pragma once
#include <string>
#include <vector>

#include "bench/random/families.h"

namespace cudascan::bench {

struct RandomTime {
  int number;  ///< of the case
  const Family *family;
  std::string op, line;  ///< operator, and the element with its properties
  int depth;
  double us, budget_us;
};

/// Limits in milliseconds for which shares of settings are printed.
std::vector<double> share_limits_ms(bool cuda);

/// For all settings and for each operator, the share that takes at most each limit.
void print_shares(const std::vector<RandomTime> &times, const std::vector<double> &limits_ms);

/// For each family and depth, the number of settings, their median, the setting with the worst
/// ratio to its budget, and how to repeat it.
void print_families(const std::vector<RandomTime> &times);

}  // namespace cudascan::bench
