// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/baseline.h"

#include <bit>
#include <vector>

#include "kernels/linearopen/scan.h"

namespace cudascan::linearopen {
namespace {

/// Entries of a stack or a queue, in a ring of a power of two.
template <typename T>
struct HostMemory {
  Entry<T> *entries;
  int mask;

  Entry<T> load(int i) const { return entries[i & mask]; }
  void store(int i, int /*head*/, const Entry<T> &entry) { entries[i & mask] = entry; }
};

}  // namespace

template <typename T>
void open_lines(Cpu &cpu, LinearOpenAlgorithm algorithm, const lines::Direction &direction,
                int length, Plane<const T> in, Plane<T> out) {
  const auto partition = lines::Partition::of(direction, in.width, in.height);
  const bool by_stack = algorithm == LinearOpenAlgorithm::morard;
  const int room = static_cast<int>(std::bit_ceil(static_cast<unsigned>(
      by_stack ? most_cords(partition.steps, sizeof(T)) : most_zones(partition.steps, length))));
  cpu.for_bands(partition.count, 16, [&](int begin, int end) {
    std::vector<Entry<T>> entries(room);
    const HostMemory<T> memory{entries.data(), room - 1};
    for (int k = begin; k < end; ++k) {
      const int number = partition.first + k;
      const Steps inside = steps_inside(direction, number, partition.across, {0, partition.steps});
      const ImageLine<T> line{in, out, direction, number, inside};
      if (by_stack)
        open_by_stack(line, length, CordStack<T, HostMemory<T>>(memory));
      else
        open_by_queue(line, length, ZoneQueue<T, HostMemory<T>>(memory));
    }
  });
}

using std::uint16_t, std::uint32_t, std::uint8_t, lines::Direction;
template void open_lines(Cpu &, LinearOpenAlgorithm, const Direction &, int, Plane<const uint8_t>,
                         Plane<uint8_t>);
template void open_lines(Cpu &, LinearOpenAlgorithm, const Direction &, int, Plane<const uint16_t>,
                         Plane<uint16_t>);
template void open_lines(Cpu &, LinearOpenAlgorithm, const Direction &, int, Plane<const uint32_t>,
                         Plane<uint32_t>);

}  // namespace cudascan::linearopen
