// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which pixels are ink. A thread processes a word of samples in each of some rows, and
// neighbouring lanes put their bits together.
#include "kernels/base/launch.cuh"
#include "kernels/binarize/darkness.cuh"
#include "kernels/binarize/paint.cuh"
#include "kernels/binarize/strips.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 128;

/// Samples of a word, each in a half of a register: every second one in each of two registers, or
/// both in one.
template <typename T>
__device__ unsigned spread(unsigned word, int part) {
  return sizeof(T) == 1 ? word >> 8 * part & 0x00ff00ff : word;
}
/// One bit for each sample of a word whose numbers are at least 0x8000 in the parts.
template <typename T>
__device__ unsigned bits_of(const unsigned (&parts)[Packed<T>::kRegisters]) {
  if constexpr (sizeof(T) == 1) {
    const unsigned both = (parts[0] >> 15 & 0x00010001) | (parts[1] >> 14 & 0x00020002);
    return (both | both >> 14) & 15;
  } else {
    return (parts[0] >> 15 & 1) | (parts[0] >> 30 & 2);
  }
}

/// In each half of a register: what makes a number 0x8000 or more if it is above a level.
/// @param level  below 0x7fff
__device__ unsigned above(int level) {
  return (0x7fff - level) * 0x00010001u;
}
/// A level that is the same for decisions, but not so large that they overflow.
/// @param level  of 2 d - E
template <typename T>
__device__ int limited(int level) {
  return min(level, 2 * kDarkest<T>);
}

/// Which samples of a word are ink of level fast.
/// @param bias  above(the level)
template <typename T>
__device__ unsigned plain_ink_of(unsigned dark, unsigned least, unsigned bias) {
  unsigned parts[Packed<T>::kRegisters];
#pragma unroll
  for (int k = 0; k < Packed<T>::kRegisters; ++k)
    parts[k] = 2 * spread<T>(dark, k) + bias - spread<T>(least, k);
  return bits_of<T>(parts);
}

/// The decisions of the second round in a square of 4x4 pixels.
template <typename T>
class LocalDecision {
 public:
  __device__ LocalDecision(const LocalLevels &levels, const InkWeights &weights)
      : levels_(levels), weights_(weights) {
    levels_.ink = limited<T>(levels.ink);
  }

  /// Which samples of a word are ink.
  __device__ unsigned ink(unsigned dark, unsigned least) const {
    if constexpr (sizeof(T) == 1) {
      unsigned parts[2];
      const unsigned bias = above(16 * levels_.ink);
#pragma unroll
      for (int k = 0; k < 2; ++k)
        parts[k] = 32 * spread<T>(dark, k) + bias - weights_.least * counted(least, k);
      return bits_of<T>(parts);
    } else {
      return levels_.is_ink(weights_, dark & 0xffff, least & 0xffff) |
             levels_.is_ink(weights_, dark >> 16, least >> 16) << 1;
    }
  }
  /// Which samples of a word are cores, if they are ink.
  /// @param sums  of 3x3 darknesses, see SumsOf3
  __device__ unsigned cores(const unsigned (&sums)[2], unsigned dark, unsigned least) const {
    if constexpr (sizeof(T) == 1) {
      unsigned means[2], peaks[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        // 32 sum > 9 x; a sum in both halves, 9 x / 32 without overflow.
        const unsigned x =
            weights_.least * counted(least, k) + weights_.core * levels_.ink * 0x00010001u;
        const unsigned level = 9 * (x >> 5 & 0x07ff07ff) + (9 * (x & 0x001f001f) >> 5 & 0x000f000f);
        means[k] = sums[k] + above(0) - level;
        peaks[k] = spread<T>(dark, k) + above(levels_.peak);
      }
      return bits_of<T>(means) & bits_of<T>(peaks);
    } else {
      return levels_.is_core(weights_, dark & 0xffff, least & 0xffff, static_cast<int>(sums[0])) |
             levels_.is_core(weights_, dark >> 16, least >> 16, static_cast<int>(sums[1])) << 1;
    }
  }

 private:
  __device__ unsigned counted(unsigned least, int k) const {
    return __vminu2(spread<T>(least, k), levels_.most * 0x00010001u);
  }

  LocalLevels levels_;
  const InkWeights &weights_;
};

/// Bits of the samples of a thread, a word of each of kStrip rows: four for each row, from the
/// lowest on.
using StripBits = std::uint32_t;
static_assert(kStrip == 8);

