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

/// Compute capability of the current context's device times ten, as compile_for_gpu() wants it: 90
/// for sm_90. Throws Error if there is no device, and in a build without CUDA.
CUDASCAN_API int gpu_architecture();

/// A module of the CUDA context that is current when it is made, or of the device's primary context
/// if none is. The context must be current in every call, and when the module is destroyed; kernels
/// of it may then no longer run. One thread at a time. Functions throw Error when CUDA refuses; in
/// a build without CUDA the constructor does.
class CUDASCAN_API GpuModule {
 public:
  /// @param code  what compile_for_gpu() returned, a cubin or PTX; for PTX that the driver cannot
  ///              make code of, the error has the driver's log
  explicit GpuModule(const std::string &code);
  ~GpuModule();
  GpuModule(const GpuModule &) = delete;
  GpuModule &operator=(const GpuModule &) = delete;

  /// Sets a __constant__ or __device__ variable for the kernels that are queued on `stream` from
  /// now on. The value is copied before this returns. A name that the module does not have is
  /// ignored, for compilers drop what is not used.
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

/// Microseconds that the GPU needs for what `queue` queues on a stream, the shortest of several
/// times.
CUDASCAN_API float shortest_time(CUstream_st *stream, const std::function<void()> &queue);

/// Textures of frames, made when they are first asked for. The latest are kept.
class CUDASCAN_API Textures {
 public:
  Textures();
  ~Textures();
  Textures(const Textures &) = delete;
  Textures &operator=(const Textures &) = delete;

  /// A texture whose coordinates are columns and rows and whose texels are samples.
  /// @param data  in device memory
  /// @return 0 for a frame that GPUs make no texture of: where `data` or `stride` are not multiples
  ///         of what they ask for
  unsigned long long of(const void *data, std::ptrdiff_t stride, int width, int height,
                        int sample_bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cudascan::gswo
