// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/gpu_module.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/driver.cuh"

namespace cudascan::gswo {
namespace {

template <typename Function>
void find(Function &function, const char *name) {
  function = driver_function<Function>(name);
  if (!function)
    throw Error(std::string("the NVIDIA driver has no ") + name +
                "; install a driver for CUDA 12.0 or newer");
}

struct Driver {
  Driver() {
    find(get_error_string, "cuGetErrorString");
    find(load, "cuModuleLoadDataEx");
    find(unload, "cuModuleUnload");
    find(get_function, "cuModuleGetFunction");
    find(get_global, "cuModuleGetGlobal");
    find(launch, "cuLaunchKernel");
    find(copy, "cuMemcpyHtoDAsync");
  }

  [[noreturn]] void fail(CUresult result, const std::string &what) const {
    const char *text = nullptr;
    get_error_string(result, &text);
    throw Error("CUDA: " + (text ? std::string(text) : "error " + std::to_string(result)) + " (" +
                what + ")");
  }

  decltype(&cuGetErrorString) get_error_string;
  decltype(&cuModuleLoadDataEx) load;
  decltype(&cuModuleUnload) unload;
  decltype(&cuModuleGetFunction) get_function;
  decltype(&cuModuleGetGlobal) get_global;
  decltype(&cuLaunchKernel) launch;
  decltype(&cuMemcpyHtoDAsync) copy;
};

const Driver &driver() {
  static const Driver found;
  return found;
}

CUmodule load(const std::string &code) {
  CUDA_CHECK(cudaFree(nullptr));  // makes the primary context current if none is
  std::string log(16 << 10, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(static_cast<std::uintptr_t>(log.size()))};
  CUmodule module = nullptr;
  const CUresult result = driver().load(&module, code.c_str(), 2, options, values);
  if (result == CUDA_SUCCESS) return module;
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  driver().fail(result, "loading the code of a filter" + (log.empty() ? "" : ":\n" + log));
}

}  // namespace

int gpu_architecture() {
  int device = 0, major = 0, minor = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return 10 * major + minor;
}

struct GpuModule::Impl {
  explicit Impl(const std::string &code) : module(load(code)) {}
  ~Impl() { driver().unload(module); }
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;

  struct Global {
    CUdeviceptr address = 0;  // 0 = none
    std::size_t bytes = 0;
  };

  Global global(const char *name) {
    const auto known = globals.find(name);
    if (known != globals.end()) return known->second;
    Global global;
    const CUresult result = driver().get_global(&global.address, &global.bytes, module, name);
    if (result == CUDA_ERROR_NOT_FOUND)
      global = {};
    else if (result != CUDA_SUCCESS)
      driver().fail(result, std::string("looking for the variable ") + name);
    return globals.emplace(name, global).first->second;
  }

  CUfunction kernel(const char *name) {
    const auto known = kernels.find(name);
    if (known != kernels.end()) return known->second;
    CUfunction kernel = nullptr;
    const CUresult result = driver().get_function(&kernel, module, name);
    if (result != CUDA_SUCCESS)
      driver().fail(result, std::string("looking for the kernel ") + name);
    return kernels.emplace(name, kernel).first->second;
  }

