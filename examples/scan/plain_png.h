// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string_view>

#include "image.h"

namespace cudascan::scan {

/// Decodes a PNG with 8 bits a sample, gray or RGB, that is neither interlaced nor transparent. Its
/// size must be that of the image. It takes less than a fifth of the time that libpng needs.
/// @param file   its bytes; none without data()
/// @param image  gets luma, and colours if it wants them; its content is lost when this fails
/// @return false for all other files and for those that are damaged in any way: libpng decodes
///         them, or says what is wrong
bool decode_plain_png(std::string_view file, Image &image);

}  // namespace cudascan::scan
