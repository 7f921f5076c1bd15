// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times the filters of examples/gswo/programs/volumes.cpp, in one of three forms: sequential, with
/// OpenMP, and as gswo-cc translates them (FIGURES_CUDA). Writes one line of JSON for each filter.
#pragma once
#include <cstdint>
#include <cstring>

#ifdef FIGURES_CUDA
#include "cuda_times.h"
#else
#include "harness.h"
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

namespace figures {

/// Pixels that look like noise on soft structures; the same in all forms.
template <class T>
T pixel_of(std::uint32_t k) {
  const std::uint32_t noise = (k * 2654435761u) >> 24;
  if constexpr (std::is_same_v<T, Vector3>)
    return {static_cast<float>(noise), static_cast<float>(k % 251), static_cast<float>(k % 83)};
  else
    return static_cast<T>((noise + k % 521) / 4);
}
template <class T>
std::vector<T> pixels_of(std::size_t count) {
  std::vector<T> all(count);
  for (std::size_t k = 0; k < count; k++) all[k] = pixel_of<T>(static_cast<std::uint32_t>(k));
  return all;
}

/// FNV-1a of 64 bits, over words.
template <class T>
std::uint64_t hash_of(const std::vector<T> &all) {
  std::uint64_t hash = 14695981039346656037u;
  const char *const bytes = reinterpret_cast<const char *>(all.data());
  const std::size_t size = all.size() * sizeof(T);
  for (std::size_t k = 0; k < size; k += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + k, std::min<std::size_t>(4, size - k));
    hash = (hash ^ word) * 1099511628211u;
  }
  return hash;
}

