// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter.h"

#include "kernels/base/refuse.h"
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

#ifndef HAVE_CUDA  // stands in for swofilter.cu
void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const SwoFilterParams &,
         SwoFilterReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const SwoFilterParams &,
         SwoFilterReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const SwoFilterParams &,
         SwoFilterReport *) {
  refuse_cuda();
}
#endif

}  // namespace cudascan
