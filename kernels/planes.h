// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Helpers for planes that an operator does not touch, such as chroma.
#pragma once
#include <cstdint>

#include "kernels/exec.h"

namespace cudascan {

/// Copies a plane to one of the same size that does not overlap it.
CUDASCAN_API void copy(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out);
CUDASCAN_API void copy(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out);
CUDASCAN_API void copy(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out);
CUDASCAN_API void copy(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out);

/// Sets every sample of a plane.
CUDASCAN_API void fill(Cpu &, Plane<std::uint8_t> out, std::uint8_t value);
CUDASCAN_API void fill(Cpu &, Plane<std::uint16_t> out, std::uint16_t value);
CUDASCAN_API void fill(Cuda &, Plane<std::uint8_t> out, std::uint8_t value);
CUDASCAN_API void fill(Cuda &, Plane<std::uint16_t> out, std::uint16_t value);

}  // namespace cudascan
