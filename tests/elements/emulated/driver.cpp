// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of the NVIDIA driver (libcuda.so.1) that GStreamer's CUDA library loads. It has the
// emulated devices, whose memory is the process's. So elements run their CUDA code, with contexts,
// pools and events, on machines without a GPU.
#include "tests/elements/emulated/driver.h"

#include <cuda.h>
#include <cudaGL.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

/// Contexts have no content; they can only be made current.
struct CUctx_st {
  int device;
};
struct CUstream_st {};
/// All work of the driver is done when its function returns.
struct CUevent_st {};

namespace {

/// The contexts that a thread has made current. It has no destructor, as contexts live until the
/// process ends.
struct Contexts {
  static constexpr int kMost = 64;
  CUcontext all[kMost];
  int n;
};
thread_local constinit Contexts current{};

CUresult push(CUcontext context) {
  if (current.n == Contexts::kMost) return CUDA_ERROR_INVALID_CONTEXT;
  current.all[current.n++] = context;
  return CUDA_SUCCESS;
}

constexpr std::size_t kPitch = 512;

/// The memory of the devices, in pages of its own, which can be made inaccessible.
class Memory {
 public:
  void *allocate(std::size_t bytes, int device) {
    void *const begin =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) return nullptr;
    std::memset(begin, 0xcd, bytes);
    const std::lock_guard lock(mutex_);
    all_[static_cast<char *>(begin)] = {bytes, device};
    return begin;
  }
  void free(void *begin) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(static_cast<char *>(begin));
    if (found == all_.end()) return;
    munmap(begin, found->second.bytes);
    all_.erase(found);
  }
  int owner(const void *p) {
    const std::lock_guard lock(mutex_);
    const auto next = all_.upper_bound(const_cast<char *>(static_cast<const char *>(p)));
    if (next == all_.begin()) return -1;
    const auto &[begin, part] = *std::prev(next);
    return p < begin + part.bytes ? part.device : -1;
  }
  void hide_from(int device) {
    mutex_.lock();
    visible_ = device;
    protect(PROT_NONE);
  }
  void show() {
    protect(PROT_READ | PROT_WRITE);
    mutex_.unlock();
  }
  /// Held while memory is hidden; whoever accesses it holds it, too.
  std::recursive_mutex &mutex() { return mutex_; }

 private:
  struct Part {
    std::size_t bytes;
    int device;
  };
  void protect(int access) {
    for (const auto &[begin, part] : all_)
      if (part.device != visible_) mprotect(begin, part.bytes, access);
  }

  std::recursive_mutex mutex_;
  std::map<char *, Part> all_;
  int visible_ = 0;
};

/// Frames may be freed when the process ends.
Memory &memory() {
  static Memory &memory = *new Memory;
  return memory;
}

char *place(CUmemorytype type, const void *host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? const_cast<char *>(static_cast<const char *>(host))
                                    : reinterpret_cast<char *>(device);
}

template <typename Number>
CUresult set_rows(CUdeviceptr to, std::size_t pitch, Number value, std::size_t width,
                  std::size_t height) {
  for (std::size_t y = 0; y < height; ++y)
    std::fill_n(reinterpret_cast<Number *>(to + y * pitch), width, value);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

int cudascan_current_device() {
  return current.n == 0 ? -1 : current.all[current.n - 1]->device;
}
int cudascan_device_of_context(CUctx_st *context) {
  return context->device;
}
int cudascan_device_of(const void *p) {
  return memory().owner(p);
}
void cudascan_hide_memory_from(int device) {
  memory().hide_from(device);
}
void cudascan_show_memory() {
  memory().show();
}

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult, const char **name) {
  *name = "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "an error of the emulated driver";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  *count = emulation::kDevices;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int number) {
  if (number < 0 || number >= emulation::kDevices) return CUDA_ERROR_INVALID_DEVICE;
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(size), "emulated GPU");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
      *value = kPitch;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
