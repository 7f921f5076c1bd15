// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <string>

namespace cudascan::scan {

/// Why a JPEG file is not one of the usual kind that decoders in hardware take: baseline, 8 bits,
/// gray or YCbCr in one scan, complete, with the markers of ITU-T T.81 where they belong. Others go
/// to libjpeg, which salvages and reports damage. Damage between markers is not seen here.
/// @return a few words, or "" for a usual file
std::string why_not_plain(const unsigned char *data, std::size_t size);

}  // namespace cudascan::scan
