// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen_rows.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/linearopen_samples.h"
#include "kernels/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/linearopen_loops.inc"
#include "kernels/simd_each.inc"

namespace cudascan::linearopen {

template <typename T>
const Rows<T> &rows() {
  return CUDASCAN_FASTEST(kRows<T>);
}

template const Rows<std::uint8_t> &rows();
template const Rows<std::uint16_t> &rows();
template const Rows<std::uint32_t> &rows();

}  // namespace cudascan::linearopen
