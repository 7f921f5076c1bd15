// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by all sliding-window operators: windows and the border of the image.
#pragma once
#include <cstdint>
#include <vector>

#include "common/api.h"
#include "kernels/base/mask.h"
#include "kernels/swofilter.h"

namespace cudascan::swo {

using cudascan::Mask;
using Run = MaskRun;

/// The task of an operator: checked settings, converted to the units of the format.
struct FilterJob {
  SwoFilterOperator op;
  std::vector<Mask> masks;  ///< one, except for binary operators; empty = the default templates
  SwoFilterBorder border;
  unsigned outside;                ///< sample outside of the image with border = constant
  unsigned maximum;                ///< largest sample of the format
  int shift;                       ///< unused low bits of a sample
  std::int64_t percentile, alpha;  ///< in millionths of the whole
  int iterations;
  SwoFilterThinning thinning;
  SwoFilterMarker marker;
  unsigned height;  ///< as a difference of samples, at most `maximum`
  int connectivity;

  const Mask &mask() const { return masks.front(); }
};

/// Checks everything and makes the job.
/// @param same_depth  whether samples of input and output have the same type
CUDASCAN_API FilterJob make_job(const SwoFilterParams &, unsigned maximum, int in_width,
                                int in_height, int out_width, int out_height, bool same_depth);

/// The column (row) of the image whose sample is used for column (row) i of `n`; -1 if there is
/// none, with clip and constant.
CUDASCAN_HD inline int resolve(int i, int n, SwoFilterBorder border) {
  if (static_cast<unsigned>(i) < static_cast<unsigned>(n)) return i;
  switch (border) {
    case SwoFilterBorder::replicate:
      return i < 0 ? 0 : n - 1;
    case SwoFilterBorder::reflect: {
      int k = i % (2 * n);
      if (k < 0) k += 2 * n;
      return k < n ? k : 2 * n - 1 - k;
    }
    default:
      return -1;
  }
}

}  // namespace cudascan::swo
