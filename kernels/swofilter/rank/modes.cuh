// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes of 16-bit samples. A block numbers the values that occur in a tile with its margin; these
/// codes are dense, so that counts of all of them fit into shared memory. Then it moves a window
/// through the lines of the tile, a thread for each run of cells: at each step one sample leaves
/// and one enters the run (Huang, Yang, Tang, "A fast two-dimensional median filtering algorithm",
/// IEEE Trans. ASSP 27(1), 1979).
///
/// A key is a count and a code, and the largest key is the mode's: count << 16 | 65535 - code.
/// After a step that is the old mode or a code that entered, unless the old mode has lost samples.
/// Then it is searched for: codes are in groups, and no key of a group is larger than its bound.
/// Bounds rise with each code that enters, and are corrected when a search finds them too large.
///
/// Windows move along the rows of the image, or along its columns if it is transposed: whatever
/// needs fewer runs. Codes that runs of neighbouring threads read are neighbours.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/rank/code_counts.cuh"

namespace cudascan::swo {

/// A thread for each run.
constexpr int kMostModeThreads = (WindowCells::kMostRuns + 31) / 32 * 32;
/// Words of one bit for each level.
constexpr int kLevelWords = 65536 / 32;
/// Samples that a thread reads before it handles them.
constexpr int kModeAhead = 8;

/// Bytes of shared memory of a block.
struct ModeBytes {
  int counts, bounds;
  int codes;  ///< 0 if they are in device memory

  /// Levels are numbered in the memory of the counts and bounds.
  __host__ __device__ int before_codes() const {
    constexpr int kNumbering = kLevelWords * 6;
    return counts + bounds > kNumbering ? counts + bounds : kNumbering;
  }
  int all() const { return before_codes() + codes; }
};

/// "Along" is the direction in which windows move, "across" the other one.
struct ModeJob {
  Source<std::uint16_t> in;
  Plane<std::uint16_t> out;
  bool transposed;    // windows move along the columns of the image
  int along, across;  // results of a tile
  int tiles_along, tiles;
  int pitch, area;  // codes from one place to the next one along, and of a tile
  int most_codes;   // tiles with more are left to the next launch; a multiple of kBoundCodes
  ModeBytes shared;
  int *next;              // the first tile that no block has taken
  bool again;             // only the tiles that were left
  std::uint8_t *left;     // for each tile: whether it was left
  unsigned char *memory;  // of the blocks: counts unless they are shared, values, codes likewise
  std::size_t bytes;      // of a block
};

/// A tile with its margin.
class ModeTile {
 public:
  int x0, y0, width, height;  ///< of the results
  std::uint16_t *codes;       ///< those of the places across, from place to place along
  std::uint16_t *values;      ///< of the codes

  __device__ ModeTile(const ModeJob &job, const WindowCells &cells, int tile, std::uint16_t *codes,
                      std::uint16_t *values)
      : codes(codes), values(values), job_(job) {
    const int along = tile % job.tiles_along * job.along;
    const int across = tile / job.tiles_along * job.across;
    x0 = job.transposed ? across : along, y0 = job.transposed ? along : across;
    width = min(job.transposed ? job.across : job.along, job.out.width - x0);
    height = min(job.transposed ? job.along : job.across, job.out.height - y0);
    rx_ = job.transposed ? cells.ry : cells.rx, ry_ = job.transposed ? cells.rx : cells.ry;
  }

  /// Gives the values that occur their codes and returns how many there are. All threads of the
  /// block call it.
  /// @param memory  for 6 bytes times kLevelWords
  __device__ int number(unsigned char *memory) const {
    __shared__ int all;
    auto *const occurs = reinterpret_cast<unsigned *>(memory);
    auto *const before = reinterpret_cast<std::uint16_t *>(occurs + kLevelWords);
    const int t = threadIdx.x;
    for (int i = t; i < kLevelWords; i += blockDim.x) occurs[i] = 0;
    __syncthreads();
    copy(occurs);
    __syncthreads();
    if (t < 32) {
      unsigned sum = 0;
      for (int i = t; i < kLevelWords; i += 32) {
        const unsigned n = __popc(occurs[i]), up_to = warp_scan(n);
        before[i] = static_cast<std::uint16_t>(sum + up_to - n);
        sum += __shfl_sync(kWholeWarp, up_to, 31);
      }
      if (t == 0) all = sum;
    }
    __syncthreads();
    const int n_codes = all;
    if (n_codes > job_.most_codes) return n_codes;
    for (int i = t; i < kLevelWords; i += blockDim.x) {
      std::uint16_t *value = values + before[i];
      for (unsigned rest = occurs[i]; rest; rest &= rest - 1)
        *value++ = static_cast<std::uint16_t>(32 * i + __ffs(rest) - 1);
    }
#pragma unroll 4
    for (int i = t; i < job_.area; i += blockDim.x) {
      const unsigned sample = codes[i], below = (1u << sample % 32) - 1;
      codes[i] =
          static_cast<std::uint16_t>(before[sample / 32] + __popc(occurs[sample / 32] & below));
    }
    __syncthreads();
    return n_codes;
  }

