// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// JPEG 2000 and TIFF pages that a GPU decodes, by NVIDIA's nvImageCodec. The library is loaded
/// when it is asked for; neither it nor its header is needed to build the program. What is used of
/// its interface is in nvimgcodec_functions.h.
#pragma once
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "coded.h"
#include "nvimgcodec_functions.h"

namespace cudascan::scan {

/// Where a page is decoded to, in device memory.
struct CodecTarget {
  void *data;
  std::ptrdiff_t stride;  ///< bytes
  int width, height;
  int depth;    ///< bits of a sample, 8 or 16
  int samples;  ///< a pixel: gray, or red, green and blue
};

/// nvImageCodec for all workers.
class GpuCodecs {
 public:
  using Say = std::function<void(const std::string &)>;

  /// Loads nvImageCodec: the library that the environment variable CUDASCAN_NVIMGCODEC names, or
  /// libnvimgcodec.so.0 on the loader's path and where CUDA is installed.
  /// @param note  prints what is found out on the way and what the library says, or is empty
  /// @throws Error when there is none that can be used
  explicit GpuCodecs(Say note);
  ~GpuCodecs();
  GpuCodecs(const GpuCodecs &) = delete;
  GpuCodecs &operator=(const GpuCodecs &) = delete;

  const NvimgcodecFunctions &functions() const { return functions_; }
  void *instance() const { return instance_; }
  /// Another run begins.
  /// @param note  as above
  void begin_run(Say note);
  /// Prints a line, once in a run. Any thread.
  void note(const std::string &line);

 private:
  static int on_message(int severity, int category, const CodecMessage *message, void *codecs);

  std::mutex mutex_;
  Say note_;
  std::set<std::string> noted_;
  std::string loaded_;  ///< what was loaded
  NvimgcodecFunctions functions_{};
  CodecMessenger messenger_{};
  void *instance_ = nullptr;
};

/// Decodes pages on the GPU that is current. For one thread: a decoder of nvImageCodec is, too.
class GpuCodec {
 public:
  static constexpr const char *kName = "gpu-nvimagecodec";

  GpuCodec(GpuCodecs &shared, int device) : shared_(shared), device_(device) {}
  ~GpuCodec() { close(); }
  GpuCodec(const GpuCodec &) = delete;
  GpuCodec &operator=(const GpuCodec &) = delete;

  /// Decodes a page, or queues that; its bytes must live until it is done.
  /// @param stream  after what is queued on it, `to` may be written; later work on it finds the
  ///                page
  /// @return why nothing is decoded, or ""
  std::string decode(const CodedPage &page, const CodecTarget &to, CUstream_st *stream);

 private:
  std::string open();
  void close();
  std::string run(void *code, void *image);

  GpuCodecs &shared_;
  const int device_;
  void *decoder_ = nullptr;
  std::string problem_;  ///< why there is no decoder
};

}  // namespace cudascan::scan
