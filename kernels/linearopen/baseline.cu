// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/linearopen/baseline.h"
#include "kernels/linearopen/baseline_zones.cuh"
#include "kernels/linearopen/scan.h"
#include "kernels/usercode/gpu_module.h"

namespace cudascan::linearopen {
namespace {

using lines::Direction, lines::Partition;
using enum PublishedOpening;

constexpr int kThreads = 64;     // of a block without zones
constexpr int kAlignment = 512;  // of textures, their rows, and all parts of scratch memory
constexpr std::size_t kMostBytes = std::size_t{512} << 20;  // for directions at once

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// A thread for each line (section 4.3).
template <typename T, bool kByStack>
__global__ void __launch_bounds__(kThreads)
    line_kernel(const __grid_constant__ PublishedJob<T> job) {
  const Partition partition = job.partition();
  const int thread = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (thread >= partition.count) return;
  const DeviceMemory<T> memory{job.entries + (blockIdx.z * job.n_entries + thread), job.room - 1,
                               static_cast<int>(gridDim.x) * kThreads};
  const int number = partition.first + thread;
  const Steps inside =
      steps_inside(partition.direction, number, partition.across, {0, partition.steps});
  const Plane<T> out = result_plane(job.out);
  const ImageLine<T> line{job.in, out, partition.direction, number, inside};
  if constexpr (kByStack)
    open_by_stack(line, job.length, CordStack<T, DeviceMemory<T>>(memory));
  else
    open_by_queue(line, job.length, ZoneQueue<T, DeviceMemory<T>>(memory));
}

/// A call of open_lines(), except its planes.
struct Request {
  PublishedOpening algorithm;
  std::span<const Direction> directions;
  int length, width, height;
  int sample;  ///< bytes
  ZoneSettings settings;

  bool by_stack() const { return algorithm == morard || algorithm == morard_zones; }
  bool with_zones() const { return algorithm == morard_zones || algorithm == bartovsky_zones; }
  Request part(std::size_t first, std::size_t n) const {
    Request some = *this;
    some.directions = directions.subspan(first, std::min(n, directions.size() - first));
    return some;
  }
};

/// The launch for some directions, and its scratch memory: entries, the transposed results of flat
/// lines, a copy of the image for the texture.
struct PublishedLaunch {
  ZoneSettings zones;
  dim3 blocks;
  int threads = kThreads, room;
  std::size_t n_entries;  ///< of a direction
  std::size_t entries_bytes, plane_bytes = 0, transposed_bytes = 0;
  std::size_t texture_stride = 0, texture_bytes = 0;

  PublishedLaunch(Cuda &cuda, const Request &r) {
    const auto n = static_cast<unsigned>(r.directions.size());
    int total = 0, most_lines = 0, most_steps = 0, least_steps = std::numeric_limits<int>::max();
    for (const Direction &direction : r.directions) {
      const Partition p = Partition::of(direction, r.width, r.height);
      total += p.count;
      most_lines = std::max(most_lines, p.count);
      most_steps = std::max(most_steps, p.steps);
      least_steps = std::min(least_steps, p.steps);
    }
    const int entry = r.sample > 2 ? sizeof(Entry<std::uint32_t>) : sizeof(Entry<std::uint8_t>);
    if (r.with_zones()) {
      zones = choose_zones(r.settings, {total, least_steps, r.length, entry, cuda.multiprocessors(),
                                        cuda.most_shared_memory()});
      threads = zones.threads;
      most_lines = lines_of_zones(r);
      most_steps = std::min(most_steps, divide_up(most_steps, zones.zones) + 2 * (r.length - 1));
    } else {
      zones.zones = 1;
    }
    room = static_cast<int>(std::bit_ceil(static_cast<unsigned>(
        r.by_stack() ? most_cords(most_steps, r.sample) : most_zones(most_steps, r.length))));
    zones.recent = std::min(zones.recent, room);
    blocks = dim3(divide_up(most_lines, threads), zones.zones, n);
    n_entries = std::size_t{blocks.x} * blocks.y * threads * room;
    entries_bytes = aligned(n * n_entries * entry);
    if (!r.with_zones()) return;
    const bool flat = std::any_of(r.directions.begin(), r.directions.end(),
                                  [](const Direction &d) { return !d.steep; });
    plane_bytes = std::size_t(r.sample) * r.width * r.height;
    transposed_bytes = flat ? aligned(n * plane_bytes) : 0;
    if (!zones.texture) return;
    texture_stride = aligned(std::size_t(r.sample) * r.width);
    texture_bytes = texture_stride * r.height;
  }
  std::size_t bytes() const {
    return kAlignment + entries_bytes + transposed_bytes + texture_bytes;
  }

