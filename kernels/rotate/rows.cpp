// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/rotate/rows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/base/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/rotate/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::rotation {

template <typename T>
const RotateLoops<T> &loops() {
  return CUDASCAN_FASTEST(kLoops<T>);
}

template const RotateLoops<std::uint8_t> &loops();
template const RotateLoops<std::uint16_t> &loops();

}  // namespace cudascan::rotation