 private:
  /// Copies the samples and sets the bits of those that occur.
  __device__ void copy(unsigned *occurs) const {
    const Plane<const std::uint16_t> &in = job_.in.plane;
    const int columns = width + 2 * rx_, n = columns * (height + 2 * ry_);
    const bool constant = job_.in.border == SwoFilterBorder::constant;
    for (int begin = threadIdx.x; begin < n; begin += kModeAhead * blockDim.x) {
      unsigned samples[kModeAhead];
      int to[kModeAhead];
#pragma unroll
      for (int k = 0; k < kModeAhead; ++k) {
        const int i = min(begin + k * static_cast<int>(blockDim.x), n - 1);
        const int y = i / columns, x = i - y * columns;
        const int column = resolve(x0 + x - rx_, in.width, job_.in.border);
        const int row = resolve(y0 + y - ry_, in.height, job_.in.border);
        samples[k] = constant ? job_.in.outside : kNoCode;
        if (column >= 0 && row >= 0) samples[k] = in.row(row)[column];
        to[k] = job_.transposed ? y * job_.pitch + x : x * job_.pitch + y;
      }
#pragma unroll
      for (int k = 0; k < kModeAhead; ++k) {
        codes[to[k]] = static_cast<std::uint16_t>(samples[k]);
        if (samples[k] == kNoCode) continue;
        unsigned &word = occurs[samples[k] / 32];
        const unsigned bit = 1u << samples[k] % 32;
        if (!(word & bit)) atomicOr(&word, bit);
      }
    }
  }

  const ModeJob &job_;
  int rx_, ry_;
};

/// The window of a block, and this thread's run of it.
class ModeWindow {
 public:
  __device__ ModeWindow(const ModeJob &job, const WindowCells &cells, const ModeTile &tile,
                        const CodeCounts &counts)
      : job_(job), tile_(tile), counts_(counts), reach_(cells.rx) {
    // Threads that are left help others to fill the window.
    const int t = threadIdx.x;
    parts_ = static_cast<int>(blockDim.x) / cells.n_runs, part_ = t / cells.n_runs;
    const Run run = cells.runs[t % cells.n_runs];
    first_ = run.first + reach_, last_ = run.last + reach_;
    span_ = (last_ + 1 - first_) * job.pitch;
    run_across_ = run.y, margin_across_ = cells.ry;
    along_ = job.transposed ? tile.height : tile.width;
    across_ = job.transposed ? tile.width : tile.height;
  }

  /// Writes the modes of all lines. All threads of the block call it.
  __device__ void operator()() {
    for (int line = 0; line < across_; ++line) {
      enter_line(line);
      counts_.clear();
      __syncthreads();
      fill();
      __syncthreads();
      counts_.set_bounds();
      __syncthreads();
      unsigned best = search();
      unsigned leaves = kNoCode, enters = kNoCode;
      const std::uint16_t *next = line_ + first_ * job_.pitch;
      read(next, 0, leaves, enters);
      for (int i = 0;; ++i) {
        keep(i, line, best);
        if (i + 1 == along_) break;
        next += job_.pitch;
        best = step(best, leaves, enters, next, i + 1);
      }
      __syncthreads();
    }
  }

