// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Filters for gswo-cc, with the result of their own code.
#pragma once
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "filter.h"

namespace cudascan::gswo::test {

using U8 = unsigned char;
using U16 = unsigned short;

struct Job {
  Library *library;
  int width, height;
  std::map<std::string, double> values;
};

using Values = std::map<std::string, double>;

struct Case {
  std::string name;
  std::string source;
  std::vector<std::string> options;
  std::string pixel;
  std::vector<int> borders;
  std::vector<Values> values;
  /// The result of the user's code for an image.
  std::function<Picture(const Job &, Picture &, int border)> expected;
  bool optimised = false;
  int most_columns = 1000;  ///< the largest number of columns and rows that its code allows

  friend std::ostream &operator<<(std::ostream &o, const Case &c) { return o << c.name; }
};

/// All filters; they differ in the way they are written.
std::vector<Case> cases();

}  // namespace cudascan::gswo::test
