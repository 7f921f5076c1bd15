// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What users' filters are compiled for.
#pragma once
#include "kernels/base/mask.h"
#include "kernels/userfilter.h"

namespace cudascan::gswo {

struct FilterTarget {
  Mask mask;
  WindowBorder border;
  unsigned outside;      ///< sample outside of the image with border = constant
  unsigned maximum;      ///< largest sample of the format
  int shift;             ///< low bits of a sample that are not used
  int sample_bytes;      ///< 1 or 2
  int architecture = 0;  ///< of the GPU, as compile_for_gpu() takes it; 0 = the CPU

  bool operator==(const FilterTarget &) const = default;
};

}  // namespace cudascan::gswo
