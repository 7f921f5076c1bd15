// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The interface between the module of opencv_peer.cpp and its loader.
#pragma once
#include <cstddef>

namespace cudascan::bench {

/// Runs a function of OpenCV on planes of `depth` bits, 32 for floats, in the calling thread.
/// Returns false when there is no such function or OpenCV refuses.
using OpenCvEntry = bool(const char *function, const double *settings, void *in, void *out,
                         int width, int height, int depth, std::size_t stride);
inline constexpr char kOpenCvEntry[] = "cudascan_bench_opencv";

}  // namespace cudascan::bench
