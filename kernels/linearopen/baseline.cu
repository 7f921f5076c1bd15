// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>

#include "kernels/base/launch.cuh"
#include "kernels/linearopen/baseline.h"
#include "kernels/linearopen/scan.h"

namespace cudascan::linearopen {
namespace {

using lines::Direction, lines::Partition;

constexpr int kWarp = 32, kThreads = 64;

int blocks_for(int n, int each) {
  return (n + each - 1) / each;
}

// ---- A thread for each line (section 4.3)
// --------------------------------------------------------

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

template <typename T>
struct LineJob {
  Plane<const T> in;
  Plane<T> out;
  Partition partition;
  int length;
  Entry<T> *entries;
  int room;  ///< entries of a line in `entries`, a power of two
};

template <typename T, bool kByStack>
__global__ void __launch_bounds__(kThreads) line_kernel(const __grid_constant__ LineJob<T> job) {
  const int thread = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (thread >= job.partition.count) return;
  const DeviceMemory<T> memory{job.entries + thread, job.room - 1, job.partition.count};
  const Direction &direction = job.partition.direction;
  const int number = job.partition.first + thread;
  const Steps inside =
      steps_inside(direction, number, job.partition.across, {0, job.partition.steps});
  const ImageLine<T> line{job.in, job.out, direction, number, inside};
  if constexpr (kByStack)
    open_by_stack(line, job.length, CordStack<T, DeviceMemory<T>>(memory));
  else
    open_by_queue(line, job.length, ZoneQueue<T, DeviceMemory<T>>(memory));
}

// ---- Zones (section 5)
// ---------------------------------------------------------------------------

/// The image, divided across its lines.
struct Zones {
  Partition partition;
  int n;
  int overlap;  ///< steps that a zone reads before and after those that it writes

