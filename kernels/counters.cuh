// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How the threads of a block count the levels of samples. Which is best depends on the number of
/// levels and on how much shared memory there is. All of them offer
///
///     kThreads, kVectors   // threads of the block, and vectors a thread may add() ...
///     kSamples             // ... or samples
///     kBytes               // of shared memory
///     kKept                // vectors for each thread that shared memory has room for beside them
///     kCopies              // of the histogram in device memory, so that fewer blocks add to the same one
///     kMany                // more levels than a block can look at by itself
///     clear()              // all threads, then they meet
///     add(v, emit), add(sample, emit)  // counts the samples of a vector, or one
///     collect(last, emit)  // ... before all threads call this
///
/// and call emit(level, n) for what they have counted, with the last collect() at the latest.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/histogram.h"
#include "kernels/ptx.cuh"
#include "kernels/warp_sums.cuh"

namespace cudascan::histogram {

/// Sets shared memory to zero.
__device__ inline void clear_shared(unsigned char *memory, int bytes) {
  auto *const vectors = reinterpret_cast<uint4 *>(memory);
  for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) vectors[i] = uint4{};
}

/// Calls f(sample) for the samples of 16 bits of a vector.
template <typename F>
__device__ void for_samples(const uint4 &v, F f) {
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 8; ++i) f(words[i / 2] >> i % 2 * 16 & 0xffff);
}

/// 256 levels of 8 bits. Each thread has counters of its own, bytes, so that it needs no atomic
/// operation and a constant image costs what any other costs: those of levels l, l + 64, l + 128, l +
/// 192 in one word, the words of the lanes of a warp side by side, so that each lane has a bank.
template <int threads, int kept>
class BasicByteCounters {
 public:
  static constexpr int kThreads = threads;
  static constexpr int kVectors = 15, kSamples = 255;  // a byte counts to 255
  static constexpr int kBytes = kThreads * 256, kKept = kept, kCopies = 8;
  static constexpr bool kMany = false;

  __device__ BasicByteCounters(unsigned char *memory, const Levels &)
      : memory_(memory),
        warp_(shared_address(memory) + __shfl_sync(kWholeWarp, threadIdx.x / 32, 0) * kWarpBytes),
        lane_(threadIdx.x % 32 * 4 * 0x00010001u) {}

  __device__ void clear() { clear_shared(memory_, kBytes); }

  template <typename Emit>
  __device__ void add(const uint4 &v, const Emit &) {
    add_word(v.x);
    add_word(v.y);
    add_word(v.z);
    add_word(v.w);
  }
  template <typename Emit>
  __device__ void add(unsigned sample, const Emit &) {
    const unsigned counter = warp_ + ((sample & 63) << 7 | sample >> 6 | (lane_ & 0xffff));
    store_shared_byte(counter, load_shared_byte(counter) + 1);
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    __syncthreads();
    // Neighbouring threads add up the four levels of a row, each those of two warps.
    constexpr unsigned kParts = kThreads / 64;
    static_assert(kParts == 4 || kParts == 8);
    const unsigned row = threadIdx.x / kParts, part = threadIdx.x % kParts;
    unsigned even = 0, odd = 0;  // two sums of 16 bits each: 64 * 255 fits
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      auto *const words =
          reinterpret_cast<uint4 *>(memory_ + (2 * part + w) * kWarpBytes + row * 128);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const unsigned at = (threadIdx.x + i) % 8;  // so that neighbours use different banks
        const uint4 v = words[at];
        if (!last) words[at] = uint4{};
        add_bytes(v.x, even, odd);
        add_bytes(v.y, even, odd);
        add_bytes(v.z, even, odd);
        add_bytes(v.w, even, odd);
      }
    }
#pragma unroll
    for (int distance = 1; distance <= 2; distance *= 2) {
      even += __shfl_xor_sync(kWholeWarp, even, distance);
      odd += __shfl_xor_sync(kWholeWarp, odd, distance);
    }
    // Of the four threads that now have the same sums each goes on with one level.
    const unsigned sums = part % 2 ? odd : even;
    unsigned sum = part & 2 ? sums >> 16 : sums & 0xffff;
    if (kParts == 8) sum += __shfl_xor_sync(kWholeWarp, sum, 4);
    sum_ += sum;
    if (!last)
      __syncthreads();
    else if (part < 4)
      emit(row + 64 * part, sum_);
  }

 private:
  static constexpr int kWarpBytes = 8192;

  static __device__ void add_bytes(unsigned v, unsigned &even, unsigned &odd) {
    even += v & 0x00ff00ff;
    odd += __byte_perm(v, 0, 0x4341);
  }
  /// Where a lane counts a level: bits 0 to 5 of the level are bits 7 to 12, bits 6 and 7 are bits 0 and
  /// 1. The places of two samples are worked out in one word.
  __device__ void add_word(unsigned v) {
    const unsigned even = (v << 7 & 0x1f801f80) | (v >> 6 & 0x00030003) | lane_;
    const unsigned odd = (v >> 1 & 0x1f801f80) | (v >> 14 & 0x00030003) | lane_;
    add_two(even & 0xffff, odd & 0xffff);
    add_two(even >> 16, odd >> 16);
  }
  /// Two at a time, so that they wait for shared memory together.
  __device__ void add_two(unsigned a, unsigned b) {
    const unsigned count_a = load_shared_byte(warp_ + a), count_b = load_shared_byte(warp_ + b);
    store_shared_byte(warp_ + a, count_a + 1);
    store_shared_byte(warp_ + b, count_b + (a == b ? 2 : 1));
  }

  unsigned char *memory_;
  unsigned warp_;  // address of the warp's counters
  unsigned lane_;  // place of the lane in a row of them, twice
  unsigned sum_ = 0;
};

