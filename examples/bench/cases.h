// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The measured cases: <op>_cases.cpp has the cases of an operator for both backends, and cases.cpp
/// collects them. An operator without that file is timed with its default settings.
#pragma once
#include <vector>

#include "all_operators.h"
#include "bench/bench.h"

namespace cudascan::bench {

inline constexpr Size k4k{3840, 2160, 8};
inline constexpr Size k4k16{3840, 2160, 16};

inline constexpr Content kAllContents[] = {Content::page, Content::random, Content::constant};
/// The same case with this content. Its name contains the content unless that is the page.
Case with_content(Case c, Content content);

/// <op>_cases.cpp defines these functions: cases on the GPU and on one core.
#define DECLARE_CASES(op, Name)                                           \
  void add_##op##_cuda(const Options &options, std::vector<Case> &cases); \
  void add_##op##_cpu(const Options &options, std::vector<Case> &cases);
CUDASCAN_ALL_OPERATORS(DECLARE_CASES)
DECLARE_CASES(histogram, Histogram)
DECLARE_CASES(luma, Luma)
#undef DECLARE_CASES

}  // namespace cudascan::bench
