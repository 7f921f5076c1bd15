// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes of 16-bit samples in crosses. Neighbouring crosses share the samples of one of their two
/// lines only. So a warp counts all samples of each window, 32 in a step; their values do not
/// matter. A block has a tile of results and the samples that they need, in rows and columns.
/// Values that occur there more than once have counters. The others cannot be the mode unless no
/// sample of the window has an equal one.
#pragma once
#include "kernels/base/launch.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/cells.cuh"

namespace cudascan::swo {

constexpr int kCrossModeWarps = 8, kCrossModeThreads = 32 * kCrossModeWarps;
/// Rows and columns of a tile.
constexpr int kCrossModeTile = 16;
/// Words of one bit for each value.
constexpr int kValueWords = 65536 / 32;
/// Words that a thread numbers.
constexpr int kNumberedWords = kValueWords / kCrossModeThreads;

struct CrossModeJob {
  Source<std::uint16_t> in;
  Plane<std::uint16_t> out;
  int rx, ry;
  /// Samples from one row to the next one, and from column to column.
  int row_pitch, column_pitch;
  int counter_bytes;  // of a block

  CUDASCAN_HD int samples() const { return kCrossModeTile * (row_pitch + column_pitch); }
  /// The samples and as many values, then the counters or, before, what numbers the values.
  CUDASCAN_HD int counters_begin() const { return 4 * (samples() + 4); }
};

/// What a warp needs to know of a sample: the number of its value, and two flags. Values that are
/// counted have the first numbers from 1 on, those that occur once the next ones, both in
/// descending order.
constexpr unsigned kValueNumber = 0x3fff;
constexpr unsigned kNotCounted = 0x8000;
/// The sample equals the one before it in its row or column.
constexpr unsigned kSameAsBefore = 0x4000;
/// There is no sample.
constexpr unsigned kNoSample = kNotCounted;
/// The same while samples are values. Its lower half is written.
constexpr unsigned kMissing = 1 << 16 | kNoSample;

/// Which values occur, which ones more than once, and the number of the last one in a word of
/// these, and of those that occur once.
struct ValueNumbers {
  alignas(16) unsigned once[kValueWords];
  alignas(16) unsigned again[kValueWords];
  alignas(16) std::uint16_t last_again[kValueWords];
  alignas(16) std::uint16_t last_once[kValueWords];
};

/// A tile of results.
class CrossModeTile {
 public:
  __device__ CrossModeTile(const CrossModeJob &job, unsigned char *memory)
      : job_(job),
        x0_(blockIdx.x * kCrossModeTile),
        y0_(blockIdx.y * kCrossModeTile),
        width_(min(kCrossModeTile, job.out.width - x0_)),
        height_(min(kCrossModeTile, job.out.height - y0_)),
        rows_(reinterpret_cast<std::uint16_t *>(memory)),
        columns_(rows_ + kCrossModeTile * job.row_pitch),
        values_(rows_ + job.samples()),
        counters_(reinterpret_cast<unsigned *>(memory + job.counters_begin())) {}

  __device__ void operator()() const {
    constexpr int kTile = kCrossModeTile;
    __shared__ std::uint16_t results[kTile * kTile];
    const int words = number_values() / 2 + 1;  // of a warp's counters
    const int warps = min(job_.counter_bytes / 4 / words, kCrossModeWarps);
    for (int i = threadIdx.x; i < warps * words; i += kCrossModeThreads) counters_[i] = 0;
    __syncthreads();
    const int warp = threadIdx.x / 32;
    for (int i = warp; warp < warps && i < kTile * height_; i += warps) {
      if (i % kTile >= width_) continue;
      const unsigned mode = mode_at(i % kTile, i / kTile, counters_ + warp * words);
      if (threadIdx.x % 32 == 0) results[i] = static_cast<std::uint16_t>(mode);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kTile * height_; i += kCrossModeThreads)
      if (i % kTile < width_) job_.out.row(y0_ + i / kTile)[x0_ + i % kTile] = results[i];
  }

 private:
  /// Places of a line whose samples exist.
  struct Present {
    int begin, end;

    __device__ Present(int first, int places, int image, bool clip)
        : begin(clip ? max(-first, 0) : 0), end(clip ? min(places, image - first) : places) {}
    __device__ bool has(int i) const { return i >= begin && i < end; }
  };

  __device__ unsigned sample(int x, int y) const {
    const Plane<const std::uint16_t> &in = job_.in.plane;
    const int column = resolve(x, in.width, job_.in.border);
    const int row = resolve(y, in.height, job_.in.border);
    return column >= 0 && row >= 0 ? in.row(row)[column] : job_.in.outside;
  }

