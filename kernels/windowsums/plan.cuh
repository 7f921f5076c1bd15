// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Plans a launch of the row kernel: divides the image among blocks and chooses how they load its
/// rows.
#pragma once
#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/windowsums/division.h"
#include "kernels/windowsums/row_job.cuh"
#include "kernels/windowsums/row_tile.cuh"
#include "kernels/windowsums/side_stage.cuh"
#include "kernels/windowsums/sums.cuh"

namespace cudascan::windowsums {

/// Limit for a block's shared memory besides that of its warps: the kernel's own arrays and the
/// multiprocessor's reserve.
constexpr int kFixedMemory = 12800;

/// Where strips have their rows and their first windows from.
enum class Rows {
  tile,   ///< all rows of the block are in a RowTile
  rings,  ///< each warp has a RowStage
  prefix  ///< each warp has a SideStage, and windows start from PrefixSums
};

/// The parameters of a launch besides its job.
struct RowShape {
  Rows rows;
  bool together;  // all blocks run at the same time
  int blocks, threads;
  int shared;           // bytes
  std::size_t scratch;  // bytes of device memory for use_prefix()
};

/// Chooses a division and a staging for one image.
/// @tparam squared  whether squares are summed, too
template <bool squared, typename T>
class Planner {
 public:
  Planner(Cuda &cuda, const Plane<const T> &in, RowJob<T> &job)
      : in_(in),
        job_(job),
        window_rows_(2 * job.ry + 1),
        engine_(cuda.code_architecture() >= 90),
        memory_(cuda.most_shared_memory() - kFixedMemory - StagedPlane<T>::kReadBeyond) {
    image_.height = in.height;
    image_.window_rows = window_rows_;
    image_.multiprocessors = cuda.multiprocessors();
  }

  /// @param from_prefix  whether windows start from PrefixSums: faster if they are very large
  RowShape plan(bool from_prefix = false) {
    constexpr int kPackedRows = 0xffff / 255;  // of 8-bit samples, whose sums have 16 bits
    job_.packed = sizeof(T) == 1 && window_rows_ <= kPackedRows;
    if (job_.packed) image_.most_group_rows = kPackedRows;
    find_inner_tiles();
    if (from_prefix)
      plan_prefix();
    else if (!plan_tile())
      plan_rings();
    order_blocks();
    return {rows_,
            blocks_ <= image_.multiprocessors * division_.resident,
            blocks_,
            32 * division_.warps,
            block_bytes(division_, rows_) + StagedPlane<T>::kReadBeyond,
            from_prefix ? job_.prefix.bytes() : 0};
  }

 private:
  void find_inner_tiles() {
    job_.tiles = divide_up(in_.width, kStageColumns);
    const auto inner = [&](int tile) {
      return job_.store_at_once && tile * kStageColumns >= job_.rx &&
             (tile + 1) * kStageColumns - 1 + job_.rx < in_.width;
    };
    job_.first_inner = 0;
    while (job_.first_inner < job_.tiles && !inner(job_.first_inner)) ++job_.first_inner;
    if (job_.first_inner == job_.tiles) job_.first_inner = 0;
    job_.last_inner = job_.first_inner;
    while (job_.last_inner < job_.tiles && inner(job_.last_inner)) ++job_.last_inner;
    image_.inner_tiles = job_.last_inner - job_.first_inner;
    image_.edge_tiles = job_.tiles - image_.inner_tiles;
  }

  /// The best plan has all rows in shared memory, for one block of many warps or two of half as
  /// many.
  /// @return whether there is room
  bool plan_tile() {
    // Measured on an H100; more where lanes store parts of their columns.
    constexpr float kEdgeCost = sizeof(T) == 2 ? 1.3f : squared ? 1.1f : 1.45f;
    const bool at_once = job_.store_at_once && in_.width % kColumns == 0;
    image_.edge_cost = at_once ? kEdgeCost : std::max(kEdgeCost, 1.4f);
    for (const Staging staging : {Staging::tile, Staging::tight_tile}) {
      if (rows_ == Rows::tile) break;
      stage(staging);
      if (!job_.in.by_engine) break;
      for (const int blocks : {1, 2}) {
        const Division next(image_, in_.height, kMaxWarps<T> / blocks, blocks, true);
        const int rows = next.warps * next.most_rows() + window_rows_;
        if (next.time >= division_.time || RowTile<T>::parts(rows) > RowTile<T>::kMostParts ||
            block_bytes(next, Rows::tile) > memory_of(blocks))
          continue;
        rows_ = Rows::tile;
        division_ = next;
      }
    }
    job_.share = divide_up(division_.most_rows(), kTilePart);
    return rows_ == Rows::tile;
  }

