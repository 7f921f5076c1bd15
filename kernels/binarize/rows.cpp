// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/rows.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/base/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/runlengths/gather.inc"
#include "kernels/base/simd_each.inc"
#undef CUDASCAN_LOOPS
#define CUDASCAN_LOOPS "kernels/binarize/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::binarize {

template <typename T>
const BinarizeRows<T> &rows() {
  return CUDASCAN_FASTEST(kRows<T>);
}
const BinarizeWords &words() {
  return CUDASCAN_FASTEST(kWords);
}
template <typename Out>
PaintInk<Out> paint_ink() {
  return CUDASCAN_FASTEST(kPaint<Out>);
}

template const BinarizeRows<std::uint8_t> &rows();
template const BinarizeRows<std::uint16_t> &rows();
template PaintInk<std::uint8_t> paint_ink();
template PaintInk<std::uint16_t> paint_ink();

}  // namespace cudascan::binarize