  CUmodule module;
  std::map<std::string, Global, std::less<> > globals;
  std::map<std::string, CUfunction, std::less<> > kernels;
};

GpuModule::GpuModule(const std::string &code) : impl_(std::make_unique<Impl>(code)) {}
GpuModule::~GpuModule() = default;

void GpuModule::set_global(const char *name, const void *value, std::size_t bytes,
                           CUstream_st *stream) {
  const Impl::Global global = impl_->global(name);
  if (global.address == 0) return;
  if (bytes > global.bytes)
    throw Error("CUDA: the variable " + std::string(name) + " has " + std::to_string(global.bytes) +
                " bytes, but is set to a value of " + std::to_string(bytes));
  // The driver copies unpinned memory before it returns; the caller's memory may be pinned.
  const std::string copy(static_cast<const char *>(value), bytes);
  const CUresult result = driver().copy(global.address, copy.data(), bytes, stream);
  if (result != CUDA_SUCCESS) driver().fail(result, std::string("setting the variable ") + name);
}

void GpuModule::launch(const char *kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                       unsigned block_y, CUstream_st *stream, void **args) {
  const CUresult result = driver().launch(impl_->kernel(kernel), grid_x, grid_y, 1, block_x,
                                          block_y, 1, 0, stream, args, nullptr);
  if (result != CUDA_SUCCESS) driver().fail(result, std::string("launching the kernel ") + kernel);
}

std::string gpu_name() {
  int device = 0;
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

float shortest_time(CUstream_st *stream, const std::function<void()> &queue) {
  // Short work is queued several times, so that the gaps between launches do not count.
  constexpr int kTimes = 7, kMostRuns = 10;
  constexpr float kEnoughMs = 0.2f;
  struct Event {
    Event() { CUDA_CHECK(cudaEventCreate(&event)); }
    ~Event() { cudaEventDestroy(event); }
    cudaEvent_t event;
  } begin, end;
  const auto time = [&](int runs) {
    CUDA_CHECK(cudaEventRecord(begin.event, stream));
    for (int i = 0; i < runs; ++i) queue();
    CUDA_CHECK(cudaEventRecord(end.event, stream));
    CUDA_CHECK(cudaEventSynchronize(end.event));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin.event, end.event));
    return ms / static_cast<float>(runs);
  };
  queue();  // loads the code
  const float once = time(1);
  const int runs = once > 0 ? std::clamp(static_cast<int>(kEnoughMs / once), 1, kMostRuns) : 1;
  float shortest = time(runs);
  for (int i = 1; i < kTimes; ++i) shortest = std::min(shortest, time(runs));
  return 1000 * shortest;
}

struct Textures::Impl {
  struct Texture {
    const void *data;
    std::ptrdiff_t stride;
    int width, height, sample_bytes;
    cudaTextureObject_t object;
    bool is_of(const Texture &other) const {
      return data == other.data && stride == other.stride && width == other.width &&
             height == other.height && sample_bytes == other.sample_bytes;
    }
  };

  ~Impl() {
    for (const Texture &texture : latest_first) cudaDestroyTextureObject(texture.object);
  }

  static cudaTextureObject_t make(const Texture &t) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {
        const_cast<void *>(t.data),
        cudaCreateChannelDesc(8 * t.sample_bytes, 0, 0, 0, cudaChannelFormatKindUnsigned),
        static_cast<std::size_t>(t.width), static_cast<std::size_t>(t.height),
        static_cast<std::size_t>(t.stride)};
    cudaTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModePoint;
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t object = 0;
    CUDA_CHECK(cudaCreateTextureObject(&object, &resource, &description, nullptr));
    return object;
  }

  /// The alignment of frames that GPUs require.
  struct Alignment {
    int data, stride;
  };
  static Alignment alignment() {
    int device = 0;
    Alignment alignment{};
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&alignment.data, cudaDevAttrTextureAlignment, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&alignment.stride, cudaDevAttrTexturePitchAlignment, device));
    return alignment;
  }

  static constexpr std::size_t kMost = 32;  // more than the buffers of a pool
  std::list<Texture> latest_first;
  std::optional<Alignment> wanted;
};

Textures::Textures() : impl_(std::make_unique<Impl>()) {}
Textures::~Textures() = default;

unsigned long long Textures::of(const void *data, std::ptrdiff_t stride, int width, int height,
                                int sample_bytes) {
  if (!impl_->wanted) impl_->wanted = Impl::alignment();
  if (reinterpret_cast<std::uintptr_t>(data) % impl_->wanted->data != 0 ||
      stride % impl_->wanted->stride != 0)
    return 0;
  Impl::Texture wanted{data, stride, width, height, sample_bytes, 0};
  std::list<Impl::Texture> &known = impl_->latest_first;
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Impl::Texture &t) { return t.is_of(wanted); });
  if (found != known.end()) {
    known.splice(known.begin(), known, found);
    return known.front().object;
  }
  if (known.size() >= Impl::kMost) {
    CUDA_CHECK(cudaDeviceSynchronize());  // a kernel may still read through it
    CUDA_CHECK(cudaDestroyTextureObject(known.back().object));
    known.pop_back();
  }
  wanted.object = Impl::make(wanted);
  known.push_front(wanted);
  return wanted.object;
}

}  // namespace cudascan::gswo
