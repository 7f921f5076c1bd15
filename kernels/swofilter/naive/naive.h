// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The sliding window as Yang et al. have it, a baseline for benchmarks: for each pixel, on the GPU
/// with a thread of its own, the samples of the window are copied to an array, and the operation is
/// done on that as sequential code does it (their Tables 3 and 4). Images are read through the
/// caches, without shared memory, as the published translation leaves it.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// Whether there is a naive form of the operator for this job: those of extrema.h but the ones of
/// two steps, of moments.h and of rank.h; for windows of up to 15 x 15, as many as the arrays have
/// room for.
bool has_naive(const Job &);

template <typename T>
void naive(Cpu &, Plane<const T> in, Plane<T> out, const Job &);
template <typename T>
void naive(Cuda &, Plane<const T> in, Plane<T> out, const Job &);

}  // namespace cudascan::swo
