// SPDX-License-Identifier: LGPL-2.1-or-later
// A library with the functions of nvJPEG that cudascan-scan uses. It decodes by libjpeg and copies
// the page to the emulated GPU, whose functions the program exports. Words in the environment
// variable NVJPEG_STAND_IN change what it does: no-engines and no-kernels (they cannot be opened),
// engines-refuse (they take no picture), engines-fail and kernels-fail (decoding fails).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
// libjpeg needs the above.
#include <jpeglib.h>

#include "tests/emulation/cuda_runtime.h"

namespace {

constexpr int kHardware = 3, kOutputY = 2;
constexpr int kWrongParameter = 2, kBadJpeg = 3, kFailed = 6, kWrongGpu = 7;

bool is_told(const std::string &word) {
  const char *words = std::getenv("NVJPEG_STAND_IN");
  return words && (' ' + std::string(words) + ' ').find(' ' + word + ' ') != std::string::npos;
}

struct Handle {
  bool engines;
  std::string name() const { return engines ? "engines" : "kernels"; }
};
struct State {
  std::vector<unsigned char> pixels;
  bool initialized = false;
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
  const Handle made{backend == kHardware};
  if (is_told("no-" + made.name())) return kWrongGpu;
  *handle = new Handle(made);
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
  static_cast<State *>(state)->initialized = true;
  return pictures == 1 && format == kOutputY ? 0 : kWrongParameter;
}
int nvjpegDecodeBatchedPreAllocate(void *, void *state, int pictures, int width, int height, int,
                                   int format) {
  const bool right = static_cast<State *>(state)->initialized && pictures == 1 && width > 0 &&
                     height > 0 && format == kOutputY;
  return right ? 0 : kWrongParameter;
}
int nvjpegDecodeBatched(void *handle, void *state_, const unsigned char *const *data,
                        const std::size_t *sizes, Picture *to, CUstream_st *stream) {
  State &state = *static_cast<State *>(state_);
  if (!state.initialized) return kWrongParameter;
  if (is_told(static_cast<Handle *>(handle)->name() + "-fail")) return kFailed;
  try {
    Decoder decoder;
    decoder.open(*data, *sizes);
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
    return cudaMemcpy2DAsync(to->channel[0], to->pitch[0], state.pixels.data(), width, width,
                             height, cudaMemcpyDefault, stream) == cudaSuccess
               ? 0
               : kFailed;
  } catch (const int status) {
    return status;
  }
}

}  // extern "C"
