// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels are in the files of the families, see swofilter/families.h.
#include "kernels/swofilter.h"

#include "kernels/swofilter/families.h"

namespace cudascan {

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const SwoFilterParams &p, SwoFilterReport *report) {
  swo::filter(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const SwoFilterParams &p, SwoFilterReport *report) {
  swo::filter(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const SwoFilterParams &p, SwoFilterReport *report) {
  swo::filter(cuda, in, out, p, report);
}

}  // namespace cudascan
