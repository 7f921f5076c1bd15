// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter.h"

#include "kernels/swofilter/families.h"

namespace cudascan {

void run(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out, const SwoFilterParams &p,
         SwoFilterReport *report) {
  swo::filter(cpu, in, out, p, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const SwoFilterParams &p, SwoFilterReport *report) {
  swo::filter(cpu, in, out, p, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint8_t> out, const SwoFilterParams &p,
         SwoFilterReport *report) {
  swo::filter(cpu, in, out, p, report);
}

}  // namespace cudascan
