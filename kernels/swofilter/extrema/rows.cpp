// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/extrema/rows.h"

#include "kernels/base/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/swofilter/extrema/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::swo::extremes {

template <typename T>
const ExtremaLoops<T> &loops() {
  return CUDASCAN_FASTEST(kLoops<T>);
}

template const ExtremaLoops<std::uint8_t> &loops();
template const ExtremaLoops<std::uint16_t> &loops();

}  // namespace cudascan::swo::extremes
