// SPDX-License-Identifier: LGPL-2.1-or-later
// A library with the functions of nvImageCodec that cudascan-scan uses. It decodes by libvips and
// copies the page to the emulated GPU, whose functions the program exports. Words in the
// environment variable NVIMGCODEC_STAND_IN change what it does: no-instance and no-decoder (they
// cannot be made), refuse (a page is not supported), page-fails (it fails after some rows were
// written), decode-fails (the call does), wrong-size and wrong-pixel (it answers wrongly), larger
// (a quarter of a gray page fills it), gpu-1-fails (GPU 1 fails in it).
#include <vips/vips.h>

#include <cstdlib>
#include <string>

#include "examples/scan/nvimgcodec_functions.h"
#include "tests/emulation/cuda_runtime.h"
#include "tests/emulation/machine.h"

#ifndef STAND_IN_VERSION
#define STAND_IN_VERSION 900
#endif

using namespace cudascan::scan;

namespace {

constexpr int kWrongParameter = 2, kBadCode = 3, kFailed = 6;
constexpr std::uint32_t kDone = 1, kPageFailed = 3, kUnsupported = 0xb;

bool is_told(const std::string &word) {
  const char *words = std::getenv("NVIMGCODEC_STAND_IN");
  return words && (' ' + std::string(words) + ' ').find(' ' + word + ' ') != std::string::npos;
}

struct Instance {
  CodecMessenger messenger{};
  void say(const char *text) const {
    CodecMessage message{};
    message.text = text;
    if (messenger.say) messenger.say(0x1000, 1, &message, messenger.user);
  }
};
struct Decoder {
  const Instance *instance;
  int device;
};
struct Code {
  const unsigned char *data;
  std::size_t size;
};
struct Future {
  std::uint32_t status;
};

template <typename T>
bool is_right(const T *made) {
  return made->head.type == T::kType && made->head.bytes == sizeof(T) && !made->head.next;
}

VipsImage *open(const Code &code) {
  return vips_image_new_from_buffer(code.data, code.size, "", nullptr);
}

/// @return the status of the page
std::uint32_t decode(const Decoder &decoder, const Code &code, const CodecImageInfo &to) {
  if (is_told("refuse")) return kUnsupported;
  VipsImage *const image = open(code);
  if (!image) return kPageFailed;
  const CodecPlane &plane = to.planes[0];
  const int samples = to.format == CodecImageInfo::kGray ? 1 : 3;
  const std::size_t bytes = plane.sample_type == CodecPlane::kUint8 ? 1 : 2;
  std::size_t size = 0;
  auto *const pixels = static_cast<unsigned char *>(vips_image_write_to_memory(image, &size));
  const std::size_t row = bytes * samples * plane.width;
  g_object_unref(image);
  std::uint32_t status = kPageFailed;
  if (pixels && size == row * plane.height) {
    const bool fails = is_told("page-fails");
    if (is_told("wrong-pixel")) pixels[size / 2] ^= 1;
    if (is_told("larger") && row == plane.width)
      for (std::size_t i = size; i-- > 0;) pixels[i] = pixels[i / row / 2 * row + i % row / 2];
    if (decoder.device == 1 && is_told("gpu-1-fails")) emulation::fail_at(1, 0);
    const bool copied = cudaMemcpy2DAsync(to.buffer, plane.stride, pixels, row, row,
                                          fails ? plane.height / 2 : plane.height,
                                          cudaMemcpyDefault, to.stream) == cudaSuccess;
    cudaStreamSynchronize(to.stream);
    status = copied && !fails ? kDone : kPageFailed;
  }
  g_free(pixels);
  return status;
}

}  // namespace

