// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes of 16-bit samples in large windows. Windows of neighbouring results have most samples in
/// common. So of the values in a tile with its margin only few can be modes: those that occur, in
/// all of it, at least as often as the mode of some window. A block counts the values of a tile,
/// and lists the places of the most frequent ones. A warp counts how often a value occurs in the
/// windows of 32 x 32 results: a bit for each row tells whether a place is in its window. Then
/// come less frequent values, until none is left that could win.
///
/// A column of the window's shape is a string of bits. For a place, those of 32 results of a column
/// are next to one another in it. So all shapes take equally long.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/swofilter/rank/frequent_job.cuh"
#include "kernels/swofilter/rank/row_counts.cuh"

namespace cudascan::swo {

/// The block's part of the work. All threads call all functions.
class FrequentModes {
 public:
  __device__ FrequentModes(const FrequentJob &job, const WindowCells &cells)
      : job_(job),
        rx_(cells.rx),
        ry_(cells.ry),
        columns_(kFrequentTile + 2 * cells.rx),
        rows_(kFrequentTile + 2 * cells.ry),
        n_counts_(1u << job.value_bits) {
    unsigned char *const memory = dynamic_shared_memory();
    const FrequentBytes &bytes = job.shared;
    counts_ = reinterpret_cast<unsigned *>(memory);
    shape_ = memory + bytes.counts;
    keys_ = reinterpret_cast<unsigned *>(memory + bytes.keys());
    value_ = reinterpret_cast<unsigned *>(memory + bytes.values());
    count_ = value_ + kMostFrequent, begin_ = count_ + kMostFrequent, end_ = begin_ + kMostFrequent;
    in_reach_ = end_ + kMostFrequent;
    levels_ = reinterpret_cast<unsigned *>(memory + bytes.levels());
    partial_ = reinterpret_cast<unsigned *>(memory + bytes.partial());
    first_ = reinterpret_cast<unsigned *>(memory + bytes.spans()), last_ = first_ + rows_;
    part_first_ = last_ + rows_, part_last_ = part_first_ + rows_;
    lists_ = job.lists + std::size_t{blockIdx.x} * job.list_words;
    set_shape(cells);
  }

  /// Takes tiles until there are none.
  __device__ void operator()() {
    for (int tile; (tile = take()) < job_.tiles;) {
      x0_ = tile % job_.tiles_along * kFrequentTile, y0_ = tile / job_.tiles_along * kFrequentTile;
      width_ = min(kFrequentTile, job_.out.width - x0_);
      height_ = min(kFrequentTile, job_.out.height - y0_);
      for (int i = threadIdx.x; i < kFrequentTile * kFrequentTile; i += kFrequentThreads)
        keys_[i] = 0;
      modes_ = {};
      least_ = 1;
      for (unsigned base = 0; base < 65536; base += n_counts_) {
        count(base);
        unsigned wanted = base > 0 ? kMoreFrequent : kFirstFrequent;
        for (unsigned level; (level = choose(wanted)) > 0; wanted = kMoreFrequent) {
          const int n = take_values(base, level);
          list(base, n);
          count_short_lists(n);
          if (has_long_lists_) count_long_lists(n);
          // Those that are left occur less often than modes.
          const bool is_last = level <= least_ && n < kMostFrequent;
          join(base, n);
          if (is_last) break;
        }
      }
      write();
    }
  }

 private:
  /// The column of bits that no place reaches.
  static constexpr int kNoColumn = kFrequentTile - 1;
  __device__ int lane() const { return threadIdx.x % 32; }
  __device__ int warp() const { return threadIdx.x / 32; }
  /// The part of the tile that the warp counts in.
  __device__ int part() const { return warp() % kTileParts; }

  /// Sets the bits of the shape's columns. Bit u of a column is set if its cell deepest() - u is in
  /// the shape; there are enough cells before and after for all places and results of a tile.
  __device__ void set_shape(const WindowCells &cells) {
    auto *const words = reinterpret_cast<unsigned *>(shape_);
    for (int i = threadIdx.x; i < job_.shared.columns / 4; i += kFrequentThreads) words[i] = 0;
    for (int i = threadIdx.x; i < rows_; i += kFrequentThreads)
      first_[i] = part_first_[i] = columns_, last_[i] = part_last_[i] = 0;
    __syncthreads();
    for (int i = warp(); i < cells.n_runs; i += kFrequentWarps) {
      const Run run = cells.runs[i];
      const int u = deepest() - run.y;
      for (int x = run.first + lane(); x <= run.last; x += 32)
        atomicOr(words + (x + rx_ + kFrequentTile) * job_.words + u / 32, 1u << u % 32);
      // Between which columns places are in the window of some result of the tile, or of its first
      // part.
      for (int y = lane(); y < kFrequentTile; y += 32) {
        const int row = run.y + ry_ + y;
        const unsigned first = run.first + rx_, last = run.last + rx_;
        atomicMin(first_ + row, first);
        atomicMax(last_ + row, last + kFrequentTile - 1);
        if (y >= 32) continue;
        atomicMin(part_first_ + row, first);
        atomicMax(part_last_ + row, last + 31);
      }
    }
  }
  __device__ int deepest() const { return ry_ + kFrequentTile - 1; }

