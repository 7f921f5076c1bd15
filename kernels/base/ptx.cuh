// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Instructions for which CUDA C++ has no function, or only one that compiles to slower code. All
/// assembly of the kernels is here; the emulation in tests/ replaces this file by one of the same
/// name.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace cudascan {

// ---- Registers and shared memory
// -----------------------------------------------------------------

/// The block's dynamic shared memory, aligned to 128 bytes.
__device__ inline unsigned char *dynamic_shared_memory() {
  extern __shared__ __align__(128) unsigned char memory[];
  return memory;
}

/// Hides a value from the compiler, so that it is kept instead of computed again.
__device__ inline unsigned keep(unsigned value) {
  asm volatile("mov.u32 %0, %0;" : "+r"(value));
  return value;
}

/// sum + the products of the two signed 16-bit numbers in `pair` with the lower two, or upper two,
/// bytes.
template <bool kUpper>
__device__ inline int add_products(unsigned pair, unsigned bytes, int sum) {
  int result;
  if constexpr (kUpper)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(bytes), "r"(sum));
  else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(bytes), "r"(sum));
  return result;
}

/// The same with unsigned numbers.
template <bool kUpper>
__device__ inline unsigned add_products(unsigned pair, unsigned bytes, unsigned sum) {
  unsigned result;
  if constexpr (kUpper)
    asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(bytes), "r"(sum));
  else
    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(bytes), "r"(sum));
  return result;
}

/// The address of something in shared memory, for load_shared(): 32 bits that the compiler keeps.
/// Otherwise it computes the address again at every use, which costs more instructions than the
/// access.
__device__ inline unsigned shared_address(const void *p) {
  return keep(static_cast<unsigned>(__cvta_generic_to_shared(p)));
}

__device__ inline unsigned load_shared_byte(unsigned address) {
  unsigned v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
  return v;
}
__device__ inline void store_shared_byte(unsigned address, unsigned v) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}
__device__ inline void store_shared(unsigned address, std::uint32_t v) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}
__device__ inline void store_shared(unsigned address, const std::uint32_t (&v)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v[0]), "r"(v[1]),
               "r"(v[2]), "r"(v[3])
               : "memory");
}
__device__ inline void load_shared(unsigned address, std::uint32_t &v) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
}
/// Reads as many words as `v` has.
__device__ inline void load_shared(unsigned address, std::uint32_t (&v)[2]) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(v[0]), "=r"(v[1])
               : "r"(address)
               : "memory");
}
__device__ inline void load_shared(unsigned address, std::uint32_t (&v)[4]) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(address)
               : "memory");
}

// ---- Arithmetic
// ----------------------------------------------------------------------------------

/// Adds the products of the bytes of a and the signed bytes of b.
__device__ inline void add_products(unsigned &sum, unsigned a, unsigned b) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
}
/// Adds the squares of the bytes of a.
__device__ inline void add_squares(unsigned &sum, unsigned a) {
  asm("dp4a.u32.u32 %0, %1, %1, %0;" : "+r"(sum) : "r"(a));
}

/// sum + a b. The compiler would widen a factor that does not change in a loop.
__device__ inline std::int64_t add_product(std::int64_t sum, int a, int b) {
  asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(sum) : "r"(a), "r"(b));
  return sum;
}

/// Multiplies matrices of bits; all lanes of the warp take part. Adds to each of 16 x 8 sums the
/// number of bits that a row of a (256 bits) and a column of b have in common. Lane 4 i + k holds
/// words k and k + 4 of rows i and i + 8 of a, in the order (i, k), (i + 8, k), (i, k + 4), (i + 8,
/// k + 4); words k and k + 4 of column i of b; and the sums (i, 2 k), (i, 2 k + 1), (i + 8, 2 k),
/// (i + 8, 2 k + 1). For sm_80 and newer.
__device__ inline void add_common_bits(int (&sums)[4], const unsigned (&a)[4],
                                       const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();
#endif
}

/// The sign of a, copied to all bits of the lowest byte, and of b in the next; the others are
/// undefined.
__device__ inline unsigned sign_bytes(float a, float b) {
  unsigned bytes;
  asm("prmt.b32 %0, %1, %2, 0x00fb;"
      : "=r"(bytes)
      : "r"(__float_as_uint(a)), "r"(__float_as_uint(b)));
  return bytes;
}

/// The half-precision numbers in the lower and the upper half of a word.
__device__ inline float low_half(unsigned halves) {
  float f;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }"
      : "=f"(f)
      : "r"(halves));
  return f;
}
__device__ inline float high_half(unsigned halves) {
  float f;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }"
      : "=f"(f)
      : "r"(halves));
  return f;
}

