// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Extrema of sixteen neighbouring windows, by one thread.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/packed_samples.cuh"

namespace cudascan::swo::extremes {

/// Like Packed::of(), but 8-bit samples are in the upper bytes of both registers. A multiplication
/// uses less than a mask of the unit that also computes minima.
template <typename T>
__device__ Packed<T> spread(unsigned word) {
  if constexpr (sizeof(T) == 1)
    return {word * 256, word};
  else
    return {word};
}
/// The inverse of spread().
template <typename T>
__device__ unsigned joined(const Packed<T> &p) {
  if constexpr (sizeof(T) == 1)
    return __byte_perm(p.part[0], p.part[1], 0x7351);
  else
    return p.part[0];
}
/// Spread samples that do not change an extremum.
template <typename Op, typename T>
__device__ Packed<T> neutral() {
  return spread<T>(Op::template neutral<T>().word());
}

template <typename T>
__device__ Packed<T> three(Smallest, Packed<T> a, const Packed<T> &b, const Packed<T> &c) {
#pragma unroll
  for (int i = 0; i < Packed<T>::kRegisters; ++i)
    a.part[i] = __vimin3_u16x2(a.part[i], b.part[i], c.part[i]);
  return a;
}
template <typename T>
__device__ Packed<T> three(Largest, Packed<T> a, const Packed<T> &b, const Packed<T> &c) {
#pragma unroll
  for (int i = 0; i < Packed<T>::kRegisters; ++i)
    a.part[i] = __vimax3_u16x2(a.part[i], b.part[i], c.part[i]);
  return a;
}

/// Both extrema of samples, and the operator that computes both.
template <typename T>
struct MinMax {
  Packed<T> smallest, largest;
};
struct Both {
  template <typename T>
  __device__ MinMax<T> operator()(const MinMax<T> &a, const MinMax<T> &b) const {
    return {Smallest{}(a.smallest, b.smallest), Largest{}(a.largest, b.largest)};
  }
};
template <typename T>
__device__ MinMax<T> three(Both, const MinMax<T> &a, const MinMax<T> &b, const MinMax<T> &c) {
  return {three(Smallest{}, a.smallest, b.smallest, c.smallest),
          three(Largest{}, a.largest, b.largest, c.largest)};
}

/// Lets a constant outside the image count.
/// @param outside  the constant, in all samples of a word
/// @param kept     the bits of samples whose windows are inside the image
template <typename Op, typename T>
__device__ void count_constant(Packed<T> &p, unsigned outside, unsigned kept) {
  const unsigned neutral = Op::template neutral<T>().word();
  p = Op{}(p, Packed<T>::of((outside & ~kept) | (neutral & kept)));
}
template <typename T>
__device__ void count_constant(MinMax<T> &p, unsigned outside, unsigned kept) {
  count_constant<Smallest>(p.smallest, outside, kept);
  count_constant<Largest>(p.largest, outside, kept);
}

/// Windows that a thread computes at a time.
inline constexpr int kWindows = 16;
/// The extrema of w neighbours, at most 7, from each of n on.
/// @tparam P  Packed or MinMax
template <int w, typename Op, typename P, int n>
__device__ void extrema_of(P (&p)[n]) {
  if constexpr (w >= 3) {
#pragma unroll
    for (int i = 0; i + 2 < n; ++i) p[i] = three(Op{}, p[i], p[i + 1], p[i + 2]);
    if constexpr (w == 5) {
#pragma unroll
      for (int i = 0; i + 4 < n; ++i) p[i] = Op{}(p[i], p[i + 2]);
    } else if constexpr (w == 7) {
#pragma unroll
      for (int i = 0; i + 6 < n; ++i) p[i] = three(Op{}, p[i], p[i + 2], p[i + 4]);
    }
  }
}

/// Extrema of two neighbouring windows, from the first row of one, the rows that both contain, in
/// two parts, and the last row of the other.
template <typename Op, typename T>
__device__ void two_windows(const Packed<T> &first, const Packed<T> &begin, const Packed<T> &end,
                            const Packed<T> &last, Packed<T> *result) {
  result[0] = three(Op{}, first, begin, end);
  result[1] = three(Op{}, begin, end, last);
}

/// The extrema of w neighbours, 9 to kWindows, from each of kWindows on. They begin within these
/// and end after them: by van Herk, see ColumnStrip.
template <int w, typename Op, typename T>
__device__ void extrema_by_halves(const Packed<T> (&p)[kWindows + w - 1],
                                  Packed<T> (&result)[kWindows]) {
  constexpr int kHalf = kWindows / 2;
#pragma unroll
  for (int from = 0; from < kWindows; from += kHalf) {
    const Packed<T> *const r = &p[from];
    Packed<T> begin[kHalf / 2], end = r[kHalf];
#pragma unroll
    for (int k = kHalf / 2 - 1; k >= 0; --k)
      begin[k] =
          k == kHalf / 2 - 1 ? r[2 * k + 1] : three(Op{}, r[2 * k + 1], r[2 * k + 2], begin[k + 1]);
#pragma unroll
    for (int i = kHalf + 1; i < w - 1; i += 2) end = three(Op{}, end, r[i], r[i + 1]);
#pragma unroll
    for (int k = 0; k < kHalf / 2; ++k) {
      if (k > 0) end = three(Op{}, end, r[2 * k + w - 2], r[2 * k + w - 1]);
      two_windows<Op>(r[2 * k], begin[k], end, r[2 * k + w], &result[from + 2 * k]);
    }
  }
}

/// Largest side of a window whose rows one thread reads, and of windows with special code that
/// needs fewer registers.
inline constexpr int kMostInOneGo = 15, kSmall = 5, kTiny = 3;
/// Extrema of windows of `side` samples that begin at samples 0 to 15 of those that load.template
/// at<offset>(i) returns, where offset is -side / 2 modulo kSamples.
/// @tparam most  the largest side: kTiny, kSmall or kMostInOneGo
template <int most, typename Op, typename T, typename Load>
__device__ void slide(int side, const Load &load, Packed<T> (&result)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples;
  const auto fixed = [&]<int w>() {
    Packed<T> p[kWindows + w - 1];
#pragma unroll
    for (int i = 0; i < kWindows + w - 1; ++i)
      p[i] = load.template at<(kSamples - w / 2 % kSamples) % kSamples>(i);
    if constexpr (w >= 9) {
      extrema_by_halves<w, Op>(p, result);
    } else {
      extrema_of<w, Op>(p);
#pragma unroll
      for (int i = 0; i < kWindows; ++i) result[i] = p[i];
    }
  };
  switch (side) {
    case 1:
      return fixed.template operator()<1>();
    case 3:
      return fixed.template operator()<3>();
    default:
      break;
  }
  if constexpr (most == kSmall) return fixed.template operator()<5>();
  if constexpr (most > kSmall) {
    switch (side) {
      case 5:
        return fixed.template operator()<5>();
      case 7:
        return fixed.template operator()<7>();
      case 9:
        return fixed.template operator()<9>();
      case 11:
        return fixed.template operator()<11>();
      case 13:
        return fixed.template operator()<13>();
      default:
        return fixed.template operator()<kMostInOneGo>();
    }
  }
}

/// Transposes a square of samples: sample i of word k becomes sample k of word i.
template <typename T>
__device__ void turn(const Packed<T> *in, unsigned (&out)[Packed<T>::kSamples]) {
  if constexpr (sizeof(T) == 1) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const unsigned a = __byte_perm(in[0].part[part], in[1].part[part], 0x7351),
                     b = __byte_perm(in[2].part[part], in[3].part[part], 0x7351);
      out[part] = __byte_perm(a, b, 0x5410);
      out[part + 2] = __byte_perm(a, b, 0x7632);
    }
  } else {
    out[0] = __byte_perm(in[0].part[0], in[1].part[0], 0x5410);
    out[1] = __byte_perm(in[0].part[0], in[1].part[0], 0x7632);
  }
}

}  // namespace cudascan::swo::extremes
