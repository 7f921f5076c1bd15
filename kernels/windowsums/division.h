// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Divides an image among the blocks and warps of the GPU.
#pragma once
#include <algorithm>
#include <limits>

namespace cudascan::windowsums {

/// An image and the resources of the GPU.
struct DividedImage {
  int height, window_rows;
  int inner_tiles = 0, edge_tiles = 0;
  float edge_cost = 1;  ///< of a row in an edge tile, in rows of inner tiles
  int multiprocessors = 1;
  bool share = true;       ///< whether there is memory for warps to sum up windows together
  bool is_filled = false;  ///< windows start from PrefixSums
  int most_group_rows = std::numeric_limits<int>::max();  ///< that can be summed up for a window
};

/// The strips of a block, in a column, one for each warp; see Strip.
struct BlockStrips {
  int rows = 0;         ///< of a strip
  int groups = 0;       ///< of a window that the warps of a block sum up together; or 0
  int rest = 0;         ///< rows of a window missing in the groups, negative if too many
  int group_parts = 1;  ///< in which the rows of a group are copied
  int part_rows = 0;    ///< of a part, at most
  float cost = 0;       ///< estimated time for a strip, in rows

  /// @param most_rows  that can be copied at once
  /// @param whole      whether all rows of a block are in shared memory
  BlockStrips(int rows, const DividedImage &image, int most_rows, int warps, bool whole)
      : rows(rows) {
    // Measured on an H200.
    if (image.is_filled) {
      constexpr float kStart = 6;
      cost = rows + kStart;
      return;
    }
    const float row_alone = whole ? 0.2f : 0.3f, row_together = 0.33f, together_once = 5;
    const int window_rows = image.window_rows;
    groups = (window_rows + rows / 2) / rows;
    if (groups * rows > image.most_group_rows) groups = window_rows / rows;
    rest = window_rows - groups * rows;
    const float rows_together =
        static_cast<float>((warps + groups - 1) * rows) / warps + (rest < 0 ? -rest : rest);
    const float alone = row_alone * window_rows;
    const float together = together_once + row_together * rows_together;
    if (alone <= together || groups < 2 || !image.share) {
      groups = 0;
      rest = window_rows;
    }
    cost = rows + (groups > 0 ? together : alone);
    group_parts = (rows + most_rows - 1) / most_rows;
    part_rows = (rows + group_parts - 1) / group_parts;
  }
  BlockStrips() = default;
};

/// Tiles and strips of a launch.
struct Division {
  int warps = 0;                                        ///< of a block
  int resident = 1;                                     ///< blocks on a multiprocessor at once
  BlockStrips inner, edge;                              ///< for both kinds of tiles
  float time = std::numeric_limits<float>::infinity();  ///< in rows of inner tiles

  /// Divides an image so that each multiprocessor has about as many blocks as it can run at once
  /// and all end at about the same time.
  /// @param most_rows  that can be copied at once
  /// @param whole      whether all rows of a block are in shared memory
  Division(const DividedImage &image, int most_rows, int warps, int resident, bool whole)
      : warps(warps), resident(resident) {
    const int slots = image.multiprocessors * resident;
    const auto strips = [&](int blocks) {
      const int rows = divide_up(image.height, warps * std::max(blocks, 1));
      return BlockStrips(std::max(rows, kLeastRows), image, most_rows, warps, whole);
    };
    if (image.inner_tiles == 0 || image.edge_tiles == 0) {
      inner = edge = strips(slots / (image.inner_tiles + image.edge_tiles));
      time = inner.cost;
      return;
    }
    // With so many blocks or more, strips have the least number of rows.
    const int most_blocks = divide_up(image.height, warps * kLeastRows);
    for (int blocks = 1; blocks == 1 || (blocks <= most_blocks &&
                                         blocks * image.inner_tiles + image.edge_tiles <= slots);
         ++blocks) {
      const BlockStrips with = strips(blocks);
      const BlockStrips rest = strips((slots - blocks * image.inner_tiles) / image.edge_tiles);
      const float longest = std::max(with.cost, rest.cost + (image.edge_cost - 1) * rest.rows);
      if (longest >= time) continue;
      time = longest;
      inner = with;
      edge = rest;
    }
  }
  Division() = default;

  /// Number of blocks of a tile with strips of this height.
  int blocks(const BlockStrips &strips, int height) const {
    return divide_up(height, warps * strips.rows);
  }
  /// Estimated time if a multiprocessor runs so many warps at once. They share its time, and three
  /// quarters of them are enough to keep it busy.
  float load(int most_warps) const {
    return time * static_cast<float>(std::max(resident * warps, most_warps * 3 / 4));
  }
  /// The cost of a strip.
  int most_rows() const { return std::max(inner.rows, edge.rows); }
  int most_groups() const { return std::max(inner.groups, edge.groups); }

 private:
  static constexpr int kLeastRows = 4;  // of a strip

  static constexpr int divide_up(int x, int by) { return (x + by - 1) / by; }
};

}  // namespace cudascan::windowsums
