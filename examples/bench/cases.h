// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What is measured: <op>_cases.cpp has the cases of an operator for both backends, and cases.cpp
/// collects them.
#pragma once
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

inline constexpr Size k4k{3840, 2160, 8};
inline constexpr Size k4k16{3840, 2160, 16};

inline constexpr Content kAllContents[] = {Content::page, Content::random, Content::constant};
/// The same case on this content; the name says so unless it is the page.
Case with_content(Case c, Content content);

void add_nick_cuda(const Options &options, std::vector<Case> &cases);
void add_nick_cpu(const Options &options, std::vector<Case> &cases);
void add_histogram_cuda(const Options &options, std::vector<Case> &cases);
void add_histogram_cpu(const Options &options, std::vector<Case> &cases);
void add_equalize_cuda(const Options &options, std::vector<Case> &cases);
void add_equalize_cpu(const Options &options, std::vector<Case> &cases);
void add_autothreshold_cuda(const Options &options, std::vector<Case> &cases);
void add_autothreshold_cpu(const Options &options, std::vector<Case> &cases);
void add_linearopen_cuda(const Options &options, std::vector<Case> &cases);
void add_linearopen_cpu(const Options &options, std::vector<Case> &cases);
void add_rotate_cuda(const Options &options, std::vector<Case> &cases);
void add_rotate_cpu(const Options &options, std::vector<Case> &cases);
void add_swofilter_cuda(const Options &options, std::vector<Case> &cases);
void add_swofilter_cpu(const Options &options, std::vector<Case> &cases);

}  // namespace cudascan::bench