  __device__ int take() const {
    __shared__ int taken;
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(job_.next, 1);
    __syncthreads();
    return taken;
  }

  /// Calls visit(has, sample, column, row) for samples of the tile with its margin that are in some
  /// window. All lanes of a warp have the same row.
  template <typename Visit>
  __device__ void visit(const Visit &visit) const {
    constexpr int kAhead = 4;
    const Plane<const std::uint16_t> &in = job_.in.plane;
    const bool constant = job_.in.border == SwoFilterBorder::constant;
    for (int row = warp(); row < rows_; row += kFrequentWarps) {
      const int y = resolve(y0_ - ry_ + row, in.height, job_.in.border);
      if (y < 0 && !constant) continue;
      const int first = static_cast<int>(first_[row]), last = static_cast<int>(last_[row]);
      for (int begin = first + lane(); __any_sync(kWholeWarp, begin <= last);
           begin += 32 * kAhead) {
        unsigned samples[kAhead];
        bool has[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) {
          const int column = begin + 32 * k;
          const int x = resolve(x0_ - rx_ + column, in.width, job_.in.border);
          const bool inside = x >= 0 && y >= 0;
          has[k] = column <= last && (inside || constant);
          samples[k] = job_.in.outside;
          if (has[k] && inside) samples[k] = in.row(y)[x];
        }
#pragma unroll
        for (int k = 0; k < kAhead; ++k) visit(has[k], samples[k], begin + 32 * k, row);
      }
    }
  }

