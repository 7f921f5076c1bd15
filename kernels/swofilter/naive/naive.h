// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The sliding window of Yang et al., a baseline for benchmarks. For each pixel (on the GPU, in its
/// own thread), it copies the samples of the window to an array and processes that like sequential
/// code (their Tables 3 and 4). Images are read through the caches, without shared memory, as in
/// the published translation.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// Whether there is a naive form of the operator for this job: the operators of extrema.h except
/// those with two steps, and those of moments.h and rank.h; for windows of up to 15 x 15, the size
/// of the arrays.
bool has_naive(const FilterJob &);

template <typename T>
void naive(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &);
template <typename T>
void naive(Cuda &, Plane<const T> in, Plane<T> out, const FilterJob &);

}  // namespace cudascan::swo
