// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How operators refuse what they cannot do.
#pragma once
#include <sstream>

#include "common/error.h"

namespace cudascan {

/// Throws BadSetting with a message made of the parts.
template <typename... Parts>
[[noreturn]] void refuse(const Parts &...parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw BadSetting(message.str());
}

/// Refuses planes of different sizes, and of sizes that Plane does not allow.
inline void check_sizes(int in_width, int in_height, int out_width, int out_height) {
  if (in_width != out_width || in_height != out_height)
    refuse("the output plane is ", out_width, "x", out_height, ", the input ", in_width, "x",
           in_height, ": both must have the same size");
  if (in_width < 1 || in_height < 1 || in_width > 32768 || in_height > 32768)
    refuse("the plane is ", in_width, "x", in_height, ": width and height must be from 1 to 32768");
}

/// What run() on Cuda throws in a build without CUDA.
[[noreturn]] inline void refuse_cuda() {
  throw Error("this build of libcudascan has no CUDA; build it where nvcc is installed");
}

}  // namespace cudascan
