// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend itself: the executor, its resources and the whole-plane helpers.
#include <algorithm>
#include <chrono>
#include <thread>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/planes.h"

namespace cudascan {
namespace cuda {
namespace {

/// Of destructors: the error of a device that has failed is not that of the thread's next call,
/// which may be about another device.
void forget_error(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
}

/// Of queries.
bool is_done(cudaError_t error) {
  if (error == cudaErrorNotReady) return false;
  CUDA_CHECK(error);
  return true;
}

/// Sleeps until done() holds. How often it looks depends on how long it has waited.
template <typename Done>
void sleep_until(Done done) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kLeast = std::chrono::microseconds(20);
  const auto begin = Clock::now();
  while (!done()) std::this_thread::sleep_for(std::max(kLeast, (Clock::now() - begin) / 4));
}

}  // namespace

template <MemoryKind kind>
Buffer<kind>::~Buffer() {
  if constexpr (kind == MemoryKind::device)
    forget_error(cudaFree(data_));
  else
    forget_error(cudaFreeHost(data_));
}

template <MemoryKind kind>
void *Buffer<kind>::reserve(std::size_t bytes) {
  if (bytes <= size_) return data_;
  *this = Buffer();
  void *data = nullptr;
  if constexpr (kind == MemoryKind::device)
    CUDA_CHECK(cudaMalloc(&data, bytes));
  else
    CUDA_CHECK(cudaMallocHost(&data, bytes));
  data_ = data;
  size_ = bytes;
  return data_;
}

template class Buffer<MemoryKind::device>;
template class Buffer<MemoryKind::pinned>;

// Without cudaEventBlockingSync: with it, a driver thread works at every record, whether somebody
// waits or not. That takes more CPU time than everything else for a frame.
Event::Event(bool timing) {
  CUDA_CHECK(cudaEventCreateWithFlags(&event_, timing ? cudaEventDefault : cudaEventDisableTiming));
}
Event::~Event() {
  if (event_) forget_error(cudaEventDestroy(event_));
}
void Event::record(CUstream_st *stream) {
  CUDA_CHECK(cudaEventRecord(event_, stream));
}
void Event::make_wait(CUstream_st *stream) const {
  CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
}
bool Event::done() const {
  return is_done(cudaEventQuery(event_));
}
void Event::synchronize() const {
  sleep_until([this] { return done(); });
}
double Event::elapsed_ns(const Event &begin) const {
  float ms = 0;
  CUDA_CHECK(cudaEventElapsedTime(&ms, begin.event_, event_));
  return ms * 1e6;
}

Stream::Stream() {
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}
Stream::~Stream() {
  if (stream_) forget_error(cudaStreamDestroy(stream_));
}
bool Stream::done() const {
  return is_done(cudaStreamQuery(stream_));
}
void Stream::synchronize() const {
  CUDA_CHECK(cudaStreamSynchronize(stream_));
}

void copy_rows(void *to, std::ptrdiff_t to_stride, const void *from, std::ptrdiff_t from_stride,
               std::size_t row_bytes, int height, CUstream_st *stream) {
  const auto packed = static_cast<std::ptrdiff_t>(row_bytes);
  if (height == 1 || (to_stride == packed && from_stride == packed))
    CUDA_CHECK(cudaMemcpyAsync(to, from, row_bytes * height, cudaMemcpyDefault, stream));
  else if (to_stride < packed || from_stride < packed)  // a two-dimensional copy refuses this
    for (int y = 0; y < height; ++y)
      CUDA_CHECK(cudaMemcpyAsync(static_cast<char *>(to) + y * to_stride,
                                 static_cast<const char *>(from) + y * from_stride, row_bytes,
                                 cudaMemcpyDefault, stream));
  else
    CUDA_CHECK(cudaMemcpy2DAsync(to, to_stride, from, from_stride, row_bytes, height,
                                 cudaMemcpyDefault, stream));
}

}  // namespace cuda

bool Cuda::available() {
  int n = 0;
  const bool found = cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
  if (!found) cudaGetLastError();  // clear the error for later calls
  return found;
}