  CUDASCAN_HD Steps written(int zone) const {
    return {static_cast<int>(std::int64_t{partition.steps} * zone / n),
            static_cast<int>(std::int64_t{partition.steps} * (zone + 1) / n)};
  }
  /// Lines that cross the steps.
  CUDASCAN_HD Partition lines_of(const Steps &steps) const {
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

/// The performance parameters of section 5.4.
struct Configuration {
  Zones zones;
  int threads;  ///< of a block
  int lines;    ///< of a zone, at most
  int recent;   ///< entries of a queue in shared memory, a power of two
  int room;     ///< of a queue in device memory, also a power of two

  /// @param entry  bytes
  Configuration(Cuda &cuda, const Partition &partition, int length, int entry)
      : zones{partition, 1, length - 1} {
    const int multiprocessors = cuda.multiprocessors();
    // Rule 1. Small blocks balance better; large blocks need less scheduling (table 1).
    threads = partition.count < 64 * multiprocessors ? kWarp : 3 * kWarp;
    const int blocks = std::min(32, 2048 / threads);  // on a multiprocessor
    // Rule 2 requires enough threads, rule 3 zones that are not mostly overlap.
    const int enough = blocks_for(threads * blocks * multiprocessors, partition.count);
    const int worthwhile = partition.steps / (2 * length);
    zones.n = std::max(1, std::min(enough, worthwhile));
    lines = 0;
    for (int zone = 0; zone < zones.n; ++zone)
      lines = std::max(lines, zones.lines_of(zones.written(zone)).count);
    const int most = most_zones(partition.steps, length);
    room = static_cast<int>(std::bit_ceil(static_cast<unsigned>(most)));
    // Rules 4 and 5.
    const int fits = cuda.most_shared_memory() / (threads * entry * blocks);
    recent = std::min(room, static_cast<int>(std::bit_floor(static_cast<unsigned>(fits))));
  }

  dim3 blocks() const { return dim3(blocks_for(lines, threads), zones.n); }
  /// In device memory.
  std::size_t entries() const {
    return std::size_t{blocks().x} * blocks().y * threads * static_cast<unsigned>(room);
  }
};

/// Entries: the most recent are in shared memory, the rest in device memory.
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
template <typename T>
struct ZoneLine {
  using Sample = T;

  const Plane<const T> &in;
  const Plane<T> &out;  ///< transposed for flat lines
  const Direction &direction;
  int number;
  Steps steps;    ///< in the image, to read
  Steps written;  ///< by the zone

  __device__ int size() const { return steps.end - steps.begin; }
  __device__ T read(int i) const {
    const int step = steps.begin + i, column = number + direction.shift(step);
    return __ldg(direction.steep ? in.row(step) + column : in.row(column) + step);
  }
  __device__ void write(int i, T value) const {
    const int step = steps.begin + i;
    if (step < written.begin || step >= written.end) return;
    out.row(step)[number + direction.shift(step)] = value;
  }
};

template <typename T>
struct ZoneJob {
  Plane<const T> in;
  Plane<T> out;
  Zones zones;
  int length;
  Entry<T> *entries;
  int room, recent;
};

template <typename T>
__global__ void __launch_bounds__(3 * kWarp) zone_kernel(const __grid_constant__ ZoneJob<T> job) {
  const int width = static_cast<int>(gridDim.x * blockDim.x);
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int zone = static_cast<int>(blockIdx.y);
  const Steps written = job.zones.written(zone);
  const Partition lines = job.zones.lines_of(written);
  if (k >= lines.count) return;
  const DeviceMemory<T> rest{job.entries + (std::size_t(zone) * width + k), job.room - 1,
                             width * static_cast<int>(gridDim.y)};
  auto *const recent = reinterpret_cast<Entry<T> *>(dynamic_shared_memory()) + threadIdx.x;
  const RecentMemory<T> memory(recent, job.recent, static_cast<int>(blockDim.x), rest);
  const int number = lines.first + k;
  const Steps inside = steps_inside(lines.direction, number, lines.across, job.zones.read(written));
  // Neutral samples around a zone inside the image do not change what it writes, because the
  // segments of written pixels are inside the zone.
  const ZoneLine<T> line{job.in, job.out, lines.direction, number, inside, written};
  open_by_queue(line, job.length, ZoneQueue<T, RecentMemory<T>>(memory));
}

constexpr int kTile = 32, kTileRows = 8;

template <typename T>
__global__ void transpose_kernel(Plane<const T> in, Plane<T> out) {
  __shared__ T tile[kTile][kTile + 1];
  const int x0 = static_cast<int>(blockIdx.x) * kTile, y0 = static_cast<int>(blockIdx.y) * kTile;
  const int tx = static_cast<int>(threadIdx.x);
  for (int ty = static_cast<int>(threadIdx.y); ty < kTile; ty += kTileRows)
    if (y0 + ty < in.height && x0 + tx < in.width) tile[ty][tx] = in.row(y0 + ty)[x0 + tx];
  __syncthreads();
  for (int ty = static_cast<int>(threadIdx.y); ty < kTile; ty += kTileRows)
    if (x0 + ty < out.height && y0 + tx < out.width) out.row(x0 + ty)[y0 + tx] = tile[tx][ty];
}

template <typename T>
void open_zones(Cuda &cuda, const Partition &partition, int length, Plane<const T> in, Plane<T> out,
                void *scratch) {
  const Configuration c(cuda, partition, length, sizeof(Entry<T>));
  auto *const entries = static_cast<Entry<T> *>(scratch);
  auto *const rest = reinterpret_cast<T *>(entries + c.entries());
  const bool steep = partition.direction.steep;
  const Plane<T> transposed{rest, in.height, in.width,
                            static_cast<std::ptrdiff_t>(in.height * sizeof(T))};
  const int shared = c.threads * c.recent * static_cast<int>(sizeof(Entry<T>));
  launch(cuda, zone_kernel<T>, {c.blocks(), static_cast<unsigned>(c.threads), shared},
         {in, steep ? out : transposed, c.zones, length, entries, c.room, c.recent});
  if (steep) return;
  const dim3 tiles(blocks_for(in.height, kTile), blocks_for(in.width, kTile));
  launch(cuda, transpose_kernel<T>, {tiles, dim3(kTile, kTileRows)}, transposed, out);
}

int line_room(LinearOpenAlgorithm algorithm, int steps, int length, std::size_t sample) {
  return static_cast<int>(std::bit_ceil(
      static_cast<unsigned>(algorithm == LinearOpenAlgorithm::morard ? most_cords(steps, sample)
                                                                     : most_zones(steps, length))));
}

}  // namespace

std::size_t open_lines_scratch(Cuda &cuda, LinearOpenAlgorithm algorithm,
                               const Direction &direction, int length, int width, int height,
                               std::size_t sample) {
  const Partition partition = Partition::of(direction, width, height);
  const std::size_t entry = sample > 2 ? sizeof(Entry<std::uint32_t>) : sizeof(Entry<std::uint8_t>);
  if (algorithm != LinearOpenAlgorithm::bartovsky_zones)
    return entry * partition.count * line_room(algorithm, partition.steps, length, sample);
  const Configuration c(cuda, partition, length, static_cast<int>(entry));
  return entry * c.entries() +
         (direction.steep ? 0 : sample * static_cast<std::size_t>(width) * height);
}

template <typename T>
void open_lines(Cuda &cuda, LinearOpenAlgorithm algorithm, const Direction &direction, int length,
                Plane<const T> in, Plane<T> out, void *scratch) {
  const Partition partition = Partition::of(direction, in.width, in.height);
  if (algorithm == LinearOpenAlgorithm::bartovsky_zones)
    return open_zones(cuda, partition, length, in, out, scratch);
  launch(cuda,
         algorithm == LinearOpenAlgorithm::morard ? line_kernel<T, true> : line_kernel<T, false>,
         {static_cast<unsigned>(blocks_for(partition.count, kThreads)), kThreads},
         {in, out, partition, length, static_cast<Entry<T> *>(scratch),
          line_room(algorithm, partition.steps, length, sizeof(T))});
}

using std::uint16_t, std::uint32_t, std::uint8_t;
template void open_lines(Cuda &, LinearOpenAlgorithm, const Direction &, int, Plane<const uint8_t>,
                         Plane<uint8_t>, void *);
template void open_lines(Cuda &, LinearOpenAlgorithm, const Direction &, int, Plane<const uint16_t>,
                         Plane<uint16_t>, void *);
template void open_lines(Cuda &, LinearOpenAlgorithm, const Direction &, int, Plane<const uint32_t>,
                         Plane<uint32_t>, void *);

}  // namespace cudascan::linearopen