  /// Otherwise: high blocks share more of the windows, but more small blocks fit.
  void plan_rings() {
    stage(Staging::rings);
    image_.edge_cost = 1.3f;
    image_.share = memory_ >= job_.in.ring_bytes() + record_bytes_;
    const int warp_bytes = job_.in.ring_bytes() + (image_.share ? record_bytes_ : 0);
    const int most_warps = std::min(kMaxWarps<T>, memory_ / warp_bytes);
    for (const int warps : {most_warps, most_warps / 2}) {
      if (warps == 0) continue;
      int blocks = kMaxWarps<T> / warps;
      while (blocks > 1 && warps * warp_bytes > memory_of(blocks)) --blocks;
      const Division next(image_, job_.in.most_rows(), warps, blocks, false);
      if (next.load(kMaxWarps<T>) < division_.load(kMaxWarps<T>)) division_ = next;
    }
  }

  /// One block of many warps.
  void plan_prefix() {
    rows_ = Rows::prefix;
    stage(Staging::sides);
    job_.prefix = PrefixSums<T>(in_.width, in_.height);
    image_.edge_cost = 1.3f;
    image_.is_filled = true;
    const int warps = std::min(kMaxWarps<T>, memory_ / SideStage<T>::kBytes);
    division_ = Division(image_, kTilePart, warps, 1, false);
  }

  /// Counts the blocks and places the edge blocks as RowJob says.
  void order_blocks() {
    job_.inner_strips = division_.inner;
    job_.edge_strips = division_.edge;
    const int edge_blocks = image_.edge_tiles * division_.blocks(division_.edge, in_.height);
    blocks_ = image_.inner_tiles * division_.blocks(division_.inner, in_.height) + edge_blocks;
    job_.second = image_.multiprocessors;
    job_.edges_in_second = division_.resident > 1 && edge_blocks <= job_.second &&
                                   job_.second + edge_blocks / 2 <= blocks_
                               ? edge_blocks / 2
                               : 0;
    job_.edges_in_first = edge_blocks - job_.edges_in_second;
    if (job_.edges_in_second == 0) job_.second = blocks_;
  }

  void stage(Staging staging) {
    job_.in = StagedPlane<T>(in_, job_.rx, engine_, staging);
    job_.parts = divide_up(job_.in.pitch, kStageColumns * sizeof(T));
    record_bytes_ = ColumnRecord<T, squared>::words(job_) * static_cast<int>(sizeof(unsigned));
  }
  /// Memory per block for so many blocks.
  int memory_of(int blocks) const { return (memory_ + kFixedMemory) / blocks - kFixedMemory; }
  int block_bytes(const Division &d, Rows rows) const {
    if (rows == Rows::prefix) return d.warps * SideStage<T>::kBytes;
    const int most_rows = std::min(d.warps * d.most_rows(), in_.height);
    const int rows_bytes = rows == Rows::tile ? RowTile<T>::bytes(job_.in, most_rows + window_rows_)
                                              : d.warps * job_.in.ring_bytes();
    return rows_bytes + (d.most_groups() > 0 ? d.warps * record_bytes_ : 0);
  }

  const Plane<const T> &in_;
  RowJob<T> &job_;
  const int window_rows_;
  const bool engine_;
  const int memory_;  // of a block
  DividedImage image_{};
  Division division_;
  Rows rows_ = Rows::rings;
  int record_bytes_ = 0, blocks_ = 0;
};

/// Queues what a launch needs before it.
/// @param memory  shape.scratch bytes, aligned to 16
template <typename T>
void use_prefix(Cuda &cuda, const RowShape &shape, RowJob<T> &job, void *memory) {
  if (shape.rows != Rows::prefix) return;
  job.prefix.use(memory);
  queue_prefix<T>(cuda, job);
}

}  // namespace cudascan::windowsums
