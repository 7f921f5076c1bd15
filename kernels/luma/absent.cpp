// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces the .cu files in a build without CUDA.
#include "kernels/luma.h"

#include "kernels/base/absent.h"

namespace cudascan {

void get_luma(Cuda &, const RgbPlanes<const std::uint8_t> &, const LumaWeights &,
              Plane<std::uint8_t>) {
  refuse_cuda();
}
void get_luma(Cuda &, const RgbPlanes<const std::uint16_t> &, const LumaWeights &,
              Plane<std::uint16_t>) {
  refuse_cuda();
}
void get_luma(Cuda &, const PackedYuv<const std::uint8_t> &, Plane<std::uint8_t>) {
  refuse_cuda();
}
void get_luma(Cuda &, const PackedYuv<const std::uint16_t> &, Plane<std::uint16_t>) {
  refuse_cuda();
}
void set_luma(Cuda &, const RgbPlanes<const std::uint8_t> &, const LumaWeights &,
              Plane<const std::uint8_t>, Colors, const RgbPlanes<std::uint8_t> &) {
  refuse_cuda();
}
void set_luma(Cuda &, const RgbPlanes<const std::uint16_t> &, const LumaWeights &,
              Plane<const std::uint16_t>, Colors, const RgbPlanes<std::uint16_t> &) {
  refuse_cuda();
}
void set_luma(Cuda &, const PackedYuv<const std::uint8_t> &, Plane<const std::uint8_t>, Colors,
              const PackedYuv<std::uint8_t> &) {
  refuse_cuda();
}
void set_luma(Cuda &, const PackedYuv<const std::uint16_t> &, Plane<const std::uint16_t>, Colors,
              const PackedYuv<std::uint16_t> &) {
  refuse_cuda();
}

void get_luma(Cuda &, const PackedTens<const std::uint32_t> &, const LumaWeights &,
              Plane<std::uint16_t>) {
  refuse_cuda();
}
void set_luma(Cuda &, const PackedTens<const std::uint32_t> &, const LumaWeights &,
              Plane<const std::uint16_t>, Colors, const PackedTens<std::uint32_t> &) {
  refuse_cuda();
}

}  // namespace cudascan