#undef cuDeviceGetUuid  // GStreamer loads this one, from 1.28 on
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice) {
  std::memset(uuid, 0, sizeof *uuid);
  return CUDA_SUCCESS;
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice, CUdevice) {
  *can = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned, CUdevice device) {
  return push(*context = new CUctx_st{device});
}
CUresult cuCtxDestroy(CUcontext context) {
  current.n =
      static_cast<int>(std::remove(current.all, current.all + current.n, context) - current.all);
  delete context;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return push(context);
}
CUresult cuCtxPopCurrent(CUcontext *context) {
  if (current.n == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --current.n;
  if (context) *context = current.all[current.n];
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return CUDA_SUCCESS;
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuCtxDisablePeerAccess(CUcontext) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemAlloc(CUdeviceptr *p, std::size_t bytes) {
  if (current.n == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *p = reinterpret_cast<CUdeviceptr>(memory().allocate(bytes, cudascan_current_device()));
  return *p == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAllocPitch(CUdeviceptr *p, std::size_t *pitch, std::size_t width, std::size_t height,
                         unsigned) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  // GStreamer's library asks for a row too few for some frames of odd height, and copies it.
  return cuMemAlloc(p, *pitch * (height + 1));
}
CUresult cuMemAllocHost(void **p, std::size_t bytes) {
  if (current.n == 0) return CUDA_ERROR_INVALID_CONTEXT;
  constexpr std::size_t kUnit = 256;
  return posix_memalign(p, kUnit, (bytes + kUnit - 1) / kUnit * kUnit) == 0
             ? CUDA_SUCCESS
             : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree(CUdeviceptr p) {
  memory().free(reinterpret_cast<void *>(p));
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void *p) {
  std::free(p);
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  const char *from = place(copy->srcMemoryType, copy->srcHost, copy->srcDevice) +
                     copy->srcY * copy->srcPitch + copy->srcXInBytes;
  char *to = place(copy->dstMemoryType, copy->dstHost, copy->dstDevice) +
             copy->dstY * copy->dstPitch + copy->dstXInBytes;
  const std::lock_guard lock(memory().mutex());
  for (std::size_t y = 0; y < copy->Height; ++y)
    std::memcpy(to + y * copy->dstPitch, from + y * copy->srcPitch, copy->WidthInBytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream) {
  return cuMemcpy2D(copy);
}

// From 1.24 on, GStreamer's library loads the functions from here to the streams.
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return cuMemcpyDtoD(to, from, bytes);
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return cuMemcpyDtoH(to, from, bytes);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, std::size_t bytes, CUstream) {
  return cuMemcpyHtoD(to, from, bytes);
}
CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return set_rows(to, pitch, value, width, height);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream) {
  return set_rows(to, pitch, value, width, height);
}
CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
  return set_rows(to, pitch, value, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream) {
  return set_rows(to, pitch, value, width, height);
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  return set_rows(to, pitch, value, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream) {
  return set_rows(to, pitch, value, width, height);
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = new CUevent_st;
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete event;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream) {
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) {
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  *stream = new CUstream_st;
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  delete stream;
  return CUDA_SUCCESS;
}
#undef cuStreamDestroy  // GStreamer 1.22 loads this one
CUresult cuStreamDestroy(CUstream stream) {
  return cuStreamDestroy_v2(stream);
}
CUresult cuStreamSynchronize(CUstream) {
  return CUDA_SUCCESS;
}

// GStreamer's own kernels, OpenGL and sharing with other processes need these functions; the
// emulated device has none of them.
#define REFUSE(name, ...)            \
  CUresult name(__VA_ARGS__) {       \
    return CUDA_ERROR_NOT_SUPPORTED; \
  }
REFUSE(cuModuleLoadData, CUmodule *, const void *)
REFUSE(cuModuleUnload, CUmodule)
REFUSE(cuModuleGetFunction, CUfunction *, CUmodule, const char *)
REFUSE(cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
       unsigned, CUstream, void **, void **)
REFUSE(cuTexObjectCreate, CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *,
       const CUDA_RESOURCE_VIEW_DESC *)
REFUSE(cuTexObjectDestroy, CUtexObject)
REFUSE(cuCtxGetLimit, std::size_t *, CUlimit)
REFUSE(cuCtxSetLimit, CUlimit, std::size_t)
REFUSE(cuIpcGetEventHandle, CUipcEventHandle *, CUevent)
REFUSE(cuIpcOpenEventHandle, CUevent *, CUipcEventHandle)
REFUSE(cuIpcGetMemHandle, CUipcMemHandle *, CUdeviceptr)
#undef cuIpcOpenMemHandle  // GStreamer loads this one
REFUSE(cuIpcOpenMemHandle, CUdeviceptr *, CUipcMemHandle, unsigned)
REFUSE(cuIpcCloseMemHandle, CUdeviceptr)
REFUSE(cuGLGetDevices, unsigned *, CUdevice *, unsigned, CUGLDeviceList)
REFUSE(cuGraphicsGLRegisterBuffer, CUgraphicsResource *, GLuint, unsigned)
REFUSE(cuGraphicsGLRegisterImage, CUgraphicsResource *, GLuint, GLenum, unsigned)
REFUSE(cuGraphicsMapResources, unsigned, CUgraphicsResource *, CUstream)
REFUSE(cuGraphicsUnmapResources, unsigned, CUgraphicsResource *, CUstream)
REFUSE(cuGraphicsUnregisterResource, CUgraphicsResource)
REFUSE(cuGraphicsResourceGetMappedPointer, CUdeviceptr *, std::size_t *, CUgraphicsResource)
REFUSE(cuGraphicsResourceSetMapFlags, CUgraphicsResource, unsigned)
REFUSE(cuGraphicsSubResourceGetMappedArray, CUarray *, CUgraphicsResource, unsigned, unsigned)

}  // extern "C"
