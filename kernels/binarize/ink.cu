// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which pixels are ink. A thread processes a word of samples, and some neighbouring lanes
// put their bits together.
#include "kernels/base/launch.cuh"
#include "kernels/binarize/darkness.cuh"
#include "kernels/binarize/planes.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 128;
constexpr int kStrip = 8;  // rows of a thread

/// Samples of a word, each in a half of a register: every second one in each of two registers, or
/// both in one.
template <typename T>
__device__ unsigned spread(unsigned word, int part) {
  return sizeof(T) == 1 ? word >> 8 * part & 0x00ff00ff : word;
}
/// One bit for each sample, from masks of the parts.
template <typename T>
__device__ unsigned bits_of(const unsigned (&masks)[Packed<T>::kRegisters]) {
  if constexpr (sizeof(T) == 1)
    return (masks[0] & 1) | (masks[1] & 2) | (masks[0] >> 16 & 4) | (masks[1] >> 16 & 8);
  else
    return (masks[0] & 1) | (masks[0] >> 16 & 2);
}

/// The bits of 32 pixels from those of the samples of neighbouring lanes.
template <typename T>
__device__ std::uint32_t gather(unsigned bits) {
  constexpr int kSamples = Packed<T>::kSamples, kLanes = 32 / kSamples;
  std::uint32_t word = bits << kSamples * (threadIdx.x % kLanes);
#pragma unroll
  for (int mask = 1; mask < kLanes; mask *= 2) word |= __shfl_xor_sync(~0u, word, mask);
  return word;
}
template <typename T>
__device__ bool first_lane() {
  return threadIdx.x % (32 / Packed<T>::kSamples) == 0;
}

/// A word of samples and its neighbours in the row.
struct ThreeWords {
  unsigned left, own, right;
};

/// The words before and after those of samples: shifted by one sample.
template <typename T>
__device__ unsigned one_before(const ThreeWords &w) {
  return __funnelshift_r(w.left, w.own, 32 - 8 * sizeof(T));
}
template <typename T>
__device__ unsigned one_after(const ThreeWords &w) {
  return __funnelshift_r(w.own, w.right, 8 * sizeof(T));
}

/// The least of 5 samples around each sample of a word, along the row.
template <typename T>
__device__ Packed<T> least_of_5(const ThreeWords &w) {
  const Smallest least;
  const unsigned two_before = sizeof(T) == 1 ? __funnelshift_r(w.left, w.own, 16) : w.left;
  const unsigned two_after = sizeof(T) == 1 ? __funnelshift_r(w.own, w.right, 16) : w.right;
  const Packed<T> a = least(Packed<T>::of(one_before<T>(w)), Packed<T>::of(one_after<T>(w)));
  const Packed<T> b = least(Packed<T>::of(two_before), Packed<T>::of(two_after));
  return least(Packed<T>::of(w.own), least(a, b));
}

/// Calls f(y, word, word of least darknesses of 5x5 pixels) for the rows of a strip. All lanes of
/// the warp call it.
/// @param wanted  whether the least darknesses matter if these are the largest of the rows; if not,
///                f gets 0 for them
template <typename T, typename Wanted, typename F>
__device__ void walk_least(const Plane<T> &darkness, int x, int begin, const Wanted &wanted,
                           const F &f) {
  ThreeWords words[kStrip + 4];
#pragma unroll
  for (int r = 0; r < kStrip + 4; ++r) {
    const T *const row = darkness.row(min(max(begin - 2 + r, 0), darkness.height - 1));
    const auto *const word = reinterpret_cast<const unsigned *>(row + x);
    words[r] = {word[-1], word[0], word[1]};
  }
  Packed<T> darkest = Packed<T>::of(words[2].own);
#pragma unroll
  for (int r = 1; r < kStrip; ++r) darkest = Largest()(darkest, Packed<T>::of(words[r + 2].own));
  if (!__any_sync(~0u, wanted(darkest.word()))) {
#pragma unroll
    for (int r = 0; r < kStrip; ++r)
      if (begin + r < darkness.height) f(begin + r, words[r + 2].own, 0);
    return;
  }
  const Smallest least;
  Packed<T> rows[kStrip + 4];
#pragma unroll
  for (int r = 0; r < kStrip + 4; ++r) rows[r] = least_of_5<T>(words[r]);
#pragma unroll
  for (int r = 0; r < kStrip; ++r) {
    const Packed<T> four = least(least(rows[r], rows[r + 1]), least(rows[r + 2], rows[r + 3]));
    if (begin + r < darkness.height)
      f(begin + r, words[r + 2].own, least(four, rows[r + 4]).word());
  }
}

