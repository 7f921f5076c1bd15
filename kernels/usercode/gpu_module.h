// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Code for the GPU, loaded from memory.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "common/api.h"

struct CUstream_st;  // cudaStream_t points to it

namespace cudascan::gswo {

/// Compute capability of the current context's device times ten, for compile_for_gpu(): 90 for
/// sm_90. Throws Error if there is no device, and in a build without CUDA.
CUDASCAN_API int gpu_architecture();

/// A module of the CUDA context that is current when it is made, or of the device's primary context
/// if none is current. The context must be current in every call and when the module is destroyed;
/// none of its kernels may be running then. Only one thread may use it at a time. Functions throw
/// Error when CUDA refuses; in a build without CUDA the constructor does.
class CUDASCAN_API GpuModule {
 public:
  /// @param code  the result of compile_for_gpu(), a cubin or PTX; if the driver cannot compile the
  ///              PTX, the error has the driver's log
  explicit GpuModule(const std::string &code);
  ~GpuModule();
  GpuModule(const GpuModule &) = delete;
  GpuModule &operator=(const GpuModule &) = delete;

  /// Sets a __constant__ or __device__ variable for the kernels that are queued on `stream` from
  /// now on. The value is copied before this returns. Unknown names are ignored, because compilers
  /// remove unused variables.
  /// @param name   as extern "C" has it
  /// @param bytes  at most the variable's size
  void set_global(const char *name, const void *value, std::size_t bytes, CUstream_st *stream);

  /// Queues a kernel with a grid of blocks of threads, without dynamic shared memory.
  /// @param kernel  its name, as extern "C" has it
  /// @param args    addresses of the kernel's arguments, in order; read before this returns
  void launch(const char *kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
              unsigned block_y, CUstream_st *stream, void **args);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The name of the current device.
CUDASCAN_API std::string gpu_name();

/// Microseconds that the GPU needs for the work of `queue`, the shortest of several times.
CUDASCAN_API float shortest_time(CUstream_st *stream, const std::function<void()> &queue);

/// Textures of frames, made at the first use. The latest ones are kept.
class CUDASCAN_API Textures {
 public:
  Textures();
  ~Textures();
  Textures(const Textures &) = delete;
  Textures &operator=(const Textures &) = delete;

  /// A texture whose coordinates are columns and rows and whose texels are samples.
  /// @param data  in device memory
  /// @return 0 if the GPU cannot make a texture of the frame, because `data` or `stride` has the
  ///         wrong alignment
  unsigned long long of(const void *data, std::ptrdiff_t stride, int width, int height,
                        int sample_bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cudascan::gswo
