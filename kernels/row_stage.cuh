// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Brings rows of a plane into shared memory, a warp on its own: on sm_90 and newer with the bulk
/// tensor copy engine, which costs the threads nothing, elsewhere and for planes that the engine
/// does not take (base or stride not a multiple of 16 bytes) sample by sample.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "common/plane.h"
#include "kernels/ptx.cuh"

namespace cudascan {

/// Samples of a row that one warp takes: eight per lane.
inline constexpr int kStageColumns = 256;

/// Rows of one piece.
template <typename T>
inline constexpr int kStageRows = 4 / sizeof(T);

/// The engine copies from columns at multiples of 16 bytes on.
template <typename T>
inline constexpr int kStageAlignment = 16 / sizeof(T);

/// A plane as RowStage reads it: for a tile of kStageColumns columns from x on in narrow pieces,
/// which have these columns, and in wide pieces, which have `reach` columns more on the right and
/// reach + 1 more on the left.
template <typename T>
struct StagedPlane {
  // Tensors of elements x 16-byte units x rows: a row is all elements, or it is units of two.
  CUtensorMap narrow, wide;
  Plane<const T> plane;
  bool by_engine;
  int pitch;    ///< bytes of a row of a wide piece
  int begin;    ///< first column of a wide piece, from x on
  int garbage;  ///< samples right of the plane that may be other than 0 in a wide piece
  /// log2 of the samples of an element of `wide`, -1 if it has units; an element of `narrow` is one.
  int element_shift;

  /// @param reach   0..1023
  /// @param engine  whether the code of the kernels is for sm_90 or newer: older code cannot use the
  ///                engine, on whatever device it runs
  StagedPlane(const Plane<const T> &plane, int reach, bool engine);
  StagedPlane() = default;

  /// Bytes behind the memory of a RowStage that may be read, but do not count.
  static constexpr int kReadBeyond = 16;
  /// Bytes of a narrow and of a wide piece.
  static constexpr int kNarrowBytes = kStageRows<T> * kStageColumns * sizeof(T);
  __host__ __device__ int wide_bytes() const { return (kStageRows<T> * pitch + 127) / 128 * 128; }
  /// Bytes of a narrow and two wide pieces.
  __host__ __device__ int stage_bytes() const { return kNarrowBytes + 2 * wide_bytes(); }
  /// Rows of wide pieces that the memory of so many stages holds.
  int most_rows(int stages) const { return stages * stage_bytes() / wide_bytes() * kStageRows<T>; }
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
  /// The same divided by kFloatScale. The conversion from the bits of a half, or of 2^23 plus the
  /// sample, takes half as long as that from an integer.
  static constexpr float kFloatScale = sizeof(T) == 1 ? 0x1p24f : 1;
  __device__ float scaled_float(int j) const {
    if constexpr (sizeof(T) == 1) {
      const unsigned pair = __byte_perm(word[j / 4], 0, j % 4 < 2 ? 0x4140 : 0x4342);
      return j % 2 == 0 ? low_half(pair) : high_half(pair);
    } else {
      constexpr unsigned kBits = 0x4b000000;
      return __uint_as_float(__byte_perm(word[j / 2], kBits, j % 2 ? 0x7632 : 0x7610)) - 0x1p23f;
    }
  }
};

/// The samples of a warp in a row of a piece, eight per lane, from any column of the piece on.
template <typename T>
class StageCut {
 public:
  /// @param column  of the piece, at which the first lane begins
  __device__ explicit StageCut(int column) {
    const unsigned bytes = column * sizeof(T);
    offset_ = keep(threadIdx.x % 32 * 8 * sizeof(T) + (bytes & ~3u));
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

 private:
  unsigned offset_;  // bytes from the beginning of the row to the first word of this lane
  unsigned shift_;   // bits from there to the first sample
};

/// The same from a multiple of kStageColumns on.
template <typename T>
__device__ inline StageSamples<T> read_stage(unsigned row) {
  StageSamples<T> samples;
  load_shared(row + threadIdx.x % 32 * static_cast<unsigned>(8 * sizeof(T)), samples.word);
  return samples;
}

inline constexpr int kMostStages = 4;  ///< of a RowStage

/// A ring of stages in shared memory that belongs to one warp; each stage holds a narrow piece and
/// two wide ones, of kStageRows rows. Every stage that was requested must be waited for before the
/// block ends. Before the first stage is requested, the memory can bring other rows.
template <typename T>
class RowStage {
 public:
  using Source = StagedPlane<T>;

  /// @param stages    2..kMostStages
  /// @param memory    stages source.stage_bytes() for this warp, aligned to 128
  /// @param barriers  one for each stage of this warp
  /// @param x         first column of the tile
  __device__ RowStage(const Source &source, int stages, unsigned char *memory,
                      std::uint64_t *barriers, int x)
      : source_(source),
        stages_(stages),
        memory_(memory),
        address_(shared_address(memory)),
        barriers_(shared_address(barriers)),
        stage_bytes_(source.stage_bytes()),
        second_(Source::kNarrowBytes + source.wide_bytes()),
        x_(x) {
    if (lane() == 0 && source_.by_engine) init();
    __syncwarp();
  }

