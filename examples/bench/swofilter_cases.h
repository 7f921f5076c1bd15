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

/// A square window; everything else is default.
SwoFilterParams swofilter(SwoFilterOperator op, int window,
                          SwoFilterAlgorithm algorithm = SwoFilterAlgorithm::automatic);

/// A case as its parameters name it: "median 5", "erode 15 cross", "min 9 naive", "thin guo-hall".
Case swofilter_case(Size size, const SwoFilterParams &params);

/// The operator's equivalents in NPP and in OpenCV, if they are fast enough to measure.
Peer npp_window(const SwoFilterParams &params);
Peer opencv_window(const SwoFilterParams &params);

}  // namespace cudascan::bench