/// With room for a frame of 3840x2160 on 132 multiprocessors; and for GPUs with less shared memory.
using ByteCounters = BasicByteCounters<512, 12>;
using SmallByteCounters = BasicByteCounters<256, 0>;

inline constexpr int kMostTableLevels = 4096;

/// Up to kMostTableLevels levels of 16-bit samples: tables of 32-bit counters that a few warps share.
class TableCounters {
 public:
  static constexpr int kThreads = 672;
  static constexpr int kVectors = 0x1000000, kSamples = 0x1000000;
  static constexpr int kBytes = 65536, kKept = 0, kCopies = 4;
  static constexpr bool kMany = false;

  __device__ TableCounters(unsigned char *memory, const Levels &levels)
      : levels_(levels), tables_(reinterpret_cast<unsigned *>(memory)) {
    n_ = min(kBytes / 4 / levels.count, kThreads / 32);
    mine_ = tables_ + threadIdx.x / 32 % n_ * levels.count;
  }

  __device__ void clear() { clear_shared(reinterpret_cast<unsigned char *>(tables_), kBytes); }

  template <typename Emit>
  __device__ void add(const uint4 &v, const Emit &emit) {
    for_samples(v, [&](unsigned sample) { add(sample, emit); });
  }
  template <typename Emit>
  __device__ void add(unsigned sample, const Emit &) {
    atomicAdd(mine_ + levels_.level(sample), 1);
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    if (!last) return;
    __syncthreads();
    for (int i = threadIdx.x; i < levels_.count; i += blockDim.x) {
      unsigned sum = 0;
      for (int k = 0; k < n_; ++k) sum += tables_[k * levels_.count + i];
      emit(i, sum);
    }
  }

 private:
  Levels levels_;
  unsigned *tables_, *mine_;
  int n_;
};

/// Calls add_run(level, n) for the samples of a vector. Equal neighbours are counted together: threads
/// that count the same level wait for one another.
template <typename AddRun>
__device__ void for_runs(const uint4 &v, const Levels &levels, const AddRun &add_run) {
  int level = -1;
  unsigned run = 0;
  for_samples(v, [&](unsigned sample) {
    const int next = levels.level(sample);
    if (next != level && run > 0) add_run(level, run);
    run = next == level ? run + 1 : 1;
    level = next;
  });
  add_run(level, run);
}

/// Up to 65536 levels: one counter of 16 bits each, two in a word.
class HalfCounters {
 public:
  static constexpr int kThreads = 672;
  // A counter counts to 65535.
  static constexpr int kVectors = 12, kSamples = 65535 / kThreads;
  static_assert(kThreads * kVectors * 8 <= 65535);
  static constexpr int kBytes = 131072, kKept = 0, kCopies = 1;
  static constexpr bool kMany = true;

  __device__ HalfCounters(unsigned char *memory, const Levels &levels)
      : levels_(levels), words_(reinterpret_cast<unsigned *>(memory)) {}

  __device__ void clear() { clear_shared(reinterpret_cast<unsigned char *>(words_), kBytes); }

  template <typename Emit>
  __device__ void add(const uint4 &v, const Emit &) {
    for_runs(v, levels_, [&](int level, unsigned n) { add_run(level, n); });
  }
  template <typename Emit>
  __device__ void add(unsigned sample, const Emit &) {
    add_run(levels_.level(sample), 1);
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    __syncthreads();
    for (int i = threadIdx.x; i < (levels_.count + 1) / 2; i += blockDim.x) {
      const unsigned two = words_[i];
      if (two == 0) continue;
      if (!last) words_[i] = 0;
      emit(2 * i, two & 0xffff);
      if (two >> 16) emit(2 * i + 1, two >> 16);
    }
    if (!last) __syncthreads();
  }

 private:
  __device__ void add_run(int level, unsigned run) {
    atomicAdd(words_ + level / 2, run << level % 2 * 16);
  }

  Levels levels_;
  unsigned *words_;
};

/// The same for GPUs with less shared memory: counts in device memory at once. The shared memory is for
/// what follows.
class DirectCounters {
 public:
  static constexpr int kThreads = 512;
  static constexpr int kVectors = 0x1000000, kSamples = 0x1000000;
  static constexpr int kBytes = 49152, kKept = 0, kCopies = HalfCounters::kCopies;
  static constexpr bool kMany = true;

  __device__ DirectCounters(unsigned char *, const Levels &levels) : levels_(levels) {}

  __device__ void clear() {}

  template <typename Emit>
  __device__ void add(const uint4 &v, const Emit &emit) {
    for_runs(v, levels_, emit);
  }
  template <typename Emit>
  __device__ void add(unsigned sample, const Emit &emit) {
    emit(levels_.level(sample), 1);
  }
  template <typename Emit>
  __device__ void collect(bool, const Emit &) {}

 private:
  Levels levels_;
};

}  // namespace cudascan::histogram
