// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A warp takes 256 columns of a strip of rows, eight neighbouring columns a lane, and needs no other. With
// C(x) the sum of column x over the height of the window, and r half its width, the window of column x has
//
//     S(x) = S(x - 1) + D(x),  D(x) = C(x + r) - C(x - r - 1).
//
// Every lane keeps the D of its columns in registers: a step down adds or takes off four samples, those of
// two columns in the row that enters the window and in the row that leaves it. S is then a prefix sum of D,
// over the lane's columns and by a scan of the warp, from the window in front of the warp's first column,
// whose columns the lanes share between them. So a pixel costs the same whatever the window, except for
// the rows that fill the window at the top of a strip; where those are many, the warps of a block, whose
// strips lie one below another, fill one window together and derive the others from it.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda_check.cuh"
#include "kernels/nick_baseline.cuh"
#include "kernels/nick_baseline.h"
#include "kernels/nick_filter.cuh"
#include "kernels/nick_strip.cuh"

namespace cudascan {
namespace {

using nick::deviation;
using nick::excess;
using nick::Filter;
using nick::Formula;
using nick::kColumns;
using nick::LaneSums;
using nick::reciprocal_approx;
using nick::StripJob;
using nick::widen;
using nick::Window;
using nick::WolfStatistics;

/// Warps of a block; the sums of 16 bit take too many registers for two blocks of eight.
template <typename T>
constexpr int kMaxWarps = sizeof(T) == 1 ? 8 : 12;

static_assert(alignof(WolfStatistics) >= alignof(unsigned long long));

enum class Task { binary, surface, wolf_statistics };

/// Everything that is the same for all threads of a launch.
template <typename T>
struct Job : StripJob<T> {
  void *out;
  std::ptrdiff_t out_stride;
  bool out_is_wide;            // 16-bit samples
  bool out_aligned;            // eight samples can be stored at once
  std::uint32_t black, white;  // in every byte or 16-bit half
  Formula formula;
  Filter filter;
  const WolfStatistics *wolf;       // of the whole image, unless this launch finds them
  WolfStatistics *wolf_partial;     // one per block, for Task::wolf_statistics
  unsigned long long *black_count;  // or nullptr
};

// ---- The decision --------------------------------------------------------------------------------

/// The exact decision, out of line: it is rare.
__device__ __noinline__ bool exactly_above(unsigned p, Window w, const Formula &f) {
  return nick::above(2 * static_cast<std::int64_t>(p), w, f);
}

__device__ __noinline__ std::uint32_t exact_threshold(Window w, const Formula &f) {
  return nick::rounded_threshold(nick::estimate(w, f), w, f);
}

/// The sign bits of four numbers, each spread over a byte.
__device__ unsigned negative_bytes(const float (&u)[kColumns], int first) {
  unsigned pair[2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    asm("prmt.b32 %0, %1, %2, 0x00fb;"
        : "=r"(pair[i])
        : "r"(__float_as_uint(u[first + 2 * i])), "r"(__float_as_uint(u[first + 2 * i + 1])));
  return __byte_perm(pair[0], pair[1], 0x5410);
}

__device__ __noinline__ bool exactly_busier(Window a, const Window &b) {
  return nick::busier(a, b);
}

__device__ void merge(WolfStatistics &to, const WolfStatistics &from) {
  to.minimum = min(to.minimum, from.minimum);
  if (exactly_busier(from.busiest, to.busiest)) to.busiest = from.busiest;
}

/// Merges the statistics of a block's threads into the first.
__device__ void combine(WolfStatistics *all, int n) {
  for (int half = (n + 1) / 2; n > 1; n = half, half = (n + 1) / 2) {
    if (threadIdx.x + half < n) merge(all[threadIdx.x], all[threadIdx.x + half]);
    __syncthreads();
  }
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
  if (job.out_is_wide) {
    unsigned words[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      words[k] = paint(job, __byte_perm(whites[k / 2], 0, k % 2 ? 0x3322 : 0x1100));
    if (valid >= kColumns && job.out_aligned)
      *reinterpret_cast<uint4 *>(to) = {words[0], words[1], words[2], words[3]};
    else
      for (int j = 0; j < valid; ++j)
        reinterpret_cast<std::uint16_t *>(to)[j] = words[j / 2] >> 16 * (j % 2);
  } else {
    for (int j = 0; j < valid; ++j) to[j] = paint(job, whites[j / 4]) >> 8 * (j % 4);
  }
}

// ---- The kernel ----------------------------------------------------------------------------------

template <typename T, typename SumS, typename SumQ, Task task, NickMethod method>
__global__ void __launch_bounds__(32 * kMaxWarps<T>, sizeof(T) == 1 ? 2 : 1)
    nick_kernel(const __grid_constant__ Job<T> job) {
  using Strip = nick::Strip<T>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ std::uint64_t barriers[kMaxWarps<T>][2];
  __shared__ __align__(16) unsigned columns_shared[kStageColumns];  // of the image, in every window
  __shared__ Formula formula;
  __shared__ Filter filter_shared;

  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int width = job.in.plane.width, height = job.in.plane.height;
  const int tile = blockIdx.x * kStageColumns;
  const int x0 = tile + kColumns * lane;
  const int stage_bytes = Strip::Stage::bytes(job.pieces);

  Strip strip(job, memory + warp * stage_bytes, barriers[warp], tile,
              reinterpret_cast<typename Strip::Record *>(memory + blockDim.x / 32 * stage_bytes));
  for (int i = t; i < kStageColumns; i += blockDim.x)
    columns_shared[i] = max(min(tile + i + job.rx, width - 1) - max(tile + i - job.rx, 0) + 1, 1);
  if (t == 0) {
    formula = job.formula;
    filter_shared = job.filter;
    if (job.wolf) {
      formula.busiest = job.wolf->busiest;
      formula.minimum = job.wolf->minimum;
      filter_shared = Filter(formula);
    }
  }
  __syncthreads();
  const Filter filter = filter_shared;
  strip.fill();

  const int window_width = 2 * job.rx + 1;
  const bool inner = tile >= job.rx && tile + kStageColumns - 1 + job.rx < width;
  const auto window_columns = [&](int j) { return columns_shared[kColumns * lane + j]; };
  const int valid = min(width - x0, kColumns);
  unsigned blacks = 0;
  WolfStatistics statistics{{0, 0, 1}, 0xffffffff};
  float most = 0;  // about the largest deviation so far
  const int out_sample = job.out_is_wide ? 2 : 1;
  unsigned char *out =
      static_cast<unsigned char *>(job.out) + strip.begin() * job.out_stride + x0 * out_sample;
  const bool store_at_once = x0 + kColumns <= width && job.out_aligned && !job.out_is_wide;

  const auto do_row = [&](int y, int i) {
    const auto p = strip.row(i);
    SumS sum[kColumns];
    SumQ squares[kColumns];
    SumS s = 0;
    SumQ q = 0;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      s += widen<SumS>(strip.sums.sum[j]);
      q += widen<SumQ>(strip.sums.squares[j]);
    }
    s = inclusive_scan(s) - s + warp_sum(widen<SumS>(strip.sums.sum[kColumns]));
    q = inclusive_scan(q) - q + warp_sum(widen<SumQ>(strip.sums.squares[kColumns]));
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      sum[j] = s += widen<SumS>(strip.sums.sum[j]);
      q += widen<SumQ>(strip.sums.squares[j]);
      squares[j] = LaneSums<T>::true_squares(s, q);
    }
    strip.step(i);
    if (valid <= 0) return;

    const int window_rows = min(y + job.ry, height - 1) - max(y - job.ry, 0) + 1;
    float u[kColumns];  // (T - p) N, or the deviation
    bool near = false;
    const auto estimate = [&]<bool whole>() {
      const unsigned n_whole = window_rows * window_width;
      const float nf_whole = n_whole;
      const float inverse_whole = reciprocal_approx(nf_whole);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const unsigned n = whole ? n_whole : window_rows * window_columns(j);
        const float nf = whole ? nf_whole : n;
        const float inverse_n = whole ? inverse_whole : reciprocal_approx(nf);
        if constexpr (task == Task::wolf_statistics) {
          u[j] = deviation(sum[j], squares[j], n, nf, inverse_n) * inverse_n;
          near |= u[j] >= most;
        } else {
          u[j] = excess<method>(sum[j], squares[j], p[j], p.as_float(j), n, nf, inverse_n, filter);
          if constexpr (task == Task::binary) near |= fabsf(u[j]) <= filter.tolerance * nf;
        }
      }
    };
    if (inner)
      estimate.template operator()<true>();
    else
      estimate.template operator()<false>();
    (void)near;  // a surface does not ask
    const auto window = [&](int j) {
      return Window{sum[j], squares[j],
                    static_cast<std::uint32_t>(window_rows * window_columns(j))};
    };

    if constexpr (task == Task::binary) {
      if (near) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          if (const Window w = window(j); fabsf(u[j]) <= filter.tolerance * w.n)
            u[j] = exactly_above(p[j], w, formula) ? -1 : 1;
      }
      const unsigned whites[2] = {negative_bytes(u, 0), negative_bytes(u, 4)};
      if (job.black_count) {
        const std::uint64_t mask = std::uint64_t{whites[1]} << 32 | whites[0];
        const int above = __popcll(mask << 8 * (kColumns - valid)) / 8;
        blacks += job.white ? valid - above : above;
      }
      if (store_at_once)
        *reinterpret_cast<uint2 *>(out) = {paint(job, whites[0]), paint(job, whites[1])};
      else
        store_binary(job, out, valid, whites);
      out += job.out_stride;
    } else if constexpr (task == Task::surface) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (j >= valid) break;
        const Window w = window(j);
        const float threshold = fmaf(u[j], reciprocal_approx(w.n), p[j]);
        const float rounded = floorf(threshold + 0.5f);
        const bool sure = fabsf(threshold - rounded) < 0.5f - filter.tolerance;
        const float limited = fminf(fmaxf(rounded, 0), formula.maximum);
        store_sample(job, x0 + j, y,
                     sure ? static_cast<std::uint32_t>(limited) : exact_threshold(w, formula));
      }
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (j < valid) statistics.minimum = min(statistics.minimum, p[j]);
        if (near && j < valid && u[j] >= most) {
          if (const Window w = window(j); exactly_busier(w, statistics.busiest)) {
            statistics.busiest = w;
            most = u[j] * (1 - 1e-4f) - 1e-3f;
          }
        }
      }
    }
  };