  /// Reads the samples and replaces them by numbers and flags. Returns how many values are counted.
  __device__ int number_values() const {
    auto &numbers = *reinterpret_cast<ValueNumbers *>(counters_);
    for (int i = threadIdx.x; i < kValueWords; i += kCrossModeThreads)
      numbers.once[i] = numbers.again[i] = 0;
    __syncthreads();
    const bool clip = job_.in.border == SwoFilterBorder::clip;
    const int rx = job_.rx, ry = job_.ry, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int n_across = width_ + 2 * rx, n_down = height_ + 2 * ry;
    const Present across(x0_ - rx, n_across, job_.in.plane.width, clip);
    const Present down(y0_ - ry, n_down, job_.in.plane.height, clip);
    for (int y = warp; y < height_; y += kCrossModeWarps)
      copy(
          lane, n_across, 32,
          [&](int i) { return across.has(i) ? sample(x0_ - rx + i, y0_ + y) : kMissing; },
          [&](int i, unsigned v) {
            if (v != kMissing) note(numbers, v);
            rows_[y * job_.row_pitch + i] = static_cast<std::uint16_t>(v);
          });
    const int x = threadIdx.x % kCrossModeTile;
    if (x < width_)
      copy(
          threadIdx.x / kCrossModeTile, n_down, kCrossModeThreads / kCrossModeTile,
          [&](int i) { return down.has(i) ? sample(x0_ + x, y0_ - ry + i) : kMissing; },
          [&](int i, unsigned v) {
            const bool in_row = i >= ry && i < ry + height_;
            if (v != kMissing && !in_row) note(numbers, v);
            columns_[x * job_.column_pitch + i] = static_cast<std::uint16_t>(v);
          });
    // Of no sample.
    if (threadIdx.x == 0) values_[0] = 0xffff;
    __syncthreads();
    const int n = number(numbers);
    for (int y = warp; y < height_; y += kCrossModeWarps)
      replace(numbers, rows_ + y * job_.row_pitch, across);
    for (int i = warp; i < width_; i += kCrossModeWarps)
      replace(numbers, columns_ + i * job_.column_pitch, down);
    __syncthreads();
    return n;
  }

