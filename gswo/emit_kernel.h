// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The text of one kernel: the function with the user's window, and the loops over the image around
/// it.
#pragma once
#include <string>

#include "gswo/chain.h"

namespace cudascan::gswo {

/// A line with this text is replaced by a `#line` for its place in the output.
constexpr const char *kHere = "#line here\n";

/// @param chain  the types of pixels in memory; nullptr = stand-alone: the user's types, CUDA only
std::string kernel_text(const Unit &, const Kernel &, const Chain *chain);

/// The text after an index: " + 2", " - 1", or nothing.
std::string offset(int);
/// Whether the stand-alone output reads an image through a texture.
bool through_texture(const Image &);
/// Bytes of shared memory for a block's part of a table; 0 = it adds to the one in device memory.
std::size_t table_bytes(const Reduction &);
/// Bytes of shared memory for the tiles of a kernel; 0 = no tiles.
std::size_t tile_bytes(const Unit &, const Kernel &, const Chain *chain);

}  // namespace cudascan::gswo