#pragma unroll 1
  for (int y = strip.begin(); y < strip.end(); y += Strip::kRows) {
    strip.wait();
#pragma unroll 1
    for (int i = 0; i < Strip::kRows && y + i < strip.end(); ++i) do_row(y + i, i);
    strip.release();
  }

  if constexpr (task == Task::wolf_statistics) {
    __syncthreads();
    auto *all = reinterpret_cast<WolfStatistics *>(memory);
    all[t] = statistics;
    __syncthreads();
    combine(all, blockDim.x);
    if (t == 0) job.wolf_partial[blockIdx.y * gridDim.x + blockIdx.x] = all[0];
  } else if (job.black_count) {
    const unsigned count = warp_sum(blacks);
    if (lane == 0 && count) atomicAdd(job.black_count, count);
  }
}

/// Combines the statistics of all blocks into the first.
__global__ void wolf_kernel(WolfStatistics *partial, int n) {
  __shared__ WolfStatistics all[256];
  WolfStatistics mine = partial[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) merge(mine, partial[i]);
  all[threadIdx.x] = mine;
  __syncthreads();
  combine(all, blockDim.x);
  if (threadIdx.x == 0) partial[0] = all[0];
}

// ---- The launch ----------------------------------------------------------------------------------

constexpr int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

constexpr int kLeastRows = 4;  // of a strip
/// Strips in a window from which on the warps of a block fill it together.
constexpr int kManyStrips = 3;

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Queues everything for one image.
template <NickMethod method, typename SumS, typename SumQ, typename T, typename Out>
void launch(Cuda &cuda, Job<T> job, Plane<Out> out, const NickParams &params, NickReport *report) {
  using Strip = nick::Strip<T>;
  const int width = job.in.plane.width, height = job.in.plane.height;
  const int tiles = divide_up(width, kStageColumns);
  job.pieces = Strip::kPieces + 2 * (2 * job.rx / kStageColumns);

  const int memory_limit = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 2048;
  const int warp_bytes =
      Strip::Stage::bytes(job.pieces) + static_cast<int>(sizeof(typename Strip::Record));
  const int warps = std::min(kMaxWarps<T>, memory_limit / warp_bytes);
  const int threads = 32 * warps, shared = warps * warp_bytes;

  const auto configured = [&](auto kernel) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    return kernel;
  };
  const auto binary = configured(nick_kernel<T, SumS, SumQ, Task::binary, method>);
  int resident = 1;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, binary, threads, shared));
  const int strips = std::max(1, cuda.multiprocessors() * std::max(resident, 1) / tiles) * warps;
  job.strip_rows = std::max(divide_up(height, strips), kLeastRows);
  job.together = 2 * job.ry + 1 >= kManyStrips * job.strip_rows;
  const dim3 grid(tiles, divide_up(height, warps * job.strip_rows));
  const int blocks = static_cast<int>(grid.x * grid.y);
  constexpr bool wolf = method == NickMethod::wolf;

  // Scratch memory: the statistics of the blocks, then the count of black pixels.
  auto *statistics = static_cast<WolfStatistics *>(
      cuda.scratch(blocks * sizeof(WolfStatistics) + sizeof(unsigned long long)));
  auto *black_count = reinterpret_cast<unsigned long long *>(statistics + blocks);
  if (report) {
    job.black_count = black_count;
    CUDA_CHECK(cudaMemsetAsync(black_count, 0, sizeof *black_count, cuda.stream()));
  }

  if constexpr (wolf) {
    job.wolf_partial = statistics;
    configured(nick_kernel<T, SumS, SumQ, Task::wolf_statistics,
                           NickMethod::wolf>)<<<grid, threads, shared, cuda.stream()>>>(job);
    wolf_kernel<<<1, 256, 0, cuda.stream()>>>(statistics, blocks);
    job.wolf = statistics;
  }
  // The single precision of the decision wants a window of two pixels at least.
  if (params.algorithm != NickAlgorithm::automatic || (width == 1 && height == 1))
    nick::run_baseline(cuda, job.in.plane, out, params, job.wolf, job.black_count);
  else if (params.output == NickOutput::threshold)
    configured(nick_kernel<T, SumS, SumQ, Task::surface,
                           method>)<<<grid, threads, shared, cuda.stream()>>>(job);
  else
    binary<<<grid, threads, shared, cuda.stream()>>>(job);
  CUDA_CHECK(cudaGetLastError());

  if (report) {
    auto *host_count = static_cast<unsigned long long *>(cuda.report_memory(sizeof *black_count));
    CUDA_CHECK(cudaMemcpyAsync(host_count, black_count, sizeof *black_count, cudaMemcpyDeviceToHost,
                               cuda.stream()));
    const double pixels = static_cast<double>(width) * height;
    const bool counted = params.output == NickOutput::binary;
    cuda.on_complete([=] { report->black_ratio = counted ? *host_count / pixels : 0; });
  }
}