/// From bits of strips to words of 32 pixels: of the lanes that have these pixels, the first has
/// the first row, and so on; of 16-bit samples two lanes have the same.
template <typename T>
__device__ std::uint32_t words_of_rows(StripBits bits) {
  if constexpr (sizeof(T) == 2) {
    const StripBits other = __shfl_xor_sync(~0u, bits, 1);
    bits = threadIdx.x % 2 ? other | bits << 2 : bits | other << 2;
  }
  // Transposes 8 x 8 groups of four bits.
  constexpr int kLanes = sizeof(T);  // that have the same
  const auto step = [&](int distance, std::uint32_t low) {
    const bool second = threadIdx.x / kLanes & distance;
    const StripBits other = __shfl_xor_sync(~0u, bits, distance * kLanes);
    const StripBits moved = second ? other >> 4 * distance : other << 4 * distance;
    const std::uint32_t own = second ? ~low : low;
    bits = (bits & own) | (moved & ~own);
  };
  step(1, 0x0f0f0f0f);
  step(2, 0x00ff00ff);
  step(4, 0x0000ffff);
  return bits;
}

/// Where a thread's samples are.
template <typename T>
struct StripPlace {
  static constexpr int kSamples = Packed<T>::kSamples;
  int x, y;  ///< of the first sample

  __device__ StripPlace()
      : x(static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * kSamples),
        y(static_cast<int>(blockIdx.y) * kStrip) {}
  /// The bits of samples that are inside of a plane.
  __device__ StripBits inside(int width, int height) const {
    const int columns = min(max(width - x, 0), kSamples), rows = min(height - y, kStrip);
    const StripBits all = ((1u << columns) - 1) * 0x11111111;
    return rows == kStrip ? all : all & ((1u << 4 * rows) - 1);
  }
  /// Writes the words of rows.
  __device__ void store(const DeviceBits &to, StripBits bits) const {
    const std::uint32_t word = words_of_rows<T>(bits);
    constexpr int kLanes = sizeof(T);
    const int row = y + static_cast<int>(threadIdx.x) / kLanes % kStrip, i = x / 32;
    if (threadIdx.x % kLanes == 0 && row < to.height && i < to.stride) to.row(row)[i] = word;
  }
};

/// Where decisions go: to bits, or to the result if that has data.
template <typename T, typename Out>
__device__ void put(const InkTarget<Out> &target, const Page &page, const StripPlace<T> &at,
                    StripBits ink) {
  if (!target.out.data) return at.store(target.ink, ink);
#pragma unroll
  for (int r = 0; r < kStrip; ++r)
    if (at.y + r < target.out.height)
      store_white<StripPlace<T>::kSamples>(target.out, at.x, at.y + r, ink >> 4 * r);
  if (target.count) count_ink(page, __popc(ink));
}

/// The column of a lane's word, or one after the row: lanes there take part in shuffles.
template <typename T>
__device__ int column_to_read(int x, int width) {
  return min(x, width + kPad - 2 * Packed<T>::kSamples) & -Packed<T>::kSamples;
}

template <typename T, typename Out>
__global__ void __launch_bounds__(kThreads)
    coarse_ink_kernel(const RoundPlanes<T> planes, const InkTarget<Out> target) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const unsigned bias = above(limited<T>(plain_level(numbers.threshold[0], numbers.deviation[0])));
  const StripPlace<T> at;
  StripBits ink = 0;
  if (!numbers.blank) {
    const int width = planes.darkness.width;
    const StripWords<T> words(planes.darkness, column_to_read<T>(at.x, width), at.y);
    const auto ink_with = [&](const unsigned(&least)[kStrip]) {
      StripBits bits = 0;
#pragma unroll
      for (int r = 0; r < kStrip; ++r)
        bits |= plain_ink_of<T>(words.own(r), least[r], bias) << 4 * r;
      return bits & at.inside(width, planes.darkness.height);
    };
    unsigned least[kStrip] = {};
    ink = ink_with(least);
    if (__any_sync(~0u, ink != 0)) {
      words.least_of_5x5(least);
      ink = ink_with(least);
    }
  }
  put(target, planes.page, at, ink);
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
  const int reach = erosion / 2 - 2, taps = (erosion + 4) / 5;
  Packed<T> result = Packed<T>::highest();
  for (int i = 0; i < taps; ++i) {
    const T *const row = least.row(min(max(y + min(5 * i - reach, reach), 0), least.height - 1));
    for (int k = 0; k < taps; ++k)
      result = Smallest()(result, Packed<T>::of(word_at(row, x + min(5 * k - reach, reach))));
  }
  return result.word();
}

/// Sums of three darknesses along a row, around each sample of a word: of every second sample in
/// each half of two registers, or of one sample in each.
template <typename T>
struct SumsOf3 {
  unsigned of[2];

  __device__ explicit SumsOf3(const ThreeWords &w) {
    const unsigned before = one_before<T>(w), after = one_after<T>(w);
    if constexpr (sizeof(T) == 1) {
      const unsigned both = spread<T>(w.own, 0) + spread<T>(w.own, 1);
      of[0] = spread<T>(before, 0) + both;
      of[1] = both + spread<T>(after, 1);
    } else {
      const unsigned both = (w.own & 0xffff) + (w.own >> 16);
      of[0] = (before & 0xffff) + both;
      of[1] = both + (after >> 16);
    }
  }
};

