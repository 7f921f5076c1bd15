// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions with which programs query the runtime and the driver.
#include <atomic>
#include <string_view>

#include "device.h"

namespace {

thread_local int current = 0;
std::atomic<long> launched[emulation::kDevices];

bool exists(int device) {
  return device >= 0 && device < emulation::kDevices;
}

}  // namespace

int emulation::current_device() {
  return current;
}
long emulation::launches(int device) {
  return launched[device];
}
void emulation::count_launch() {
  ++launched[current];
}

cudaError_t cudaGetDevice(int *device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = emulation::kDevices;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  *value = attribute == cudaDevAttrMultiProcessorCount ? emulation::multiprocessors_of(device)
           : attribute == cudaDevAttrL2CacheSize
               ? emulation::kCacheBytes
               : static_cast<int>(emulation::shared_memory_of(device));
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
  if (std::string_view(name) != "cuTensorMapEncodeTiled") return cudaErrorInvalidValue;
  *function = reinterpret_cast<void *>(cuTensorMapEncodeTiled);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal (emulated GPU)";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle (emulated GPU)";
    default:
      return "invalid argument (emulated GPU)";
  }
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensor, CUtensorMapDataType type, cuuint32_t rank,
                                void *data, const cuuint64_t *size, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *step,
                                CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  constexpr std::size_t kBytes[] = {1, 2, 4, 8};
  if (rank != 3 || reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *tensor = {static_cast<const unsigned char *>(data), kBytes[type], {}, {}, {}};
  for (int i = 0; i < 3; ++i) {
    if (box[i] < 1 || box[i] > 256 || step[i] != 1 || size[i] < 1) return CUDA_ERROR_INVALID_VALUE;
    tensor->size[i] = size[i];
    tensor->box[i] = box[i];
  }
  for (int i = 0; i < 2; ++i) {
    if (stride[i] % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    tensor->stride[i] = stride[i];
  }
  return box[0] * kBytes[type] % 16 == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
