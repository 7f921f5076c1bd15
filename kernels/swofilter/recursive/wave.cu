// SPDX-License-Identifier: LGPL-2.1-or-later
// Results depend on up to 15 rows above and 15 columns to the left. So rows are computed at the
// same time, each behind the one above it: a wavefront. A block goes through a band of a few rows,
// in steps of 64 columns per row. Recent results of the band and of the rows above it are in shared
// memory. Blocks tell one another how far they are.
//
// Within a row, results depend on those at some distances to the left, and hence on those at all
// sums of these distances. The smallest such sums of each residue modulo the shortest distance
// (Apery set) and multiples of it give all of them: a few shifts, and a scan.
#include <algorithm>
#include <limits>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/recursive/parts.h"

namespace cudascan::swo {
namespace {

constexpr int kReach = RecursiveSteps::kMostReach;
constexpr int kLanes = 32, kColumns = 2 * kLanes;  ///< of a row in a step; a lane has two of them
constexpr int kGroups = 4;                         ///< warps that share the cells of a row
constexpr int kMostWaveRows = 8;

/// What fits in shared memory.
struct WaveShape {
  int rows;   ///< of a band
  int steps;  ///< between looks at other blocks
  int ring;   ///< columns of a row in shared memory, a power of two

  /// @param lag  see RecursiveSteps::lag_of(); at most kColumns + kReach
  static constexpr bool holds(const WaveShape &shape, int lag) {
    return shape.steps * kColumns + 2 * kReach + 1 + lag * (shape.rows - 1) <= shape.ring;
  }
  constexpr int shared_bytes() const {
    return 4 * ((rows + kReach) * ring + rows * kGroups * kLanes) + 8 * RecursiveSteps::kMostAbove;
  }
};
constexpr WaveShape kWide{kMostWaveRows, 4, 1024}, kNarrow{4, 2, 512};
static_assert(WaveShape::holds(kWide, kColumns + kReach));
static_assert(WaveShape::holds(kNarrow, kColumns + kReach));

template <typename T>
struct WaveJob {
  RecursiveTarget<T> target;
  WaveShape shape = {};
  bool has_rest = false;
  int first = 0, last = 0, top = 0;  ///< extent of all cells of written results
  int reach = 0, lag = 0;    ///< rows above that count; columns a row is behind the one above it
  int parts = 0;             ///< of a band, each with shape.steps steps
  unsigned *done = nullptr;  ///< parts of each band
  int n_above = 0, n_left = 0, n_sums = 0, stride = 0;
  std::int8_t left[kReach] = {};  ///< distances to the left
  std::int8_t sums[kReach] = {};  ///< of these, the smallest of each other residue modulo `stride`
  RecursiveCell above[RecursiveSteps::kMostAbove] = {};
};

/// Two pixels, kLanes columns apart.
__device__ unsigned pair_of(unsigned first, unsigned second) {
  return first | second << 16;
}

/// The pixels to the left at this distance in the step; 0 if there are none.
__device__ unsigned to_the_left(unsigned pair, int distance) {
  const int lane = threadIdx.x % kLanes;
  const unsigned other = __shfl_sync(kWholeWarp, pair, (lane - distance) & (kLanes - 1));
  if (distance < kLanes) return lane >= distance ? other : other << 16;
  return lane >= distance - kLanes ? other << 16 : 0;
}

template <typename T>
class WaveBlock {
 public:
  __device__ explicit WaveBlock(const WaveJob<T> &job)
      : job_(job),
        lane_(threadIdx.x % kLanes),
        group_(threadIdx.x / kLanes % kGroups),
        row_(threadIdx.x / (kLanes * kGroups)),
        cells_(reinterpret_cast<Cell *>(dynamic_shared_memory())),
        shares_(reinterpret_cast<unsigned *>(cells_ + RecursiveSteps::kMostAbove)),
        ring_(shares_ + job.shape.rows * kGroups * kLanes) {
    for (int i = threadIdx.x; i < job.n_above; i += blockDim.x)
      cells_[i] = {job.above[i].x, -job.above[i].rows * job.shape.ring};
  }

