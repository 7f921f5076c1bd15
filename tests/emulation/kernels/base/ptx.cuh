// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Replaces kernels/base/ptx.cuh, which documents the functions; see cuda_runtime.h.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace cudascan {

inline unsigned char *dynamic_shared_memory() {
  return emulation::shared_memory();
}

inline unsigned keep(unsigned value) {
  return value;
}

template <bool kUpper>
inline int add_products(unsigned pair, unsigned bytes, int sum) {
  if (kUpper) bytes >>= 16;
  return sum + static_cast<std::int16_t>(pair) * static_cast<int>(bytes & 0xff) +
         static_cast<std::int16_t>(pair >> 16) * static_cast<int>(bytes >> 8 & 0xff);
}

template <bool kUpper>
inline unsigned add_products(unsigned pair, unsigned bytes, unsigned sum) {
  if (kUpper) bytes >>= 16;
  return sum + (pair & 0xffff) * (bytes & 0xff) + (pair >> 16) * (bytes >> 8 & 0xff);
}

/// Converts an address in shared memory, dynamic or static, to 32 bits and back.
unsigned shared_address(const void *p);
unsigned char *shared_pointer(unsigned address);

inline unsigned load_shared_byte(unsigned address) {
  return *shared_pointer(address);
}
inline void store_shared_byte(unsigned address, unsigned v) {
  *shared_pointer(address) = static_cast<unsigned char>(v);
}
inline void store_shared(unsigned address, std::uint32_t v) {
  if (address % 4 != 0) emulation::fail("store_shared: the address is no multiple of the size");
  std::memcpy(shared_pointer(address), &v, 4);
}
inline void store_shared(unsigned address, const std::uint32_t (&v)[4]) {
  if (address % 16 != 0) emulation::fail("store_shared: the address is no multiple of the size");
  std::memcpy(shared_pointer(address), v, sizeof v);
}
inline void load_shared(unsigned address, std::uint32_t &v) {
  if (address % 4 != 0) emulation::fail("load_shared: the address is no multiple of the size");
  std::memcpy(&v, shared_pointer(address), 4);
}
template <int n>
void load_shared(unsigned address, std::uint32_t (&v)[n]) {
  if (address % (4 * n) != 0)
    emulation::fail("load_shared: the address is no multiple of the size");
  std::memcpy(v, shared_pointer(address), sizeof v);
}

// Asynchronous copies of 16 or 4 bytes to shared memory, in groups. A copy is done at once, or only
// when the thread waits for its group.
void start_copy(unsigned shared_address, const void *global, unsigned bytes);
template <int bytes = 16>
void copy_async(unsigned shared_address, const void *global) {
  static_assert(bytes == 16 || bytes == 4);
  start_copy(shared_address, global, bytes);
}
void commit_copies();
/// Waits until at most this many of the latest groups are unfinished.
void wait_for_latest_copies(int n);
template <int n>
void wait_for_copies() {
  wait_for_latest_copies(n);
}

inline void add_products(unsigned &sum, unsigned a, unsigned b) {
  for (int i = 0; i < 32; i += 8)
    sum += static_cast<std::uint8_t>(a >> i) * static_cast<std::int8_t>(b >> i);
}
inline void add_squares(unsigned &sum, unsigned a) {
  for (int i = 0; i < 32; i += 8)
    sum += static_cast<std::uint8_t>(a >> i) * static_cast<std::uint8_t>(a >> i);
}

inline std::int64_t add_product(std::int64_t sum, int a, int b) {
  return sum + std::int64_t{a} * b;
}

void add_common_bits(int (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]);

inline unsigned sign_bytes(float a, float b) {
  return (std::signbit(a) ? 0xffu : 0) | (std::signbit(b) ? 0xff00u : 0) | 0x5a5a0000;
}

inline float low_half(unsigned halves) {
  return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<std::uint16_t>(halves)));
}
inline float high_half(unsigned halves) {
  return low_half(halves >> 16);
}

/// The value with an error that the hardware may make.
inline float inexact(float v) {
  if (!std::isfinite(v) || std::fabs(v) < 0x1p-126f) return std::isfinite(v) ? 0 : v;
  const std::uint32_t hash = __float_as_uint(v) * 2654435761u >> 24;
  return std::fmaf(v, (static_cast<float>(hash) / 127.5f - 1) * 0x1p-22f, v);
}
inline float sqrt_approx(float x) {
  return inexact(std::sqrt(x));
}
inline float exp2_approx(float x) {
  return inexact(std::exp2(x));
}
inline float reciprocal_approx(float x) {
  return inexact(1 / x);
}

inline double reciprocal_root_approx(double x) {
  return inexact(static_cast<float>(1 / std::sqrt(x)));
}

template <int distance, typename T>
void scan_step(T &v) {
  const std::uint64_t *all = emulation::exchange(v, "scan_step");
  const unsigned lane = threadIdx.x % 32;
  if (lane >= distance) v += static_cast<T>(all[lane - distance]);
}

inline unsigned load_acquire(const unsigned *p) {
  emulation::yield();
  return *p;
}
inline std::uint64_t load_relaxed(const std::uint64_t *p) {
  emulation::yield();
  return *p;
}
inline void store_relaxed(std::uint64_t *p, std::uint64_t v) {
  *p = v;
}

inline void add_release(unsigned *p, unsigned n) {
  *p += n;
}

inline void let_next_kernel_start() {}
inline void wait_for_kernels_before() {}

class CopyBarrier {
 public:
  explicit CopyBarrier(unsigned address) : address_(address) {}
  void init() const;
  void expect(bool mine, int bytes) const;
  /// Does the copy at once, or only when a thread waits for it.
  void copy(bool mine, const CUtensorMap &tensor, unsigned to, int x, int y, int z) const;
  void wait(unsigned phase) const;

 private:
  unsigned address_;
};

inline void publish_barriers() {}
inline void prefetch(const CUtensorMap &) {}
inline bool elect() {
  emulation::exchange(0, "elect");
  return threadIdx.x % 32 == 0;
}

}  // namespace cudascan
