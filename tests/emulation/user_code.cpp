// SPDX-License-Identifier: LGPL-2.1-or-later
// Users' code on the emulated GPU: compiled by the C++ compiler, with the words of CUDA that it uses.
#include <cuda_runtime.h>

#include <map>

#include "kernels/gswo/code.h"
#include "kernels/gswo/compile.h"
#include "kernels/gswo/gpu_module.h"
#include "kernels/gswo/shared_object.h"

namespace cudascan::gswo {
namespace {

struct Index {
  unsigned x, y, z;
};

/// What the code asks for while it runs.
struct Device {
  Index (*thread)();
  Index (*block)();
  void (*barrier)();
};

constexpr const char *kWords = R"(
struct gswo_index { unsigned x, y, z; };
struct gswo_device { gswo_index (*thread)(); gswo_index (*block)(); void (*barrier)(); };
extern "C" __attribute__((visibility("default"))) gswo_device gswo_emulation{};
#define __CUDACC__ 1
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __constant__ __attribute__((visibility("default")))
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __shared__ static
#define threadIdx gswo_emulation.thread()
#define blockIdx gswo_emulation.block()
#define __syncthreads() gswo_emulation.barrier()
)";

Index index_of(const dim3 &of) {
  return {of.x, of.y, of.z};
}

}  // namespace

std::string compile_for_gpu(const Unit &unit, int, const CodeOptions &options,
                            std::chrono::milliseconds) {
  Unit emulated = unit;
  emulated.main.text = kWords + unit.main.text;
  return compile_for_cpu(emulated, options);
}

std::string compile_for_gpu(const Unit &unit, int architecture, const CodeOptions &options) {
  return compile_for_gpu(unit, architecture, options, {});
}

int gpu_architecture() {
  return 90;
}

struct GpuModule::Impl {
  explicit Impl(const std::string &code) : object(code) {
    if (void *device = object.symbol("gswo_emulation"))
      *static_cast<Device *>(device) = {[] { return index_of(emulation::thread_index()); },
                                        [] { return index_of(emulation::block_index()); },
                                        [] { emulation::meet(false); }};
  }
  SharedObject object;
};

GpuModule::GpuModule(const std::string &code) : impl_(std::make_unique<Impl>(code)) {}
GpuModule::~GpuModule() = default;

void GpuModule::set_global(const char *name, const void *value, std::size_t bytes, CUstream_st *) {
  if (void *variable = impl_->object.symbol(name)) std::memcpy(variable, value, bytes);
}

/// For kernels of two frames.
void GpuModule::launch(const char *kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                       unsigned block_y, CUstream_st *, void **args) {
  struct Frame {
    void *data;
    long long stride;
    int width, height;
  };
  const auto function = reinterpret_cast<void (*)(Frame, Frame)>(impl_->object.symbol(kernel));
  const Frame in = *static_cast<const Frame *>(args[0]), out = *static_cast<const Frame *>(args[1]);
  emulation::run({grid_x, grid_y}, {block_x, block_y}, 0, false, [&] { function(in, out); });
}

}  // namespace cudascan::gswo
