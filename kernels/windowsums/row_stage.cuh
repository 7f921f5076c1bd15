// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Copies rows of a plane to shared memory. On sm_90 and newer the bulk tensor copy engine does it
/// at no cost for the threads. On older GPUs, and for planes that the engine does not support (base
/// or stride not a multiple of 16 bytes), rows are copied sample by sample. A RowTile
/// (row_tile.cuh) has all rows of a block, each once. If they are too many, the RowStage of each
/// warp has the rows that it uses next, or only their columns at the sides of its windows: its
/// SideStage (side_stage.cuh).
#pragma once
#include <cuda.h>

#include <cstdint>

#include "common/plane.h"
#include "kernels/base/ptx.cuh"

namespace cudascan::windowsums {

/// Samples of a row per warp: eight per lane.
inline constexpr int kStageColumns = 256;

/// Rows of a RowTile copied at once.
inline constexpr int kTilePart = 8;

/// Rows of one piece.
template <typename T>
inline constexpr int kStageRows = 4 / sizeof(T);

/// Stages of a RowStage: with more, the first rows would arrive later, as all are requested at
/// once.
inline constexpr int kStages = 2;

/// The engine copies from columns at multiples of 16 bytes.
template <typename T>
inline constexpr int kStageAlignment = 16 / sizeof(T);

/// How rows are copied: by SideStages, by RowStages, or by a RowTile whose rows either begin at
/// sectors of 32 bytes, which is up to a tenth faster, or are packed tightly, which takes less
/// memory.
enum class Staging { sides, rings, tile, tight_tile };

/// Columns of a wide piece of a SideStage.
template <typename T>
inline constexpr int kSideColumns = kStageColumns + kStageAlignment<T>;

/// A plane for these. For a tile of kStageColumns columns from x on, narrow pieces have these
/// columns, and wide pieces also have `reach` columns on the right and reach + 1 on the left; those
/// of a SideStage have kSideColumns columns anywhere.
template <typename T>
struct StagedPlane {
  // Tensors of elements x 16-byte units x rows: a row is all elements, or it is units of two.
  CUtensorMap narrow, wide;
  Plane<const T> plane;
  bool by_engine;
  int pitch;    ///< bytes of a row of a wide piece; rows copied at once have 128 n bytes
  int begin;    ///< first column of a wide piece, from x on; of a SideStage 0
  int garbage;  ///< samples right of the plane that may be nonzero in a wide piece
  /// log2 of the samples of an element of `wide`, -1 if it has units; an element of `narrow` is
  /// one.
  int element_shift;

  /// @param reach    0..1023
  /// @param engine   whether the kernels' code is for sm_90 or newer: older code cannot use the
  ///                 engine on any device
  /// @param staging  tiles do not work without the engine
  StagedPlane(const Plane<const T> &plane, int reach, bool engine, Staging staging);
  StagedPlane() = default;

  /// Bytes after the memory of a RowStage or RowTile that may be read but do not count.
  static constexpr int kReadBeyond = 16;
  /// Bytes of a narrow and of a wide piece.
  static constexpr int kNarrowBytes = kStageRows<T> * kStageColumns * sizeof(T);
  __host__ __device__ int wide_bytes() const { return kStageRows<T> * pitch; }
  /// Bytes of a RowStage, and the rows of wide pieces that this memory holds.
  __host__ __device__ int ring_bytes() const { return kStages * stage_bytes(); }
  int most_rows() const { return ring_bytes() / wide_bytes() * kStageRows<T>; }
  /// Bytes of a narrow and two wide pieces.
  __host__ __device__ int stage_bytes() const { return kNarrowBytes + 2 * wide_bytes(); }

  /// Starts a copy of the wide piece of the tile at x, a multiple of kStageAlignment, from row y
  /// on.
  __device__ void copy_wide(bool mine, const CopyBarrier &arrival, unsigned to, int x,
                            int y) const {
    x += begin;
    arrival.copy(mine, wide, to, element_shift < 0 ? 0 : x >> element_shift,
                 element_shift < 0 ? x / kStageAlignment<T> : 0, y);
  }
};

/// Eight neighbouring samples of a row.
template <typename T>
struct StageSamples {
  static constexpr int kWords = 2 * sizeof(T);
  unsigned word[kWords];
  __device__ StageSamples operator&(const StageSamples &mask) const {
    StageSamples both;
#pragma unroll
    for (int k = 0; k < kWords; ++k) both.word[k] = word[k] & mask.word[k];
    return both;
  }
  __device__ unsigned operator[](int j) const {
    if constexpr (sizeof(T) == 1)
      return __byte_perm(word[j / 4], 0, 0x4440 + j % 4);
    else
      return __byte_perm(word[j / 2], 0, j % 2 ? 0x4432 : 0x4410);
  }
  /// The same divided by kFloatScale. Converting from the bits of a half, or of 2^23 plus the
  /// sample, takes half as long as converting from an integer.
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
    odd_ = bytes & 4;
  }