#ifdef FIGURES_CUDA
/// Milliseconds that the run time needs to copy so many bytes to the device, and back.
inline std::vector<double> copy_times(std::size_t up, std::size_t down, double seconds) {
  constexpr std::size_t kRow = 1 << 16;
  std::vector<char> in(up + kRow), out(down + kRow);
  const gswo::Block memory = gswo::Pool::get().take(std::max(up, down) + kRow, "copies");
  const auto rows = [](std::size_t bytes) { return static_cast<int>((bytes + kRow - 1) / kRow); };
  const auto times = repeat(
      [&] {
        gswo::Copier::get().upload(memory.data, kRow, rows(up), kRow,
                                   [&](int k) -> const char * { return &in[k * kRow]; });
        gswo::Copier::get().download(memory.data, kRow, rows(down), kRow,
                                     [&](int k) { return &out[k * kRow]; });
        need(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      },
      seconds);
  gswo::Pool::get().give(memory);
  return times;
}

/// GB/s of the bus from and to locked memory.
inline std::pair<double, double> bus() {
  constexpr std::size_t kBytes = 64 << 20;
  void *host = nullptr, *device = nullptr;
  need(cudaMallocHost(&host, kBytes), "cudaMallocHost");
  need(cudaMalloc(&device, kBytes), "cudaMalloc");
  const auto rate = [&](void *to, const void *from, cudaMemcpyKind kind) {
    double best = 1e9;
    for (int k = 0; k < 5; k++) {
      const double begin = milliseconds();
      need(cudaMemcpy(to, from, kBytes, kind), "cudaMemcpy");
      best = std::min(best, milliseconds() - begin);
    }
    return kBytes / best / 1e6;
  };
  const double up = rate(device, host, cudaMemcpyHostToDevice),
               down = rate(host, device, cudaMemcpyDeviceToHost);
  need(cudaFree(device), "cudaFree");
  need(cudaFreeHost(host), "cudaFreeHost");
  return {up, down};
}
#endif

/// Measures one filter.
/// @param up,down  bytes that have to be copied to the device, and back
/// @param out  the pixels that it makes
template <class T, class Call>
void measure(const Options &o, const char *name, std::size_t up, std::size_t down,
             const std::vector<T> &out, const Call &call) {
  if (!o.picture.empty() && std::string(name).find(o.picture) == std::string::npos) return;
  const double begin = milliseconds();
  call();
  const double first = milliseconds() - begin;
  const std::uint64_t hash = hash_of(out);
  std::vector<double> times{first};
  if (first < 20e3 * o.seconds) times = repeat(call, o.seconds);
  std::printf("{\"filter\": \"%s\", \"hash\": \"%016llx\", \"up\": %zu, \"down\": %zu, \"ms\": %s",
              name, static_cast<unsigned long long>(hash), up, down, list(times).c_str());
#ifdef FIGURES_CUDA
  std::printf(", \"first_ms\": %f, \"copies_ms\": %s", first,
              list(copy_times(up, down, o.seconds / 2)).c_str());
  Kernels all;
  kernels = &all;
  call();
  kernels = nullptr;
  std::printf(", \"launches\": %d, \"warm_us\": %s, \"cold_us\": %s", all.launches,
              list(all.warm).c_str(), list(all.cold).c_str());
#endif
  std::printf("}\n");
  std::fflush(stdout);
}

/// A volume as a table of tables of rows.
template <class T>
struct Frames {
  Frames(std::vector<T> &pixels, int width, int height, int depth) {
    for (int k = 0; k < depth * height; k++)
      rows.push_back(pixels.data() + static_cast<std::size_t>(k) * width);
    for (int z = 0; z < depth; z++) slices.push_back(rows.data() + z * height);
  }
  std::vector<T *> rows;
  std::vector<T **> slices;
};

template <class T, class Filter>
void measure_volume(const Options &o, const char *name, int reach, const Filter &filter) {
  const int w = o.width, h = o.height, d = o.images;
  const std::size_t count = static_cast<std::size_t>(w) * h * d;
  std::vector<T> in = pixels_of<T>(count), out(in.size());
  const std::size_t inner = std::size_t(w - 2 * reach) * (h - 2 * reach) * (d - 2 * reach);
  measure(o, name, count * sizeof(T), inner * sizeof(T), out,
          [&] { filter(in.data(), out.data(), w, h, d); });
}

/// --width, --height and --images are the sizes of the volumes; --picture, a part of the names of
/// the filters that are wanted.
inline int run_volumes(int argc, char **argv) {
  const Options o = parse(argc, argv);
#ifdef _OPENMP
  if (!o.threads.empty()) omp_set_num_threads(o.threads[0]);
#endif
#ifdef FIGURES_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) fail("no GPU");
  cudaDeviceProp properties;
  need(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const auto [up, down] = bus();
  std::printf("{\"device\": \"%s\", \"up\": %f, \"down\": %f}\n", properties.name, up, down);
#endif
  measure_volume<unsigned char>(o, "mean 3x3x3, 8 bit", 1, mean_bytes);
  measure_volume<unsigned short>(o, "mean 3x3x3, 16 bit", 1, mean_shorts);
  measure_volume<float>(o, "mean 3x3x3, float", 1, mean_floats);
  measure_volume<unsigned short>(o, "maximum 3x3x3, 16 bit", 1, max_3);
  measure_volume<unsigned short>(o, "maximum 5x5x5, 16 bit", 2, max_5);
  measure_volume<unsigned char>(o, "median 3x3x3, 8 bit", 1, median_3);
  measure_volume<Vector3>(o, "mean 3x3x3, structures", 1, smooth_vectors);
  {
    const int w = o.width, h = o.height, d = o.images;
    const std::size_t count = static_cast<std::size_t>(w) * h * d;
    std::vector<float> a = pixels_of<float>(count), b = a;
    measure(o, "diffusion, 10 steps", 4 * count, 4 * std::size_t(w - 2) * (h - 2) * (d - 2), a,
            [&] { diffusion(a.data(), b.data(), w, h, d, 10); });
  }
  {
    // Frames of 1920x1080, if the volumes have their usual size.
    constexpr int kFrames = 16;
    const int w = o.width == 259 ? 1920 : o.width, h = o.width == 259 ? 1080 : o.height;
    const std::size_t frame = static_cast<std::size_t>(w) * h;
    std::vector<unsigned char> in = pixels_of<unsigned char>(frame * (kFrames + 4)),
                               out(frame * kFrames);
    Frames<unsigned char> from(in, w, h, kFrames + 4), to(out, w, h, kFrames);
    measure(o, "median of 5 frames", in.size(), out.size(), out,
            [&] { median_of_frames(from.slices.data() + 2, to.slices.data(), w, h, kFrames); });
  }
  return 0;
}

}  // namespace figures

int main(int argc, char **argv) {
  return figures::run_volumes(argc, argv);
}