  __device__ void process(int band) {
    band_ = band;
    __syncthreads();
    for (int i = threadIdx.x; i < (job_.shape.rows + kReach) * job_.shape.ring; i += blockDim.x)
      ring_[i] = 0;
    const int steps = job_.parts * job_.shape.steps;
    Rest rest = rest_at(0), next_rest = rest_at(1);
    for (int step = 0; step < steps; ++step) {
      if (step % job_.shape.steps == 0 && job_.reach > 0) begin_part(step / job_.shape.steps);
      shares_[(row_ * kGroups + group_) * kLanes + lane_] = largest_above(step);
      __syncthreads();
      if (group_ == 0) {
        finish(step, rest);
        rest = next_rest;
        next_rest = rest_at(step + 2);
      }
      __syncthreads();
      if ((step + 1) % job_.shape.steps == 0 && threadIdx.x == 0) add_release(&job_.done[band], 1);
    }
  }

 private:
  __device__ int y() const { return band_ * job_.shape.rows + row_; }
  /// The first column of a step in this thread's row, and this lane's first column.
  __device__ int begin_of(int step) const { return step * kColumns - job_.lag * row_; }
  __device__ int x_of(int step) const { return begin_of(step) + lane_; }
  /// The words of a row of the band, from -kReach on; a word has two pixels as in pair_of().
  __device__ unsigned *words(int row) const { return ring_ + (row + kReach) * job_.shape.ring; }
  __device__ int place(int x) const { return x & (job_.shape.ring - 1); }
  __device__ void put(int row, int x, unsigned v) const {
    auto *const halves = reinterpret_cast<std::uint16_t *>(words(row));
    halves[2 * place(x)] = static_cast<std::uint16_t>(v);
    halves[2 * place(x - kLanes) + 1] = static_cast<std::uint16_t>(v);
  }
  __device__ bool inside(int x) const { return x >= 0 && x < job_.target.out.width; }

