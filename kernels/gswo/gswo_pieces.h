// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How pieces of images go through small buffers: few copies, whatever the number of pieces.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace gswo {

/// Rows at equal distances on the device.
struct Piece {
  char *device;       ///< the first row
  std::size_t pitch;  ///< from row to row
  int rows;
  std::size_t bytes;  ///< of each row
  /// The memory around it that may be copied along; empty = not even what is between the rows.
  char *low = nullptr, *high = nullptr;
};

/// Cuts pieces into parts that fit into a buffer. In a part, what is contiguous on the device is
/// one copy, and so are rows of one shape at equal distances.
class CopyPlan {
 public:
  /// Rows of a piece, and where they are in the buffer: from `offset` on, every `step` bytes.
  struct Run {
    std::size_t piece;
    int first, rows;
    std::size_t bytes, offset, step;
  };
  /// What the device copies at once. If `is_linear`, `bytes` bytes; else `runs` times `rows` rows,
  /// which follow one another without gaps in the buffer.
  struct Group {
    bool is_linear;
    char *device;
    std::size_t offset, bytes;
    int rows = 1, runs = 1;
    std::size_t pitch = 0;
    std::ptrdiff_t distance = 0;  ///< from run to run
    char *high = nullptr;         ///< Piece::high of the last one
  };
  /// The runs and the groups of a part: those up to these ends.
  struct Part {
    std::size_t run_end = 0, group_end = 0;
  };

  std::vector<Run> runs;
  std::vector<Group> groups;
  std::vector<Part> parts;

  /// @param capacity  bytes of a buffer, at least those of a row
  CopyPlan(const std::vector<Piece> &pieces, std::size_t capacity) : capacity_(capacity) {
    for (std::size_t k = 0; k < pieces.size(); k++) {
      const Piece &p = pieces[k];
      for (int first = 0; first < p.rows;) {
        const int rows = is_dense(p) ? add_dense(p, k, first) : add_strided(p, k, first);
        if (rows == 0) end_part();
        first += rows;
      }
    }
    end_part();
  }

  /// The first run and the first group of a part.
  Part begin_of(std::size_t part) const { return part ? parts[part - 1] : Part(); }

 private:
  /// Whether its rows are copied with the gaps between them.
  static bool is_dense(const Piece &p) {
    return p.low && p.pitch <= p.bytes + p.bytes / 4 && p.low <= p.device &&
           p.device + (std::size_t)(p.rows - 1) * p.pitch + p.bytes <= p.high;
  }

  /// The last group of this part.
  Group *last() {
    const std::size_t begin = parts.empty() ? 0 : parts.back().group_end;
    return groups.size() > begin ? &groups.back() : nullptr;
  }

  int add_dense(const Piece &p, std::size_t number, int first) {
    char *const device = p.device + (std::size_t)first * p.pitch;
    Group *group = last();
    // The gap to the piece before may be copied along, too, if it is small.
    const bool joins = group && group->is_linear && p.low <= group->high &&
                       device >= group->device + group->bytes &&
                       (std::size_t)(device - group->device) <= group->bytes + group->bytes / 4;
    const std::size_t offset =
        joins ? group->offset + (std::size_t)(device - group->device) : aligned(used_);
    if (offset + p.bytes > capacity_) return 0;
    const int rows = std::min(p.rows - first, (int)((capacity_ - offset - p.bytes) / p.pitch) + 1);
    runs.push_back({number, first, rows, p.bytes, offset, p.pitch});
    used_ = offset + (std::size_t)(rows - 1) * p.pitch + p.bytes;
    if (!joins) groups.push_back({true, device, offset, 0});
    groups.back().bytes = used_ - groups.back().offset;
    groups.back().high = p.high;
    return rows;
  }

  int add_strided(const Piece &p, std::size_t number, int first) {
    char *const device = p.device + (std::size_t)first * p.pitch;
    Group *const group = last();
    const bool fits = used_ + (std::size_t)p.rows * p.bytes <= capacity_;
    if (group && !group->is_linear && first == 0 && fits && group->rows == p.rows &&
        group->bytes == p.bytes && group->pitch == p.pitch) {
      const std::ptrdiff_t distance =
          device - (group->device + (group->runs - 1) * group->distance);
      if (group->runs == 1) group->distance = distance;
      if (group->distance == distance) {
        group->runs++;
        runs.push_back({number, 0, p.rows, p.bytes, used_, p.bytes});
        used_ += (std::size_t)p.rows * p.bytes;
        return p.rows;
      }
    }
    const std::size_t offset = aligned(used_);
    if (offset + p.bytes > capacity_) return 0;
    const int rows = (int)std::min<std::size_t>(p.rows - first, (capacity_ - offset) / p.bytes);
    runs.push_back({number, first, rows, p.bytes, offset, p.bytes});
    groups.push_back({false, device, offset, p.bytes, rows, 1, p.pitch});
    used_ = offset + (std::size_t)rows * p.bytes;
    return rows;
  }

  void end_part() {
    if (parts.empty() ? runs.empty() : runs.size() == parts.back().run_end) return;
    parts.push_back({runs.size(), groups.size()});
    used_ = 0;
  }

  static std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

  const std::size_t capacity_;
  std::size_t used_ = 0;
};

}  // namespace gswo
