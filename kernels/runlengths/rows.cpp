// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/runlengths/rows.h"

#include <cstring>

#include "kernels/base/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/runlengths/gather.inc"
#include "kernels/base/simd_each.inc"
#undef CUDASCAN_LOOPS
#define CUDASCAN_LOOPS "kernels/runlengths/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::runlengths {

template <typename T>
const PackLoops<T> &pack_loops() {
  return CUDASCAN_FASTEST(kPackLoops<T>);
}

template const PackLoops<std::uint8_t> &pack_loops();
template const PackLoops<std::uint16_t> &pack_loops();

}  // namespace cudascan::runlengths
