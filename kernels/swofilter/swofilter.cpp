// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter.h"

#include "kernels/swofilter/families.h"

namespace cudascan {
namespace {

template <typename Exec>
bool prepare_on(Exec &exec, int sample_bytes, unsigned maximum, const SwoFilterParams &p) {
  if (p.op != SwoFilterOperator::custom) return true;
  try {
    const swo::FilterJob job = swo::make_job(p, maximum, 1, 1, 1, 1, true);
    return gswo::prepare_filter(exec, swo::target_of(job, sample_bytes), p.custom);
  } catch (const Error &) {
    return true;  // run() will say why
  }
}

}  // namespace

bool prepare(Cpu &cpu, int sample_bytes, unsigned maximum, const SwoFilterParams &p) {
  return prepare_on(cpu, sample_bytes, maximum, p);
}
bool prepare(Cuda &cuda, int sample_bytes, unsigned maximum, const SwoFilterParams &p) {
  return prepare_on(cuda, sample_bytes, maximum, p);
}

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
