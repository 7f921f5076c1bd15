// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counters of 8-bit samples in bytes, separate ones for each thread.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/histogram.h"
#include "kernels/histogram/counters/samples.cuh"

namespace cudascan::histogram {

/// 256 levels of 8 bits. Each thread has its own counters, which are bytes. So it needs no atomic
/// operation, and the time does not depend on the image. The counters of levels l, l + 64, l + 128
/// and l + 192 are in one word. The words of the lanes of a warp are next to each other, so that
/// each lane has its own bank.
///
/// For older GPUs, and for GPUs with too little shared memory for MatrixCounters.
class ByteCounters {
 public:
  static constexpr int kThreads = 256;
  static constexpr int kTogether = 1, kVectors = 15;  // a byte counts up to 255
  static constexpr int kBytes = kThreads * 256, kKept = 0, kCopies = 8;
  static constexpr bool kMany = false, kTable = false;

  __device__ ByteCounters(unsigned char *memory, const Levels &)
      : memory_(memory),
        warp_(shared_address(memory) + __shfl_sync(kWholeWarp, threadIdx.x / 32, 0) * kWarpBytes),
        lane_(threadIdx.x % 32 * 4 * 0x00010001u) {}

  __device__ void clear() { clear_shared(memory_, kBytes); }

  template <typename Emit>
  __device__ void add(const VectorSamples (&samples)[kTogether], const Emit &) {
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
    // Neighbouring threads add up the four levels of a row, each for two warps.
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
    // Four threads now have the same sums; each of them continues with one level.
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
  /// Offset of a lane's counter of a level: bits 0 to 5 of the level are its bits 7 to 12, bits 6
  /// and 7 its lowest two. The offsets of two samples are computed in one word.
  __device__ void add_word(unsigned v) {
    const unsigned even = (v << 7 & 0x1f801f80) | (v >> 6 & 0x00030003) | lane_;
    const unsigned odd = (v >> 1 & 0x1f801f80) | (v >> 14 & 0x00030003) | lane_;
    add_two(even & 0xffff, odd & 0xffff);
    add_two(even >> 16, odd >> 16);
  }
  /// Two at a time, so that both wait for shared memory together.
  __device__ void add_two(unsigned a, unsigned b) {
    const unsigned count_a = load_shared_byte(warp_ + a), count_b = load_shared_byte(warp_ + b);
    store_shared_byte(warp_ + a, count_a + 1);
    store_shared_byte(warp_ + b, count_b + (a == b ? 2 : 1));
  }

  unsigned char *memory_;
  unsigned warp_;  // address of the warp's counters
  unsigned lane_;  // offset of the lane in a row of counters, twice
  unsigned sum_ = 0;
};

}  // namespace cudascan::histogram
