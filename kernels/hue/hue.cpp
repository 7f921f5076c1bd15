// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/hue.h"

#include "kernels/hue/wheel.h"

namespace cudascan {
namespace {

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

template <typename T>
void paint(Cpu &cpu, Plane<const T> angles, const ChromaPlanes<T> &out) {
  const hues::HueJob<T> job = hues::make_job(angles, out);
  cpu.for_bands(out.u.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < out.u.width; ++x) job.paint(x, y);
  });
}

}  // namespace

void paint_hues(Cpu &cpu, Plane<const std::uint8_t> angles, const ChromaPlanes<std::uint8_t> &out) {
  paint(cpu, angles, out);
}
void paint_hues(Cpu &cpu, Plane<const std::uint16_t> angles,
                const ChromaPlanes<std::uint16_t> &out) {
  paint(cpu, angles, out);
}

}  // namespace cudascan
