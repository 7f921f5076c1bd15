// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How the threads of a block count the levels of samples. There are several kinds of counters;
/// which kind is best depends on the number of levels, on the GPU and on the size of its shared
/// memory. All kinds have these members:
///
///     kThreads             // of the block
///     kTogether            // vectors of a thread that are added at once
///     kVectors             // that a thread may add ...
///     kBytes               // of shared memory
///     kKept                // vectors for each thread that also fit into shared memory
///     kCopies              // of the histogram in device memory, so that fewer blocks add to one
///     kMany                // more levels than a block can process alone
///     clear()              // called by all threads; a barrier follows
///     add(samples, emit)   // counts kTogether VectorSamples; all threads of a warp call it
///                          // together
///     collect(last, emit)  // ... before all threads call collect()
///     kTable               // the last collect() emits nothing: the rest is in shared memory,
///                          // as table_vectors() of 16-bit counters
///
/// They call emit(level, n) for what they have counted, in the last collect() at the latest.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace cudascan::histogram {

/// Sets shared memory to zero.
__device__ inline void clear_shared(unsigned char *memory, int bytes) {
  auto *const vectors = reinterpret_cast<uint4 *>(memory);
  for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) vectors[i] = uint4{};
}

/// A vector whose first n samples count; the others are 0.
struct VectorSamples {
  uint4 vector;
  int n;
};

/// A vector of single samples.
/// @param next  next(sample) stores the next sample, or returns false if there are no more
template <typename T, typename Next>
__device__ VectorSamples pack_samples(const Next &next) {
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
__device__ void for_samples(const VectorSamples &samples, F f) {
  constexpr int kInWord = 4 / sizeof(T), kBits = 8 * sizeof(T);
  const uint4 &v = samples.vector;
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4 * kInWord; ++i)
    if (i < samples.n) f(words[i / kInWord] >> i % kInWord * kBits & ((1u << kBits) - 1));
}

/// Several vectors.
inline constexpr int kUnlimited = 0x1000000;

/// Adds vectors to counters, and collects the counts when the counters are full.
template <typename Counters, typename Emit>
class Adding {
 public:
  __device__ Adding(Counters &counters, const Emit &emit) : counters_(counters), emit_(emit) {}

  /// Adds get(0) .. get(n - 1), which are VectorSamples; all threads of the block call it.
  /// @tparam n  a multiple of Counters::kTogether
  template <int n, typename Get>
  __device__ void add(const Get &get) {
    constexpr int kTogether = Counters::kTogether;
    static_assert(n % kTogether == 0);
    VectorSamples samples[n / kTogether][kTogether];
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

}  // namespace cudascan::histogram
