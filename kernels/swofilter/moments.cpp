// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/moments.h"

namespace cudascan::swo {

template <typename T>
void moments(Cpu &, Plane<const T>, Plane<T>, const Job &) {
  throw Error("moments: being built");
}
template void moments(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void moments(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
