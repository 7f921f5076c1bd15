// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/nick/rows.h"

#include <bit>
#include <cmath>
#include <type_traits>

#include "kernels/base/simd.h"

#define CUDASCAN_LOOPS "kernels/nick/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::nick {

template <typename T>
const NickRows<T> &rows() {
  return CUDASCAN_FASTEST(kRows<T>);
}

template const NickRows<std::uint8_t> &rows();
template const NickRows<std::uint16_t> &rows();

}  // namespace cudascan::nick
