// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The target for which users' filters are compiled.
#pragma once
#include "kernels/base/mask.h"
#include "kernels/userfilter.h"

namespace cudascan::gswo {

struct FilterTarget {
  Mask mask;
  WindowBorder border;
  unsigned outside;      ///< sample outside of the image with border = constant
  unsigned maximum;      ///< largest sample of the format
  int shift;             ///< unused low bits of a sample
  int sample_bytes;      ///< 1 or 2
  int architecture = 0;  ///< of the GPU, for compile_for_gpu(); 0 = the CPU

  bool operator==(const FilterTarget &) const = default;
};

}  // namespace cudascan::gswo