extern "C" {

int nvimgcodecGetProperties(CodecProperties *properties) {
  if (!is_right(properties)) return kWrongParameter;
  properties->version = STAND_IN_VERSION;
  return 0;
}
int nvimgcodecInstanceCreate(void **instance, const CodecInstanceInfo *info) {
  if (!is_right(info) || !info->load_builtin || !info->load_extensions) return kWrongParameter;
  if (is_told("no-instance")) return kFailed;
  auto *const made = new Instance;
  if (info->make_messenger && is_right(info->messenger)) made->messenger = *info->messenger;
  *instance = made;
  return 0;
}
int nvimgcodecInstanceDestroy(void *instance) {
  delete static_cast<Instance *>(instance);
  return 0;
}
int nvimgcodecDecoderCreate(void *instance, void **decoder, const CodecExecution *how,
                            const char *) {
  if (!is_right(how) || how->cpu_threads != 1 || how->backend_count == 0) return kWrongParameter;
  for (int i = 0; i < how->backend_count; ++i)
    if (!is_right(&how->backends[i]) || how->backends[i].kind < CodecBackend::kGpu)
      return kWrongParameter;
  int current = -1;
  cudaGetDevice(&current);
  if (current != how->device || is_told("no-decoder")) return kFailed;
  *decoder = new Decoder{static_cast<Instance *>(instance), how->device};
  static_cast<Instance *>(instance)->say("a decoder\n");
  return 0;
}
int nvimgcodecDecoderDestroy(void *decoder) {
  delete static_cast<Decoder *>(decoder);
  return 0;
}
int nvimgcodecCodeStreamCreateFromHostMem(void *, void **code, const unsigned char *data,
                                          std::size_t size, const void *) {
  *code = new Code{data, size};
  return 0;
}
int nvimgcodecCodeStreamDestroy(void *code) {
  delete static_cast<Code *>(code);
  return 0;
}
int nvimgcodecCodeStreamGetImageInfo(void *code, CodecImageInfo *info) {
  if (!is_right(info)) return kWrongParameter;
  VipsImage *const image = open(*static_cast<Code *>(code));
  if (!image) return kBadCode;
  info->planes[0].width = image->Xsize + (is_told("wrong-size") ? 1 : 0);
  info->planes[0].height = image->Ysize;
  g_object_unref(image);
  return 0;
}
int nvimgcodecImageCreate(void *, void **image, const CodecImageInfo *info) {
  const CodecPlane &plane = info->planes[0];
  const bool is_gray = info->format == CodecImageInfo::kGray &&
                       info->colours == CodecImageInfo::kGrayColours && plane.samples == 1;
  const bool is_rgb = info->format == CodecImageInfo::kInterleavedRgb &&
                      info->colours == CodecImageInfo::kRgbColours && plane.samples == 3;
  if (!is_right(info) || !is_right(&plane) || !is_right(&info->orientation) ||
      info->plane_count != 1 || info->buffer_kind != CodecImageInfo::kInDeviceMemory ||
      !(is_gray || is_rgb))
    return kWrongParameter;
  *image = new CodecImageInfo(*info);
  return 0;
}
int nvimgcodecImageDestroy(void *image) {
  delete static_cast<CodecImageInfo *>(image);
  return 0;
}
int nvimgcodecDecoderDecode(void *decoder, void *const *codes, void *const *images, int count,
                            const CodecDecodeParams *params, void **future) {
  if (count != 1 || !is_right(params)) return kWrongParameter;
  if (is_told("decode-fails")) return kFailed;
  *future = new Future{decode(*static_cast<Decoder *>(decoder), *static_cast<Code *>(codes[0]),
                              *static_cast<CodecImageInfo *>(images[0]))};
  return 0;
}
int nvimgcodecFutureWaitForAll(void *) {
  return 0;
}
#ifndef WITHOUT_STATUS
int nvimgcodecFutureGetProcessingStatus(void *future, std::uint32_t *statuses, std::size_t *size) {
  if (*size != 1) return kWrongParameter;
  *statuses = static_cast<Future *>(future)->status;
  return 0;
}
#endif
int nvimgcodecFutureDestroy(void *future) {
  delete static_cast<Future *>(future);
  return 0;
}
}  // extern "C"
