// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How the threads of a block count the levels of samples. Which is best depends on the number of
/// levels, on the GPU and on how much shared memory it has. All of them offer
///
///     kThreads             // of the block
///     kTogether            // vectors of a thread that are added at once
///     kVectors             // that a thread may add ...
///     kBytes               // of shared memory
///     kKept                // vectors for each thread that shared memory has room for beside them
///     kCopies              // of the histogram in device memory, so that fewer blocks add to the same one
///     kMany                // more levels than a block can look at by itself
///     clear()              // all threads, then they meet
///     add(samples, emit)   // counts kTogether times Samples; all threads of a warp call it together
///     collect(last, emit)  // ... before all threads call this
///     kTable               // the last collect() emits nothing: what is left is in shared memory, as
///                          // table_vectors() of 16-bit counters
///
/// and call emit(level, n) for what they have counted, with the last collect() at the latest.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/histogram.h"

namespace cudascan::histogram {

/// Sets shared memory to zero.
__device__ inline void clear_shared(unsigned char *memory, int bytes) {
  auto *const vectors = reinterpret_cast<uint4 *>(memory);
  for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) vectors[i] = uint4{};
}

/// A vector of which the first n samples count; the others are 0.
struct Samples {
  uint4 vector;
  int n;
};

/// A vector of single samples.
/// @param next  next(sample) gives the next one, or returns false if there are no more
template <typename T, typename Next>
__device__ Samples pack_samples(const Next &next) {
  constexpr int kBits = 8 * sizeof(T);
  std::uint64_t low = 0, high = 0;
  int n = 0;
  T sample;
#pragma unroll 1
  for (; n < 128 / kBits && next(sample); ++n) {
    high = high << kBits | low >> (64 - kBits);
    low = low << kBits | sample;
  }
  return {{static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
           static_cast<unsigned>(high), static_cast<unsigned>(high >> 32)},
          n};
}

/// Calls f(sample) for samples of 8 or 16 bits.
template <typename T, typename F>
__device__ void for_samples(const Samples &samples, F f) {
  constexpr int kInWord = 4 / sizeof(T), kBits = 8 * sizeof(T);
  const uint4 &v = samples.vector;
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4 * kInWord; ++i)
    if (i < samples.n) f(words[i / kInWord] >> i % kInWord * kBits & ((1u << kBits) - 1));
}

/// As many vectors as there are.
inline constexpr int kUnlimited = 0x1000000;

/// Adds vectors to counters, and collects when these are full.
template <typename Counters, typename Emit>
class Adding {
 public:
  __device__ Adding(Counters &counters, const Emit &emit) : counters_(counters), emit_(emit) {}

  /// Adds get(0) .. get(n - 1), which gives Samples; all threads of the block call it.
  /// @tparam n  a multiple of Counters::kTogether
  template <int n, typename Get>
  __device__ void add(const Get &get) {
    constexpr int kTogether = Counters::kTogether;
    static_assert(n % kTogether == 0);
    Samples samples[n / kTogether][kTogether];
#pragma unroll
    for (int i = 0; i < n; ++i) samples[i / kTogether][i % kTogether] = get(i);
#pragma unroll
    for (const auto &together : samples) {
      if constexpr (Counters::kVectors < kUnlimited) {
        if (added_ + kTogether > Counters::kVectors) {
          counters_.collect(false, emit_);
          added_ = 0;
        }
        added_ += kTogether;
      }
      counters_.add(together, emit_);
    }
  }
  __device__ void finish() {
    counters_.collect(true, emit_);
  }

 private:
  Counters &counters_;
  const Emit &emit_;
  int added_ = 0;
};