// These functions have a relative error of at most 2^-22; numbers below 2^-126 count as 0.
__device__ inline float sqrt_approx(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// 1 / sqrt(x) with a relative error of at most 2^-19; infinity for 0. For double precision.
__device__ inline double reciprocal_root_approx(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

// ---- Lanes of a warp
// -----------------------------------------------------------------------------

/// A step of an inclusive scan over the lanes: adds the value of the lane `distance` below, if
/// there is one.
template <int distance>
__device__ inline void scan_step(std::uint32_t &v) {
  asm volatile(
      "{ .reg .pred p; .reg .u32 r; shfl.sync.up.b32 r|p, %0, %1, 0, -1; @p add.u32 %0, r, %0; }"
      : "+r"(v)
      : "n"(distance));
}
template <int distance>
__device__ inline void scan_step(std::uint64_t &v) {
  auto low = static_cast<unsigned>(v), high = static_cast<unsigned>(v >> 32);
  asm volatile(
      "{ .reg .pred p; .reg .u32 l, h; shfl.sync.up.b32 l|p, %0, %2, 0, -1; "
      "shfl.sync.up.b32 h, %1, %2, 0, -1; @p add.cc.u32 %0, l, %0; @p addc.u32 %1, h, %1; }"
      : "+r"(low), "+r"(high)
      : "n"(distance));
  v = std::uint64_t{high} << 32 | low;
}

// ---- Kernels one after another, see launch.cuh
// ---------------------------------------------------

/// Lets the next kernel of the stream start as soon as there is room.
__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Returns when the kernels before this one are done and their results are visible. Call it before
/// any access to memory that they may use.
__device__ inline void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// ---- Asynchronous copies into shared memory
// ------------------------------------------------------

/// Starts to copy 16 or 4 bytes from global memory; both addresses must be multiples of that.
template <int bytes = 16>
__device__ void copy_async(unsigned to, const void *from) {
  static_assert(bytes == 16 || bytes == 4);
#if __CUDA_ARCH__ >= 800
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
#else
  if constexpr (bytes == 16) {
    const uint4 v = *static_cast<const uint4 *>(from);
    store_shared(to, {v.x, v.y, v.z, v.w});
  } else {
    store_shared(to, *static_cast<const std::uint32_t *>(from));
  }
#endif
}
/// Makes a group of the copies that this thread has started since the last group.
__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Returns when all groups of this thread except the latest n are complete.
template <int n>
__device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
#endif
}

// ---- Blocks that wait for one another
// ------------------------------------------------------------

/// Reads a value that another block writes; its earlier writes are visible, too (acquire).
__device__ inline unsigned load_acquire(const unsigned *p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
/// Reads or writes a value without ordering other accesses (relaxed).
__device__ inline std::uint64_t load_relaxed(const std::uint64_t *p) {
  std::uint64_t v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p));
  return v;
}
__device__ inline void store_relaxed(std::uint64_t *p, std::uint64_t v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v));
}

/// Adds to a number in device memory after everything that this thread has written is visible,
/// including writes of other threads before their last barrier with it (release).
__device__ inline void add_release(unsigned *p, unsigned n) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(n) : "memory");
}

// ---- The copy engine of sm_90 and newer
// ----------------------------------------------------------

/// A barrier in shared memory that counts the bytes of copies that one warp starts. Its phases
/// alternate between 0 and 1. Without a copy engine, these functions do nothing.
///
/// All lanes call expect() and copy(), and one of them acts, because a branch around the calls
/// would cost more. After a branch that may diverge, the compiler adds a branch and many moves
/// wherever lanes exchange values.
class CopyBarrier {
 public:
  /// @param address  of 8 bytes in shared memory, see shared_address()
  __device__ explicit CopyBarrier(unsigned address) : address_(address) {}

#if __CUDA_ARCH__ >= 900
  /// Makes the barrier; one lane does so, and then calls publish_barriers().
  __device__ void init() const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_) : "memory");
  }
  /// Sets the number of bytes of the phase; call it before their copies start.
  /// @param mine  true for one lane
  __device__ void expect(bool mine, int bytes) const {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %2, 0; "
        "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1; }" ::"r"(address_),
        "r"(bytes), "r"(static_cast<unsigned>(mine))
        : "memory");
  }
  /// Starts a copy of the box that begins at element (x, y, z) of a tensor to shared memory.
  /// @param mine  true for the lane that called expect() with true
  __device__ void copy(bool mine, const CUtensorMap &tensor, unsigned to, int x, int y,
                       int z) const {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %6, 0; "
        "@p cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5]; }" ::"r"(to),
        "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(address_), "r"(static_cast<unsigned>(mine))
        : "memory");
  }
  /// Waits until all bytes of a phase have arrived; all lanes call it.
  __device__ void wait(unsigned phase) const {
    unsigned done = 0;
    while (!__all_sync(0xffffffff, done))
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
          "selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(address_), "r"(phase)
          : "memory");
  }
#else
  __device__ void init() const {}
  __device__ void expect(bool, int) const {}
  __device__ void copy(bool, const CUtensorMap &, unsigned, int, int, int) const {}
  __device__ void wait(unsigned) const {}
#endif

 private:
  unsigned address_;
};

/// Makes new barriers visible to the engine.
__device__ inline void publish_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/// Prefetches the description of a tensor.
__device__ inline void prefetch(const CUtensorMap &tensor) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(&tensor) : "memory");
#else
  static_cast<void>(tensor);
#endif
}
/// True for one lane of the warp (all lanes call it); false for all without a copy engine.
__device__ inline bool elect() {
#if __CUDA_ARCH__ >= 900
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected;
#else
  return false;
#endif
}

}  // namespace cudascan
