// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes of 16-bit samples; frequent.cuh has those of large windows. A block numbers the values
/// that occur in a tile with its margin; these codes are dense, so that counts of all of them fit
/// into shared memory. Then it moves a window back and forth through the lines of the tile, a
/// thread for each run of cells: at each step one sample leaves and one enters the run (Huang,
/// Yang, Tang, "A fast two-dimensional median filtering algorithm", IEEE Trans. ASSP 27(1), 1979).
///
/// Bits tell which codes occur at least `least_`, `least_` + 1, ... times; they change rarely. So
/// the mode is the lowest code of the highest level that has some. If none has, or many codes
/// exceed the levels, they are chosen again by the counts of all codes.
///
/// Windows move along the rows of the image, or along its columns if it is transposed: whatever
/// needs fewer runs. Codes that runs of neighbouring threads read are neighbours.
#pragma once
#include "kernels/swofilter/rank/mode_tile.cuh"

namespace cudascan::swo {

/// A thread for each run.
constexpr int kMostModeThreads = (WindowCells::kMostRuns + 31) / 32 * 32;
/// Steps whose codes a thread reads before it needs them.
constexpr int kStepsAhead = 4;

/// The window of a block, and this thread's run of it.
template <bool kShared>
class ModeWindow {
 public:
  using Counts = CodeCounts<kShared>;

  __device__ ModeWindow(const ModeJob &job, const WindowCells &cells, const ModeTile &tile,
                        const Counts &counts)
      : job_(job), cells_(cells), tile_(tile), counts_(counts), reach_(cells.rx) {
    // Threads that are left help others to fill the window.
    const int t = threadIdx.x;
    parts_ = static_cast<int>(blockDim.x) / cells.n_runs, part_ = t / cells.n_runs;
    const Run run = cells.runs[t % cells.n_runs];
    first_ = run.first + reach_, last_ = run.last + reach_, run_across_ = run.y;
    along_ = job.transposed ? tile.height : tile.width;
    across_ = job.transposed ? tile.width : tile.height;
    exist_along_ = along_ + 2 * reach_;
    if (job.in.border == SwoFilterBorder::clip) {
      const int along = (job.transposed ? tile.y0 : tile.x0) - reach_;
      begin_ = max(-along, 0);
      const int n_along = job.transposed ? job.in.plane.height : job.in.plane.width;
      exist_along_ = min(exist_along_, n_along - along) - begin_;
    }
  }

  /// Writes the modes of all lines. All threads of the block call it.
  __device__ void operator()() {
    for (int line = 0; line < across_; ++line) {
      const bool back = line % 2;
      start_ = back ? along_ - 1 : 0, by_ = back ? -1 : 1;
      leaving_ = back ? last_ : first_, entering_ = back ? first_ - 1 : last_ + 1;
      unsigned best = line > 0 && job_.has_row_runs ? enter_next(line) : enter_line(line);
      ModeChanges now = read(0);
      for (int i = 0; i < along_; i += kStepsAhead) {
        const ModeChanges next = read(i + kStepsAhead);
#pragma unroll
        for (int k = 0; k < kStepsAhead; ++k) {
          if (i + k >= along_) break;
          keep(i + k, line, best);
          if (i + k + 1 < along_) best = step(now.leave[k], now.enter[k]);
        }
        now = next;
      }
    }
  }

 private:
  /// Codes that leave and enter a run in the steps after some results.
  struct ModeChanges {
    unsigned leave[kStepsAhead], enter[kStepsAhead];
  };

  __device__ void set_line(int line) {
    line_ = tile_.codes + (line + run_across_ + cells_.ry);
    exist_ = has_row(line + run_across_ + cells_.ry) ? exist_along_ : 0;
    moving_exist_ = part_ > 0 ? 0 : exist_;
  }
  /// Whether the samples at this place across exist.
  __device__ bool has_row(int place) const {
    if (job_.in.border != SwoFilterBorder::clip) return true;
    const Plane<const std::uint16_t> &in = job_.in.plane;
    const int across = (job_.transposed ? tile_.x0 : tile_.y0) - cells_.ry + place;
    return across >= 0 && across < (job_.transposed ? in.width : in.height);
  }
  __device__ bool has_sample(int place, int exist) const {
    return static_cast<unsigned>(place - begin_) < static_cast<unsigned>(exist);
  }
  /// Reads the codes of the steps after results i, i + 1, ... of the line, if this thread moves a
  /// run.
  __device__ ModeChanges read(int i) const {
    ModeChanges changes;
#pragma unroll
    for (int k = 0; k < kStepsAhead; ++k) {
      const int at = start_ + by_ * (i + k), exist = i + k + 1 < along_ ? moving_exist_ : 0;
      const int from = leaving_ + at, to = entering_ + at;
      unsigned &leave = changes.leave[k], &enter = changes.enter[k];
      leave = has_sample(from, exist) ? line_[from * job_.pitch] : kNoCode;
      enter = has_sample(to, exist) ? line_[to * job_.pitch] : kNoCode;
      if (leave == enter) leave = enter = kNoCode;
    }
    return changes;
  }