/// Turns bytes into bits: word i of the result has bit i of all bytes, in the same order for every i.
__device__ inline void gather_bits(unsigned (&w)[8]) {
  // A square of 8 x 8 bits is transposed by exchanging its quarters, those of its quarters, and so
  // on.
  constexpr unsigned kLower[] = {0x55555555, 0x33333333, 0x0f0f0f0f};
#pragma unroll
  for (int k = 2; k >= 0; --k) {
    const int distance = 1 << k;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i & distance) continue;
      const unsigned a = w[i], b = w[i + distance];
      w[i] = (a & kLower[k]) | (b << distance & ~kLower[k]);
      w[i + distance] = (a >> distance & kLower[k]) | (b & ~kLower[k]);
    }
  }
}

/// 256 levels of 8 bits, with the tensor cores of sm_80 and newer. A level is a row, its upper four
/// bits, and a column, its lower four. Of 256 samples at a time, a matrix of 16 x 256 bits says which
/// are in each row, and one of 256 x 16 bits which are in each column: their product says how many
/// have each level. The sums stay in registers, and no content takes longer than another.
///
/// What a lane needs of these matrices comes from other lanes, through shared memory: of each of the
/// 8 values of three bits which samples have it, and the fourth bit.
template <int kept>
class MatrixCounters {
 public:
  static constexpr int kThreads = 512;
  static constexpr int kTogether = 2, kVectors = kUnlimited;
  static constexpr int kBytes = kThreads / 32 * 18 * 36 * 4, kKept = kept, kCopies = 8;
  static constexpr bool kMany = false, kTable = false;

  __device__ MatrixCounters(unsigned char *memory, const Levels &) : memory_(memory) {
    const unsigned warp =
        shared_address(memory) + __shfl_sync(kWholeWarp, threadIdx.x / 32, 0) * kWarpBytes;
    to_ = warp + place(threadIdx.x % 4, threadIdx.x % 32 / 4);
    from_bit_ = warp + place(threadIdx.x % 4, 0);
    from_ = from_bit_ + threadIdx.x % 32 / 4 * kMaskBytes;
  }

  __device__ void clear() {}

  template <typename Emit>
  __device__ void add(const Samples (&samples)[kTogether], const Emit &) {
    const uint4 &v = samples[0].vector, &w = samples[1].vector;
    absent_ += 32 - samples[0].n - samples[1].n;
    unsigned bits[8] = {v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w};
    gather_bits(bits);
    __syncwarp();
    store_masks(kRows, bits[4], bits[5], bits[6], bits[7]);
    store_masks(kColumns, bits[0], bits[1], bits[2], bits[3]);
    __syncwarp();
    unsigned row[8], row_bit[8], column[8], column_bit[8];
    load_masks(kRows, row, row_bit);
    load_masks(kColumns, column, column_bit);
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      const int k = i + 1;
      const unsigned rows[4] = {row[i] & ~row_bit[i], row[i] & row_bit[i], row[k] & ~row_bit[k],
                                row[k] & row_bit[k]};
      const unsigned low[2] = {column[i] & ~column_bit[i], column[k] & ~column_bit[k]};
      const unsigned high[2] = {column[i] & column_bit[i], column[k] & column_bit[k]};
      add_common_bits(sums_[0], rows, low);
      add_common_bits(sums_[1], rows, high);
    }
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    if (!last) return;
    // A lane has rows r and r + 8 and columns c, c + 1, c + 8 and c + 9, in this order:
    // (r, c), (r, c + 1), (r + 8, c), (r + 8, c + 1), then the same with c + 8.
    constexpr int kStride = 40;  // so that the lanes of a warp find their levels in different banks
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned absent = warp_sum(absent_);
    if (lane == 0) sums_[0][0] -= static_cast<int>(absent);
    auto *const mine = reinterpret_cast<int *>(memory_ + warp * kWarpBytes) + lane;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int half = i / 4, lower = i % 4 / 2, odd = i % 2;
      mine[(lower * 4 + half * 2 + odd) * kStride] = sums_[half][i % 4];
    }
    __syncthreads();
    const int level = static_cast<int>(threadIdx.x), row = level / 16, column = level % 16;
    if (row >= 16) return;
    const int at =
        (row / 8 * 4 + column / 8 * 2 + column % 2) * kStride + row % 8 * 4 + column % 8 / 2;
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w)
      sum += reinterpret_cast<const unsigned *>(memory_ + w * kWarpBytes)[at];
    emit(level, sum);
  }

 private:
  // A mask is 32 words, one of each lane, those at once that a lane reads; 4 more words make the
  // masks of neighbours begin in different banks.
  static constexpr unsigned kMaskBytes = 36 * 4;
  // Masks of the values of three bits, then the fourth bit; of rows and of columns.
  static constexpr unsigned kRows = 0, kColumns = 9 * kMaskBytes;
  static constexpr unsigned kWarpBytes = 18 * kMaskBytes;

  /// Of the word of lane 4 i + k in a mask.
  static __device__ unsigned place(unsigned k, unsigned i) {
    return (8 * k + i) * 4;
  }

  __device__ void store_masks(unsigned offset, unsigned bit0, unsigned bit1, unsigned bit2,
                              unsigned bit3) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      store_shared(to_ + offset + i * kMaskBytes,
                   (i & 1 ? bit0 : ~bit0) & (i & 2 ? bit1 : ~bit1) & (i & 4 ? bit2 : ~bit2));
    store_shared(to_ + offset + 8 * kMaskBytes, bit3);
  }
  __device__ void load_masks(unsigned offset, unsigned (&mask)[8], unsigned (&bit)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      unsigned masks[4], bits[4];
      load_shared(from_ + offset + 4 * i, masks);
      load_shared(from_bit_ + offset + 8 * kMaskBytes + 4 * i, bits);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        mask[i + k] = masks[k];
        bit[i + k] = bits[k];
      }
    }
  }

  unsigned char *memory_;
  unsigned to_, from_, from_bit_;  // addresses in the warp's masks
  int sums_[2][4]{};               // of columns below and from 8 on
  unsigned absent_ = 0;            // samples that were added as 0 but do not count
};

