// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Helpers for operators to refuse wrong arguments.
#pragma once
#include <cstdint>
#include <sstream>

#include "common/error.h"
#include "common/plane.h"

namespace cudascan {

/// Throws BadSetting with a message made from the parts.
template <typename... Parts>
[[noreturn]] void refuse(const Parts &...parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw BadSetting(message.str());
}

/// Refuses planes of different or invalid sizes.
inline void check_sizes(int in_width, int in_height, int out_width, int out_height) {
  if (in_width != out_width || in_height != out_height)
    refuse("the output plane is ", out_width, "x", out_height, ", the input ", in_width, "x",
           in_height, ": both must have the same size");
  if (in_width < 1 || in_height < 1 || in_width > 32768 || in_height > 32768)
    refuse("the plane is ", in_width, "x", in_height, ": width and height must be 1 to 32768");
}

/// Refuses rows with a wrong alignment or stride.
/// @param name  "input" or "output"
template <typename T>
void check_rows(const char *name, Plane<T> plane) {
  constexpr std::ptrdiff_t kSample = sizeof(T);
  if (reinterpret_cast<std::uintptr_t>(plane.data) % kSample != 0)
    refuse("the data of the ", name, " plane, ", static_cast<const void *>(plane.data),
           ", must be aligned to its samples of ", kSample, " bytes; copy it to aligned memory");
  if (plane.stride % kSample != 0)
    refuse("the stride of the ", name, " plane, ", plane.stride, ", must be a multiple of ",
           kSample, ", the bytes of a sample; copy it to a plane with such rows");
  if (plane.height > 1 && plane.stride < plane.width * kSample)
    refuse("the stride of the ", name, " plane, ", plane.stride, ", must be at least ",
           plane.width * kSample, ", the bytes of a row; copy it to a plane with such rows");
}

/// Refuses planes of different sizes and invalid planes.
template <typename T, typename Out>
void check_planes(Plane<const T> in, Plane<Out> out) {
  check_sizes(in.width, in.height, out.width, out.height);
  check_rows("input", in);
  check_rows("output", out);
}

}  // namespace cudascan
