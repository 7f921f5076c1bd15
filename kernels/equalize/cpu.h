// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The parts of equalization on the CPU.
#pragma once
#include "kernels/equalize/baseline.h"
#include "kernels/equalize/mapping.h"

namespace cudascan::equalize {

/// Fewest rows that justify a thread.
inline constexpr int kMinRows = 32;

/// Equalizes by tiles.
/// @param params  method = clahe, an amount that is not 0
template <typename T>
void run_clahe(Cpu &cpu, Plane<const T> in, Plane<T> out, const EqualizeParams &params);

/// Equalizes with the levels of a published variant.
void run_baseline(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                  const BaselineVariant &variant);

}  // namespace cudascan::equalize