/// 256 levels of 8 bits. Each thread has counters of its own, bytes, so that it needs no atomic
/// operation and a constant image costs what any other costs: those of levels l, l + 64, l + 128, l +
/// 192 in one word, the words of the lanes of a warp side by side, so that each lane has a bank.
///
/// For GPUs that have no room for MatrixCounters or are older.
class ByteCounters {
 public:
  static constexpr int kThreads = 256;
  static constexpr int kTogether = 1, kVectors = 15;  // a byte counts to 255
  static constexpr int kBytes = kThreads * 256, kKept = 0, kCopies = 8;
  static constexpr bool kMany = false, kTable = false;

  __device__ ByteCounters(unsigned char *memory, const Levels &)
      : memory_(memory),
        warp_(shared_address(memory) + __shfl_sync(kWholeWarp, threadIdx.x / 32, 0) * kWarpBytes),
        lane_(threadIdx.x % 32 * 4 * 0x00010001u) {}

  __device__ void clear() { clear_shared(memory_, kBytes); }

  template <typename Emit>
  __device__ void add(const Samples (&samples)[kTogether], const Emit &) {
    const uint4 &v = samples[0].vector;
    if (samples[0].n == 16) {
      add_word(v.x);
      add_word(v.y);
      add_word(v.z);
      add_word(v.w);
    } else {
      for_samples<std::uint8_t>(samples[0], [&](unsigned sample) {
        const unsigned counter = warp_ + ((sample & 63) << 7 | sample >> 6 | (lane_ & 0xffff));
        store_shared_byte(counter, load_shared_byte(counter) + 1);
      });
    }
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    __syncthreads();
    // Neighbouring threads add up the four levels of a row, each those of two warps.
    constexpr unsigned kParts = kThreads / 64;
    static_assert(kParts == 4);
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
    sum_ += part & 2 ? sums >> 16 : sums & 0xffff;
    if (!last)
      __syncthreads();
    else
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

inline constexpr int kMostTableLevels = 4096;

/// Up to kMostTableLevels levels of 16-bit samples: tables of 32-bit counters that a few warps share.
class TableCounters {
 public:
  static constexpr int kThreads = 672;
  static constexpr int kTogether = 1, kVectors = kUnlimited;
  static constexpr int kBytes = 65536, kKept = 0, kCopies = 4;
  static constexpr bool kMany = false, kTable = false;

  __device__ TableCounters(unsigned char *memory, const Levels &levels)
      : levels_(levels), tables_(reinterpret_cast<unsigned *>(memory)) {
    n_ = min(kBytes / 4 / levels.count, kThreads / 32);
    mine_ = tables_ + threadIdx.x / 32 % n_ * levels.count;
  }

  __device__ void clear() { clear_shared(reinterpret_cast<unsigned char *>(tables_), kBytes); }

  template <typename Emit>
  __device__ void add(const Samples (&samples)[kTogether], const Emit &) {
    for_samples<std::uint16_t>(
        samples[0], [&](unsigned sample) { atomicAdd(mine_ + levels_.level(sample), 1); });
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

/// Calls add_run(level, n) for samples of 16 bits. Equal neighbours are counted together: threads
/// that count the same level wait for one another.
template <typename AddRun>
__device__ void for_runs(const Samples &samples, const Levels &levels, const AddRun &add_run) {
  int level = -1;
  unsigned run = 0;
  for_samples<std::uint16_t>(samples, [&](unsigned sample) {
    const int next = levels.level(sample);
    if (next != level && run > 0) add_run(level, run);
    run = next == level ? run + 1 : 1;
    level = next;
  });
  if (run > 0) add_run(level, run);
}

/// Vectors of 8 counters of 16 bits that a table has.
CUDASCAN_HD inline int table_vectors(const Levels &levels) {
  return (levels.count + 7) / 8;
}

/// Up to 65536 levels: one counter of 16 bits each.
class HalfCounters {
 public:
  static constexpr int kThreads = 672;
  // A counter counts to 65535.
  static constexpr int kTogether = 1, kVectors = 12;
  static_assert(kThreads * kVectors * 8 <= 65535);
  static constexpr int kBytes = 131072, kKept = 0, kCopies = 1;
  static constexpr bool kMany = true, kTable = true;

  __device__ HalfCounters(unsigned char *memory, const Levels &levels)
      : levels_(levels), words_(reinterpret_cast<unsigned *>(memory)) {}

  __device__ void clear() { clear_shared(reinterpret_cast<unsigned char *>(words_), kBytes); }

  template <typename Emit>
  __device__ void add(const Samples (&samples)[kTogether], const Emit &) {
    for_runs(samples[0], levels_,
             [&](int level, unsigned n) { atomicAdd(words_ + level / 2, n << level % 2 * 16); });
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    __syncthreads();
    if (last) return;
    for (int i = threadIdx.x; i < (levels_.count + 1) / 2; i += blockDim.x) {
      const unsigned two = words_[i];
      if (two == 0) continue;
      words_[i] = 0;
      if (two & 0xffff) emit(2 * i, two & 0xffff);
      if (two >> 16) emit(2 * i + 1, two >> 16);
    }
    __syncthreads();
  }

 private:
  Levels levels_;
  unsigned *words_;
};

/// The same for GPUs with less shared memory: counts in device memory at once. The shared memory is for
/// what follows.
class DirectCounters {
 public:
  static constexpr int kThreads = 512;
  static constexpr int kTogether = 1, kVectors = kUnlimited;
  static constexpr int kBytes = 49152, kKept = 0, kCopies = HalfCounters::kCopies;
  static constexpr bool kMany = true, kTable = false;

  __device__ DirectCounters(unsigned char *, const Levels &levels) : levels_(levels) {}

  __device__ void clear() {}

  template <typename Emit>
  __device__ void add(const Samples (&samples)[kTogether], const Emit &emit) {
    for_runs(samples[0], levels_, emit);
  }
  template <typename Emit>
  __device__ void collect(bool, const Emit &) {}

 private:
  Levels levels_;
};

}  // namespace cudascan::histogram
