// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// All rows of a plane that a block needs, in shared memory.
#pragma once
#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/windowsums/row_stage.cuh"

namespace cudascan::windowsums {

/// Rows of a plane in shared memory that belong to a block, as wide as wide pieces, one after
/// another. All are requested at the beginning and stay. Only the engine copies them. The block
/// must wait for every row before it ends.
template <typename T>
class RowTile {
 public:
  static constexpr int kMostParts = 96;  ///< of a tile
  /// Memory for so many rows.
  static __host__ __device__ int bytes(const StagedPlane<T> &source, int rows) {
    return parts(rows) * kTilePart * source.pitch;
  }
  static __host__ __device__ int parts(int rows) { return (rows + kTilePart - 1) / kTilePart; }

  /// @param memory    bytes(source, rows), aligned to 128
  /// @param barriers  one for each part
  /// @param x         first column of the tile
  /// @param top       first row; rows outside the plane are 0
  /// @param share     number of parts that each warp copies first, from share * its index on
  __device__ RowTile(const StagedPlane<T> &source, unsigned char *memory, std::uint64_t *barriers,
                     int x, int top, int rows, int share)
      : source_(source),
        address_(shared_address(memory)),
        barriers_(shared_address(barriers)),
        x_(x),
        top_(top),
        parts_(parts(rows)),
        share_(share) {}

  /// Makes the barriers of the parts that this warp copies.
  __device__ void init() const {
    for_own([&](int part) {
      if (lane() == 0) barrier(part).init();
    });
    publish_barriers();
    if (lane() == 0) prefetch(source_.wide);
    __syncwarp();
  }
  /// Starts to copy them; all lanes call it, after init().
  __device__ void request() const {
    const bool mine = elect();
    for_own([&](int part) {
      const CopyBarrier arrival = barrier(part);
      const int y = top_ + part * kTilePart;
      arrival.expect(mine, kTilePart * source_.pitch);
      source_.copy_wide(mine, arrival, address(y), x_, y);
    });
  }
  /// Waits for the parts that this warp copies.
  __device__ void wait_for_own() const {
    for_own([&](int part) { barrier(part).wait(0); });
  }
  /// Waits for the rows [y, end); waiting again for a row is allowed.
  __device__ void wait_for(int y, int end) const {
    wait((y - top_) / kTilePart, (end - 1 - top_) / kTilePart);
  }
  /// Address of a row; the others follow source.pitch bytes apart.
  __device__ unsigned address(int y) const { return address_ + (y - top_) * source_.pitch; }

 private:
  static __device__ int lane() { return threadIdx.x % 32; }
  __device__ CopyBarrier barrier(int part) const { return CopyBarrier(barriers_ + 8 * part); }
  /// Calls f for the parts that this warp copies: its share, then some of the remaining ones.
  template <typename F>
  __device__ void for_own(const F &f) const {
    const int warps = blockDim.x / 32, warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
    int part = warp * share_;
#pragma unroll 1
    for (int i = 0; part < parts_; ++i) {
      f(part);
      part = i + 1 < share_ ? part + 1 : warps * share_ + (i + 1 - share_) * warps + warp;
    }
  }
  __device__ void wait(int first, int last) const {
#pragma unroll 1
    for (int part = first; part <= last; ++part) barrier(part).wait(0);
  }

  const StagedPlane<T> &source_;
  unsigned address_, barriers_;  // of the memory and of the barriers
  int x_, top_;
  int parts_, share_;
};

}  // namespace cudascan::windowsums
