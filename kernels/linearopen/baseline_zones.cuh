// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The kernels of section 5 of the publication in linearopen.h: the image split into zones, queues
/// or stacks in shared memory, and results of flat lines written transposed.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/ptx.cuh"
#include "kernels/base/texel.cuh"
#include "kernels/linearopen/baseline.h"
#include "kernels/linearopen/scan.h"

namespace cudascan::linearopen {

/// Entries in device memory, in a ring whose size is a power of two; neighbouring threads' entries
/// are adjacent.
template <typename T>
struct DeviceMemory {
  Entry<T> *entries;
  int mask;
  int threads;

  __device__ Entry<T> load(int i) const { return entries[std::size_t(i & mask) * threads]; }
  __device__ void store(int i, int /*head*/, const Entry<T> &entry) {
    entries[std::size_t(i & mask) * threads] = entry;
  }
};

/// What the kernels of all algorithms need. A block works on direction blockIdx.z.
template <typename T>
struct PublishedJob {
  Plane<const T> in;
  OpenedPlanes<T> out;
  int length;
  Entry<T> *entries;      ///< of all threads
  std::size_t n_entries;  ///< of a direction
  int room;               ///< entries of a thread, a power of two
  lines::Direction directions[kMostPublishedDirections];

  __device__ lines::Partition partition() const {
    return lines::Partition::of(directions[blockIdx.z], in.width, in.height);
  }
};

template <typename T>
__device__ Plane<T> result_plane(const OpenedPlanes<T> &planes) {
  Plane<T> plane = planes.first;
  plane.data = reinterpret_cast<T *>(reinterpret_cast<unsigned char *>(plane.data) +
                                     blockIdx.z * planes.bytes);
  return plane;
}

/// The image, divided across its lines.
struct Zones {
  lines::Partition partition;
  int n;
  int overlap;  ///< steps that a zone reads before and after those that it writes

  CUDASCAN_HD Steps written(int zone) const {
    return {static_cast<int>(std::int64_t{partition.steps} * zone / n),
            static_cast<int>(std::int64_t{partition.steps} * (zone + 1) / n)};
  }
  /// Lines that cross the steps.
  CUDASCAN_HD lines::Partition lines_of(const Steps &steps) const {
    const int a = partition.direction.shift(steps.begin);
    const int b = partition.direction.shift(steps.end - 1);
    return {partition.direction, partition.steps, partition.across, -(a > b ? a : b),
            partition.across + (a > b ? a - b : b - a)};
  }
  CUDASCAN_HD Steps read(const Steps &written) const {
    const int begin = written.begin - overlap, end = written.end + overlap;
    return {begin > 0 ? begin : 0, end < partition.steps ? end : partition.steps};
  }
};

/// Entries: the most recent are in shared memory, the rest in device memory (figure 7).
template <typename T>
class RecentMemory {
 public:
  __device__ RecentMemory(Entry<T> *recent, int size, int stride, const DeviceMemory<T> &rest)
      : recent_(recent), size_(size), stride_(stride), rest_(rest) {}

  __device__ Entry<T> load(int i) const { return i < first_recent_ ? rest_.load(i) : slot(i); }
  __device__ void store(int i, int head, const Entry<T> &entry) {
    first_recent_ = max(min(first_recent_, i), head);
    if (i - first_recent_ == size_) {
      rest_.store(first_recent_, head, slot(first_recent_));
      ++first_recent_;
    }
    slot(i) = entry;
  }

 private:
  __device__ Entry<T> &slot(int i) const { return recent_[(i & (size_ - 1)) * stride_]; }

  Entry<T> *recent_;
  int size_, stride_;
  DeviceMemory<T> rest_;
  int first_recent_ = 0;
};

/// A line of a zone.
template <typename T, bool kTexture>
struct ZoneLine {
  using Sample = T;

  const Plane<const T> &in;
  unsigned long long texture;
  const Plane<T> &out;  ///< transposed for flat lines
  const lines::Direction &direction;
  int number;
  Steps steps;    ///< in the image, to read
  Steps written;  ///< by the zone

  __device__ int size() const { return steps.end - steps.begin; }
  __device__ T read(int i) const {
    const int step = steps.begin + i, column = number + direction.shift(step);
    const int x = direction.steep ? column : step, y = direction.steep ? step : column;
    if constexpr (kTexture)
      return texel<T>(texture, x, y);
    else
      return __ldg(in.row(y) + x);
  }
  __device__ void write(int i, T value) const {
    const int step = steps.begin + i;
    if (step < written.begin || step >= written.end) return;
    out.row(step)[number + direction.shift(step)] = value;
  }
};

template <typename T>
struct ZoneJob {
  PublishedJob<T> of;
  OpenedPlanes<T> transposed;
  unsigned long long texture;
  int zones, recent;
};

template <typename T, bool kByStack, bool kTexture>
__global__ void __launch_bounds__(ZoneSettings::kMostThreads)
    zone_kernel(const __grid_constant__ ZoneJob<T> job) {
  const int width = static_cast<int>(gridDim.x * blockDim.x);
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int zone = static_cast<int>(blockIdx.y);
  const Zones zones{job.of.partition(), job.zones, job.of.length - 1};
  const Steps written = zones.written(zone);
  const lines::Partition lines = zones.lines_of(written);
  if (k >= lines.count) return;
  const DeviceMemory<T> rest{
      job.of.entries + (blockIdx.z * job.of.n_entries + std::size_t(zone) * width + k),
      job.of.room - 1, width * static_cast<int>(gridDim.y)};
  auto *const recent = reinterpret_cast<Entry<T> *>(dynamic_shared_memory()) + threadIdx.x;
  const RecentMemory<T> memory(recent, job.recent, static_cast<int>(blockDim.x), rest);
  const int number = lines.first + k;
  const Steps inside = steps_inside(lines.direction, number, lines.across, zones.read(written));
  const Plane<T> out = result_plane(lines.direction.steep ? job.of.out : job.transposed);
  // Neutral samples around a zone inside the image do not change what it writes, because the
  // segments of written pixels are inside the zone.
  const ZoneLine<T, kTexture> line{job.of.in, job.texture, out,    lines.direction,
                                   number,    inside,      written};
  if constexpr (kByStack)
    open_by_stack(line, job.of.length, CordStack<T, RecentMemory<T>>(memory));
  else
    open_by_queue(line, job.of.length, ZoneQueue<T, RecentMemory<T>>(memory));
}

constexpr int kTransposeTile = 32, kTransposeRows = 8;

/// Transposes the results of flat lines.
template <typename T>
__global__ void transpose_kernel(const __grid_constant__ ZoneJob<T> job) {
  __shared__ T tile[kTransposeTile][kTransposeTile + 1];
  if (job.of.directions[blockIdx.z].steep) return;
  const Plane<T> in = result_plane(job.transposed), out = result_plane(job.of.out);
  const int x0 = static_cast<int>(blockIdx.x) * kTransposeTile,
            y0 = static_cast<int>(blockIdx.y) * kTransposeTile;
  const int tx = static_cast<int>(threadIdx.x);
  for (int ty = static_cast<int>(threadIdx.y); ty < kTransposeTile; ty += kTransposeRows)
    if (y0 + ty < in.height && x0 + tx < in.width) tile[ty][tx] = in.row(y0 + ty)[x0 + tx];
  __syncthreads();
  for (int ty = static_cast<int>(threadIdx.y); ty < kTransposeTile; ty += kTransposeRows)
    if (x0 + ty < out.height && y0 + tx < out.width) out.row(x0 + ty)[y0 + tx] = tile[tx][ty];
}

}  // namespace cudascan::linearopen
