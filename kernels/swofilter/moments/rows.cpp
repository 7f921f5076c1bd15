// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/moments/rows.h"

#include <cmath>
#include <utility>

#include "kernels/base/simd.h"

#define CUDASCAN_LOOPS "kernels/swofilter/moments/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::swo::sums {

template <typename T>
const MomentLoops<T> &loops() {
  return CUDASCAN_FASTEST(kLoops<T>);
}

template const MomentLoops<std::uint8_t> &loops();
template const MomentLoops<std::uint16_t> &loops();

}  // namespace cudascan::swo::sums