  /// Calls put(i, sample(i)) for `begin` and each step from there on. Reads some samples at once.
  template <typename Sample, typename Put>
  __device__ static void copy(int begin, int end, int step, const Sample &sample, const Put &put) {
    constexpr int kAhead = 4;
    for (int first = begin; first < end; first += kAhead * step) {
      unsigned v[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        v[k] = first + k * step < end ? sample(first + k * step) : kMissing;
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        if (first + k * step < end) put(first + k * step, v[k]);
    }
  }
  /// Notes that a value occurs.
  __device__ static void note(ValueNumbers &numbers, unsigned v) {
    const unsigned bit = 1u << v % 32;
    unsigned &once = numbers.once[v / 32], &again = numbers.again[v / 32];
    if (again & bit) return;
    if (once & bit || atomicOr(&once, bit) & bit) atomicOr(&again, bit);
  }

  __device__ static void store_eight(std::uint16_t *to, const unsigned (&words)[4]) {
    *reinterpret_cast<uint4 *>(to) = uint4{words[0], words[1], words[2], words[3]};
  }
  /// Numbers the values. Returns how many of them are counted.
  __device__ static int number(ValueNumbers &numbers) {
    __shared__ unsigned sums[kCrossModeWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = threadIdx.x * kNumberedWords;
    // Those that occur again in the lower half, those that occur once in the upper one.
    unsigned counts[kNumberedWords], all = 0;
#pragma unroll
    for (int i = 0; i < kNumberedWords; i += 4) {
      const uint4 v = *reinterpret_cast<const uint4 *>(numbers.again + first + i),
                  w = *reinterpret_cast<const uint4 *>(numbers.once + first + i);
      const unsigned again[4] = {v.x, v.y, v.z, v.w}, once[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
      for (int k = 0; k < 4; ++k)
        all += counts[i + k] = __popc(again[k]) | __popc(once[k] & ~again[k]) << 16;
    }
    const unsigned up_to = warp_scan(all);
    if (lane == 31) sums[warp] = up_to;
    __syncthreads();
    unsigned next = up_to - all;
    all = 0;
    for (int i = 0; i < kCrossModeWarps; ++i) {
      if (i < warp) next += sums[i];
      all += sums[i];
    }
    const unsigned n = all & 0xffff;
    next = all + (n << 16) - next;
    unsigned last_again[kNumberedWords / 2], last_once[kNumberedWords / 2];
#pragma unroll
    for (int i = 0; i < kNumberedWords; i += 2) {
      const unsigned then = next - counts[i];
      last_again[i / 2] = __byte_perm(next, then, 0x5410);
      last_once[i / 2] = __byte_perm(next, then, 0x7632);
      next = then - counts[i + 1];
    }
    store_eight(numbers.last_again + first, last_again);
    store_eight(numbers.last_once + first, last_once);
    __syncthreads();
    return n;
  }

  /// Replaces the samples of a line, and stores the values. All lanes of a warp call it.
  __device__ void replace(const ValueNumbers &numbers, std::uint16_t *line,
                          const Present &present) const {
    const int lane = threadIdx.x % 32;
    for (int begin = present.begin; begin < present.end; begin += 32) {
      const int i = begin + lane;
      const unsigned v = i < present.end ? line[i] : 0, before = __shfl_up_sync(kWholeWarp, v, 1);
      const unsigned again = numbers.again[v / 32], below = (1u << v % 32) - 1;
      const bool counted = again >> v % 32 & 1;
      const unsigned number =
          counted ? numbers.last_again[v / 32] - __popc(again & below)
                  : numbers.last_once[v / 32] - __popc(numbers.once[v / 32] & ~again & below);
      __syncwarp();
      if (i >= present.end) continue;
      values_[number] = static_cast<std::uint16_t>(v);
      const bool same = counted && lane > 0 && v == before;
      line[i] = static_cast<std::uint16_t>(number | (counted ? 0 : kNotCounted) |
                                           (same ? kSameAsBefore : 0));
    }
  }

  /// Calls act(samples) with up to four samples of each lane at once, for all of a line except for
  /// one. All lanes call it.
  template <typename Act>
  __device__ static void for_line(const std::uint16_t *line, int n, int except, const Act &act) {
    int i = threadIdx.x % 32;
    const auto next = [&](auto samples, bool whole) {
#pragma unroll
      for (unsigned &sample : samples.of) {
        sample = (whole || i < n) && i != except ? line[i] : kNoSample;
        i += 32;
      }
      act(samples.of);
    };
    int left = n;
    for (; left >= 128; left -= 128) next(Samples<4>(), true);
    if (left > 64)
      next(Samples<4>(), false);
    else if (left > 32)
      next(Samples<2>(), false);
    else if (left > 0)
      next(Samples<1>(), false);
  }
  template <int n>
  struct Samples {
    unsigned of[n];
  };
  /// The same for the window of the result at (x, y) of the tile.
  template <typename Act>
  __device__ void for_window(int x, int y, const Act &act) const {
    for_line(rows_ + y * job_.row_pitch + x, 2 * job_.rx + 1, -1, act);
    for_line(columns_ + x * job_.column_pitch + y, 2 * job_.ry + 1, job_.ry, act);
  }

  /// @param counters  of this warp, all 0 before and after; two in a word
  __device__ unsigned mode_at(int x, int y, unsigned *counters) const {
    const unsigned lane = threadIdx.x % 32;
    // Counts above numbers: of equal counts the lowest value wins.
    unsigned best = 0, single = 0;
    for_window(x, y, [&]<int n>(const unsigned(&samples)[n]) {
      bool counted[n];
      unsigned flags = 0, times[n];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        counted[i] = !(samples[i] & kNotCounted);
        times[i] = 1;
        flags |= samples[i];
        single = max(single, samples[i]);
      }
      // The first one of equal neighbours counts them all.
      if (__any_sync(kWholeWarp, flags & kSameAsBefore)) {
#pragma unroll
        for (int i = 0; i < n; ++i) {
          const unsigned others = __ballot_sync(kWholeWarp, samples[i] & kSameAsBefore) &
                                  __ballot_sync(kWholeWarp, counted[i]) << 1;
          counted[i] = counted[i] && !(others >> lane & 1);
          times[i] = __ffs(~(others >> lane >> 1));
        }
      }
      unsigned before[n];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        const unsigned number = samples[i] & kValueNumber, shift = number * 16;  // modulo 32
        if (counted[i])
          before[i] = atomicAdd(counters + number / 2, __funnelshift_l(0, times[i], shift));
      }
#pragma unroll
      for (int i = 0; i < n; ++i) {
        const unsigned number = samples[i] & kValueNumber, shift = number * 16;
        if (counted[i])
          best = max(best, (__funnelshift_r(before[i], 0, shift) + times[i]) << 16 | number);
      }
    });
    best = warp_max(best);
    __syncwarp();
    auto *const halves = reinterpret_cast<std::uint16_t *>(counters);
    for_window(x, y, [&]<int n>(const unsigned(&samples)[n]) {
#pragma unroll
      for (int i = 0; i < n; ++i)
        if (!(samples[i] & kNotCounted)) halves[samples[i] & kValueNumber] = 0;
    });
    __syncwarp();
    const unsigned of_best = values_[best & kValueNumber];
    if (best >> 16 > 1) return of_best;
    // No sample of the window has an equal one. Samples that are not counted are above the others.
    single = warp_max(single);
    return min(of_best, unsigned{values_[single & kNotCounted ? single & kValueNumber : 0]});
  }

  const CrossModeJob &job_;
  int x0_, y0_, width_, height_;
  std::uint16_t *rows_, *columns_;
  std::uint16_t *values_;  ///< of the numbers
  unsigned *counters_;
};

}  // namespace cudascan::swo