template <typename T, typename Out>
void run_all(Cuda &cuda, Plane<const T> in, Plane<Out> out, const NickParams &p,
             NickReport *report) {
  nick::check_call(p, in.width, in.height, out.width, out.height, sizeof(T) == sizeof(Out));
  const auto go = [&]<typename SumS, typename SumQ>() {
    Job<T> job{};
    job.in = stage_plane(in);
    job.out = out.data;
    job.out_stride = out.stride;
    job.out_is_wide = sizeof(Out) == 2;
    job.out_aligned =
        (reinterpret_cast<std::uintptr_t>(out.data) | out.stride) % (kColumns * sizeof(Out)) == 0;
    const std::uint32_t white = out.maximum * (sizeof(Out) == 1 ? 0x01010101u : 0x00010001u);
    job.black = p.invert ? white : 0;
    job.white = p.invert ? 0 : white;
    job.rx = nick::window_width(p) / 2;
    job.ry = nick::window_height(p) / 2;
    job.formula = nick::make_formula(p, in.maximum);
    if (p.method != NickMethod::wolf) job.filter = Filter(job.formula);
    switch (p.method) {
      case NickMethod::nick:
        return launch<NickMethod::nick, SumS, SumQ>(cuda, job, out, p, report);
      case NickMethod::niblack:
        return launch<NickMethod::niblack, SumS, SumQ>(cuda, job, out, p, report);
      case NickMethod::sauvola:
        return launch<NickMethod::sauvola, SumS, SumQ>(cuda, job, out, p, report);
      case NickMethod::wolf:
        return launch<NickMethod::wolf, SumS, SumQ>(cuda, job, out, p, report);
      case NickMethod::bradley:
        return launch<NickMethod::bradley, SumS, SumQ>(cuda, job, out, p, report);
      case NickMethod::phansalkar:
        return launch<NickMethod::phansalkar, SumS, SumQ>(cuda, job, out, p, report);
    }
  };
  const std::int64_t area = std::int64_t{nick::window_width(p)} * nick::window_height(p);
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if constexpr (sizeof(T) == 1)  // 255^2 * 257^2 < 2^32
    area <= 257 * 257 ? go.template operator()<U32, U32>() : go.template operator()<U32, U64>();
  else  // 65535 * 2^16 < 2^32
    area <= 65536 ? go.template operator()<U32, U64>() : go.template operator()<U64, U64>();
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const NickParams &params, NickReport *report) {
  run_all(cuda, in, out, params, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const NickParams &params, NickReport *report) {
  run_all(cuda, in, out, params, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const NickParams &params, NickReport *report) {
  run_all(cuda, in, out, params, report);
}

}  // namespace cudascan
