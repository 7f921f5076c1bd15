// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Compression of black and white pages in CCITT group 4 (ITU-T Rec. T.6), which TIFF and PDF have
/// for them.
///
/// Exactness: lossless, and CPU and CUDA give the same bytes, those of the coding procedure that
/// T.6 defines.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/exec.h"

namespace cudascan {

/// Compresses a page: samples of 0 are black, all others white.
/// @return the code, the first pixel in the highest bits of the first byte, with the two codes that
///         end a page and filled up with zeros to a whole byte; TIFF's FillOrder 1 and
///         PhotometricInterpretation 0 (white is 0). On Cuda it waits for the result.
/// @throws BadSetting for an invalid plane; Error when CUDA fails
CUDASCAN_API std::vector<std::uint8_t> encode_group4(Cpu &, Plane<const std::uint8_t> in);
CUDASCAN_API std::vector<std::uint8_t> encode_group4(Cuda &, Plane<const std::uint8_t> in);

}  // namespace cudascan
