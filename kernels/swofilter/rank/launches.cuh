// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics on the GPU whose kernels are compiled in files of their own.
#pragma once
#include "kernels/swofilter/rank/selection.cuh"

namespace cudascan::swo {

/// Medians and ranks of windows of few samples of any shape.
/// @return false for other windows
template <typename T>
bool rank_of_few(Cuda &, const SelectionJob<T> &, const FilterJob &);
/// Medians and ranks of wide rectangles of 8-bit samples.
/// @return false for other windows, and if the device has little shared memory
bool rank_by_digit_scans(Cuda &, const SelectionJob<std::uint8_t> &);
/// Medians, ranks and trimmed means of crosses, or of one of their two lines.
template <typename T>
void rank_of_cross(Cuda &, const SelectionJob<T> &);
/// Medians and ranks of windows of any shape with not too many samples.
/// @return false for windows that the other methods find faster, or too wide ones
template <typename T>
bool rank_by_bit_planes(Cuda &, const SelectionJob<T> &, const Mask &);
/// Medians, ranks, trimmed means and modes of windows of any shape of 8-bit samples.
void rank_by_sliding(Cuda &, const SelectionJob<std::uint8_t> &, const Mask &);
/// Medians, ranks and trimmed means of 16-bit samples.
void rank_by_ordinals(Cuda &, const SelectionJob<std::uint16_t> &, const Mask &);
/// Modes of 16-bit samples in crosses.
void mode_of_cross(Cuda &, const SelectionJob<std::uint16_t> &);
/// Modes of 16-bit samples, for windows of many samples.
/// @return false if the device has too little shared memory for the window
bool mode_by_frequency(Cuda &, const SelectionJob<std::uint16_t> &, const Mask &);
/// Modes of 16-bit samples.
void mode_by_codes(Cuda &, const SelectionJob<std::uint16_t> &, const Mask &);

}  // namespace cudascan::swo
