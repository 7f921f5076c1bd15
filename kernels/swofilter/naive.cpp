// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/naive.h"

namespace cudascan::swo {

bool has_naive(const Job &) {
  return false;
}
template <typename T>
void naive(Cpu &, Plane<const T>, Plane<T>, const Job &) {
  throw Error("naive: being built");
}
template void naive(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void naive(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
