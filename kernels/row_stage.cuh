// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Brings pieces of rows from a plane into shared memory, a warp on its own: on sm_90 and newer with
/// the bulk tensor copy engine, which costs the threads nothing, elsewhere and for planes that the
/// engine does not take (base or stride not a multiple of 16 bytes) sample by sample.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "common/plane.h"
#include "kernels/shared_memory.cuh"

namespace cudascan {

/// Samples of a row that one warp takes: eight per lane.
inline constexpr int kStageColumns = 256;

/// Rows of one piece.
template <typename T>
inline constexpr int kStageRows = 4 / sizeof(T);

/// The engine copies from columns at multiples of 16 bytes on, so a piece is that much wider.
inline constexpr int kStageAlignment = 16;
template <typename T>
inline constexpr int kPieceStride = kStageColumns * sizeof(T) + kStageAlignment;
/// Bytes from one piece to the next, as the engine wants them aligned.
template <typename T>
inline constexpr int kPieceBytes = (kStageRows<T> * kPieceStride<T> + 127) / 128 * 128;

/// A plane as RowStage reads it.
template <typename T>
struct StagedPlane {
  CUtensorMap map;  ///< boxes of kPieceStride bytes x kStageRows rows, in elements of two samples
  Plane<const T> plane;
  bool by_engine;
};

/// Eight neighbouring samples of a row.
template <typename T>
struct StageSamples {
  static constexpr int kWords = 2 * sizeof(T);
  unsigned word[kWords];
  __device__ unsigned operator[](int j) const {
    if constexpr (sizeof(T) == 1)
      return __byte_perm(word[j / 4], 0, 0x4440 + j % 4);
    else
      return __byte_perm(word[j / 2], 0, j % 2 ? 0x4432 : 0x4410);
  }
  /// The same, from the bits of 2^23 plus the sample: a conversion would take twice as long.
  __device__ float as_float(int j) const {
    constexpr unsigned kBits = 0x4b000000;
    if constexpr (sizeof(T) == 1)
      return __uint_as_float(__byte_perm(word[j / 4], kBits, 0x7440 + j % 4)) - 0x1p23f;
    else
      return __uint_as_float(__byte_perm(word[j / 2], kBits, j % 2 ? 0x7632 : 0x7610)) - 0x1p23f;
  }
};

/// Where a warp's columns lie in its pieces, which begin at a column that the engine likes.
template <typename T>
class StageCut {
 public:
  int begin;  ///< column at which the pieces begin

  /// @param x  first column of the warp, may lie outside the plane
  __device__ explicit StageCut(int x) {
    constexpr int kStep = kStageAlignment / sizeof(T);
    begin = x & ~(kStep - 1);
    const int bytes = (x - begin) * static_cast<int>(sizeof(T));
    offset_ = keep(threadIdx.x % 32 * static_cast<int>(8 * sizeof(T)) + (bytes & ~3));
    shift_ = keep(8 * (bytes & 3));
  }

  /// This lane's samples of the row that begins at an address in shared memory.
  __device__ StageSamples<T> read(unsigned row) const {
    constexpr int kWords = StageSamples<T>::kWords;
    unsigned raw[kWords + 1];
#pragma unroll
    for (int k = 0; k <= kWords; ++k) load_shared(row + offset_ + 4 * k, raw[k]);
    StageSamples<T> samples;
#pragma unroll
    for (int k = 0; k < kWords; ++k) samples.word[k] = __funnelshift_r(raw[k], raw[k + 1], shift_);
    return samples;
  }

  /// The same where the first column of the warp is a multiple of 16.
  __device__ StageSamples<T> read_aligned(unsigned row) const {
    StageSamples<T> samples;
    load_shared(row + offset_, samples.word);
    return samples;
  }

 private:
  unsigned offset_;  // bytes from the beginning of the row to the first word of this lane
  unsigned shift_;   // bits from there to the first sample
};

/// A ring of two stages in shared memory that belongs to one warp; each stage holds up to 32 pieces of
/// kStageRows rows and kStageColumns columns. Every stage that was requested must be waited for before
/// the block ends.
template <typename T>
class RowStage {
 public:
  /// Shared memory of a warp, to be aligned to 128.
  static __host__ __device__ constexpr int bytes(int pieces) { return 2 * pieces * kPieceBytes<T>; }

