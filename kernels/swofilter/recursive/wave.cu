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
constexpr int kWaveThreads = 1024;
constexpr int kMargin = 16;  ///< words before and after a ring that repeat its ends
constexpr int kAtOnce = 4;   ///< samples or results that a thread loads before it needs the first
/// Cells with those that are repeated, so that all groups have the same multiple of kAtOnce.
constexpr int kMostCells = 512;

/// How a block divides its threads, and what it has in shared memory.
struct WaveShape {
  int rows;    ///< of a band
  int groups;  ///< warps that share the cells of a row
  int bits;    ///< a block looks at others after parts of 2^bits columns
  int ring;    ///< columns of a row in shared memory

  static constexpr WaveShape of(int rows) {
    const int bits = rows > 4 ? 8 : 7;
    const int columns = (1 << bits) + 2 * kReach + 1 + (kColumns + kReach) * (rows - 1);
    return {rows, kWaveThreads / kLanes / rows, bits, divide_up(columns, kLanes) * kLanes};
  }
  CUDASCAN_HD int part_columns() const { return 1 << bits; }
  CUDASCAN_HD int steps() const { return part_columns() / kColumns; }  ///< of a part
  CUDASCAN_HD int pitch() const { return ring + 2 * kMargin; }
  int shared_bytes() const { return 4 * ((rows + kReach) * pitch() + kWaveThreads + kMostCells); }
  /// Few rows need fewer cycles for many cells, many rows need less time between blocks.
  static WaveShape choose(Cuda &cuda, int cells) {
    int rows = cells <= 16 ? 16 : cells <= 64 ? 8 : 4;
    while (rows > 4 && of(rows).shared_bytes() > cuda.most_shared_memory()) rows /= 2;
    return of(rows);
  }
};

template <typename T>
struct WaveJob {
  RecursiveTarget<T> target;
  WaveShape shape = {};
  bool has_rest = false;
  int first = 0, last = 0, top = 0;  ///< extent of all cells of written results
  int reach = 0, lag = 0;    ///< rows above that count; columns a row is behind the one above it
  int parts = 0;             ///< of a band, each with shape.steps() steps
  unsigned *done = nullptr;  ///< parts of each band
  int n_cells = 0;           ///< of each group, with those that are repeated
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
        group_(threadIdx.x / kLanes % job.shape.groups),
        row_(threadIdx.x / kLanes / job.shape.groups),
        cells_(reinterpret_cast<Cells *>(dynamic_shared_memory())),
        shares_(reinterpret_cast<unsigned *>(cells_ + kMostCells / kAtOnce)),
        ring_(shares_ + kWaveThreads) {
    for (int i = threadIdx.x; i < job.n_cells * job.shape.groups; i += kWaveThreads) {
      const RecursiveCell cell = job.above[i % job.n_above];
      cells_[i / kAtOnce].word[i % kAtOnce] = cell.x - cell.rows * job.shape.pitch();
    }
  }

  __device__ void process(int band) {
    band_ = band;
    place_ = place_of(x_of(0));
    __syncthreads();
    for (int i = threadIdx.x; i < (job_.shape.rows + kReach) * job_.shape.pitch();
         i += kWaveThreads)
      ring_[i] = 0;
    Rest rest = rest_at(0), next_rest = rest_at(1);
    __syncthreads();
    if (group_ > 0 && job_.reach > 0) {
      wait_for(0);
#pragma unroll 1
      for (int part = -1; part <= 0; ++part) load(part);
    }
    __syncthreads();
    const int steps = job_.parts * job_.shape.steps();
    for (int step = 0, part = 0, end = job_.shape.steps(); step < steps; ++step) {
      shares_[threadIdx.x] = largest_above();
      __syncthreads();
      if (group_ == 0) {
        finish(step, rest);
        rest = next_rest;
        next_rest = rest_at(step + 2);
      } else if (job_.reach > 0) {
        if (step > 0 && step == part * job_.shape.steps()) publish();
        if (step + 1 == end && end < steps) {
          wait_for(part + 1);
          load(part + 1);
        }
      }
      if (step + 1 == end) {
        ++part;
        end += job_.shape.steps();
      }
      place_ = wrapped(place_ + kColumns);
      __syncthreads();
    }
    publish();
  }

 private:
  /// Cells in rows above, as words from the pixel's on.
  struct alignas(16) Cells {
    int word[kAtOnce];
  };

