// SPDX-License-Identifier: LGPL-2.1-or-later
// A library with the functions of nvJPEG that cudascan-scan uses. It decodes by libjpeg and copies
// the page to the emulated GPU, whose functions the program exports. Words in the environment
// variable NVJPEG_STAND_IN change what it does: no-engines and no-kernels (they cannot be opened),
// engines-refuse (they take no picture), engines-fail and kernels-fail (decoding fails),
// batches-fail (decoding more than one picture at a time fails), gpu-1-fails (GPU 1 fails in that).
// NVJPEG_STAND_IN_LOG=FILE gets a line for each call of interest, and while the file that
// NVJPEG_STAND_IN_HOLD names is there, decoding waits. There are three engines.
// It decodes no file in which "no nvJPEG" stands.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
// libjpeg needs the above.
#include <jpeglib.h>

#include "tests/emulation/cuda_runtime.h"
#include "tests/emulation/machine.h"

namespace {

constexpr int kHardware = 3, kOutputY = 2;
constexpr int kWrongParameter = 2, kBadJpeg = 3, kFailed = 6, kWrongGpu = 7, kInternal = 8;
constexpr unsigned kEngines = 3;
constexpr std::string_view kBad = "no nvJPEG";

bool is_told(const std::string &word) {
  const char *words = std::getenv("NVJPEG_STAND_IN");
  return words && (' ' + std::string(words) + ' ').find(' ' + word + ' ') != std::string::npos;
}

void log(const std::string &line) {
  const char *path = std::getenv("NVJPEG_STAND_IN_LOG");
  FILE *const file = path ? std::fopen(path, "a") : nullptr;
  if (!file) return;
  std::fputs((line + '\n').c_str(), file);
  std::fclose(file);
}

void hold() {
  const char *path = std::getenv("NVJPEG_STAND_IN_HOLD");
  while (path && std::filesystem::exists(path))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// What belongs to the GPU that was current when it was made.
struct OfDevice {
  OfDevice() { cudaGetDevice(&device); }
  bool is_current() const {
    int current = -1;
    cudaGetDevice(&current);
    return current == device;
  }
  int device = -1;
};

struct Handle : OfDevice {
  explicit Handle(bool are_engines) : engines(are_engines) {}
  bool engines;
  std::string name() const { return engines ? "engines" : "kernels"; }
};
struct State : OfDevice {
  std::vector<unsigned char> pixels;
  int pictures = 0;  ///< for which it is initialized
  std::atomic<bool> is_used{false};
};
/// A state is for one thread at a time.
class Use {
 public:
  explicit Use(void *state) : state_(static_cast<State *>(state)) {
    is_alone_ = !state_->is_used.exchange(true);
  }
  ~Use() {
    if (is_alone_) state_->is_used = false;
  }
  /// @return a status
  int check() const { return !is_alone_ ? kInternal : state_->is_current() ? 0 : kWrongGpu; }

 private:
  State *state_;
  bool is_alone_;
};
struct Stream {
  int components = 0;
};
struct Picture {
  unsigned char *channel[4];
  std::size_t pitch[4];
};

/// libjpeg with errors that end the decoding.
struct Decoder {
  Decoder() {
    info.err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr) { throw kBadJpeg; };
    errors.emit_message = [](j_common_ptr, int) {};  // damaged pictures are decoded, too
    jpeg_create_decompress(&info);
  }
  ~Decoder() { jpeg_destroy_decompress(&info); }
  void open(const unsigned char *data, std::size_t size) {
    jpeg_mem_src(&info, data, size);
    jpeg_read_header(&info, TRUE);
  }
  jpeg_error_mgr errors{};
  jpeg_decompress_struct info{};
};

}  // namespace

