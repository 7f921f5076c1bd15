// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces cuda.cu in a build without CUDA: nothing is available, and functions that need a device
// throw an error.
#include "kernels/base/absent.h"
#include "kernels/base/current_device.h"
#include "kernels/planes.h"

namespace cudascan {
namespace cuda {

template <MemoryKind kind>
Buffer<kind>::~Buffer() = default;
template <MemoryKind kind>
void *Buffer<kind>::reserve(std::size_t) {
  refuse_cuda();
}
template class Buffer<MemoryKind::device>;
template class Buffer<MemoryKind::pinned>;

Event::Event(bool) {
  refuse_cuda();
}
Event::~Event() = default;
void Event::record(CUstream_st *) {
  refuse_cuda();
}
void Event::make_wait(CUstream_st *) const {
  refuse_cuda();
}
bool Event::done() const {
  refuse_cuda();
}
void Event::synchronize() const {
  refuse_cuda();
}
double Event::elapsed_ns(const Event &) const {
  refuse_cuda();
}
Stream::Stream() {
  refuse_cuda();
}
Stream::~Stream() = default;
bool Stream::done() const {
  refuse_cuda();
}
void Stream::synchronize() const {
  refuse_cuda();
}
void copy_rows(void *, std::ptrdiff_t, const void *, std::ptrdiff_t, std::size_t, int,
               CUstream_st *) {
  refuse_cuda();
}
void copy_rows_between(CUctx_st *, void *, std::ptrdiff_t, CUctx_st *, const void *, std::ptrdiff_t,
                       std::size_t, int, CUstream_st *) {
  refuse_cuda();
}

}  // namespace cuda

int device_count() {
  refuse_cuda();
}
void cuda::use_device(int) {
  refuse_cuda();
}

bool Cuda::available() {
  return false;
}
void Cuda::move_to(CUstream_st *) {
  refuse_cuda();
}
void *Cuda::scratch(std::size_t) {
  refuse_cuda();
}
void *Cuda::report_memory(std::size_t) {
  refuse_cuda();
}
void *Cuda::history(const void *, std::size_t) {
  refuse_cuda();
}
void Cuda::forget() {
  refuse_cuda();
}
int Cuda::multiprocessors() {
  refuse_cuda();
}
int Cuda::most_shared_memory() {
  refuse_cuda();
}
int Cuda::cache_bytes() {
  refuse_cuda();
}
int Cuda::code_architecture() {
  refuse_cuda();
}
void Cuda::load(const void *) {
  refuse_cuda();
}
void Cuda::clear(void *, std::size_t) {
  refuse_cuda();
}
void Cuda::fetch(void *, const void *, std::size_t) {
  refuse_cuda();
}
void Cuda::synchronize() {
  refuse_cuda();
}
void copy(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>) {
  refuse_cuda();
}
void copy(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>) {
  refuse_cuda();
}
void fill(Cuda &, Plane<std::uint8_t>, std::uint8_t) {
  refuse_cuda();
}
void fill(Cuda &, Plane<std::uint16_t>, std::uint16_t) {
  refuse_cuda();
}

}  // namespace cudascan
