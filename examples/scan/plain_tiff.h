// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <string>

#include "coded.h"

namespace cudascan::scan {

/// Looks whether a TIFF file (TIFF 6.0) is one of the usual kind that a GPU decodes: one page of
/// gray or RGB with 8 or 16 bits, in strips with LZW or Deflate. All strips must be there, and
/// those with LZW must make the right number of bytes: decoders on GPUs may not report damage.
/// @return why it is not, a few words; "" for a usual file
std::string read_plain_tiff(const unsigned char *data, std::size_t size, CodecFacts &facts);

/// Whether the checksums in the file of a page are right for its samples.
/// @param samples  as the file has them: facts.samples a pixel, of `depth` bits, in host memory
/// @return true if there are no checksums, too
bool sums_are_right(const CodecFacts &facts, const unsigned char *samples, std::ptrdiff_t stride,
                    int width, int height, int depth);

}  // namespace cudascan::scan
