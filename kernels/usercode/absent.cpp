// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces gpu_module.cpp in a build without CUDA.
#include "kernels/base/absent.h"
#include "kernels/usercode/gpu_module.h"

namespace cudascan::gswo {

struct GpuModule::Impl {};

int gpu_architecture() {
  refuse_cuda();
}

GpuModule::GpuModule(const std::string &) {
  refuse_cuda();
}
GpuModule::~GpuModule() = default;
void GpuModule::set_global(const char *, const void *, std::size_t, CUstream_st *) {
  refuse_cuda();
}
void GpuModule::launch(const char *, unsigned, unsigned, unsigned, unsigned, CUstream_st *,
                       void **) {
  refuse_cuda();
}

std::string gpu_name() {
  refuse_cuda();
}
float shortest_time(CUstream_st *, const std::function<void()> &) {
  refuse_cuda();
}

struct Textures::Impl {};
Textures::Textures() = default;
Textures::~Textures() = default;
unsigned long long Textures::of(const void *, std::ptrdiff_t, int, int, int) {
  refuse_cuda();
}

}  // namespace cudascan::gswo