/// The bits of the last word of a row that are pixels.
__device__ std::uint32_t pixels_of(int i, int width) {
  return width - 32 * i >= 32 ? ~0u : (1u << (width - 32 * i)) - 1;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    coarse_ink_kernel(const RoundPlanes<T> planes, const DeviceBits ink) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const unsigned level =
      (plain_level(numbers.threshold[0], numbers.deviation[0]) + 1) * 0x00010001u;
  const int x = (blockIdx.x * kThreads + threadIdx.x) * Packed<T>::kSamples;
  const int begin = blockIdx.y * kStrip, i = x / 32;
  const bool blank = numbers.blank;
  // Lanes after the row take part in gather(); they read the padding.
  const int from = min(x, ink.width + kPad - 2 * Packed<T>::kSamples) & -Packed<T>::kSamples;
  const auto ink_of = [&](unsigned dark, unsigned least) {
    unsigned masks[Packed<T>::kRegisters];
#pragma unroll
    for (int k = 0; k < Packed<T>::kRegisters; ++k)
      masks[k] = __vcmpgeu2(2 * spread<T>(dark, k), spread<T>(least, k) + level);
    return bits_of<T>(masks);
  };
  const auto wanted = [&](unsigned dark) { return ink_of(dark, 0) != 0; };
  walk_least(planes.darkness, from, begin, wanted, [&](int y, unsigned dark, unsigned least) {
    const std::uint32_t word = gather<T>(ink_of(dark, least));
    if (first_lane<T>() && i < ink.stride)
      ink.row(y)[i] = blank ? 0 : word & pixels_of(i, ink.width);
  });
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    least_kernel(const RoundPlanes<T> planes, const FinePlanes<T> fine) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (planes.page.numbers->blank) return;
  constexpr int kSamples = Packed<T>::kSamples, kMargin = kMostErosion / 2 - 2;
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * kSamples -
                (kMargin + kSamples - 1) / kSamples * kSamples;
  // Lanes after the row repeat its end.
  const int most = (planes.darkness.width + kMargin + kSamples) & -kSamples;
  const int from = min(x, most);
  const auto always = [](unsigned) { return true; };
  walk_least(planes.darkness, from, blockIdx.y * kStrip, always,
             [&](int y, unsigned, unsigned least) {
               *reinterpret_cast<unsigned *>(fine.least.row(y) + from) = least;
             });
}

/// The word of samples from any column on, in a row with padding.
template <typename T>
__device__ unsigned word_at(const T *row, int x) {
  constexpr int kSamples = Packed<T>::kSamples;
  const int before = x & (kSamples - 1);
  const auto *const words = reinterpret_cast<const unsigned *>(row + x - before);
  return before ? __funnelshift_r(words[0], words[1], before * 8 * sizeof(T)) : words[0];
}

/// The least darknesses of windows e x e, from those of 5x5.
template <typename T>
__device__ unsigned least_of_window(const Plane<T> &least, int x, int y, int erosion) {
  if (erosion == 5) return *reinterpret_cast<const unsigned *>(least.row(y) + x);
  const int reach = erosion / 2 - 2, taps = (erosion + 4) / 5;
  Packed<T> result = Packed<T>::highest();
  for (int i = 0; i < taps; ++i) {
    const T *const row = least.row(min(max(y + min(5 * i - reach, reach), 0), least.height - 1));
    for (int k = 0; k < taps; ++k)
      result = Smallest()(result, Packed<T>::of(word_at(row, x + min(5 * k - reach, reach))));
  }
  return result.word();
}

/// Sums over 3x3 darknesses: of every second sample in each half of two registers, or of one sample
/// in each.
template <typename T>
struct NineSums {
  unsigned of[2] = {};

  __device__ NineSums(const Plane<T> &darkness, int x, int y) {
#pragma unroll
    for (int r = -1; r <= 1; ++r) {
      const T *const row = darkness.row(min(max(y + r, 0), darkness.height - 1));
      const auto *const word = reinterpret_cast<const unsigned *>(row + x);
      const ThreeWords w{word[-1], word[0], word[1]};
      const unsigned before = one_before<T>(w), after = one_after<T>(w);
      if constexpr (sizeof(T) == 1) {
        const unsigned both = spread<T>(w.own, 0) + spread<T>(w.own, 1);
        of[0] += spread<T>(before, 0) + both;
        of[1] += both + spread<T>(after, 1);
      } else {
        const unsigned both = (w.own & 0xffff) + (w.own >> 16);
        of[0] += (before & 0xffff) + both;
        of[1] += both + (after >> 16);
      }
    }
  }
  __device__ unsigned sample(int k) const {
    return sizeof(T) == 1 ? of[k % 2] >> 16 * (k / 2) & 0xffff : of[k];
  }
};

