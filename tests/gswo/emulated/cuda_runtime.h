// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The part of CUDA's run time that stand-alone programs of gswo-cc use, on the CPU. Copies and
/// kernels wait in a queue until somebody waits for them, so what is read or freed too early shows.
/// Memory is filled with a pattern.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorInvalidResourceHandle,
  cudaErrorLaunchFailure
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaEventDisableTiming };

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct EmulatedEvent {
  int device;           ///< the only one whose streams may record it
  long long place = 0;  ///< how much of the queue comes before it
};
using cudaEvent_t = EmulatedEvent *;
using cudaStream_t = struct EmulatedStream *;

namespace emulated {

struct Device {
  std::recursive_mutex mutex;
  std::deque<std::function<void()>> queue;
  long long queued = 0, done = 0;
  std::map<void *, std::size_t> memory;
  std::size_t used = 0, most = std::size_t(1) << 40;
  long long mallocs = 0, on_device = 0, launches = 0;
  cudaError_t error = cudaSuccess;  ///< of the next launch

  void add(std::function<void()> work) {
    const std::lock_guard<std::recursive_mutex> lock(mutex);
    queue.push_back(std::move(work));
    queued++;
  }
  void run(long long place) {
    const std::lock_guard<std::recursive_mutex> lock(mutex);
    while (done < place) {
      const std::function<void()> work = std::move(queue.front());
      queue.pop_front();
      work();
      done++;
    }
  }
};
/// All devices: they have one queue.
inline Device &device() {
  static Device all;
  return all;
}
inline thread_local int current = 0;

}  // namespace emulated

inline const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "launch failure";
}
inline cudaError_t cudaGetLastError() {
  return std::exchange(emulated::device().error, cudaSuccess);
}
inline cudaError_t cudaGetDevice(int *number) {
  return *number = emulated::current, cudaSuccess;
}
inline cudaError_t cudaSetDevice(int number) {
  return emulated::current = number, cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  emulated::device().run(emulated::device().queued);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  return cudaStreamSynchronize(nullptr);
}
inline cudaError_t cudaMalloc(void **p, std::size_t bytes) {
  auto &d = emulated::device();
  const std::lock_guard<std::recursive_mutex> lock(d.mutex);
  if (d.used + bytes > d.most) return d.error = cudaErrorMemoryAllocation;
  d.used += bytes, d.mallocs++;
  *p = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(*p, 0xcd, bytes);
  d.memory[*p] = bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void *p) {
  if (!p) return cudaSuccess;
  auto &d = emulated::device();
  const std::lock_guard<std::recursive_mutex> lock(d.mutex);
  d.run(d.queued);
  const auto found = d.memory.find(p);
  if (found == d.memory.end()) std::abort();
  d.used -= found->second;
  d.memory.erase(found);
  std::free(p);
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void **p, std::size_t bytes) {
  return *p = std::malloc(bytes), cudaSuccess;
}
inline cudaError_t cudaFreeHost(void *p) {
  return std::free(p), cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from,
                                     std::size_t from_pitch, std::size_t bytes, std::size_t rows,
                                     cudaMemcpyKind kind, cudaStream_t) {
  if (kind == cudaMemcpyDeviceToDevice) emulated::device().on_device++;
  emulated::device().add([=] {
    for (std::size_t k = 0; k < rows; k++)
      std::memcpy((char *)to + k * to_pitch, (const char *)from + k * from_pitch, bytes);
  });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  emulated::device().add([=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2D(void *to, std::size_t to_pitch, const void *from,
                                std::size_t from_pitch, std::size_t bytes, std::size_t rows,
                                cudaMemcpyKind kind) {
  cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, kind, nullptr);
  return cudaDeviceSynchronize();
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return *event = new EmulatedEvent{emulated::current}, cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return delete event, cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event->device != emulated::current) return cudaErrorInvalidResourceHandle;
  auto &d = emulated::device();
  const std::lock_guard<std::recursive_mutex> lock(d.mutex);
  return event->place = d.queued, cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return emulated::device().run(event->place), cudaSuccess;
}

// Textures are not emulated.
using cudaArray_t = void *;
using cudaTextureObject_t = unsigned long long;
struct cudaChannelFormatDesc {};
struct cudaResourceDesc {
  int resType;
  struct {
    struct {
      cudaArray_t array;
    } array;
  } res;
};
struct cudaTextureDesc {
  int addressMode[3], filterMode, readMode;
};
enum { cudaResourceTypeArray, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType };
inline cudaError_t cudaFreeArray(cudaArray_t) {
  return cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) {
  return cudaSuccess;
}
inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *, const cudaResourceDesc *,
                                           const cudaTextureDesc *, const void *) {
  return cudaSuccess;
}
template <class... A>
cudaError_t cudaMemcpy2DToArray(A...) {
  return cudaSuccess;
}
template <class... A>
cudaError_t cudaMallocArray(A...) {
  return cudaSuccess;
}
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  return {};
}
