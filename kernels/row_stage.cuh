// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Brings pieces of rows from a plane into shared memory, a warp on its own: on sm_90 and newer with
/// the bulk tensor copy engine, which costs the threads nothing, elsewhere and for planes that the
/// engine does not take (base or stride not a multiple of 16 bytes) sample by sample. Samples outside
/// the plane arrive as 0, whatever the column and the row.
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
};

/// Where a warp's columns lie in its pieces, which begin at a column that the engine likes.
template <typename T>
class StageCut {
 public:
  int begin;  ///< column at which the pieces begin

  /// @param x  first column of the warp, may lie outside the plane
  __device__ StageCut(const Plane<const T> &plane, int x) {
    constexpr int kStep = kStageAlignment / sizeof(T);
    begin = x & ~(kStep - 1);
    const int bytes = (x - begin) * static_cast<int>(sizeof(T));
    const int lane = threadIdx.x % 32;
    offset_ = keep(lane * static_cast<int>(8 * sizeof(T)) + (bytes & ~3));
    shift_ = keep(8 * (bytes & 3));
    constexpr int kPerWord = 4 / sizeof(T);
#pragma unroll
    for (int k = 0; k < StageSamples<T>::kWords; ++k) {
      const int valid = plane.width - (x + 8 * lane + kPerWord * k);
      mask_[k] = keep(valid <= 0 ? 0 : 0xffffffff >> 8 * sizeof(T) * max(kPerWord - valid, 0));
    }
  }

  /// This lane's samples of a row that begins at the address `row`; 0 outside the plane.
  __device__ StageSamples<T> read(unsigned row) const {
    constexpr int kWords = StageSamples<T>::kWords;
    unsigned raw[kWords + 1];
#pragma unroll
    for (int k = 0; k <= kWords; ++k) load_shared(row + offset_ + 4 * k, raw[k]);
    StageSamples<T> samples;
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      samples.word[k] = __funnelshift_r(raw[k], raw[k + 1], shift_) & mask_[k];
    return samples;
  }

  /// The same where the first column of the warp is a multiple of eight, and samples to the right of the
  /// plane do not matter.
  __device__ StageSamples<T> read_aligned(unsigned row) const {
    StageSamples<T> samples;
#pragma unroll
    for (int k = 0; k < StageSamples<T>::kWords; k += 2)
      load_shared(row + offset_ + 4 * k, samples.word[k], samples.word[k + 1]);
    return samples;
  }

 private:
  unsigned offset_;  // bytes from the beginning of the row to the first word of this lane
  unsigned shift_;   // bits from there to the first sample
  unsigned mask_[StageSamples<T>::kWords];  // what belongs to the plane
};

/// A ring of two stages in shared memory that belongs to one warp; each stage holds `pieces` pieces.
/// Every stage that was requested must be waited for before the block ends.
template <typename T, int pieces>
class RowStage {
 public:
  static constexpr int kStageBytes = pieces * kPieceBytes<T>;
  static constexpr int kBytes = 2 * kStageBytes;  ///< of shared memory, aligned to 128

  /// @param memory    kBytes for this warp, or kStageBytes if no more than one stage is ever requested
  /// @param barriers  two for this warp
  __device__ RowStage(const StagedPlane<T> &source, unsigned char *memory, std::uint64_t *barriers)
      : source_(source),
        memory_(memory),
        address_(shared_address(memory)),
        barriers_(shared_address(barriers)) {
    if (lane() == 0 && source_.by_engine) init();
    __syncwarp();
  }

  /// Starts to fill the next stage: piece i with the rows from y[i] on and the columns from x[i] on, a
  /// StageCut::begin. At most two stages are under way. All lanes call it, after they have read the stage
  /// before last.
  __device__ void request(const int (&x)[pieces], const int (&y)[pieces]) {
    __syncwarp();
    const int stage = requested_ * kStageBytes;
    if (source_.by_engine) {
      if (lane() == 0) {
        expect(requested_);
#pragma unroll
        for (int i = 0; i < pieces; ++i) copy(address_ + stage + i * kPieceBytes<T>, x[i], y[i]);
      }
    } else {
      for (int i = 0; i < pieces; ++i)
        copy_samples(source_.plane, memory_ + stage + i * kPieceBytes<T>, x[i], y[i]);
      __syncwarp();
    }
    requested_ ^= 1;
  }

  /// Waits for the oldest stage that was requested and not yet waited for; it is the current one.
  __device__ void wait() {
    current_ = address_ + arriving_ * kStageBytes;
    if (source_.by_engine) wait_for(arriving_, phases_ >> arriving_ & 1);
    phases_ ^= 1u << arriving_;
    arriving_ ^= 1;
  }

  /// Address at which the current stage begins, for StageCut::read().
  __device__ unsigned current() const {
    return current_;
  }

 private:
  static __device__ int lane() {
    return threadIdx.x % 32;
  }
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
        "r"(pieces * kStageRows<T> * kPieceStride<T>)
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
  unsigned current_ = 0;
  int requested_ = 0;    // stage that request() fills next
  int arriving_ = 0;     // stage that wait() waits for next
  unsigned phases_ = 0;  // bit i: parity of the next completion of stage i
};

/// Describes a plane for the copy engine, where the device has one that takes it.
StagedPlane<std::uint8_t> stage_plane(const Plane<const std::uint8_t> &plane);
StagedPlane<std::uint16_t> stage_plane(const Plane<const std::uint16_t> &plane);

}  // namespace cudascan
