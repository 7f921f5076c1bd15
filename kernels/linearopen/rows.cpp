// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/rows.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/base/simd.h"
#include "kernels/linearopen/samples.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/linearopen/loops.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::linearopen {

template <typename T>
const OpeningRows<T> &rows() {
  return CUDASCAN_FASTEST(kRows<T>);
}

template const OpeningRows<std::uint8_t> &rows();
template const OpeningRows<std::uint16_t> &rows();
template const OpeningRows<std::uint32_t> &rows();

}  // namespace cudascan::linearopen