 private:
  /// Lines of a zone, at most.
  int lines_of_zones(const Request &r) const {
    int most = 0;
    for (const Direction &direction : r.directions) {
      const Zones all{Partition::of(direction, r.width, r.height), zones.zones, r.length - 1};
      for (int zone = 0; zone < zones.zones; ++zone)
        most = std::max(most, all.lines_of(all.written(zone)).count);
    }
    return most;
  }
};

/// How many directions to open at once.
std::size_t together(Cuda &cuda, const Request &r) {
  std::size_t n = std::min<std::size_t>(r.directions.size(), kMostPublishedDirections);
  while (n > 1 && PublishedLaunch(cuda, r.part(0, n)).bytes() > kMostBytes) n = (n + 1) / 2;
  return n;
}

void check(const Request &r) {
  if (r.algorithm != morard && r.algorithm != bartovsky && !r.with_zones())
    refuse("this published algorithm runs only on the CPU");
}

gswo::Textures &textures_of(Cuda &cuda) {
  static const char key{};
  std::shared_ptr<void> &kept = cuda.kept(&key);
  if (!kept) kept = std::make_shared<gswo::Textures>();
  return *static_cast<gswo::Textures *>(kept.get());
}

/// The texture of a copy of the image: a copy has the alignment, and the same address every time.
template <typename T>
unsigned long long texture_of(Cuda &cuda, const Plane<const T> &in, unsigned char *copy,
                              std::size_t stride) {
  if (cuda.only_loads()) return 0;
  CUDA_CHECK(cudaMemcpy2DAsync(copy, stride, in.data, in.stride, in.width * sizeof(T), in.height,
                               cudaMemcpyDeviceToDevice, cuda.stream()));
  const auto texture = textures_of(cuda).of(copy, static_cast<std::ptrdiff_t>(stride), in.width,
                                            in.height, sizeof(T));
  if (texture == 0) throw Error("this GPU cannot make a texture of the image");
  return texture;
}

template <typename T>
void open_together(Cuda &cuda, const Request &r, const Plane<const T> &in,
                   const OpenedPlanes<T> &out, unsigned char *scratch) {
  const PublishedLaunch l(cuda, r);
  PublishedJob<T> job{in,          out,    r.length, reinterpret_cast<Entry<T> *>(scratch),
                      l.n_entries, l.room, {}};
  std::copy(r.directions.begin(), r.directions.end(), job.directions);
  const auto threads = static_cast<unsigned>(l.threads);
  if (!r.with_zones())
    return launch(cuda, r.by_stack() ? line_kernel<T, true> : line_kernel<T, false>,
                  {l.blocks, threads}, job);

  scratch += l.entries_bytes;
  const Plane<T> transposed{reinterpret_cast<T *>(scratch), in.height, in.width,
                            static_cast<std::ptrdiff_t>(in.height * sizeof(T))};
  ZoneJob<T> zones{job, {transposed, l.plane_bytes}, 0, l.zones.zones, l.zones.recent};
  auto *kernel = r.by_stack() ? zone_kernel<T, true, false> : zone_kernel<T, false, false>;
  if (l.zones.texture) {
    zones.texture = texture_of(cuda, in, scratch + l.transposed_bytes, l.texture_stride);
    kernel = r.by_stack() ? zone_kernel<T, true, true> : zone_kernel<T, false, true>;
  }
  const int shared = l.threads * l.zones.recent * static_cast<int>(sizeof(Entry<T>));
  launch(cuda, kernel, {l.blocks, threads, shared}, zones);
  if (l.transposed_bytes == 0) return;
  const dim3 tiles(divide_up(in.height, kTransposeTile), divide_up(in.width, kTransposeTile),
                   l.blocks.z);
  launch(cuda, transpose_kernel<T>, {tiles, dim3(kTransposeTile, kTransposeRows)}, zones);
}

}  // namespace

std::size_t open_lines_scratch(Cuda &cuda, PublishedOpening algorithm,
                               std::span<const Direction> directions, int length, int width,
                               int height, std::size_t sample, const ZoneSettings &settings) {
  const Request all{algorithm, directions, length, width, height, static_cast<int>(sample),
                    settings};
  check(all);
  const std::size_t n = together(cuda, all);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < directions.size(); i += n)
    bytes = std::max(bytes, PublishedLaunch(cuda, all.part(i, n)).bytes());
  return bytes;
}

template <typename T>
void open_lines(Cuda &cuda, PublishedOpening algorithm, std::span<const Direction> directions,
                int length, Plane<const T> in, const OpenedPlanes<T> &out, void *scratch,
                const ZoneSettings &settings) {
  const Request all{algorithm, directions, length, in.width, in.height, sizeof(T), settings};
  check(all);
  const std::size_t n = together(cuda, all);
  auto *const memory =
      reinterpret_cast<unsigned char *>(aligned(reinterpret_cast<std::uintptr_t>(scratch)));
  for (std::size_t i = 0; i < directions.size(); i += n) {
    OpenedPlanes<T> some = out;
    some.first.data =
        reinterpret_cast<T *>(reinterpret_cast<unsigned char *>(out.first.data) + i * out.bytes);
    open_together(cuda, all.part(i, n), in, some, memory);
  }
}

using std::uint16_t, std::uint32_t, std::uint8_t, std::span;
template void open_lines(Cuda &, PublishedOpening, span<const Direction>, int, Plane<const uint8_t>,
                         const OpenedPlanes<uint8_t> &, void *, const ZoneSettings &);
template void open_lines(Cuda &, PublishedOpening, span<const Direction>, int,
                         Plane<const uint16_t>, const OpenedPlanes<uint16_t> &, void *,
                         const ZoneSettings &);
template void open_lines(Cuda &, PublishedOpening, span<const Direction>, int,
                         Plane<const uint32_t>, const OpenedPlanes<uint32_t> &, void *,
                         const ZoneSettings &);

}  // namespace cudascan::linearopen
