// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <string>

#include "coded.h"

namespace cudascan::scan {

/// Looks whether a JPEG 2000 file (ITU-T T.800, in boxes or a bare code stream) is one of the usual
/// kind that a GPU decodes: 8 or 16 bits, gray or RGB without subsampling, and whether all its tile
/// parts are there with nothing but code in them. Decoders on GPUs do not report all damage.
/// @return why it is not, a few words; "" for a usual file
std::string read_plain_jpeg2000(const unsigned char *data, std::size_t size, CodecFacts &facts);

}  // namespace cudascan::scan