/// Which ink pixels of a word are cores.
template <typename T>
__device__ unsigned cores_of(const Plane<T> &darkness, const LocalLevels &levels, int x, int y,
                             unsigned dark, unsigned least, unsigned ink) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  constexpr unsigned kMask = (1u << kBits) - 1;
  const NineSums<T> sums(darkness, x, y);
  unsigned cores = 0;
#pragma unroll
  for (int k = 0; k < kSamples; ++k)
    if (ink >> k & 1 &&
        levels.is_core(dark >> kBits * k & kMask, least >> kBits * k & kMask, sums.sample(k)))
      cores |= 1u << k;
  return cores;
}

/// A thread processes a word of samples in four rows, which have the same levels.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    fine_ink_kernel(const RoundPlanes<T> planes, const FinePlanes<T> fine) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  if (numbers.blank) return;
  const DeviceBits &ink = fine.ink;
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * Packed<T>::kSamples;
  const int i = x / 32, quarter_y = blockIdx.y;
  const int from = min(x, ink.width - 1) & -Packed<T>::kSamples;
  unsigned dark[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int y = min(4 * quarter_y + r, ink.height - 1);
    dark[r] = *reinterpret_cast<const unsigned *>(planes.darkness.row(y) + from);
  }
  const LocalLevels levels =
      LocalLevels::of(numbers.threshold[1], numbers.deviation[1], numbers.clear[1],
                      fine.darkest.row(quarter_y)[from / 4]);
  const unsigned level = (levels.ink + 1) * 0x00010001u;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int y = 4 * quarter_y + r;
    if (y >= ink.height) return;
    const auto ink_with = [&](unsigned least) {
      unsigned masks[Packed<T>::kRegisters];
#pragma unroll
      for (int k = 0; k < Packed<T>::kRegisters; ++k)
        masks[k] = __vcmpgeu2(2 * spread<T>(dark[r], k), spread<T>(least, k) + level);
      return bits_of<T>(masks);
    };
    unsigned bits = x < ink.width ? ink_with(0) : 0, cores = 0;
    if (bits) {
      const unsigned least = least_of_window(fine.least, x, y, numbers.sizes.erosion);
      bits = ink_with(least);
      if (bits && fine.cores.words)
        cores = cores_of(planes.darkness, levels, x, y, dark[r], least, bits);
    }
    const std::uint32_t word = gather<T>(bits);
    const std::uint32_t core_word = fine.cores.words ? gather<T>(cores) : 0;
    if (!first_lane<T>() || i >= ink.stride) continue;
    const std::uint32_t pixels = pixels_of(i, ink.width);
    ink.row(y)[i] = word & pixels;
    if (fine.cores.words) fine.cores.row(y)[i] = core_word & pixels;
  }
}

LaunchShape shape_of(Cuda &cuda, std::int64_t words, int rows) {
  LaunchShape shape{dim3(divide_up(words, kThreads), rows), kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  return shape;
}
/// Words of samples in a row, as many as whole words of bits have.
template <typename T>
int words_of(int width) {
  return DeviceBits::stride_of(width) * 32 / Packed<T>::kSamples;
}

}  // namespace

template <typename T>
void queue_coarse_ink(Cuda &cuda, const RoundPlanes<T> &planes, const DeviceBits &ink) {
  launch(cuda, coarse_ink_kernel<T>,
         shape_of(cuda, words_of<T>(ink.width), divide_up(ink.height, kStrip)), planes, ink);
}
template void queue_coarse_ink(Cuda &, const RoundPlanes<std::uint8_t> &, const DeviceBits &);
template void queue_coarse_ink(Cuda &, const RoundPlanes<std::uint16_t> &, const DeviceBits &);

template <typename T>
void queue_least(Cuda &cuda, const RoundPlanes<T> &planes, const FinePlanes<T> &fine) {
  launch(cuda, least_kernel<T>,
         shape_of(cuda, divide_up(planes.darkness.width + kPad, Packed<T>::kSamples),
                  divide_up(planes.darkness.height, kStrip)),
         planes, fine);
}
template void queue_least(Cuda &, const RoundPlanes<std::uint8_t> &,
                          const FinePlanes<std::uint8_t> &);
template void queue_least(Cuda &, const RoundPlanes<std::uint16_t> &,
                          const FinePlanes<std::uint16_t> &);

template <typename T>
void queue_fine_ink(Cuda &cuda, const RoundPlanes<T> &planes, const FinePlanes<T> &fine) {
  launch(cuda, fine_ink_kernel<T>, shape_of(cuda, words_of<T>(fine.ink.width), fine.darkest.height),
         planes, fine);
}
template void queue_fine_ink(Cuda &, const RoundPlanes<std::uint8_t> &,
                             const FinePlanes<std::uint8_t> &);
template void queue_fine_ink(Cuda &, const RoundPlanes<std::uint16_t> &,
                             const FinePlanes<std::uint16_t> &);

}  // namespace cudascan::binarize
