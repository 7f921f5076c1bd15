// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/geodesic/rows.h"

#include "kernels/base/simd.h"

#define CUDASCAN_LOOPS "kernels/swofilter/geodesic/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::swo {

template <typename T>
const GeodesicRows<T> &geodesic_rows() {
  return CUDASCAN_FASTEST(kGeodesicRows<T>);
}

template const GeodesicRows<std::uint8_t> &geodesic_rows();
template const GeodesicRows<std::uint16_t> &geodesic_rows();

}  // namespace cudascan::swo
