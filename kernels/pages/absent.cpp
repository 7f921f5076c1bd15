// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces the other files in a build without CUDA.
#include "kernels/base/absent.h"
#include "kernels/pages/jpeg_code.h"
#include "kernels/pages/pages.h"

namespace cudascan::pages {

using Plane8 = Plane<std::uint8_t>;
using Plane16 = Plane<std::uint16_t>;
using In8 = Plane<const std::uint8_t>;
using In16 = Plane<const std::uint16_t>;

void queue_means(Cuda &, In8, int, int, Plane8) {
  refuse_cuda();
}
void queue_means(Cuda &, In16, int, int, Plane8) {
  refuse_cuda();
}
LevelKinds level_kinds(Cuda &, In8) {
  refuse_cuda();
}
LevelKinds level_kinds(Cuda &, In16) {
  refuse_cuda();
}
void queue_fill(Cuda &, int, In8, In8, Plane8) {
  refuse_cuda();
}
void queue_fill(Cuda &, int, In8, In8, Plane16) {
  refuse_cuda();
}
void queue_gains(Cuda &, int, In16, Plane8) {
  refuse_cuda();
}
void queue_gains(Cuda &, int, In16, Plane16) {
  refuse_cuda();
}
ColumnNumbers upload(Cuda &, const ColumnNumbers &) {
  refuse_cuda();
}
std::vector<HalfSquares> half_squares(Cuda &, const ColumnNumbers &, int, int,
                                      const std::vector<double> &) {
  refuse_cuda();
}
std::vector<PartSquares> part_squares(Cuda &, const ColumnNumbers &, int,
                                      const std::vector<double> &) {
  refuse_cuda();
}

const std::uint32_t *queue_check(Cuda &, const JpegCode &) {
  refuse_cuda();
}

}  // namespace cudascan::pages
