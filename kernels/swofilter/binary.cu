// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/binary.h"

namespace cudascan::swo {

template <typename T, typename Out>
void binary(Cuda &, Plane<const T>, Plane<Out>, const Job &, SwoFilterReport *) {
  throw Error("binary: being built");
}
template void binary(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &,
                     SwoFilterReport *);
template void binary(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &,
                     SwoFilterReport *);
template void binary(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const Job &,
                     SwoFilterReport *);

}  // namespace cudascan::swo