extern "C" {

int nvjpegGetProperty(int which, int *value) {
  *value = which == 0 ? 13 : 0;
  return 0;
}
int nvjpegCreateEx(int backend, void *, void *, unsigned, void **handle) {
  const Handle made(backend == kHardware);
  if (is_told("no-" + made.name())) return kWrongGpu;
  *handle = new Handle(made);
  log("create " + made.name() + ' ' + std::to_string(made.device));
  return 0;
}
int nvjpegGetHardwareDecoderInfo(void *, unsigned *engines, unsigned *cores) {
  *engines = kEngines;
  *cores = 1;
  return 0;
}
int nvjpegDestroy(void *handle) {
  delete static_cast<Handle *>(handle);
  return 0;
}
int nvjpegJpegStateCreate(void *, void **state) {
  *state = new State;
  return 0;
}
int nvjpegJpegStateDestroy(void *state) {
  delete static_cast<State *>(state);
  return 0;
}
int nvjpegJpegStreamCreate(void *, void **stream) {
  *stream = new Stream;
  return 0;
}
int nvjpegJpegStreamDestroy(void *stream) {
  delete static_cast<Stream *>(stream);
  return 0;
}
int nvjpegJpegStreamParseHeader(void *, const unsigned char *data, std::size_t size, void *stream) {
  try {
    Decoder decoder;
    decoder.open(data, size);
    static_cast<Stream *>(stream)->components = decoder.info.num_components;
    log("header");
    return 0;
  } catch (const int status) {
    return status;
  }
}
#ifndef WITHOUT_CHECK
int nvjpegDecodeBatchedSupported(void *handle, void *stream, int *refused) {
  if (static_cast<Stream *>(stream)->components == 0) return kWrongParameter;
  *refused = static_cast<Handle *>(handle)->engines && is_told("engines-refuse");
  return 0;
}
#endif
int nvjpegDecodeBatchedInitialize(void *, void *state, int pictures, int, int format) {
  const Use use(state);
  if (use.check() != 0) return use.check();
  if (pictures < 1 || format != kOutputY) return kWrongParameter;
  static_cast<State *>(state)->pictures = pictures;
  return 0;
}
int nvjpegDecodeBatchedPreAllocate(void *, void *state, int pictures, int width, int height, int,
                                   int format) {
  const Use use(state);
  if (use.check() != 0) return use.check();
  return pictures > 0 && width > 0 && height > 0 && format == kOutputY ? 0 : kWrongParameter;
}
}  // extern "C"

namespace {

/// @return a status
int decode(State &state, const unsigned char *data, std::size_t size, const Picture &to,
           CUstream_st *stream) {
  if (std::string_view(reinterpret_cast<const char *>(data), size).find(kBad) !=
      std::string_view::npos)
    return kBadJpeg;
  try {
    Decoder decoder;
    decoder.open(data, size);
    jpeg_decompress_struct &info = decoder.info;
    info.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&info);
    const std::size_t width = info.output_width, height = info.output_height;
    state.pixels.resize(width * height);
    while (info.output_scanline < height) {
      JSAMPROW row = state.pixels.data() + info.output_scanline * width;
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return cudaMemcpy2DAsync(to.channel[0], to.pitch[0], state.pixels.data(), width, width, height,
                             cudaMemcpyDefault, stream) == cudaSuccess
               ? 0
               : kFailed;
  } catch (const int status) {
    return status;
  }
}

}  // namespace

extern "C" int nvjpegDecodeBatched(void *handle, void *state_, const unsigned char *const *data,
                                   const std::size_t *sizes, Picture *to, CUstream_st *stream) {
  const Use use(state_);
  State &state = *static_cast<State *>(state_);
  const std::string name = static_cast<Handle *>(handle)->name();
  const int pictures = state.pictures;
  int status = use.check();
  if (status == 0 && pictures == 0) status = kWrongParameter;
  if (status == 0 && !static_cast<Handle *>(handle)->is_current()) status = kWrongGpu;
  if (status == 0) hold();
  if (status == 0 && is_told(name + "-fail")) status = kFailed;
  for (int i = 0; status == 0 && i < pictures; ++i) {
    // In the middle, so that some pages are written already.
    if (i == 1 && is_told("batches-fail")) status = kFailed;
    if (i == 1 && state.device == 1 && is_told("gpu-1-fails")) emulation::fail_at(1, 0);
    if (status == 0) status = decode(state, data[i], sizes[i], to[i], stream);
  }
  if (status != 0) state.pictures = 0;
  log(name + ' ' + std::to_string(pictures) + ' ' + std::to_string(status));
  return status;
}
