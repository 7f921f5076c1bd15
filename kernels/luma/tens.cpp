// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/luma/tens.h"

namespace cudascan {
namespace {

constexpr int kMinRows = 16;  // fewer rows do not justify a thread

/// Calls of(x, y) for a plane of this size.
template <typename Of>
void for_each(Cpu &cpu, int width, int height, const Of &of) {
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < width; ++x) of(x, y);
  });
}

}  // namespace

void get_luma(Cpu &cpu, const PackedTens<const std::uint32_t> &in, const LumaWeights &weights,
              Plane<std::uint16_t> out) {
  const lumas::TensJob job = lumas::job_to_get(in, weights, out);
  for_each(cpu, out.width, out.height, [&](int x, int y) { job.get(x, y); });
}

void set_luma(Cpu &cpu, const PackedTens<const std::uint32_t> &in, const LumaWeights &weights,
              Plane<const std::uint16_t> luma, Colors colors,
              const PackedTens<std::uint32_t> &out) {
  const lumas::TensJob job = lumas::job_to_set(in, weights, luma, colors, out);
  for_each(cpu, in.words.width, luma.height, [&](int i, int y) { job.set(i, y); });
}

}  // namespace cudascan