  /// Counts the samples of the line's first window.
  /// @return the largest key
  __device__ unsigned enter_line(int line) {
    set_line(line);
    __syncthreads();
    counts_.clear();
    __syncthreads();
    const bool helps = part_ < parts_;
    const int last = start_ + last_;
    for (int place = start_ + first_ + part_; __any_sync(kWholeWarp, helps && place <= last);
         place += kStepsAhead * parts_) {
      unsigned codes[kStepsAhead];
#pragma unroll
      for (int k = 0; k < kStepsAhead; ++k) {
        const int at = place + k * parts_;
        const bool has = helps && at <= last && has_sample(at, exist_);
        codes[k] = has ? line_[at * job_.pitch] : kNoCode;
      }
#pragma unroll
      for (const unsigned code : codes) counts_.fill(code);
    }
    __syncthreads();
    return set_levels();
  }
  /// Moves the window to the next line if each place across has one run. A warp handles a place:
  /// the run before and the one of the place before.
  /// @return the largest key
  __device__ unsigned enter_next(int line) {
    set_line(line);
    const int warps = blockDim.x / 32;
    for (int place = threadIdx.x / 32; place <= cells_.n_runs; place += warps) {
      constexpr Run kNone{.first = 1, .last = 0, .y = 0};
      const Run old = place < cells_.n_runs ? cells_.runs[place] : kNone;
      const Run now = place > 0 ? cells_.runs[place - 1] : kNone;
      if ((old.first == now.first && old.last == now.last) || !has_row(line - 1 + place)) continue;
      const auto has = [](const Run &run, int x) { return run.first <= x && x <= run.last; };
      const int last = max(old.last, now.last);
      for (int x = min(old.first, now.first); x <= last; x += 32) {
        const int of_lane = x + static_cast<int>(threadIdx.x % 32);
        const bool leaves = has(old, of_lane), enters = has(now, of_lane);
        if (!__any_sync(kWholeWarp, leaves != enters)) continue;
        const int at = start_ + reach_ + of_lane;
        unsigned code = kNoCode;
        if (leaves != enters && has_sample(at, exist_along_))
          code = tile_.codes[at * job_.pitch + line - 1 + place];
        counts_.change(leaves ? code : kNoCode, -1, least_);
        counts_.change(enters ? code : kNoCode, 1, least_);
      }
    }
    return find();
  }
  /// Moves the window by one step.
  /// @return the largest key after it
  __device__ unsigned step(unsigned leave, unsigned enter) {
    counts_.change(leave, -1, least_);
    counts_.change(enter, 1, least_);
    return find();
  }
  /// @return the largest key after changes
  __device__ unsigned find() {
    constexpr int kMostCrowded = 4;  // threads; with more, reading counts takes too long
    __syncthreads();
    bool crowded = false;
    const unsigned of_thread = counts_.largest_by_bits(least_, crowded);
    const auto [key, n] = block_max(of_thread, crowded);
    return Counts::count_of(key) >= least_ && n <= kMostCrowded ? key : set_levels();
  }
  /// Chooses levels around the second largest count: the largest one may be far above.
  /// @return the largest key
  __device__ unsigned set_levels() {
    __syncthreads();
    const auto of_thread = counts_.largest();
    const unsigned key = block_max(of_thread.key, false).largest;
    __syncthreads();
    const unsigned other =
        of_thread.key == key ? of_thread.second : Counts::count_of(of_thread.key);
    least_ = max(block_max(other, false).largest, 2u) - 1;
    counts_.set_bits(least_);
    __syncthreads();
    return key;
  }
  struct BlockMax {
    unsigned largest;
    int n;  ///< threads whose condition holds
  };
  /// Returns when all threads have called it.
  __device__ static BlockMax block_max(unsigned v, bool condition) {
    __shared__ unsigned of_warps[kMostModeThreads / 32];
    v = warp_max(v);
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (warps > 1 && lane == 0) of_warps[threadIdx.x / 32] = v;
    const int n = __syncthreads_count(condition);
    return {warps > 1 ? warp_max(lane < warps ? of_warps[lane] : 0) : v, n};
  }
  /// A thread keeps a result until there is one for each of them, and writes it.
  __device__ void keep(int i, int line, unsigned best) {
    const int t = threadIdx.x, along = written_ + t;
    if (along == i) kept_ = best;
    if (i + 1 != written_ + static_cast<int>(blockDim.x) && i + 1 != along_) return;
    written_ = i + 1 == along_ ? 0 : i + 1;
    if (along > i) return;
    const int at = start_ + by_ * along;
    const int x = tile_.x0 + (job_.transposed ? line : at);
    const int y = tile_.y0 + (job_.transposed ? at : line);
    job_.out.row(y)[x] =
        Counts::count_of(kept_) ? tile_.values[Counts::code_of(kept_)] : job_.in.plane.row(y)[x];
  }

  const ModeJob &job_;
  const WindowCells &cells_;
  const ModeTile &tile_;
  const Counts &counts_;
  int reach_, parts_, part_, first_, last_, run_across_, along_, across_;
  int start_ = 0, by_ = 1;               ///< first result of the line, and from one to the next
  int leaving_ = 0, entering_ = 0;       ///< places of the samples of a step from result 0
  const std::uint16_t *line_ = nullptr;  ///< the code of this thread's run at place 0
  int begin_ = 0, exist_along_ = 0;      ///< the places that have samples if their row exists
  int exist_ = 0, moving_exist_ = 0;     ///< those of the run, for filling and for moving
  unsigned kept_ = 0;
  int written_ = 0;     ///< results of the line
  unsigned least_ = 1;  ///< the lowest level
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
  auto *const levels = reinterpret_cast<CodeLevels *>(shared);
  auto *const counts = reinterpret_cast<unsigned *>(kShared ? shared + job.shared.levels : own);
  for (int i; (i = take_tile(job)) < job.tiles;) {
    const ModeTile tile(job, cells, i, codes, values);
    const int n_codes = tile.number(shared);
    const bool leaves = n_codes > job.most_codes;
    if (threadIdx.x == 0) job.left[i] = leaves;
    if (leaves) continue;
    const CodeCounts<kShared> of_codes(counts, levels, n_codes);
    ModeWindow<kShared>(job, cells, tile, of_codes)();
  }
}

}  // namespace cudascan::swo
