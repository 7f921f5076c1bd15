// SPDX-License-Identifier: LGPL-2.1-or-later
// Users' code on the emulated GPU: the C++ compiler compiles it, with definitions of the CUDA
// keywords that it uses.
#include <cuda_runtime.h>

#include <chrono>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "kernels/usercode/code.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/gpu_module.h"
#include "kernels/usercode/shared_object.h"

namespace cudascan::gswo {
namespace {

struct Index {
  unsigned x, y, z;
};

/// Functions that the code calls while it runs.
struct Device {
  Index (*thread)();
  Index (*block)();
  Index (*threads)();
  Index (*blocks)();
  void (*barrier)();
};

constexpr const char *kWords = R"(
struct gswo_index { unsigned x, y, z; };
struct gswo_device {
  gswo_index (*thread)(); gswo_index (*block)(); gswo_index (*threads)(); gswo_index (*blocks)();
  void (*barrier)();
};
extern "C" __attribute__((visibility("default"))) gswo_device gswo_emulation{};
#define __CUDACC__ 1
#define __global__ __attribute__((visibility("default")))
#define __device__ __attribute__((visibility("hidden")))
#define __constant__ __attribute__((visibility("default")))
#define __forceinline__ inline
#define __launch_bounds__(...)
typedef unsigned long long cudaTextureObject_t;
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
#define __shared__ static
#define threadIdx gswo_emulation.thread()
#define blockIdx gswo_emulation.block()
#define blockDim gswo_emulation.threads()
#define gridDim gswo_emulation.blocks()
#define __syncthreads() gswo_emulation.barrier()
#define __builtin_assume(condition) ((condition) ? void() : __builtin_trap())
template <class T>
T __ldg(const T *p) {
  return *p;
}
inline int atomicAdd(int *sum, int value) {
  const int before = *sum;
  *sum += value;
  return before;
}
struct gswo_texture { const char *data; long long stride; int width, height; };
template <class T>
T tex2D(unsigned long long texture, float x, float y) {
  const gswo_texture &t = *(const gswo_texture *)texture;
  if (x < 0 || y < 0 || x >= t.width || y >= t.height) __builtin_trap();
  return ((const T *)(t.data + (int)y * t.stride))[(int)x];
}
template <class... A>
struct gswo_arguments {
  template <unsigned... i>
  struct Numbers {
    static void call(void (*kernel)(A...), void **at) { kernel(*(A *)at[i]...); }
  };
};
template <unsigned n, class List, unsigned... i>
struct gswo_count : gswo_count<n - 1, List, n - 1, i...> {};
template <class List, unsigned... i>
struct gswo_count<0, List, i...> : List::template Numbers<i...> {};
template <class... A>
void gswo_call(void (*kernel)(A...), void **at) {
  gswo_count<sizeof...(A), gswo_arguments<A...>>::call(kernel, at);
}
)";

/// A function for each kernel of a text that launch() can call.
std::string callers(const std::string &text) {
  std::string callers = "\nnamespace gswo_user {}\nusing namespace gswo_user;\n";
  std::vector<std::string> names;
  if (text.find("GSWO_FILTER ") != text.npos) names.push_back("gswo_filter");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string manifest, step, name;
    words >> manifest >> step >> name;
    if (manifest == "//@gswo" && (step == "kernel" || step == "copy")) names.push_back(name);
  }
  for (const std::string &name : names)
    callers += "extern \"C\" __attribute__((visibility(\"default\"))) void " + name +
               "_emulated(void **at) { gswo_call(" + name + ", at); }\n";
  return callers;
}

Index index_of(const dim3 &of) {
  return {of.x, of.y, of.z};
}

}  // namespace

std::string compile_for_gpu(const Unit &unit, int, const CodeOptions &options,
                            std::chrono::milliseconds) {
  Unit emulated = unit;
  emulated.main.text = kWords + unit.main.text + callers(unit.main.text);
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
                                        [] { return index_of(emulation::block_size()); },
                                        [] { return index_of(emulation::grid_size()); },
                                        [] { emulation::meet(false); }};
  }
  /// A module is loaded on one device.
  void check_device() const {
    if (device != emulation::current_device())
      throw Error("CUDA: the module is of another device (emulated GPU)");
  }

  SharedObject object;
  const int device = emulation::current_device();
};

GpuModule::GpuModule(const std::string &code) : impl_(std::make_unique<Impl>(code)) {}
GpuModule::~GpuModule() = default;

void GpuModule::set_global(const char *name, const void *value, std::size_t bytes,
                           CUstream_st *stream) {
  impl_->check_device();
  emulation::finish(stream);
  if (void *variable = impl_->object.symbol(name)) std::memcpy(variable, value, bytes);
}

void GpuModule::launch(const char *kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                       unsigned block_y, CUstream_st *stream, void **args) {
  impl_->check_device();
  emulation::finish(stream);  // copies of the arguments cannot be kept, as their sizes are unknown
  const std::string caller = std::string(kernel) + "_emulated";
  const auto function = reinterpret_cast<void (*)(void **)>(impl_->object.symbol(caller.c_str()));
  emulation::run(impl_->device, {grid_x, grid_y}, {block_x, block_y}, 0, false,
                 [&] { function(args); });
}

std::string gpu_name() {
  return "emulated";
}

float shortest_time(CUstream_st *stream, const std::function<void()> &queue) {
  const auto begin = std::chrono::steady_clock::now();
  queue();
  emulation::finish(stream);
  return std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

struct Textures::Impl {
  struct Texture {
    const void *data;
    long long stride;
    int width, height;
  } latest;
};
Textures::Textures() : impl_(std::make_unique<Impl>()) {}
Textures::~Textures() = default;
unsigned long long Textures::of(const void *data, std::ptrdiff_t stride, int width, int height,
                                int) {
  if (emulation::is_foreign(data)) throw Error("CUDA: a texture of another device's memory");
  impl_->latest = {data, stride, width, height};
  return reinterpret_cast<unsigned long long>(&impl_->latest);
}

}  // namespace cudascan::gswo