 private:
  __device__ void enter_line(int line) {
    line_ = tile_.codes + (line + run_across_ + margin_across_);
    begin_ = 0, exist_ = along_ + 2 * reach_;
    if (job_.in.border == SwoFilterBorder::clip) clip(line);
    moving_exist_ = part_ > 0 ? 0 : exist_;
  }
  __device__ void clip(int line) {
    const Plane<const std::uint16_t> &in = job_.in.plane;
    const int n_along = job_.transposed ? in.height : in.width;
    const int n_across = job_.transposed ? in.width : in.height;
    const int along = (job_.transposed ? tile_.y0 : tile_.x0) - reach_;
    const int across = (job_.transposed ? tile_.x0 : tile_.y0) + line + run_across_;
    begin_ = max(-along, 0);
    exist_ = across < 0 || across >= n_across ? 0 : min(exist_, n_along - along) - begin_;
  }
  /// Reads the codes that leave and enter after result number i of the line, if this thread moves a
  /// run.
  /// @param leaving  where the first one is
  __device__ void read(const std::uint16_t *leaving, int i, unsigned &leaves,
                       unsigned &enters) const {
    leaves = has_sample(first_ + i, moving_exist_) ? leaving[0] : kNoCode;
    enters = has_sample(last_ + 1 + i, moving_exist_) ? leaving[span_] : kNoCode;
  }
  __device__ bool has_sample(int place, int exist) const {
    return static_cast<unsigned>(place - begin_) < static_cast<unsigned>(exist);
  }
  /// Adds the samples of the line's first window.
  __device__ void fill() const {
    const bool helps = part_ < parts_;
    for (int place = first_ + part_; __any_sync(kWholeWarp, helps && place <= last_);
         place += parts_) {
      const bool has = helps && place <= last_ && has_sample(place, exist_);
      counts_.change(has ? line_[place * job_.pitch] : kNoCode, 1);
    }
  }
  __device__ unsigned search() const {
    __shared__ unsigned found;
    if (threadIdx.x < 32) {
      const unsigned largest = counts_.largest();
      if (threadIdx.x == 0) found = largest;
    }
    __syncthreads();
    return found;
  }
  /// Moves to result number i of the line and returns the largest key.
  /// @param leaves, enters  codes of this step; those of the next one replace them
  /// @param leaving         where the first of those is
  __device__ unsigned step(unsigned best, unsigned &leaves, unsigned &enters,
                           const std::uint16_t *leaving, int i) const {
    const unsigned entered = enters;
    const bool changes = leaves != enters;
    counts_.change(changes ? leaves : kNoCode, -1u);
    counts_.change(changes ? enters : kNoCode, 1);
    if (i + 1 < along_) read(leaving, i, leaves, enters);
    __syncthreads();
    unsigned key = 0;
    if (entered != kNoCode) {
      key = counts_.key(entered);
      counts_.raise_bound(key);
    }
    key = block_max(max(key, counts_.key(CodeCounts::code_of(best))));
    return key >= best ? key : search();
  }
  /// Returns when all threads have called it.
  __device__ static unsigned block_max(unsigned v) {
    __shared__ unsigned of_warps[kMostModeThreads / 32];
    v = warp_max(v);
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (warps > 1 && lane == 0) of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    return warps > 1 ? warp_max(lane < warps ? of_warps[lane] : 0) : v;
  }
  /// A thread keeps a result until there is one for each of them, and writes it.
  __device__ void keep(int i, int line, unsigned best) {
    const int t = threadIdx.x, along = written_ + t;
    if (along == i) kept_ = best;
    if (i + 1 != written_ + static_cast<int>(blockDim.x) && i + 1 != along_) return;
    written_ = i + 1 == along_ ? 0 : i + 1;
    if (along > i) return;
    const int x = tile_.x0 + (job_.transposed ? line : along);
    const int y = tile_.y0 + (job_.transposed ? along : line);
    job_.out.row(y)[x] =
        kept_ >> 16 ? tile_.values[CodeCounts::code_of(kept_)] : job_.in.plane.row(y)[x];
  }

  const ModeJob &job_;
  const ModeTile &tile_;
  const CodeCounts &counts_;
  int reach_, parts_, part_, first_, last_, span_, run_across_, margin_across_, along_, across_;
  const std::uint16_t *line_ = nullptr;  ///< the code of this thread's run at place 0
  /// The places that have samples, for filling and for moving.
  int begin_ = 0, exist_ = 0, moving_exist_ = 0;
  unsigned kept_ = 0;
  int written_ = 0;  ///< results of the line
};

/// Takes the next tile for the block. Tiles take different times, and those that were left are
/// neighbours. All threads of the block call it.
/// @return job.tiles if there is none
__device__ inline int take_tile(const ModeJob &job) {
  __shared__ int taken;
  __syncthreads();
  if (threadIdx.x == 0) {
    do taken = atomicAdd(job.next, 1);
    while (taken < job.tiles && job.again && !job.left[taken]);
  }
  __syncthreads();
  return taken;
}

/// The modes of tiles.
/// @tparam kShared  whether counts are in shared memory
template <bool kShared>
__global__ void __launch_bounds__(kMostModeThreads)
    mode_kernel(const __grid_constant__ ModeJob job, const __grid_constant__ WindowCells cells) {
  unsigned char *const shared = dynamic_shared_memory();
  unsigned char *const own = job.memory + blockIdx.x * job.bytes;
  auto *const values = reinterpret_cast<std::uint16_t *>(own) + (kShared ? 0 : job.most_codes);
  auto *const codes = job.shared.codes
                          ? reinterpret_cast<std::uint16_t *>(shared + job.shared.before_codes())
                          : values + job.most_codes;
  auto *const bounds = reinterpret_cast<unsigned *>(shared + job.shared.counts);
  auto *const counts = reinterpret_cast<unsigned *>(kShared ? shared : own);
  for (int i; (i = take_tile(job)) < job.tiles;) {
    const ModeTile tile(job, cells, i, codes, values);
    const int n_codes = tile.number(shared);
    const bool leaves = n_codes > job.most_codes;
    if (threadIdx.x == 0) job.left[i] = leaves;
    if (!leaves) ModeWindow(job, cells, tile, CodeCounts(counts, bounds, n_codes))();
  }
}

}  // namespace cudascan::swo
