// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From the windows to the samples of the result: the exact decision and the ways to store what was
/// decided.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/nick/baseline.h"
#include "kernels/nick/filter.cuh"
#include "kernels/windowsums/strip.cuh"

namespace cudascan::nick {

/// Everything that is the same for all threads of a launch.
template <typename T>
struct Job : StripJob<T> {
  void *out;
  std::ptrdiff_t out_stride;
  bool out_is_wide;            // 16-bit samples
  bool store_at_once;          // eight samples
  std::uint32_t black, white;  // in every byte or 16-bit half
  // The windows of the tiles [first_inner, last_inner) are all whole, but for their rows. The
  // others, at the edges, take longer for a row, so their strips have fewer. Their blocks are the
  // first ones and, if the multiprocessors take several blocks, the first ones of the second round,
  // too, so that they meet: the code of one kind finds more room in the caches for instructions
  // than that of both.
  int tiles, first_inner, last_inner;
  int edges_in_first, second, edges_in_second;
  Strips inner_strips, edge_strips;
  Formula formula;
  Filter filter;
  const WolfStatistics *wolf;       // of the whole image, unless this launch finds them
  WolfStatistics *wolf_partial;     // one per block, for Task::wolf_statistics
  unsigned long long *black_count;  // or nullptr
  // Of means and deviations: low bits that samples do not use, and see ByteMeans and ByteDeviation.
  int level_shift, mean_shift, variance_shift;
};

/// The exact decision, out of line: it is rare.
static __device__ __noinline__ bool exactly_above(unsigned p, Window w, const Formula &f) {
  return above(2 * static_cast<std::int64_t>(p), w, f);
}

static __device__ __noinline__ std::uint32_t exact_threshold(Window w, const Formula &f) {
  return rounded_threshold(estimate(w, f), w, f);
}

/// The sign bits of four numbers, each spread over a byte.
__device__ inline unsigned negative_bytes(const float (&u)[kColumns], int first) {
  return __byte_perm(sign_bytes(u[first], u[first + 1]), sign_bytes(u[first + 2], u[first + 3]),
                     0x5410);
}

template <typename Job>
__device__ void store_sample(const Job &job, int x, int y, std::uint32_t value) {
  auto *row = static_cast<unsigned char *>(job.out) + y * job.out_stride;
  if (job.out_is_wide)
    reinterpret_cast<std::uint16_t *>(row)[x] = value;
  else
    row[x] = value;
}

/// Chooses between black and white by the bytes of a mask.
template <typename Job>
__device__ unsigned paint(const Job &job, unsigned whites) {
  return (whites & job.white) | (~whites & job.black);
}

/// Stores `valid` black or white samples, given the bytes of their mask.
template <typename Job>
__device__ void store_binary(const Job &job, unsigned char *to, int valid,
                             const unsigned (&whites)[2]) {
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    if (j >= valid) break;
    const unsigned sample = paint(job, whites[j / 4]) >> 8 * (j % 4);
    if (job.out_is_wide)
      reinterpret_cast<std::uint16_t *>(to)[j] =
          paint(job, __byte_perm(whites[j / 4], 0, 0x1111 * (j % 4)));
    else
      to[j] = sample;
  }
}
/// Stores eight at once.
template <typename T>
__device__ void store_binary(const Job<T> &job, unsigned char *to, const unsigned (&whites)[2]) {
  if (sizeof(T) == 2 && job.out_is_wide)
    *reinterpret_cast<uint4 *>(to) = {paint(job, __byte_perm(whites[0], 0, 0x1100)),
                                      paint(job, __byte_perm(whites[0], 0, 0x3322)),
                                      paint(job, __byte_perm(whites[1], 0, 0x1100)),
                                      paint(job, __byte_perm(whites[1], 0, 0x3322))};
  else
    *reinterpret_cast<uint2 *>(to) = {paint(job, whites[0]), paint(job, whites[1])};
}

/// Stores eight samples at once.
__device__ inline void store_samples(unsigned char *to, const StageSamples<std::uint8_t> &v) {
  *reinterpret_cast<uint2 *>(to) = {v.word[0], v.word[1]};
}
__device__ inline void store_samples(unsigned char *to, const StageSamples<std::uint16_t> &v) {
  *reinterpret_cast<uint4 *>(to) = {v.word[0], v.word[1], v.word[2], v.word[3]};
}

/// A mask of the first n bytes of a word.
__device__ inline unsigned first_bytes(int n) {
  return n <= 0 ? 0 : 0xffffffff >> 8 * max(4 - n, 0);
}

}  // namespace cudascan::nick