  __device__ int y() const {
    return band_ * job_.shape.rows + row_;
  }
  /// This lane's first column in a step.
  __device__ int x_of(int step) const {
    return step * kColumns - job_.lag * row_ + lane_;
  }
  __device__ bool inside(int x) const {
    return x >= 0 && x < job_.target.out.width;
  }

  /// The words of a row of the band, from -kReach on; a word has two pixels as in pair_of().
  __device__ unsigned *words(int row) const {
    return ring_ + (row + kReach) * job_.shape.pitch() + kMargin;
  }
  /// The word whose first pixel is in column x.
  __device__ int place_of(int x) const {
    const int place = x % job_.shape.ring;
    return place < 0 ? place + job_.shape.ring : place;
  }
  __device__ int wrapped(int place) const {
    if (place < 0) return place + job_.shape.ring;
    return place >= job_.shape.ring ? place - job_.shape.ring : place;
  }
  /// Writes the first (0) or second (1) pixel of a word.
  __device__ void put_half(unsigned *words, int place, int half, unsigned v) const {
    auto *const halves = reinterpret_cast<std::uint16_t *>(words) + half;
    const auto pixel = static_cast<std::uint16_t>(v);
    halves[2 * place] = pixel;
    if (place < kMargin) halves[2 * (place + job_.shape.ring)] = pixel;
    if (place >= job_.shape.ring - kMargin) halves[2 * (place - job_.shape.ring)] = pixel;
  }
  __device__ void put(unsigned *words, int place, unsigned v) const {
    put_half(words, place, 0, v);
    put_half(words, wrapped(place - kLanes), 1, v);
  }

  /// Tells other blocks that another part of the band is complete.
  __device__ void publish() const {
    if (threadIdx.x == kLanes) add_release(&job_.done[band_], 1);
  }
  /// A warp waits until the rows above the band are far enough for load().
  __device__ void wait_for(int part) const {
    const int other = band_ - 1 - lane_, rows = job_.shape.rows;
    if (other >= 0 && lane_ * rows < job_.reach) {
      const int columns =
          min((part + 1) * job_.shape.part_columns() + kReach, job_.target.out.width);
      const int behind = job_.lag * (rows - 1) + job_.shape.part_columns() - 1;
      const int parts = (columns + behind) >> job_.shape.bits;
      const auto wanted = static_cast<unsigned>(min(parts, job_.parts));
      while (load_acquire(&job_.done[other]) < wanted) {
      }
    }
    __syncwarp();
  }
  /// All warps but the first group's load what a part is the first to need of the rows above.
  __device__ void load(int part) const {
    const int loaders = kWaveThreads - job_.shape.rows * kLanes;
    const int columns = job_.shape.part_columns();
    const int loader = (row_ * (job_.shape.groups - 1) + group_ - 1) * kLanes + lane_;
    for (int first = loader; first < job_.reach * columns; first += kAtOnce * loaders) {
      unsigned samples[kAtOnce] = {};
      const auto visit = [&](const auto &act) {
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          const int i = first + k * loaders, above = (i >> job_.shape.bits) + 1;
          const int x = part * columns + kReach + (i & (columns - 1));
          const int y = band_ * job_.shape.rows - above;
          if (i < job_.reach * columns && y >= 0) act(k, x, y, words(-above));
        }
      };
      visit([&](int k, int x, int y, unsigned *) {
        if (inside(x)) samples[k] = job_.target.out.row(y)[x];
      });
      visit([&](int k, int x, int, unsigned *words) {
        put(words, place_of(x),
            inside(x) ? job_.target.complemented(static_cast<T>(samples[k])) : 0);
      });
    }
  }

  /// Two samples as they were loaded, so that nothing waits for them yet.
  struct Rest {
    unsigned first, second;
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
  __device__ unsigned largest_above() const {
    const unsigned *const pixels = words(row_) + place_;
    const int each = job_.n_cells / kAtOnce;
    unsigned v = 0;
#pragma unroll 2
    for (int i = 0; i < each; ++i) {
      const Cells cells = cells_[group_ * each + i];
#pragma unroll
      for (const int word : cells.word) v = __vmaxu2(v, pixels[word]);
    }
    return v;
  }

  /// A warp completes a row's step.
  __device__ void finish(int step, const Rest &rest) const {
    const int x = x_of(step), other = x + kLanes, width = job_.target.out.width;
    unsigned v = 0;
    if (job_.has_rest)
      v = pair_of(job_.target.complemented(static_cast<T>(rest.first)),
                  job_.target.complemented(static_cast<T>(rest.second)));
    for (int i = 0; i < job_.shape.groups; ++i) v = __vmaxu2(v, shares_[threadIdx.x + i * kLanes]);
    const auto outside = [&](int at) -> unsigned {
      return y() < job_.top || at + job_.first < 0 || at + job_.last >= width ? job_.target.outside
                                                                              : 0;
    };
    v = __vmaxu2(v, pair_of(outside(x), outside(other)));
#pragma unroll 1
    for (int i = 0; i < job_.n_left; ++i)
      if (const int distance = job_.left[i]; lane_ < distance)
        v = __vmaxu2(v, words(row_)[place_ - distance] & 0xffff);
    const unsigned kept = (inside(x) ? 0xffffu : 0) | (inside(other) ? 0xffff0000u : 0);
    v &= kept;
    if (job_.n_left > 0) {
      const unsigned single = v;
#pragma unroll 4
      for (int i = 0; i < job_.n_sums; ++i) v = __vmaxu2(v, to_the_left(single, job_.sums[i]));
      if (job_.stride == 1) {
#pragma unroll
        for (int distance = 1; distance < kColumns; distance *= 2)
          v = __vmaxu2(v, to_the_left(v, distance));
      } else {
#pragma unroll 1
        for (int distance = job_.stride; distance < kColumns; distance *= 2)
          v = __vmaxu2(v, to_the_left(v, distance));
      }
      v &= kept;
    }
    put(words(row_), place_, v & 0xffff);
    put(words(row_), wrapped(place_ + kLanes), v >> 16);
    if (y() >= job_.target.out.height) return;
    T *const row = job_.target.out.row(y());
    if (inside(x)) row[x] = job_.target.complemented(static_cast<T>(v & 0xffff));
    if (inside(other)) row[other] = job_.target.complemented(static_cast<T>(v >> 16));
  }

  const WaveJob<T> &job_;
  const int lane_, group_, row_;
  Cells *const cells_;
  unsigned *const shares_, *const ring_;
  int band_ = 0, place_ = 0;
};

