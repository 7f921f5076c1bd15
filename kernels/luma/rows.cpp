// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/luma/rows.h"

#include <cstring>
#include <type_traits>

#include "kernels/base/simd.h"
#include "kernels/luma/pixel.h"

#define CUDASCAN_LOOPS "kernels/luma/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::lumas {

template <typename T>
const LumaRows<T> &rows() {
  return CUDASCAN_FASTEST(kRows<T>);
}
template const LumaRows<std::uint8_t> &rows();
template const LumaRows<std::uint16_t> &rows();

}  // namespace cudascan::lumas
