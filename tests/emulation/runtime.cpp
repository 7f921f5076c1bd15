// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions with which programs query the runtime and the driver.
#include <atomic>
#include <cstdio>
#include <string_view>

#include "device.h"

namespace {

thread_local int current = 0;
emulation::Driver the_driver{};
std::atomic<long> launched[emulation::kDevices];
constexpr long kNever = std::numeric_limits<long>::max();
/// A device fails when it has launched so many kernels.
std::atomic<long> fails_at[emulation::kDevices] = {kNever, kNever, kNever};

/// Whether a device has asked for access to another.
std::atomic<bool> reaches[emulation::kDevices][emulation::kDevices];

bool exists(int device) {
  return device >= 0 && device < emulation::kDevices;
}
bool failed(int device) {
  return launched[device] >= fails_at[device];
}

}  // namespace

void emulation::use_driver(const Driver &driver) {
  the_driver = driver;
}
const emulation::Driver *emulation::driver() {
  return the_driver.current_device ? &the_driver : nullptr;
}
int emulation::current_device() {
  const int of_context = driver() ? driver()->current_device() : -1;
  return of_context >= 0 ? of_context : current;
}
void emulation::fail_at(int device, long launch) {
  fails_at[device] = launched[device] + launch;
}
bool emulation::has_failed() {
  return failed(current_device());
}
long emulation::launches(int device) {
  return launched[device];
}
void emulation::count_launch() {
  ++launched[current_device()];
}

cudaError_t cudaGetDevice(int *device) {
  *device = emulation::current_device();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  if (failed(device)) return cudaErrorLaunchFailure;
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = emulation::kDevices;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  if (!exists(device) || !exists(peer)) return cudaErrorInvalidDevice;
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  const int device = emulation::current_device();
  if (!exists(peer) || peer == device) return cudaErrorInvalidDevice;
  return reaches[device][peer].exchange(true) ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
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
  if (std::string_view(name) == "cuTensorMapEncodeTiled")
    *function = reinterpret_cast<void *>(cuTensorMapEncodeTiled);
  else if (std::string_view(name) == "cuMemcpy3DPeerAsync")
    *function = reinterpret_cast<void *>(cuMemcpy3DPeerAsync);
  else
    return cudaErrorInvalidValue;
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
    case cudaErrorLaunchFailure:
      return "unspecified launch failure (emulated GPU)";
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

namespace {

[[maybe_unused]] const bool has_read_failures = [] {
  const char *text = std::getenv("CUDASCAN_EMULATED_FAILURES");
  for (int device = 0, read = 0; text; text += read) {
    long launch = 0;
    if (std::sscanf(text, "%d:%ld%n", &device, &launch, &read) < 2 || !exists(device))
      emulation::fail("CUDASCAN_EMULATED_FAILURES must be DEVICE:LAUNCH, ...");
    emulation::fail_at(device, launch);
    if (text[read] != ',') break;
    ++read;
  }
  return true;
}();

}  // namespace
