// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces cuda.cu in a build without CUDA: nothing is available, and functions that need a device
// throw an error.
#include "kernels/planes.h"

namespace cudascan {
namespace {

[[noreturn]] void absent() {
  throw Error("this build of libcudascan has no CUDA; build it where nvcc is installed");
}

}  // namespace

namespace cuda {

template <MemoryKind kind>
Buffer<kind>::~Buffer() = default;
template <MemoryKind kind>
void *Buffer<kind>::reserve(std::size_t) {
  absent();
}
template class Buffer<MemoryKind::device>;
template class Buffer<MemoryKind::pinned>;

Event::Event(bool) {
  absent();
}
Event::~Event() = default;
void Event::record(CUstream_st *) {
  absent();
}
void Event::make_wait(CUstream_st *) const {
  absent();
}
bool Event::done() const {
  absent();
}
void Event::synchronize() const {
  absent();
}
double Event::elapsed_ns(const Event &) const {
  absent();
}
Stream::Stream() {
  absent();
}
Stream::~Stream() = default;
void Stream::synchronize() const {
  absent();
}
void copy_rows(void *, std::ptrdiff_t, const void *, std::ptrdiff_t, std::size_t, int,
               CUstream_st *) {
  absent();
}

}  // namespace cuda

bool Cuda::available() {
  return false;
}
void Cuda::move_to(CUstream_st *) {
  absent();
}
void *Cuda::scratch(std::size_t) {
  absent();
}
void *Cuda::report_memory(std::size_t) {
  absent();
}
void *Cuda::history(const void *, std::size_t) {
  absent();
}
void Cuda::forget() {
  absent();
}
int Cuda::multiprocessors() {
  absent();
}
int Cuda::most_shared_memory() {
  absent();
}
int Cuda::code_architecture() {
  absent();
}
void Cuda::load(const void *) {
  absent();
}
void Cuda::clear(void *, std::size_t) {
  absent();
}
void Cuda::fetch(void *, const void *, std::size_t) {
  absent();
}
void Cuda::synchronize() {
  absent();
}
void copy(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>) {
  absent();
}
void copy(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>) {
  absent();
}
void fill(Cuda &, Plane<std::uint8_t>, std::uint8_t) {
  absent();
}
void fill(Cuda &, Plane<std::uint16_t>, std::uint16_t) {
  absent();
}

}  // namespace cudascan
