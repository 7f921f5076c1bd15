// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/geodesic.h"

namespace cudascan::swo {

template <typename T>
void geodesic(Cuda &, Plane<const T>, Plane<T>, const Job &, SwoFilterReport *) {
  throw Error("geodesic: being built");
}
template void geodesic(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &,
                       SwoFilterReport *);
template void geodesic(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &,
                       SwoFilterReport *);

}  // namespace cudascan::swo