  /// Whether all lanes have the same value. In flat parts of an image they do.
  __device__ static bool is_flat(bool has, unsigned value) {
    const unsigned first = __shfl_sync(kWholeWarp, value, 0);
    return __all_sync(kWholeWarp, has && value == first);
  }
  /// Counts the values from `base` on.
  __device__ void count(unsigned base) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n_counts_ / 8; i += kFrequentThreads)
      reinterpret_cast<uint4 *>(counts_)[i] = {};
    __syncthreads();
    visit([&](bool has, unsigned sample, int, int) {
      const unsigned i = sample - base, shift = i % 2 * 16;
      has = has && i < n_counts_;
      const bool flat = is_flat(has, i);
      if (!has || (flat && lane() > 0)) return;
      const unsigned by = (flat ? 32u : 1u) << shift;
      if ((atomicAdd(counts_ + i / 2, by) >> shift & 0xffff) >= kMostCounted)
        atomicAdd(counts_ + i / 2, 0 - by);
    });
    __syncthreads();
  }
  /// Calls visit(index, count) for values that occur, of this thread.
  template <typename Visit>
  __device__ void visit_counts(const Visit &visit) const {
    for (unsigned i = threadIdx.x; i < n_counts_ / 8; i += kFrequentThreads) {
      const uint4 v = reinterpret_cast<const uint4 *>(counts_)[i];
      if ((v.x | v.y | v.z | v.w) == 0) continue;
      const unsigned words[] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int k = 0; k < 8; ++k)
        if (const unsigned n = words[k / 2] >> k % 2 * 16 & 0xffff) visit(8 * i + k, n);
    }
  }

  /// How often values occur that come next: so often that about `wanted` of those that are left
  /// do, or as often as modes if there are not so many. 0 if none is left.
  __device__ unsigned choose(unsigned wanted) {
    __shared__ unsigned chosen;
    for (int i = threadIdx.x; i < kCountLevels; i += kFrequentThreads) levels_[i] = 0;
    if (threadIdx.x == 0) chosen = 0;
    __syncthreads();
    visit_counts([&](unsigned, unsigned n) {
      if (n >= least_) atomicAdd(levels_ + min(n, kCountLevels - 1u), 1u);
    });
    __syncthreads();
    if (warp() == 0) {
      // Lane 0 has the highest levels.
      constexpr int kOfLane = kCountLevels / 32;
      const unsigned *level = levels_ + kCountLevels - 1 - lane() * kOfLane;
      unsigned sum = 0;
      for (int i = 0; i < kOfLane; ++i) sum += level[-i];
      const unsigned to = warp_scan(sum), all = __shfl_sync(kWholeWarp, to, 31);
      unsigned so_far = to - sum;
      if (all > 0 && all <= wanted) chosen = least_;
      if (all > wanted && so_far < wanted && to >= wanted) {
        while ((so_far += *level) < wanted) --level;
        chosen = static_cast<unsigned>(level - levels_);
      }
    }
    __syncthreads();
    return chosen;
  }

  /// Gives lists to values that occur at least `level` times.
  /// @return how many got lists: all of them, or kMostFrequent
  __device__ int take_values(unsigned base, unsigned level) {
    __shared__ int taken;
    __shared__ unsigned of_warps[kFrequentWarps];
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    visit_counts([&](unsigned i, unsigned n) {
      if (n < level) return;
      const int id = atomicAdd(&taken, 1);
      if (id >= kMostFrequent) return;
      value_[id] = base + i, count_[id] = n;
      // A thread has both counts of a word.
      reinterpret_cast<std::uint16_t *>(counts_)[i] = static_cast<std::uint16_t>(kListed + id);
    });
    __syncthreads();
    // The list of a value that occurs more often than was counted comes last.
    static_assert(kMostFrequent <= kFrequentThreads);
    const int id = threadIdx.x, n = min(taken, kMostFrequent);
    const bool has = id < n, is_last = has && count_[id] >= kMostCounted;
    const unsigned size = has && !is_last ? (count_[id] + 7) & ~7u : 0;
    const unsigned to = warp_scan(size);
    if (lane() == 31) of_warps[warp()] = to;
    __syncthreads();
    unsigned begin = to - size;
    for (int w = 0; w < (is_last ? kFrequentWarps : warp()); ++w) begin += of_warps[w];
    if (is_last) begin -= to - size;
    if (has) begin_[id] = end_[id] = begin, in_reach_[id] = 0;
    __syncthreads();
    return n;
  }

  /// Lists the places of the values: what lane 0 of part 0 reads the bits of its column with.
  __device__ void list(unsigned base, int n) {
    visit([&](bool has, unsigned sample, int column, int row) {
      const unsigned i = sample - base;
      has = has && i < n_counts_;
      const unsigned id = has ? (counts_[i / 2] >> i % 2 * 16 & 0xffff) - kListed : ~0u;
      has = id < kMostFrequent;
      const bool flat = is_flat(has, id);
      if (!__any_sync(kWholeWarp, has)) return;
      unsigned at = 0;
      if (has && !(flat && lane() > 0)) at = atomicAdd(end_ + id, flat ? 32u : 1u);
      if (flat) at = __shfl_sync(kWholeWarp, at, 0) + lane();
      if (!has) return;
      lists_[at] = place(column + kFrequentTile, deepest() + ry_ - row);
      if (count_[id] <= kMostInReach) atomicAdd(in_reach_ + id, parts_in_reach(column, row));
    });
    __syncthreads();
    bool is_long = false;
    for (int id = threadIdx.x; id < n; id += kFrequentThreads) {
      unsigned end = end_[id];
      count_[id] = end - begin_[id];
      for (; (end - begin_[id]) % 8; ++end) lists_[end] = place(kNoColumn, 0);
      end_[id] = end;
      is_long = is_long || count_[id] >= kLongList;
    }
    has_long_lists_ = __syncthreads_count(is_long) > 0;
  }
  /// A byte for each part: 1 if a place is in the window of some result of it.
  __device__ unsigned parts_in_reach(int column, int row) const {
    unsigned parts = 0;
#pragma unroll
    for (int i = 0; i < kTileParts; ++i) {
      const int x = column - i % 2 * 32, y = row - i / 2 * 32;
      if (y >= 0 && x >= static_cast<int>(part_first_[y]) && x <= static_cast<int>(part_last_[y]))
        parts |= 1u << 8 * i;
    }
    return parts;
  }
  /// Bit `bit` of a column of the shape.
  __device__ unsigned place(int column, int bit) const {
    return static_cast<unsigned>((column * job_.words + bit / 32) * 4) << 5 | bit % 32;
  }

  /// Counts in the windows of this lane's column of the part.
  template <int kBits>
  __device__ RowCounts count_rows(unsigned begin, unsigned end) const {
    const unsigned *const list = lists_ + begin;
    const int x = part() % 2 * 32 + lane(), y = part() / 2 * 32;
    const unsigned char *const shape = shape_ - x * job_.words * 4 + y / 32 * 4;
    return swo::count_rows<kBits>(end - begin, [&](unsigned i, unsigned(&rows)[8]) {
      const uint4 a = *reinterpret_cast<const uint4 *>(list + i);
      const uint4 b = *reinterpret_cast<const uint4 *>(list + i + 4);
      const unsigned places[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const auto *const words = reinterpret_cast<const unsigned *>(shape + (places[k] >> 5));
        rows[k] = __funnelshift_r(words[0], words[1], places[k]);
      }
    });
  }
  __device__ void count_short_lists(int n) {
    for (int id = warp() / kTileParts; id < n; id += kPartWarps) {
      const unsigned count = count_[id];
      if (count <= kMostInReach && (in_reach_[id] >> 8 * part() & 255) < least_) continue;
      if (count < 32)
        modes_.compare<5>(count_rows<5>(begin_[id], end_[id]), value_[id]);
      else if (count < 256)
        modes_.compare<8>(count_rows<8>(begin_[id], end_[id]), value_[id]);
      else if (count < kLongList)
        modes_.compare<9>(count_rows<9>(begin_[id], end_[id]), value_[id]);
    }
  }
  static_assert(kLongList == 1 << 9);
  /// The warps of a part divide lists among them.
  __device__ void count_long_lists(int n) {
    const int share = warp() / kTileParts;
    unsigned *const partial = partial_ + part() * (kPartWarps - 1) * kCountBits * 32 + lane();
    for (int id = 0; id < n; ++id) {
      if (count_[id] < kLongList) continue;
      const unsigned each = (end_[id] - begin_[id] + 8 * kPartWarps - 1) / (8 * kPartWarps) * 8;
      const unsigned begin = min(begin_[id] + share * each, end_[id]);
      RowCounts counts = count_rows<kCountBits>(begin, min(begin + each, end_[id]));
      if (share > 0)
        for (int k = 0; k < kCountBits; ++k)
          partial[((share - 1) * kCountBits + k) * 32] = counts.words[k];
      __syncthreads();
      if (share == 0) {
        for (int w = 0; w < kPartWarps - 1; ++w)
          counts.add([&](int k) { return partial[(w * kCountBits + k) * 32]; });
        modes_.compare<kCountBits>(counts, value_[id]);
      }
      __syncthreads();
    }
  }

  /// Joins what the warps have found; values that had lists are done.
  __device__ void join(unsigned base, int n) {
    __shared__ unsigned lowest;
    unsigned keys[32];
    modes_.keys(keys);
    unsigned *const of_column = keys_ + part() / 2 * 32 * kFrequentTile + part() % 2 * 32 + lane();
#pragma unroll
    for (int row = 0; row < 32; ++row)
      if (keys[row] > of_column[row * kFrequentTile])
        atomicMax(of_column + row * kFrequentTile, keys[row]);
    for (int id = threadIdx.x; id < n; id += kFrequentThreads)
      reinterpret_cast<std::uint16_t *>(counts_)[value_[id] - base] = 0;
    if (threadIdx.x == 0) lowest = ~0u;
    __syncthreads();
    unsigned of_thread = ~0u;
    for (int i = threadIdx.x; i < kFrequentTile * height_; i += kFrequentThreads)
      if (i % kFrequentTile < width_) of_thread = min(of_thread, RowModes::count_of(keys_[i]));
    of_thread = warp_min(of_thread);
    if (lane() == 0) atomicMin(&lowest, of_thread);
    __syncthreads();
    least_ = max(lowest, 1u);
    __syncthreads();
  }
  /// Where there are no samples, the result is the image's.
  __device__ void write() const {
    for (int i = threadIdx.x; i < kFrequentTile * height_; i += kFrequentThreads) {
      const int x = i % kFrequentTile, y = i / kFrequentTile;
      if (x >= width_) continue;
      const unsigned key = keys_[i];
      job_.out.row(y0_ + y)[x0_ + x] = static_cast<std::uint16_t>(
          RowModes::count_of(key) ? RowModes::value_of(key) : job_.in.plane.row(y0_ + y)[x0_ + x]);
    }
  }

  const FrequentJob &job_;
  int rx_, ry_, columns_, rows_;  ///< of the window; of a tile with its margin
  unsigned n_counts_;
  unsigned *counts_;                          ///< of values: two in a word
  unsigned char *shape_;                      ///< columns of bits
  unsigned *keys_;                            ///< of the results
  unsigned *value_, *count_, *begin_, *end_;  ///< of the lists
  unsigned *in_reach_;                        ///< of the lists: places in reach of each part
  unsigned *levels_;                          ///< how many values have a count
  unsigned *partial_;                         ///< counts of parts of lists
  unsigned *first_, *last_;  ///< columns of each row that are in the window of some result
  unsigned *part_first_, *part_last_;  ///< the same, for a part
  unsigned *lists_;
  int x0_ = 0, y0_ = 0, width_ = 0, height_ = 0;  ///< of the tile
  bool has_long_lists_ = false;
  RowModes modes_;
  unsigned least_ = 1;  ///< modes of all windows occur at least so often
};

}  // namespace cudascan::swo
