// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The emulated machine: its devices, their sizes, and what belongs to each. See cuda_runtime.h.
#pragma once
#include <cstddef>
#include <functional>

enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorInvalidDevice,
  cudaErrorInvalidResourceHandle,
  cudaErrorLaunchFailure,
  cudaErrorNotReady,
  cudaErrorPeerAccessAlreadyEnabled
};

struct CUctx_st;
struct CUstream_st;
using cudaStream_t = CUstream_st *;

namespace emulation {

inline constexpr int kDevices = 3;
/// The device that is current in the calling thread.
int current_device();

/// The part of an emulated driver that the runtime needs: a program may make contexts and memory
/// there, as GStreamer does.
struct Driver {
  int (*current_device)();  ///< that of the current context, -1 = none is current
  int (*device_of_context)(CUctx_st *);
  int (*device_of)(const void *);        ///< whose memory it is, -1 = not made by the driver
  void (*hide_memory_from)(int device);  ///< that of other devices; until show_memory()
  void (*show_memory)();
};
/// To be called at the start of the program.
void use_driver(const Driver &driver);
/// nullptr = there is none.
const Driver *driver();

/// There are few multiprocessors, so that small images occupy all of them. Device 1 has one more,
/// device 2 has two more.
inline constexpr int kMultiprocessors = 6;
/// The cache is small, so that small images do not fit in.
inline constexpr int kCacheBytes = 512 << 10;
/// Shared memory available to a block, unless it is limited. Device 1 has less, as many GPUs have.
inline constexpr std::size_t kSharedPerBlock = 227 << 10, kSharedPerBlockOfDevice1 = 99 << 10;

/// Reduces the shared memory of all devices.
void limit_shared_memory(std::size_t bytes);
/// Sets the number of multiprocessors of device 0.
void set_multiprocessors(int n);
/// These two are about the current device.
int multiprocessors();
int blocks_per_multiprocessor(int threads, std::size_t shared);

/// Dynamic shared memory that the blocks of a kernel may have on the current device: 48 KiB by
/// default. Lowering it ends the program, as another thread may be about to launch the kernel.
std::size_t shared_limit(const void *kernel);
cudaError_t set_shared_limit(const void *kernel, std::size_t bytes);
/// The number of kernels for which it was set since the last limit_shared_memory().
std::size_t kernels_with_limit();

/// Whether launches run kernels, as they do at first. Otherwise memory stays as it is.
void run_kernels(bool yes);

/// Queues work on a stream of the current device.
cudaError_t queue(cudaStream_t stream, std::function<void()> work);
/// Waits until all queued work of a stream, or of all streams, is done.
void finish(cudaStream_t stream);
void finish_all();

/// Whether an address is in memory of a device, or in pinned memory.
bool is_allocated(const void *p);
/// The device in whose memory it is, -1 = in none.
int owner_of(const void *p);
/// Whether it is in memory of another device than the current one.
bool is_foreign(const void *p);

/// Makes a device fail at the launch with this number from now on, 0 = at once: then every call
/// about it is an error, in all threads, until the process ends, as with GPUs. The environment
/// variable CUDASCAN_EMULATED_FAILURES does this when a program starts: "1:20,2:0".
void fail_at(int device, long launch);
/// Whether the current device has failed.
bool has_failed();

/// The number of kernels launched on a device.
long launches(int device);
/// Counts one on the current device.
void count_launch();

}  // namespace emulation