  /// This lane's samples of the first `rows` of n rows that follow one another `pitch` bytes apart,
  /// from an address in shared memory on; those of the others are 0.
  template <int n>
  __device__ void read(unsigned begin, int pitch, int rows, StageSamples<T> (&samples)[n]) const {
    odd_ ? read_pairs<1>(begin, pitch, rows, samples) : read_pairs<0>(begin, pitch, rows, samples);
  }

  /// This lane's samples of the row that begins at an address in shared memory.
  __device__ StageSamples<T> read(unsigned row) const {
    unsigned raw[kWords + 1];
#pragma unroll
    for (int k = 0; k <= kWords; ++k) load_shared(row + offset_ + 4 * k, raw[k]);
    return cut(raw);
  }

 private:
  static constexpr int kWords = StageSamples<T>::kWords;

  /// Reads two words at once where the first is at a multiple of eight bytes: that is faster, but
  /// needs code for each case.
  /// @tparam odd  1 if the first word is not at a multiple of eight bytes
  template <int odd, int n>
  __device__ void read_pairs(unsigned begin, int pitch, int rows,
                             StageSamples<T> (&samples)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      unsigned raw[kWords + 1] = {};
      if (i < rows) {
        const unsigned at = begin + i * pitch + offset_;
        load_shared(at + (odd ? 0 : 4 * kWords), raw[odd ? 0 : kWords]);
#pragma unroll
        for (int k = odd; k + 1 < kWords + 1; k += 2) {
          unsigned pair[2];
          load_shared(at + 4 * k, pair);
          raw[k] = pair[0];
          raw[k + 1] = pair[1];
        }
      }
      samples[i] = cut(raw);
    }
  }
  __device__ StageSamples<T> cut(const unsigned (&raw)[kWords + 1]) const {
    StageSamples<T> samples;
#pragma unroll
    for (int k = 0; k < kWords; ++k) samples.word[k] = __funnelshift_r(raw[k], raw[k + 1], shift_);
    return samples;
  }

  unsigned offset_;  // bytes from the beginning of the row to the first word of this lane
  unsigned shift_;   // bits from there to the first sample
  bool odd_;         // the first word is not at a multiple of eight bytes
};

/// The same from a multiple of kStageColumns on.
template <typename T>
__device__ inline StageSamples<T> read_stage(unsigned row) {
  StageSamples<T> samples;
  load_shared(row + threadIdx.x % 32 * static_cast<unsigned>(8 * sizeof(T)), samples.word);
  return samples;
}

/// Copies kStageRows<T> rows without the engine, from column x and row y on; all lanes call it.
/// Samples outside the plane are 0.
template <typename T>
static __device__ __noinline__ void copy_samples(const Plane<const T> &plane,
                                                 unsigned char *to_bytes, int x, int y,
                                                 int columns) {
  auto *to = reinterpret_cast<T *>(to_bytes);
  for (int row = 0; row < kStageRows<T>; ++row, to += columns) {
    const bool row_inside = y + row >= 0 && y + row < plane.height;
    for (int i = threadIdx.x % 32; i < columns; i += 32)
      to[i] = row_inside && x + i >= 0 && x + i < plane.width ? plane.row(y + row)[x + i] : T{0};
  }
}

/// A ring of kStages stages in shared memory that belongs to one warp; each stage has a narrow
/// piece and two wide ones of kStageRows rows. The warp must wait for every requested stage before
/// the block ends. Before the first stage is requested, the memory can be used for other rows.
template <typename T>
class RowStage {
 public:
  using Source = StagedPlane<T>;
  static constexpr int kBarriers = kStages + 1;

  /// @param memory    source.ring_bytes() for this warp, aligned to 128
  /// @param barriers  kBarriers for this warp
  /// @param x         first column of the tile
  __device__ RowStage(const Source &source, unsigned char *memory, std::uint64_t *barriers, int x)
      : source_(source),
        memory_(memory),
        address_(shared_address(memory)),
        barriers_(shared_address(barriers)),
        stage_bytes_(source.stage_bytes()),
        second_(Source::kNarrowBytes + source.wide_bytes()),
        x_(x) {}

