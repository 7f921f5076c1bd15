// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/recursive.h"

namespace cudascan::swo {

template <typename T>
void recursive(Cuda &, Plane<const T>, Plane<T>, const Job &) {
  throw Error("recursive: being built");
}
template void recursive(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void recursive(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
