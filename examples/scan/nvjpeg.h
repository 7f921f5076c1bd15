// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// JPEG pages that a GPU decodes, by NVIDIA's nvJPEG. The library is loaded when it is asked for;
/// neither it nor its header is needed to build the program. The functions and numbers are those
/// of nvjpeg.h of CUDA 12 and 13 (docs.nvidia.com/cuda/nvjpeg).
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "coded.h"
#include "common/plane.h"

struct CUstream_st;

namespace cudascan::scan {

/// Who decodes JPEG pages.
enum class DecodeBy {
  cpu,
  gpu,      ///< the engines for JPEG of the GPU, its kernels if it has none
  engines,  ///< only those
  kernels,
};

/// nvjpegImage_t: planes in device memory.
struct NvjpegImage {
  unsigned char *channel[4];
  std::size_t pitch[4];
};

/// What is used of nvJPEG. All return its status, 0 = success.
struct NvjpegFunctions {
  int (*get_property)(int which, int *value);
  int (*create)(int backend, void *device_allocator, void *pinned_allocator, unsigned flags,
                void **handle);
  int (*destroy)(void *handle);
  int (*create_state)(void *handle, void **state);
  int (*destroy_state)(void *state);
  int (*create_stream)(void *handle, void **stream);
  int (*destroy_stream)(void *stream);
  int (*parse_header)(void *handle, const unsigned char *data, std::size_t size, void *stream);
  /// @param refused  becomes 0 if the picture can be decoded
  int (*check)(void *handle, void *stream, int *refused);
  int (*initialize)(void *handle, void *state, int pictures, int threads, int format);
  /// Hints at sizes; nullptr in old versions.
  int (*preallocate)(void *handle, void *state, int pictures, int width, int height,
                     int subsampling, int format);
  int (*decode)(void *handle, void *state, const unsigned char *const *data,
                const std::size_t *sizes, NvjpegImage *to, CUstream_st *stream);
};

/// nvJPEG for all workers of a run.
class GpuJpegs {
 public:
  using Say = std::function<void(const std::string &)>;

  /// Loads nvJPEG: the library that the environment variable CUDASCAN_NVJPEG names, or
  /// libnvjpeg.so.13 or .12 on the loader's path and where CUDA is installed.
  /// @param note  prints what is found out on the way, or is empty
  /// @throws Error when there is none that can be used
  GpuJpegs(DecodeBy by, Say note);

  DecodeBy by() const { return by_; }
  const NvjpegFunctions &functions() const { return functions_; }
  /// Prints a line, once in a run. Any thread.
  void note(const std::string &line);

 private:
  const DecodeBy by_;
  const Say note_;
  NvjpegFunctions functions_{};
  std::mutex mutex_;
  std::set<std::string> noted_;
};

/// Decodes pages on the GPU that is current. For one thread.
class GpuJpeg {
 public:
  GpuJpeg(GpuJpegs &shared, int device);
  ~GpuJpeg();
  GpuJpeg(const GpuJpeg &) = delete;
  GpuJpeg &operator=(const GpuJpeg &) = delete;

  /// Queues decoding; the bytes must live until it is done.
  /// @param to       in device memory, as large as the page
  /// @param decoder  gets the name of what decodes it: "gpu-engines" or "gpu-kernels"
  /// @param why_not  gets the reason if nothing does
  /// @return whether the page is being decoded
  bool decode(const CodedPage &page, const Plane<std::uint8_t> &to, CUstream_st *stream,
              std::string &decoder, std::string &why_not);

 private:
  /// A way to decode.
  struct Way {
    int backend;
    const char *name;
    void *handle = nullptr, *state = nullptr, *stream = nullptr;
    bool is_tried = false;
    bool is_ready = false;  ///< for a picture
    std::string problem = {};
  };
  std::string open(Way &way);
  std::string try_decode(Way &way, const CodedPage &page, const Plane<std::uint8_t> &to,
                         CUstream_st *stream);

  GpuJpegs &shared_;
  const int device_;
  std::vector<Way> ways_;
};

}  // namespace cudascan::scan