  /// Makes the barriers; all lanes call it, before anything is requested.
  __device__ void init() const {
    if (source_.by_engine && lane() == 0) {
      for (int i = 0; i < kBarriers; ++i) barrier(i).init();
      publish_barriers();
      prefetch(source_.wide);
      prefetch(source_.narrow);
    }
    __syncwarp();
  }

  /// Starts to fill the whole memory with the rows [y, end) of wide pieces, at most
  /// source.most_rows(). Wait for them before requesting anything else. Rows outside the plane are
  /// 0. All lanes call it, after they have read the old contents.
  __device__ void request_rows(int y, int end) {
    __syncwarp();
    const int n = (end - y + kStageRows<T> - 1) / kStageRows<T>;
    if (source_.by_engine) {
      const bool mine = elect();
      const CopyBarrier arrival = barrier(kStages);
      arrival.expect(mine, n * kStageRows<T> * source_.pitch);
#pragma unroll 1
      for (int k = 0; k < n; ++k)
        source_.copy_wide(mine, arrival, address_ + k * source_.wide_bytes(), x_,
                          y + k * kStageRows<T>);
    } else {
      for (int k = 0; k < n; ++k)
        copy_wide(memory_ + k * source_.wide_bytes(), y + k * kStageRows<T>);
      __syncwarp();
    }
  }
  __device__ void wait_for_rows() {
    if (source_.by_engine) barrier(kStages).wait(brought_ % 2);
    ++brought_;
  }
  /// Address of the first of these rows; the others follow source.pitch bytes apart.
  __device__ unsigned rows() const {
    return address_;
  }

  /// Starts to fill stage n, counted from 0 on without an end: the wide pieces from rows y0 and y1
  /// on, and the narrow one from row y on if `narrow`; rows outside the plane are 0. All lanes call
  /// it, after they have read stage n - kStages.
  __device__ void request(int n, bool narrow, int y, int y0, int y1) {
    __syncwarp();
    const unsigned stage = n % kStages * stage_bytes_;
    if (source_.by_engine) {
      const bool mine = elect();
      const CopyBarrier arrival = barrier(n % kStages);
      arrival.expect(
          mine, kStageRows<T> * ((narrow ? kStageColumns * sizeof(T) : 0) + 2 * source_.pitch));
      const unsigned to = address_ + stage;
      source_.copy_wide(mine, arrival, to + Source::kNarrowBytes, x_, y0);
      source_.copy_wide(mine, arrival, to + second_, x_, y1);
      if (narrow) arrival.copy(mine, source_.narrow, to, x_, 0, y);
    } else {
      unsigned char *to = memory_ + stage;
      copy_wide(to + Source::kNarrowBytes, y0);
      copy_wide(to + second_, y1);
      if (narrow) copy_samples(source_.plane, to, x_, y, kStageColumns);
      __syncwarp();
    }
  }

  /// Waits for the next stage, which becomes the current one.
  __device__ void wait() {
    const unsigned stage = waited_ % kStages;
    current_ = address_ + stage * stage_bytes_;
    if (source_.by_engine) barrier(stage).wait(waited_ / kStages % 2);
    ++waited_;
  }
  /// Number of stages waited for.
  __device__ int waited() const {
    return waited_;
  }

  /// Addresses of the pieces of the current stage: of the narrow one, of the first and of the
  /// second wide one. Samples outside the plane are 0, except for source.garbage ones.
  __device__ unsigned narrow() const {
    return current_;
  }
  __device__ unsigned first() const {
    return current_ + Source::kNarrowBytes;
  }
  __device__ unsigned second() const {
    return current_ + second_;
  }

 private:
  static __device__ int lane() {
    return threadIdx.x % 32;
  }
  __device__ void copy_wide(unsigned char *to, int y) const {
    copy_samples(source_.plane, to, x_ + source_.begin, y,
                 source_.pitch / static_cast<int>(sizeof(T)));
  }
  __device__ CopyBarrier barrier(int stage) const {
    return CopyBarrier(barriers_ + 8 * stage);
  }

  const Source &source_;
  unsigned char *memory_;
  unsigned address_, barriers_;  // of the memory and of the barriers
  unsigned stage_bytes_, second_;
  int x_;
  unsigned current_ = 0;
  unsigned waited_ = 0;   // stages
  unsigned brought_ = 0;  // number of times that the whole memory was filled
};

}  // namespace cudascan::windowsums
