// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The sums over windows themselves.
#pragma once
#include "kernels/exec.h"
#include "kernels/swofilter/moments/rows.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// Sums of the samples of each pixel's window, in levels, and of their squares. On the GPU, rows of
/// both planes begin at multiples of 16 bytes.
/// @param squares  without data if they are not needed
/// @param job      of mean, or of standard_deviation if they are
template <typename T>
void window_sums(Cpu &, Plane<const T> in, Plane<std::uint32_t> sums,
                 Plane<sums::Square<T>> squares, const FilterJob &job);
template <typename T>
void window_sums(Cuda &, Plane<const T> in, Plane<std::uint32_t> sums,
                 Plane<sums::Square<T>> squares, const FilterJob &job);

}  // namespace cudascan::swo
