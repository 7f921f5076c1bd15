// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The job of a row kernel launch, and how its lanes store their samples.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/windowsums/division.h"
#include "kernels/windowsums/sums.cuh"

namespace cudascan::windowsums {

/// Everything that is the same for all threads of a launch; plan() fills in what is not set here.
/// Decisions derive their jobs from it.
template <typename T>
struct RowJob : StripJob<T> {
  void *out = nullptr;
  std::ptrdiff_t out_stride = 0;
  bool out_is_wide = false;    // 16-bit samples
  bool store_at_once = false;  // eight samples
  // The windows of the tiles [first_inner, last_inner) have all their columns. Edge tiles take
  // longer for a row, so their strips have fewer rows. Their blocks are the first ones and, if a
  // multiprocessor runs several blocks, also the first ones of the second round, so that they run
  // together: the code of one kind leaves more room in the instruction caches than that of both.
  int tiles = 0, first_inner = 0, last_inner = 0;
  int edges_in_first = 0, second = 0, edges_in_second = 0;
  BlockStrips inner_strips, edge_strips;

  RowJob() = default;
  template <typename Out>
  RowJob(const Plane<Out> &plane, int half_width, int half_height)
      : StripJob<T>{},
        out(plane.data),
        out_stride(plane.stride),
        out_is_wide(sizeof(Out) == 2),
        store_at_once((reinterpret_cast<std::uintptr_t>(plane.data) | plane.stride) %
                          (kColumns * sizeof(Out)) ==
                      0) {
    this->rx = half_width;
    this->ry = half_height;
  }
};

template <typename T>
__device__ void store_sample(const RowJob<T> &job, int x, int y, std::uint32_t value) {
  auto *row = static_cast<unsigned char *>(job.out) + y * job.out_stride;
  if (job.out_is_wide)
    reinterpret_cast<std::uint16_t *>(row)[x] = value;
  else
    row[x] = value;
}

/// Stores eight samples at once.
__device__ inline void store_samples(unsigned char *to, const StageSamples<std::uint8_t> &v) {
  *reinterpret_cast<uint2 *>(to) = {v.word[0], v.word[1]};
}
__device__ inline void store_samples(unsigned char *to, const StageSamples<std::uint16_t> &v) {
  *reinterpret_cast<uint4 *>(to) = {v.word[0], v.word[1], v.word[2], v.word[3]};
}

}  // namespace cudascan::windowsums