  /// @param memory    bytes(pieces) for this warp
  /// @param barriers  two for this warp
  __device__ RowStage(const StagedPlane<T> &source, unsigned char *memory, std::uint64_t *barriers,
                      int pieces)
      : source_(source),
        memory_(memory),
        address_(shared_address(memory)),
        barriers_(shared_address(barriers)),
        pieces_(pieces) {
    if (lane() == 0 && source_.by_engine) init();
    __syncwarp();
  }

  /// Starts to fill the next stage: lane i says which row and which column, a StageCut::begin, piece i begins
  /// at, inside the plane or not. At most two stages are under way. All lanes call it, after they have read the stage before
  /// last.
  __device__ void request(int x, int y) {
    __syncwarp();
    const int stage = requested_ * pieces_ * kPieceBytes<T>;
    if (source_.by_engine) {
      if (lane() == 0) expect(requested_);
      __syncwarp();
      if (lane() < pieces_) copy(address_ + stage + lane() * kPieceBytes<T>, x, y);
    } else {
      for (int i = 0; i < pieces_; ++i)
        copy_samples(source_.plane, memory_ + stage + i * kPieceBytes<T>,
                     __shfl_sync(0xffffffff, x, i), __shfl_sync(0xffffffff, y, i));
      __syncwarp();
    }
    requested_ ^= 1;
  }

  /// Waits for the oldest stage that was requested and not yet waited for; it is the current one.
  __device__ void wait() {
    current_ = address_ + arriving_ * pieces_ * kPieceBytes<T>;
    if (source_.by_engine) wait_for(arriving_, phases_ >> arriving_ & 1);
    phases_ ^= 1u << arriving_;
    arriving_ ^= 1;
  }

  /// Address of a row of the current stage, for StageCut. Samples outside the plane are 0, but for the
  /// one to the right of an odd width.
  __device__ unsigned row(int piece, int row) const {
    return current_ + piece * kPieceBytes<T> + row * kPieceStride<T>;
  }

 private:
  static __device__ int lane() { return threadIdx.x % 32; }
  static __device__ __noinline__ void copy_samples(const Plane<const T> &plane,
                                                   unsigned char *piece, int x, int y) {
    for (int row = 0; row < kStageRows<T>; ++row) {
      auto *to = reinterpret_cast<T *>(piece + row * kPieceStride<T>);
      const bool row_inside = y + row >= 0 && y + row < plane.height;
      for (int i = lane(); i < kPieceStride<T> / static_cast<int>(sizeof(T)); i += 32)
        to[i] = row_inside && x + i >= 0 && x + i < plane.width ? plane.row(y + row)[x + i] : T{0};
    }
  }

#if __CUDA_ARCH__ >= 900
  __device__ void init() const {
    for (int stage = 0; stage < 2; ++stage)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_ + 8 * stage)
                   : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the engine must see them
  }
  __device__ void expect(int stage) const {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barriers_ + 8 * stage),
        "r"(pieces_ * kStageRows<T> * kPieceStride<T>)
        : "memory");
  }
  __device__ void copy(unsigned piece, int x, int y) const {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(piece),
        "l"(&source_.map), "r"(x / 2), "r"(y), "r"(barriers_ + 8 * requested_)
        : "memory");
  }
  __device__ void wait_for(int stage, unsigned phase) const {
    unsigned done = 0;
    while (!done)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
          "selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(barriers_ + 8 * stage), "r"(phase)
          : "memory");
  }
#else
  __device__ void init() const {}
  __device__ void expect(int) const {}
  __device__ void copy(unsigned, int, int) const {}
  __device__ void wait_for(int, unsigned) const {}
#endif

  const StagedPlane<T> &source_;
  unsigned char *memory_;
  unsigned address_, barriers_;  // of the memory and of the barriers
  int pieces_;
  unsigned current_ = 0;
  int requested_ = 0;    // stage that request() fills next
  int arriving_ = 0;     // stage that wait() waits for next
  unsigned phases_ = 0;  // bit i: parity of the next completion of stage i
};

/// Describes a plane for the copy engine, where the device has one that takes it.
StagedPlane<std::uint8_t> stage_plane(const Plane<const std::uint8_t> &plane);
StagedPlane<std::uint16_t> stage_plane(const Plane<const std::uint16_t> &plane);

}  // namespace cudascan
