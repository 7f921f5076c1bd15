// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sliding windows, for the list of cases and for the tables.
#pragma once
#include "bench/cases.h"
#include "kernels/swofilter.h"

namespace cudascan::bench {

inline constexpr Size kSeed{3325, 4765, 8};  // of Yang et al.

/// Word of the operator.
const char *name(SwoFilterOperator op);

/// Square, and the defaults for all else.
SwoFilterParams swofilter(SwoFilterOperator op, int window,
                          SwoFilterAlgorithm algorithm = SwoFilterAlgorithm::automatic);

/// A case as its parameters name it: "median 5", "erode 15 cross", "min 9 naive", "thin guo-hall".
Case swofilter_case(Size size, const SwoFilterParams &params);

/// What NPP, and what OpenCV, has of the operator, if it can be waited for; else nothing.
Peer npp_window(const SwoFilterParams &params);
Peer opencv_window(const SwoFilterParams &params);

}  // namespace cudascan::bench
