// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The part of CUDA that the kernel library uses, on the CPU. The files *.cu, compiled as C++ with
/// this folder first in the include path, make a library whose device needs no GPU. It is slow and
/// serves tests only: they run the code of the kernels, thread by thread, on machines without a GPU
/// and under the address sanitizer.
///
/// The threads of a block take turns: one runs until it has to wait for others, in an order that
/// differs from block to block. Blocks run one after another; those of a cooperative launch take
/// turns. Work queued on streams is done late and in any order that streams and events allow
/// (streams.cpp), so reading or freeing memory too early is detected. Some states can only be
/// caused by a mistake, and end the program with a message: lanes of a warp that meet in different
/// functions, threads that wait for one another, copies with an invalid address, and copies that
/// are unfinished when their block ends. Uninitialised shared and device memory is filled with a
/// pattern. Data races are not detected, but changing the order of the threads finds some of them.
///
/// There are several devices, which differ in size. Each thread has a current one, to which the
/// memory, streams and events belong that the thread makes. As on GPUs that have no access to one
/// another's memory, calls on a stream, an event or memory of another device fail, even some that
/// CUDA allows. A kernel that uses such memory ends the program.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "arithmetic.h"
#include "machine.h"

// ---- The language -------------------------------------------------------------------------------

#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
// A static variable can be shared memory, as one block runs after another. The blocks of a
// cooperative launch run together, so they may only have dynamic shared memory.
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline

struct int2 {
  int x, y;
};
struct uint2 {
  unsigned x, y;
};
struct float2 {
  float x, y;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
struct alignas(8) short4 {
  short x, y, z, w;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

using std::max;
using std::min;

// ---- Threads and lanes --------------------------------------------------------------------------

namespace emulation {

/// Indices and sizes of the running thread.
const dim3 &thread_index();
const dim3 &block_index();
const dim3 &block_size();
const dim3 &grid_size();
/// One of these in the form of threadIdx, blockIdx and so on.
template <const dim3 &(*get)()>
struct Coordinates {
  template <unsigned dim3::*member>
  struct Coordinate {
    operator unsigned() const { return get().*member; }
  };
  Coordinate<&dim3::x> x;
  Coordinate<&dim3::y> y;
  Coordinate<&dim3::z> z;
};
// For calls in which an argument is a Coordinate: std::min() cannot deduce a type.
inline unsigned min(unsigned a, unsigned b) {
  return a < b ? a : b;
}
inline unsigned max(unsigned a, unsigned b) {
  return a > b ? a : b;
}

/// The dynamic shared memory of the running block.
unsigned char *shared_memory();

/// Waits until all lanes of the warp have called it with the same `function`. Returns the values of
/// all lanes, which are valid until the next call.
const std::uint64_t *exchange(std::uint64_t value, const char *function);
/// Waits for all threads of the block. Returns how many of them passed true.
int meet(bool value);
/// Lets other threads of the block run. For a thread that waits for their work.
void yield();
/// To be called when a thread has stopped waiting. If no thread does so for a while, the program is
/// in a deadlock.
void progress();

/// Prints a message and ends the program.
[[noreturn]] void fail(const std::string &what);

/// Runs a kernel on a device.
void run(int device, const dim3 &blocks, const dim3 &threads, std::size_t shared, bool together,
         const std::function<void()> &thread);

}  // namespace emulation

inline constexpr emulation::Coordinates<emulation::thread_index> threadIdx;
inline constexpr emulation::Coordinates<emulation::block_index> blockIdx;
inline constexpr emulation::Coordinates<emulation::block_size> blockDim;
inline constexpr emulation::Coordinates<emulation::grid_size> gridDim;

inline void __syncthreads() {
  emulation::meet(false);
}
inline int __syncthreads_count(bool value) {
  return emulation::meet(value);
}
inline void __syncwarp() {
  emulation::exchange(0, "__syncwarp");
}
inline bool __all_sync(unsigned /*mask*/, bool value) {
  const std::uint64_t *all = emulation::exchange(value, "__all_sync");
  return std::all_of(all, all + 32, [](std::uint64_t v) { return v != 0; });
}
inline bool __any_sync(unsigned /*mask*/, bool value) {
  const std::uint64_t *all = emulation::exchange(value, "__any_sync");
  return std::any_of(all, all + 32, [](std::uint64_t v) { return v != 0; });
}
inline unsigned __ballot_sync(unsigned /*mask*/, bool value) {
  const std::uint64_t *all = emulation::exchange(value, "__ballot_sync");
  unsigned lanes = 0;
  for (int i = 0; i < 32; ++i) lanes |= static_cast<unsigned>(all[i] != 0) << i;
  return lanes;
}
template <typename T>
T __shfl_sync(unsigned /*mask*/, T value, int lane) {
  return static_cast<T>(emulation::exchange(value, "__shfl_sync")[lane]);
}
template <typename T>
T __shfl_up_sync(unsigned /*mask*/, T value, unsigned distance) {
  const unsigned lane = threadIdx.x % 32, from = lane >= distance ? lane - distance : lane;
  return static_cast<T>(emulation::exchange(value, "__shfl_up_sync")[from]);
}
template <typename T>
T __shfl_down_sync(unsigned /*mask*/, T value, unsigned distance) {
  const unsigned lane = threadIdx.x % 32, from = lane + distance < 32 ? lane + distance : lane;
  return static_cast<T>(emulation::exchange(value, "__shfl_down_sync")[from]);
}
template <typename T>
T __shfl_xor_sync(unsigned /*mask*/, T value, int mask) {
  return static_cast<T>(emulation::exchange(
      value, "__shfl_xor_sync")[(threadIdx.x % 32) ^ static_cast<unsigned>(mask)]);
}
template <typename T>
T __ldcg(const T *p) {
  return *p;
}
inline unsigned __reduce_add_sync(unsigned /*mask*/, unsigned value) {
  const std::uint64_t *all = emulation::exchange(value, "__reduce_add_sync");
  unsigned sum = 0;
  for (int i = 0; i < 32; ++i) sum += static_cast<unsigned>(all[i]);
  return sum;
}

// Nothing to do: all threads of the device run in one thread of the process at a time.
inline void __threadfence() {}
inline unsigned __reduce_max_sync(unsigned /*mask*/, unsigned value) {
  const std::uint64_t *all = emulation::exchange(value, "__reduce_max_sync");
  return static_cast<unsigned>(*std::max_element(all, all + 32));
}

template <typename T>
T __ldg(const T *p) {
  return *p;
}
template <typename T, typename U>
T atomicMax(T *p, U value) {
  const T old = *p;
  *p = std::max(old, static_cast<T>(value));
  return old;
}
template <typename T, typename U>
T atomicMin(T *p, U value) {
  const T old = *p;
  *p = std::min(old, static_cast<T>(value));
  return old;
}
template <typename T, typename U>
T atomicOr(T *p, U value) {
  const T old = *p;
  *p |= static_cast<T>(value);
  return old;
}
template <typename T, typename U>
T atomicXor(T *p, U value) {
  const T old = *p;
  *p ^= static_cast<T>(value);
  return old;
}
template <typename T, typename U>
T atomicAdd(T *p, U value) {
  const T old = *p;
  *p += static_cast<T>(value);
  return old;
}

template <typename T>
T atomicExch(T *p, T value) {
  return std::exchange(*p, value);
}

// ---- The runtime --------------------------------------------------------------------------------

#define CUDART_VERSION 13000

enum cudaMemcpyKind { cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrL2CacheSize
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum { cudaEventDefault, cudaEventDisableTiming, cudaStreamNonBlocking, cudaEnableDefault };
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess };
enum cudaLaunchAttributeID {
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeProgrammaticStreamSerialization
};

struct CUevent_st;
using cudaEvent_t = CUevent_st *;

struct cudaFuncAttributes {
  int ptxVersion;
  std::size_t sharedSizeBytes;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int cooperative, programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

cudaError_t cudaMalloc(void **p, std::size_t bytes);
cudaError_t cudaMallocHost(void **p, std::size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_stride, const void *from,
                              std::size_t from_stride, std::size_t row_bytes, std::size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream);
/// Refuses memory that is not of the stated devices.
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset2DAsync(void *to, std::size_t stride, int value, std::size_t row_bytes,
                              std::size_t rows, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
/// All devices reach each other.
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
/// For the current device. No copy needs it here.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *result);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);

template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel /*kernel*/,
                                                          int threads, std::size_t shared) {
  *blocks = emulation::blocks_per_multiprocessor(threads, shared);
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute /*attribute*/,
                                        int value) {
  return emulation::set_shared_limit(kernel, value);
}
/// Static shared memory counts as 0 bytes, as it is in static variables of the process.
template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel /*kernel*/) {
  *attributes = {.ptxVersion = __CUDA_ARCH__ / 10, .sharedSizeBytes = 0};
  return cudaSuccess;
}
template <typename... Parameters, typename... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               const Args &...args) {
  bool together = false;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    together |= config->attrs[i].id == cudaLaunchAttributeCooperative;
  const dim3 &blocks = config->gridDim, &threads = config->blockDim;
  const int resident = emulation::blocks_per_multiprocessor(
      static_cast<int>(threads.x * threads.y * threads.z), config->dynamicSmemBytes);
  if (together ? static_cast<int>(blocks.x * blocks.y * blocks.z) >
                     resident * emulation::multiprocessors()
               : resident == 0)
    return cudaErrorInvalidValue;
  if (config->dynamicSmemBytes > emulation::shared_limit(reinterpret_cast<const void *>(kernel)))
    return cudaErrorInvalidValue;
  const std::tuple<std::decay_t<Parameters>...> parameters(args...);
  emulation::count_launch();
  return emulation::queue(
      config->stream, [=, shared = config->dynamicSmemBytes, device = emulation::current_device()] {
        emulation::run(device, blocks, threads, shared, together,
                       [&] { std::apply(kernel, parameters); });
      });
}
