// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces linearopen.cu and baseline.cu in a build without CUDA.
#include "kernels/linearopen.h"

#include "kernels/base/absent.h"
#include "kernels/linearopen/baseline.h"

namespace cudascan {

void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const LinearOpenParams &,
         LinearOpenReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const LinearOpenParams &,
         LinearOpenReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const float>, Plane<float>, const LinearOpenParams &, LinearOpenReport *) {
  refuse_cuda();
}

namespace linearopen {

using lines::Direction, std::size_t, std::span, std::uint8_t, std::uint16_t, std::uint32_t;

size_t open_lines_scratch(Cuda &, PublishedOpening, span<const Direction>, int, int, int, size_t,
                          const ZoneSettings &) {
  refuse_cuda();
}
template <typename T>
void open_lines(Cuda &, PublishedOpening, span<const Direction>, int, Plane<const T>,
                const OpenedPlanes<T> &, void *, const ZoneSettings &) {
  refuse_cuda();
}
template void open_lines(Cuda &, PublishedOpening, span<const Direction>, int, Plane<const uint8_t>,
                         const OpenedPlanes<uint8_t> &, void *, const ZoneSettings &);
template void open_lines(Cuda &, PublishedOpening, span<const Direction>, int,
                         Plane<const uint16_t>, const OpenedPlanes<uint16_t> &, void *,
                         const ZoneSettings &);
template void open_lines(Cuda &, PublishedOpening, span<const Direction>, int,
                         Plane<const uint32_t>, const OpenedPlanes<uint32_t> &, void *,
                         const ZoneSettings &);

}  // namespace linearopen
}  // namespace cudascan
