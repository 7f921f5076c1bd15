// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What is used of the C interface of nvImageCodec 0.9: functions, structures and numbers as in its
/// nvimgcodec.h (docs.nvidia.com/cuda/nvimagecodec). Names are ours.
#pragma once
#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace cudascan::scan {

/// The version whose structures these are: 0.9, whatever the last number is.
inline constexpr std::uint32_t kCodecVersion = 900, kNextCodecVersion = 1000;

/// How every structure begins.
struct CodecStruct {
  int type;
  std::size_t bytes;
  void *next;
};
/// A structure of a type, everything else in it 0.
template <typename T>
T codec_struct() {
  T made{};
  made.head = {T::kType, sizeof(T), nullptr};
  return made;
}

struct CodecProperties {
  static constexpr int kType = 1;
  CodecStruct head;
  std::uint32_t version, cuda_version;
};

struct CodecMessage {
  CodecStruct head;
  const char *text;
  std::uint32_t status;
  const char *codec, *codec_id;
  std::uint32_t codec_version;
};
struct CodecMessenger {
  static constexpr int kType = 25;
  static constexpr std::uint32_t kWarnings = 0x111000, kAll = 0x0fffffff;  // and errors
  CodecStruct head;
  std::uint32_t severities, categories;
  int (*say)(int severity, int category, const CodecMessage *message, void *user);
  void *user;
};
struct CodecInstanceInfo {
  static constexpr int kType = 2;
  CodecStruct head;
  int load_builtin, load_extensions;
  const char *extensions;  ///< folders, nullptr = where it expects them
  int make_messenger;
  const CodecMessenger *messenger;
  std::uint32_t severities, categories;
};

struct CodecBackendParams {
  static constexpr int kType = 29;
  CodecStruct head;
  float load_hint;
  int load_hint_policy;
};
struct CodecBackend {
  static constexpr int kType = 17;
  static constexpr int kGpu = 2, kHybrid = 3, kEngines = 4;  // 1 = the CPU
  CodecStruct head;
  int kind;
  CodecBackendParams params;
};
struct CodecExecution {
  static constexpr int kType = 30;
  CodecStruct head;
  void *device_allocator, *pinned_allocator;
  int cpu_threads;
  void *executor;
  int device, init_early, skip_wait_before;
  int backend_count;
  const CodecBackend *backends;
};

struct CodecOrientation {
  static constexpr int kType = 7;
  CodecStruct head;
  int rotated, flip_x, flip_y;
};
struct CodecPlane {
  static constexpr int kType = 12;
  static constexpr int kUint8 = 0x0802, kUint16 = 0x1004;
  CodecStruct head;
  std::uint32_t width, height;
  std::size_t stride;
  std::uint32_t samples;  ///< a pixel
  int sample_type;
  std::uint8_t precision;  ///< bits of a sample, 0 = all of its type
};
struct CodecImageInfo {
  static constexpr int kType = 11;
  static constexpr int kRgbColours = 1, kGrayColours = 2;
  static constexpr int kGray = 3, kInterleavedRgb = 8;
  static constexpr int kInDeviceMemory = 1;
  CodecStruct head;
  char codec[256];
  int colours, subsampling, format;
  CodecOrientation orientation;
  std::uint32_t plane_count;
  CodecPlane planes[32];
  void *buffer;
  int buffer_kind;
  CUstream_st *stream;
};

struct CodecDecodeParams {
  static constexpr int kType = 5;
  CodecStruct head;
  int turn_upright;
};

/// All return a status, 0 = success.
struct NvimgcodecFunctions {
  int (*get_properties)(CodecProperties *properties);
  int (*create_instance)(void **instance, const CodecInstanceInfo *info);
  int (*destroy_instance)(void *instance);
  int (*create_decoder)(void *instance, void **decoder, const CodecExecution *how,
                        const char *options);
  int (*destroy_decoder)(void *decoder);
  int (*create_code)(void *instance, void **code, const unsigned char *data, std::size_t size,
                     const void *view);
  int (*destroy_code)(void *code);
  int (*get_info)(void *code, CodecImageInfo *info);
  int (*create_image)(void *instance, void **image, const CodecImageInfo *info);
  int (*destroy_image)(void *image);
  int (*decode)(void *decoder, void *const *codes, void *const *images, int count,
                const CodecDecodeParams *params, void **future);
  int (*wait)(void *future);
  /// @param size  gets the number of statuses; 1 = success
  int (*get_statuses)(void *future, std::uint32_t *statuses, std::size_t *size);
  int (*destroy_future)(void *future);
};

}  // namespace cudascan::scan
