// SPDX-License-Identifier: LGPL-2.1-or-later
#include "split_option.h"

#include "output_option.h"

namespace cudascan::scan {

void take_split(const char *value, Options &options) {
  if (!value) return;
  for (const Split split : {Split::no, Split::automatic, Split::left_right, Split::right_left})
    if (std::string(value) == name_of(split)) {
      options.split = split;
      return;
    }
  throw UsageError("--split=" + std::string(value) +
                   ": must be no, auto, left-right or right-left");
}

void check_split(const Options &options) {
  const bool always = options.split == Split::left_right || options.split == Split::right_left;
  const bool one = options.kind == OutputKind::stream || options.kind == OutputKind::png;
  if (always && one)
    throw UsageError(std::string("--split=") + name_of(options.split) +
                     " makes two pages: " + one_page_only(options));
}

}  // namespace cudascan::scan
