// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The rows that a warp uses next, without the columns that stay in its windows.
#pragma once
#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/windowsums/row_stage.cuh"

namespace cudascan::windowsums {

/// A ring of kStages stages in shared memory that belongs to one warp. The warp must wait for every
/// requested stage before the block ends.
template <typename T>
class SideStage {
 public:
  using Source = StagedPlane<T>;
  /// Besides the tile's own columns, a stage has those in which the left and the right ends of its
  /// windows are, in the rows that enter and in those that leave.
  enum Side { enters_left, enters_right, leaves_left, leaves_right, kSides };
  // Bytes: of the own piece, of a row of a side, of a side, and of a stage.
  static constexpr unsigned kOwnBytes = kStageRows<T> * kStageColumns * sizeof(T);
  static constexpr unsigned kSidePitch = kSideColumns<T> * sizeof(T);
  static constexpr unsigned kSideBytes = (kStageRows<T> * kSidePitch + 127) / 128 * 128;
  static constexpr unsigned kStageBytes = kOwnBytes + kSides * kSideBytes;
  static constexpr int kBytes = kStages * kStageBytes;  ///< of its memory
  static constexpr int kBarriers = kStages;

  /// @param memory    kBytes for this warp, aligned to 128
  /// @param barriers  kBarriers for this warp
  /// @param x         first column of the tile
  /// @param rx        half the width of its windows
  __device__ SideStage(const Source &source, unsigned char *memory, std::uint64_t *barriers, int x,
                       int rx)
      : source_(source),
        memory_(memory),
        address_(shared_address(memory)),
        barriers_(shared_address(barriers)),
        x_(x),
        left_(-(rx + kStageAlignment<T>) / kStageAlignment<T> * kStageAlignment<T>),
        right_(rx / kStageAlignment<T> * kStageAlignment<T>),
        left_cut_(-(rx + 1) - left_),
        right_cut_(rx - right_) {}

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

  /// Starts to fill stage n, counted from 0 on without an end: the tile's own columns from row y on
  /// if `own`, those that enter from row `enters` on and those that leave from row `leaves` on.
  /// Samples outside the plane are 0, except for source.garbage ones. All lanes call it, after they
  /// have read stage n - kStages.
  __device__ void request(int n, bool own, int y, int enters, int leaves) {
    __syncwarp();
    const unsigned stage = n % kStages * kStageBytes;
    const auto for_sides = [&](const auto &copy) {
      copy(enters_left, x_ + left_, enters);
      copy(enters_right, x_ + right_, enters);
      copy(leaves_left, x_ + left_, leaves);
      copy(leaves_right, x_ + right_, leaves);
    };
    if (source_.by_engine) {
      const bool mine = elect();
      const CopyBarrier arrival = barrier(n % kStages);
      arrival.expect(mine, kSides * kStageRows<T> * kSidePitch + (own ? kOwnBytes : 0));
      if (own) arrival.copy(mine, source_.narrow, address_ + stage, x_, 0, y);
      for_sides([&](int side, int x, int row) {
        source_.copy_wide(mine, arrival, address_ + stage + kOwnBytes + side * kSideBytes, x, row);
      });
    } else {
      if (own) copy_samples(source_.plane, memory_ + stage, x_, y, kStageColumns);
      for_sides([&](int side, int x, int row) {
        copy_samples(source_.plane, memory_ + stage + kOwnBytes + side * kSideBytes, x, row,
                     kSideColumns<T>);
      });
      __syncwarp();
    }
  }

  /// Waits for the next stage, which becomes the current one.
  __device__ void wait() {
    const unsigned stage = waited_ % kStages;
    current_ = address_ + stage * kStageBytes;
    if (source_.by_engine) barrier(stage).wait(waited_ / kStages % 2);
    ++waited_;
  }
  /// Number of stages waited for.
  __device__ int waited() const { return waited_; }
  /// This lane's own samples in row i of the current stage.
  __device__ StageSamples<T> own(int i) const {
    return read_stage<T>(current_ + i * static_cast<unsigned>(kStageColumns * sizeof(T)));
  }
  /// Its samples of a side.
  __device__ StageSamples<T> side(Side side, int i) const {
    const bool left = side == enters_left || side == leaves_left;
    return (left ? left_cut_ : right_cut_)
        .read(current_ + kOwnBytes + side * kSideBytes + i * kSidePitch);
  }

 private:
  static __device__ int lane() { return threadIdx.x % 32; }
  __device__ CopyBarrier barrier(int stage) const { return CopyBarrier(barriers_ + 8 * stage); }

  const Source &source_;
  unsigned char *memory_;
  unsigned address_, barriers_;  // of the memory and of the barriers
  int x_, left_, right_;         // the sides' first columns are x_ + left_ and x_ + right_
  StageCut<T> left_cut_, right_cut_;
  unsigned current_ = 0;
  unsigned waited_ = 0;  // stages
};

}  // namespace cudascan::windowsums
