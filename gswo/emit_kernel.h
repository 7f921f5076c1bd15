// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The text of one kernel: the function with the user's window, and the loops over the image around it.
#pragma once
#include <string>

#include "gswo/chain.h"

namespace cudascan::gswo {

/// A line with this is replaced by `#line` with the place in the output.
constexpr const char *kHere = "#line here\n";

/// @param chain  says how pixels lie in memory; nullptr = stand-alone: as in the user's code, and CUDA
///               only
std::string kernel_text(const Unit &, const Kernel &, const Chain *chain);

/// What is behind an index: " + 2", " - 1", or nothing.
std::string offset(int);
/// Whether the stand-alone output reads an image through a texture.
bool through_texture(const Image &);
/// Bytes of shared memory that the tiles of a kernel take; 0 = it has none.
std::size_t tile_bytes(const Unit &, const Kernel &, const Chain *chain);

}  // namespace cudascan::gswo
