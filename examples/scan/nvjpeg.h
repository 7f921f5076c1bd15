// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// JPEG pages that a GPU decodes, by NVIDIA's nvJPEG. The library is loaded when it is asked for;
/// neither it nor its header is needed to build the program. The functions and numbers are those
/// of nvjpeg.h of CUDA 12 and 13 (docs.nvidia.com/cuda/nvjpeg).
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "coded.h"
#include "common/plane.h"
#include "gpu_load.h"
#include "kernels/cuda_resources.h"

namespace cudascan::scan {

/// Who decodes pages.
enum class DecodeBy {
  cpu,
  gpu,      ///< the engines for JPEG of the GPU, its kernels if it has none; nvImageCodec
  engines,  ///< only those
  kernels,
};

inline constexpr int kNvjpegY = 2;    ///< nvjpegOutputFormat_t: the luma
inline constexpr int kNvjpeg444 = 0;  ///< nvjpegChromaSubsampling_t

/// nvjpegImage_t: planes in device memory.
struct NvjpegImage {
  unsigned char *channel[4];
  std::size_t pitch[4];
};
inline NvjpegImage image_of(const Plane<std::uint8_t> &to) {
  return {{to.data}, {static_cast<std::size_t>(to.stride)}};
}
/// "nvjpegCreateEx: internal error (8)" and so on.
std::string call_failed(const char *what, int status);

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
  /// Says how many engines for JPEG the GPU has; nullptr in old versions.
  int (*get_engines)(void *handle, unsigned *engines, unsigned *cores_of_an_engine);
  int (*decode)(void *handle, void *state, const unsigned char *const *data,
                const std::size_t *sizes, NvjpegImage *to, CUstream_st *stream);
};

class JpegBatches;
class GpuJpegs;

/// A backend of nvJPEG on a GPU, for all its workers. Destroyed while the GPU is current.
class JpegBackend {
 public:
  /// @param kind  nvjpegBackend_t
  JpegBackend(GpuJpegs &shared, int device, int kind, const char *name);
  ~JpegBackend();
  JpegBackend(const JpegBackend &) = delete;
  JpegBackend &operator=(const JpegBackend &) = delete;

  /// Opens it the first time, which takes a second; other threads wait. Notes how that went, for
  /// each run. The GPU must be current.
  /// @return why it cannot be used, or ""
  const std::string &open();
  const char *name() const { return name_; }
  /// After open(): nvJPEG allows several threads to use it.
  void *handle() const { return handle_; }
  /// After open(): of the engines, else nullptr.
  JpegBatches *batches() const { return batches_.get(); }

 private:
  void try_to_open();

  GpuJpegs &shared_;
  const int device_, kind_;
  const char *const name_;
  std::mutex mutex_;
  bool is_tried_ = false;
  std::string problem_, line_;
  void *handle_ = nullptr;
  std::unique_ptr<JpegBatches> batches_;
};
using JpegBackends = std::deque<JpegBackend>;

/// nvJPEG for all workers.
class GpuJpegs {
 public:
  using Say = std::function<void(const std::string &)>;

  /// Loads nvJPEG: the library that the environment variable CUDASCAN_NVJPEG names, or
  /// libnvjpeg.so.13 or .12 on the loader's path and where CUDA is installed.
  /// @param load  measures the GPUs; lives longer
  /// @param note  prints what is found out on the way, or is empty
  /// @throws Error when there is none that can be used
  GpuJpegs(DecodeBy by, GpuLoad &load, Say note);

  /// Another run begins, without any work before: prints again how the library was loaded.
  /// @param note  as above
  void begin_run(Say note);
  const NvjpegFunctions &functions() const { return functions_; }
  GpuLoad &load() const { return load_; }
  /// What decodes on a GPU, in the order in which it is tried. Any thread; the last one that has it
  /// destroys it.
  std::shared_ptr<JpegBackends> on(int device);
  /// Prints a line, once in a run. Any thread.
  void note(const std::string &line);

 private:
  const DecodeBy by_;
  GpuLoad &load_;
  Say note_;
  std::vector<std::string> loading_;  ///< what was found out then
  NvjpegFunctions functions_{};
  std::mutex mutex_;
  std::set<std::string> noted_;
  std::map<int, std::weak_ptr<JpegBackends>> backends_;
};

/// Decodes pages on the GPU that is current. For one thread.
class GpuJpeg {
 public:
  GpuJpeg(GpuJpegs &shared, int device);
  ~GpuJpeg();
  GpuJpeg(const GpuJpeg &) = delete;
  GpuJpeg &operator=(const GpuJpeg &) = delete;

  /// Decodes, or queues that; the bytes must live until it is done.
  /// @param to       in device memory, as large as the page
  /// @param stream   after what is queued on it, `to` may be written; later work on it finds the
  ///                 page
  /// @param free     was recorded on the stream
  /// @param decoder  gets the name of what decodes it: "gpu-engines" or "gpu-kernels"
  /// @param why_not  gets the reason if nothing does
  /// @return whether the page is being decoded
  /// @throws Error when the GPU fails
  bool decode(const CodedPage &page, const Plane<std::uint8_t> &to, CUstream_st *stream,
              const cuda::Event &free, std::string &decoder, std::string &why_not);

 private:
  /// What one thread needs of a backend.
  struct Way {
    JpegBackend *backend;
    void *state = nullptr, *stream = nullptr;
    bool is_ready = false;  ///< `state`, for a picture
  };
  std::string try_decode(Way &way, const CodedPage &page, const Plane<std::uint8_t> &to,
                         CUstream_st *stream, const cuda::Event &free);
  std::string check(Way &way, const CodedPage &page);

  GpuJpegs &shared_;
  const std::shared_ptr<JpegBackends> backends_;
  std::vector<Way> ways_;
};

}  // namespace cudascan::scan