void Cuda::move_to(CUstream_st *stream) {
  if (stream == stream_) return;
  if (!moved_) moved_.emplace();
  moved_->record(stream_);
  moved_->make_wait(stream);
  stream_ = stream;
}

namespace {

/// The memory that a CudaLoader returns. Nothing accesses it.
void *const kNowhere = reinterpret_cast<void *>(std::uintptr_t{1} << 32);

}  // namespace

void *Cuda::scratch(std::size_t bytes) {
  return only_loads_ ? kNowhere : scratch_.reserve(bytes);
}
void *Cuda::report_memory(std::size_t bytes) {
  if (only_loads_) return kNowhere;
  if (reports_ == report_memory_.size()) report_memory_.emplace_back();
  return report_memory_[reports_++].reserve(bytes);
}

void *Cuda::history(const void *key, std::size_t bytes) {
  if (only_loads_) return kNowhere;
  cuda::DeviceBuffer &history = histories_[key];
  if (history.size() != bytes) {
    history = cuda::DeviceBuffer(bytes);
    clear(history.data(), bytes);
  }
  return history.data();
}

void Cuda::forget() {
  for (const auto &[key, history] : histories_) clear(history.data(), history.size());
}

void Cuda::clear(void *device, std::size_t bytes) {
  if (!only_loads_) CUDA_CHECK(cudaMemsetAsync(device, 0, bytes, stream_));
}
void Cuda::fetch(void *host, const void *device, std::size_t bytes) {
  if (!only_loads_)
    CUDA_CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_));
}

namespace {

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

}  // namespace

int Cuda::multiprocessors() {
  if (multiprocessors_ == 0) multiprocessors_ = device_attribute(cudaDevAttrMultiProcessorCount);
  return multiprocessors_;
}

int Cuda::most_shared_memory() {
  if (most_shared_memory_ == 0)
    most_shared_memory_ = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return most_shared_memory_;
}

int Cuda::cache_bytes() {
  if (cache_bytes_ == 0) cache_bytes_ = device_attribute(cudaDevAttrL2CacheSize);
  return cache_bytes_;
}

void Cuda::load(const void *kernel) {
  const auto place = std::lower_bound(loaded_.begin(), loaded_.end(), kernel);
  if (place != loaded_.end() && *place == kernel) return;
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  const int most = most_shared_memory() - static_cast<int>(attributes.sharedSizeBytes);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  loaded_.insert(place, kernel);
}

void Cuda::synchronize() {
  if (only_loads_) return;
  const auto callbacks = std::exchange(on_complete_, {});
  if (sleeps_)
    cuda::sleep_until([this] { return cuda::is_done(cudaStreamQuery(stream_)); });
  else
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  for (const auto &done : callbacks) done();
  reports_ = 0;
}

namespace {

template <typename T>
void copy_plane(Cuda &cuda, Plane<const T> in, Plane<T> out) {
  if (cuda.only_loads()) return;
  cuda::copy_rows(out.data, out.stride, in.data, in.stride, in.width * sizeof(T), in.height,
                  cuda.stream());
}

__global__ void fill_kernel(Plane<std::uint16_t> out, std::uint16_t value) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < out.width && y < out.height) out.row(y)[x] = value;
}

}  // namespace

int Cuda::code_architecture() {
  if (code_architecture_ == 0) {
    cudaFuncAttributes attributes{};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, fill_kernel));
    code_architecture_ = attributes.ptxVersion;
  }
  return code_architecture_;
}

void copy(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out) {
  copy_plane(cuda, in, out);
}
void copy(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out) {
  copy_plane(cuda, in, out);
}
void fill(Cuda &cuda, Plane<std::uint8_t> out, std::uint8_t value) {
  if (cuda.only_loads()) return;
  CUDA_CHECK(cudaMemset2DAsync(out.data, out.stride, value, out.width, out.height, cuda.stream()));
}
void fill(Cuda &cuda, Plane<std::uint16_t> out, std::uint16_t value) {
  const dim3 block(32, 8);
  const dim3 grid((out.width + block.x - 1) / block.x, (out.height + block.y - 1) / block.y);
  launch(cuda, fill_kernel, {grid, block}, out, value);
}

}  // namespace cudascan