  /// Waits until the rows above the band are far enough and loads what this part reads of them.
  __device__ void begin_part(int part) const {
    const int columns = kColumns * job_.shape.steps, rows = job_.shape.rows;
    const int begin = part == 0 ? 0 : part * columns + kReach, end = (part + 1) * columns + kReach;
    const int other = band_ - 1 - static_cast<int>(threadIdx.x);
    if (other >= 0 && (band_ - 1 - other) * rows < job_.reach) {
      const int seen = min(end, job_.target.out.width) + job_.lag * (rows - 1);
      const auto wanted = static_cast<unsigned>(min((seen + columns - 1) / columns, job_.parts));
      while (load_acquire(&job_.done[other]) < wanted) {
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < job_.reach * columns; i += blockDim.x) load(i, begin, columns);
    if (part == 0)
      for (int i = threadIdx.x; i < job_.reach * kReach; i += blockDim.x) load(i, columns, kReach);
    __syncthreads();
  }
  /// Loads pixel i of the rows above, of `columns` columns from `begin` on.
  __device__ void load(int i, int begin, int columns) const {
    const int above = i / columns + 1, x = begin + i % columns, y = band_ * job_.shape.rows - above;
    if (y < 0) return;
    put(-above, x, inside(x) ? job_.target.complemented(job_.target.out.row(y)[x]) : 0);
  }

  /// A cell in a row above: its column, and where that row is, relative to the pixel's.
  struct Cell {
    int x, row;
  };
  /// Two samples as they were loaded, so that nothing waits for them yet.
  struct Rest {
    T first, second;
  };
  /// The extrema of the samples that are still input.
  __device__ Rest rest_at(int step) const {
    Rest rest{};
    if (!job_.has_rest || group_ != 0 || y() >= job_.target.out.height) return rest;
    const T *const row = job_.target.out.row(y());
    const int x = x_of(step), other = x + kLanes;
    if (inside(x)) rest.first = row[x];
    if (inside(other)) rest.second = row[other];
    return rest;
  }

  /// Of this group's cells in rows above.
  __device__ unsigned largest_above(int step) const {
    const unsigned *const own = words(row_);
    const int x = x_of(step), wrap = job_.shape.ring - 1;
    unsigned v = 0;
#pragma unroll 4
    for (int i = group_; i < job_.n_above; i += kGroups) {
      const Cell cell = cells_[i];
      v = __vmaxu2(v, own[cell.row + ((x + cell.x) & wrap)]);
    }
    return v;
  }

  /// A warp completes a row's step.
  __device__ void finish(int step, const Rest &rest) const {
    const int x = x_of(step), other = x + kLanes, width = job_.target.out.width;
    unsigned v = 0;
    if (job_.has_rest)
      v = pair_of(job_.target.complemented(rest.first), job_.target.complemented(rest.second));
#pragma unroll
    for (int i = 0; i < kGroups; ++i)
      v = __vmaxu2(v, shares_[(row_ * kGroups + i) * kLanes + lane_]);
    const auto outside = [&](int at) -> unsigned {
      return y() < job_.top || at + job_.first < 0 || at + job_.last >= width ? job_.target.outside
                                                                              : 0;
    };
    v = __vmaxu2(v, pair_of(outside(x), outside(other)));
    for (int i = 0; i < job_.n_left; ++i)
      if (const int distance = job_.left[i]; lane_ < distance)
        v = __vmaxu2(v, words(row_)[place(x - distance)] & 0xffff);
    const unsigned kept = (inside(x) ? 0xffffu : 0) | (inside(other) ? 0xffff0000u : 0);
    v &= kept;
    if (job_.n_left > 0) {
      const unsigned single = v;
#pragma unroll 4
      for (int i = 0; i < job_.n_sums; ++i) v = __vmaxu2(v, to_the_left(single, job_.sums[i]));
      for (int distance = job_.stride; distance < kColumns; distance *= 2)
        v = __vmaxu2(v, to_the_left(v, distance));
      v &= kept;
    }
    put(row_, x, v & 0xffff);
    put(row_, other, v >> 16);
    if (y() >= job_.target.out.height) return;
    T *const row = job_.target.out.row(y());
    if (inside(x)) row[x] = job_.target.complemented(static_cast<T>(v & 0xffff));
    if (inside(other)) row[other] = job_.target.complemented(static_cast<T>(v >> 16));
  }

  const WaveJob<T> &job_;
  const int lane_, group_, row_;
  Cell *const cells_;
  unsigned *const shares_, *const ring_;
  int band_ = 0;
};

template <typename T>
__global__ void __launch_bounds__(kLanes *kGroups *kMostWaveRows)
    wave_kernel(const __grid_constant__ WaveJob<T> job, int bands) {
  WaveBlock<T> block(job);
  for (int band = blockIdx.x; band < bands; band += gridDim.x) block.process(band);
}

/// The smallest sums of distances of each residue modulo the first, if less than kColumns.
template <typename T>
void find_sums(const std::vector<int> &left, WaveJob<T> &job) {
  job.stride = left.front();
  bool is_sum[kColumns] = {true}, found[kReach] = {true};
  for (int sum = 1; sum < kColumns; ++sum) {
    for (const int distance : left)
      if (sum >= distance && is_sum[sum - distance]) is_sum[sum] = true;
    if (is_sum[sum] && !found[sum % job.stride])
      job.sums[job.n_sums++] = static_cast<std::int8_t>(sum);
    if (is_sum[sum]) found[sum % job.stride] = true;
  }
}

}  // namespace

template <typename T>
void recursive_wave(Cuda &cuda, const RecursiveTarget<T> &target, const RecursiveSteps &steps,
                    bool has_rest) {
  WaveJob<T> job{target};
  job.shape = cuda.most_shared_memory() >= kWide.shared_bytes() ? kWide : kNarrow;
  job.has_rest = has_rest;
  job.first = steps.first;
  job.last = steps.last;
  job.top = steps.top;
  job.reach = steps.rows;
  job.lag = steps.lag_of(kColumns);
  const int columns = target.out.width + job.lag * (job.shape.rows - 1);
  job.parts = divide_up(columns, kColumns * job.shape.steps);
  job.n_above = static_cast<int>(steps.above.size());
  std::copy(steps.above.begin(), steps.above.end(), job.above);
  job.n_left = static_cast<int>(steps.left.size());
  std::copy(steps.left.begin(), steps.left.end(), job.left);
  if (job.n_left > 0) find_sums(steps.left, job);
  const int bands = divide_up(target.out.height, job.shape.rows);
  job.done = static_cast<unsigned *>(cuda.scratch(bands * sizeof(unsigned)));
  cuda.clear(job.done, bands * sizeof(unsigned));
  LaunchShape shape{std::min(bands, cuda.multiprocessors()), kLanes * kGroups * job.shape.rows,
                    job.shape.shared_bytes()};
  shape.together = true;
  launch(cuda, wave_kernel<T>, shape, job, bands);
}
template void recursive_wave(Cuda &, const RecursiveTarget<std::uint8_t> &, const RecursiveSteps &,
                             bool);
template void recursive_wave(Cuda &, const RecursiveTarget<std::uint16_t> &, const RecursiveSteps &,
                             bool);

}  // namespace cudascan::swo