  /// Starts to fill the whole memory with the rows [y, end) of wide pieces, at most
  /// source.most_rows(stages), to be waited for before anything else is requested; rows outside the plane
  /// are 0. All lanes call it, after they have read what was there.
  __device__ void request_rows(int y, int end) {
    __syncwarp();
    const int n = (end - y + kStageRows<T> - 1) / kStageRows<T>;
    if (source_.by_engine) {
      const bool mine = elect();
      const CopyBarrier arrival = barrier(0);
      arrival.expect(mine, n * kStageRows<T> * source_.pitch);
#pragma unroll 1
      for (int k = 0; k < n; ++k)
        copy_wide(mine, arrival, address_ + k * source_.wide_bytes(), y + k * kStageRows<T>);
    } else {
      for (int k = 0; k < n; ++k)
        copy_wide(memory_ + k * source_.wide_bytes(), y + k * kStageRows<T>);
      __syncwarp();
    }
  }
  __device__ void wait_for_rows() {
    if (source_.by_engine) barrier(0).wait(phases_ & 1);
    phases_ ^= 1;
  }
  /// Address of the first of kStageRows rows, `from` rows after the first that was requested; the
  /// others follow source.pitch bytes apart.
  __device__ unsigned rows(int from) const {
    return address_ + from / kStageRows<T> * source_.wide_bytes();
  }

  /// Starts to fill the next stage: the wide pieces from rows y0 and y1 on, and the narrow one from
  /// row y on if `narrow`; rows outside the plane are 0. All lanes call it, after they have read what
  /// that stage had before.
  __device__ void request(bool narrow, int y, int y0, int y1) {
    __syncwarp();
    const unsigned stage = requested_ * stage_bytes_;
    if (source_.by_engine) {
      const bool mine = elect();
      const CopyBarrier arrival = barrier(requested_);
      arrival.expect(
          mine, kStageRows<T> * ((narrow ? kStageColumns * sizeof(T) : 0) + 2 * source_.pitch));
      const unsigned to = address_ + stage;
      copy_wide(mine, arrival, to + Source::kNarrowBytes, y0);
      copy_wide(mine, arrival, to + second_, y1);
      if (narrow) arrival.copy(mine, source_.narrow, to, x_, 0, y);
    } else {
      unsigned char *to = memory_ + stage;
      copy_wide(to + Source::kNarrowBytes, y0);
      copy_wide(to + second_, y1);
      if (narrow) copy_samples(source_.plane, to, x_, y, kStageColumns);
      __syncwarp();
    }
    advance(requested_);
  }

  /// Waits for the oldest stage that was requested and not yet waited for; it is the current one.
  __device__ void wait() {
    current_ = address_ + arriving_ * stage_bytes_;
    if (source_.by_engine) barrier(arriving_).wait(phases_ >> arriving_ & 1);
    phases_ ^= 1u << arriving_;
    advance(arriving_);
  }

  /// Addresses of the rows of the current stage: of the narrow piece, of the first and of the
  /// second wide one. Samples outside the plane are 0, but for source.garbage ones.
  __device__ unsigned narrow(int row) const {
    return current_ + row * static_cast<unsigned>(kStageColumns * sizeof(T));
  }
  __device__ unsigned first(int row) const {
    return current_ + Source::kNarrowBytes + row * source_.pitch;
  }
  __device__ unsigned second(int row) const {
    return current_ + second_ + row * source_.pitch;
  }

 private:
  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  __device__ void advance(int &stage) const {
    stage = stage + 1 < stages_ ? stage + 1 : 0;
  }
  /// Copies a wide piece: the engine, or the warp.
  __device__ void copy_wide(bool mine, const CopyBarrier &arrival, unsigned to, int y) const {
    const int x = x_ + source_.begin;
    const bool units = source_.element_shift < 0;
    arrival.copy(mine, source_.wide, to, units ? 0 : x >> source_.element_shift,
                 units ? x / kStageAlignment<T> : 0, y);
  }
  __device__ void copy_wide(unsigned char *to, int y) const {
    copy_samples(source_.plane, to, x_ + source_.begin, y,
                 source_.pitch / static_cast<int>(sizeof(T)));
  }
  static __device__ __noinline__ void copy_samples(const Plane<const T> &plane,
                                                   unsigned char *to_bytes, int x, int y,
                                                   int columns) {
    auto *to = reinterpret_cast<T *>(to_bytes);
    for (int row = 0; row < kStageRows<T>; ++row, to += columns) {
      const bool row_inside = y + row >= 0 && y + row < plane.height;
      for (int i = lane(); i < columns; i += 32)
        to[i] = row_inside && x + i >= 0 && x + i < plane.width ? plane.row(y + row)[x + i] : T{0};
    }
  }

  __device__ void init() const {
    for (int stage = 0; stage < stages_; ++stage) barrier(stage).init();
    publish_barriers();
    prefetch(source_.wide);
    prefetch(source_.narrow);
  }
  __device__ CopyBarrier barrier(int stage) const {
    return CopyBarrier(barriers_ + 8 * stage);
  }

  const Source &source_;
  int stages_;
  unsigned char *memory_;
  unsigned address_, barriers_;  // of the memory and of the barriers
  unsigned stage_bytes_, second_;
  int x_;
  unsigned current_ = 0;
  int requested_ = 0;    // stage that request() fills next
  int arriving_ = 0;     // stage that wait() waits for next
  unsigned phases_ = 0;  // bit i: parity of the next completion of stage i
};

}  // namespace cudascan