template <typename T>
__global__ void __launch_bounds__(kWaveThreads, 1)
    wave_kernel(const __grid_constant__ WaveJob<T> job, int bands) {
  WaveBlock<T> block(job);
  for (int band = blockIdx.x; band < bands; band += gridDim.x) block.process(band);
}

}  // namespace

template <typename T>
void recursive_wave(Cuda &cuda, const RecursiveTarget<T> &target, const RecursiveSteps &steps,
                    bool has_rest) {
  WaveJob<T> job{target};
  job.shape = WaveShape::choose(cuda, static_cast<int>(steps.above.size()));
  job.has_rest = has_rest;
  job.first = steps.first;
  job.last = steps.last;
  job.top = steps.top;
  job.reach = steps.rows;
  job.lag = steps.lag_of(kColumns);
  const int columns = target.out.width + job.lag * (job.shape.rows - 1);
  job.parts = divide_up(columns, job.shape.part_columns());
  job.n_above = static_cast<int>(steps.above.size());
  job.n_cells = divide_up(job.n_above, job.shape.groups * kAtOnce) * kAtOnce;
  std::copy(steps.above.begin(), steps.above.end(), job.above);
  job.n_left = static_cast<int>(steps.left.size());
  std::copy(steps.left.begin(), steps.left.end(), job.left);
  if (job.n_left > 0) {
    job.stride = steps.left.front();
    for (const int sum : smallest_sums(steps.left, kColumns))
      job.sums[job.n_sums++] = static_cast<std::int8_t>(sum);
  }
  const int bands = divide_up(target.out.height, job.shape.rows);
  job.done = static_cast<unsigned *>(cuda.scratch(bands * sizeof(unsigned)));
  cuda.clear(job.done, bands * sizeof(unsigned));
  LaunchShape shape{std::min(bands, cuda.multiprocessors()), kWaveThreads,
                    job.shape.shared_bytes()};
  shape.together = true;
  launch(cuda, wave_kernel<T>, shape, job, bands);
}
template void recursive_wave(Cuda &, const RecursiveTarget<std::uint8_t> &, const RecursiveSteps &,
                             bool);
template void recursive_wave(Cuda &, const RecursiveTarget<std::uint16_t> &, const RecursiveSteps &,
                             bool);

}  // namespace cudascan::swo
