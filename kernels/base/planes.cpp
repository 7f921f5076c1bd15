// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/planes.h"

#include <algorithm>

namespace cudascan {
namespace {

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

template <typename T>
void copy_plane(Cpu &cpu, Plane<const T> in, Plane<T> out) {
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) std::copy_n(in.row(y), in.width, out.row(y));
  });
}

template <typename T>
void fill_plane(Cpu &cpu, Plane<T> out, T value) {
  cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) std::fill_n(out.row(y), out.width, value);
  });
}

}  // namespace

void copy(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out) {
  copy_plane(cpu, in, out);
}
void copy(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out) {
  copy_plane(cpu, in, out);
}
void fill(Cpu &cpu, Plane<std::uint8_t> out, std::uint8_t value) {
  fill_plane(cpu, out, value);
}
void fill(Cpu &cpu, Plane<std::uint16_t> out, std::uint16_t value) {
  fill_plane(cpu, out, value);
}

}  // namespace cudascan