template <typename T, typename Out>
__global__ void __launch_bounds__(kThreads)
    fine_ink_kernel(const RoundPlanes<T> planes, const FinePlanes<T> fine,
                    const InkTarget<Out> target) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const StripPlace<T> at;
  StripBits ink = 0, cores = 0;
  if (!numbers.blank) {
    const int width = planes.darkness.width, height = planes.darkness.height;
    const int x = column_to_read<T>(at.x, width);
    const int column = min(x, width - 1) / 4, last = fine.around.height - 1;
    // A strip is inside of a row of the sixteenth.
    static_assert(16 % kStrip == 0);
    const int darkest = fine.darkest.row(at.y / 16)[column / 4];
    const auto decision = [&](int i) {
      const int mean = fine.around.row(min(at.y / 4 + i, last))[column];
      return LocalDecision<T>(LocalLevels::of(numbers.threshold[1], numbers.deviation[1],
                                              numbers.clear[1], numbers.weights, darkest, mean),
                              numbers.weights);
    };
    const LocalDecision<T> decisions[] = {decision(0), decision(1)};
    const StripWords<T> words(planes.darkness, x, at.y);
    const auto ink_with = [&](const unsigned(&least)[kStrip]) {
      StripBits bits = 0;
#pragma unroll
      for (int r = 0; r < kStrip; ++r)
        bits |= decisions[r / 4].ink(words.own(r), least[r]) << 4 * r;
      return bits & at.inside(width, height);
    };
    unsigned least[kStrip] = {};
    ink = ink_with(least);
    if (__any_sync(~0u, ink != 0)) {
      if (numbers.sizes.erosion == kFirstErosion) {
        words.least_of_5x5(least);
      } else if (ink) {
#pragma unroll
        for (int r = 0; r < kStrip; ++r)
          if (ink >> 4 * r & 15)
            least[r] = least_of_window(fine.least, x, at.y + r, numbers.sizes.erosion);
      }
      ink &= ink_with(least);
      if (fine.cores.words) {
#pragma unroll
        for (int r = 0; r < kStrip; ++r) {
          const SumsOf3<T> a(words.words[r + 1]), b(words.words[r + 2]), c(words.words[r + 3]);
          unsigned sums[2] = {a.of[0] + b.of[0] + c.of[0], a.of[1] + b.of[1] + c.of[1]};
          if (numbers.weights.has_cells) {
            const unsigned cell = planes.cells.row(min(at.y / 4 + r / 4, last))[column];
            sums[0] = sums[1] = 9 * cell * (sizeof(T) == 1 ? 0x00010001u : 1u);
          }
          cores |= decisions[r / 4].cores(sums, words.own(r), least[r]) << 4 * r;
        }
        cores &= ink;
      }
    }
  }
  put(target, planes.page, at, ink);
  if (fine.cores.words) at.store(fine.cores, cores);
}

template <typename T>
LaunchShape shape_of(Cuda &cuda, int columns, int rows) {
  const int words = divide_up(columns, Packed<T>::kSamples);
  LaunchShape shape{dim3(divide_up(words, kThreads), divide_up(rows, kStrip)), kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  return shape;
}
/// Lanes of whole words of bits.
int columns_of(int width) {
  return DeviceBits::stride_of(width) * 32;
}

}  // namespace

template <typename T, typename Out>
void queue_coarse_ink(Cuda &cuda, const RoundPlanes<T> &planes, const InkTarget<Out> &target) {
  const Plane<T> &d = planes.darkness;
  launch(cuda, coarse_ink_kernel<T, Out>, shape_of<T>(cuda, columns_of(d.width), d.height), planes,
         target);
}

template <typename T, typename Out>
void queue_fine_ink(Cuda &cuda, const RoundPlanes<T> &planes, const FinePlanes<T> &fine,
                    const InkTarget<Out> &target) {
  const Plane<T> &d = planes.darkness;
  launch(cuda, fine_ink_kernel<T, Out>, shape_of<T>(cuda, columns_of(d.width), d.height), planes,
         fine, target);
}

#define INSTANTIATE(T, Out)                                                               \
  template void queue_coarse_ink(Cuda &, const RoundPlanes<T> &, const InkTarget<Out> &); \
  template void queue_fine_ink(Cuda &, const RoundPlanes<T> &, const FinePlanes<T> &,     \
                               const InkTarget<Out> &);
INSTANTIATE(std::uint8_t, std::uint8_t)
INSTANTIATE(std::uint16_t, std::uint8_t)
INSTANTIATE(std::uint16_t, std::uint16_t)

}  // namespace cudascan::binarize
