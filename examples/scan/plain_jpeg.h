// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <string>

#include "kernels/pages/jpeg_code.h"

namespace cudascan::scan {

/// Looks whether a JPEG file is one of the usual kind that decoders in hardware take: baseline, 8
/// bits, gray or YCbCr in one scan, complete, with the markers of ITU-T T.81 where they belong.
/// Others go to libjpeg, which salvages and reports damage.
/// @param bytes  gets the code, which has fewer bytes than the file
/// @param code   becomes that of the picture
/// @return why it is not, a few words; "" for a usual file
std::string read_plain_jpeg(const unsigned char *data, std::size_t size, unsigned char *bytes,
                            pages::JpegCode &code);

}  // namespace cudascan::scan
