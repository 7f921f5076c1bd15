// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians of square windows of 3 to 9 by networks of minima and maxima, which take the same time
/// whatever the image: columns are sorted once for all windows that they are in, and merged in pairs and
/// more as far as windows share them (Adams, "Fast median filters using separable sorting networks", ACM
/// Trans. Graphics 40(4), 2021). What can no longer become the median is left out early. The networks are
/// Batcher's odd-even merges (Knuth, The Art of Computer Programming 3, 5.3.4), written as recursive
/// templates: the compiler removes what no result needs.
///
/// A register has two samples of 16 bits: that of a row and that of the row below.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/swofilter/cells.cuh"

namespace cudascan::swo {

/// Merges two ascending lists.
template <int m, int n>
__device__ __forceinline__ void merge(const unsigned (&a)[m], const unsigned (&b)[n],
                                      unsigned (&merged)[m + n]);

/// The members of a list at even or odd places.
template <int first, int n>
struct Half {
  static constexpr int kSize = (n + 1 - first) / 2;
  unsigned v[kSize > 0 ? kSize : 1];
  __device__ __forceinline__ explicit Half(const unsigned (&all)[n]) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) v[i] = all[2 * i + first];
  }
};

template <int m, int n>
__device__ __forceinline__ void merge(const unsigned (&a)[m], const unsigned (&b)[n],
                                      unsigned (&merged)[m + n]) {
  if constexpr (m == 1 && n == 1) {
    merged[0] = __vminu2(a[0], b[0]);
    merged[1] = __vmaxu2(a[0], b[0]);
  } else {
    constexpr int kEven = (m + 1) / 2 + (n + 1) / 2, kOdd = m / 2 + n / 2;
    unsigned even[kEven], odd[kOdd];
    merge(Half<0, m>(a).v, Half<0, n>(b).v, even);
    if constexpr (m / 2 == 0) {
      const Half<1, n> only(b);
#pragma unroll
      for (int i = 0; i < kOdd; ++i) odd[i] = only.v[i];
    } else if constexpr (n / 2 == 0) {
      const Half<1, m> only(a);
#pragma unroll
      for (int i = 0; i < kOdd; ++i) odd[i] = only.v[i];
    } else {
      merge(Half<1, m>(a).v, Half<1, n>(b).v, odd);
    }
    merged[0] = even[0];
#pragma unroll
    for (int i = 0; i < kOdd; ++i) {
      if (i + 1 < kEven) {
        merged[2 * i + 1] = __vminu2(odd[i], even[i + 1]);
        merged[2 * i + 2] = __vmaxu2(odd[i], even[i + 1]);
      } else {
        merged[2 * i + 1] = odd[i];
      }
    }
    if constexpr (kEven == kOdd + 2) merged[m + n - 1] = even[kEven - 1];
  }
}

/// Sorts a list.
template <int n>
__device__ __forceinline__ void sort(unsigned (&v)[n]) {
  if constexpr (n > 1) {
    unsigned a[n / 2], b[n - n / 2];
#pragma unroll
    for (int i = 0; i < n; ++i) (i < n / 2 ? a[i] : b[i - n / 2]) = v[i];
    sort(a);
    sort(b);
    merge(a, b, v);
  }
}

/// Ascending samples of a part of the window that are still in question: those below and above them are
/// left out. With `rest` samples to come, number i of n can become number `rank` of all only if
/// i <= rank <= i + rest.
/// @tparam rank  of the result, among these and those to come
/// @tparam rest  samples to come
template <int n, int rank, int rest>
struct Candidates {
  static_assert(rank < n + rest);
  unsigned v[n > 0 ? n : 1];

  /// Takes more samples in.
  template <int m>
  __device__ __forceinline__ auto with(const unsigned (&more)[m]) const {
    constexpr int kLeft = rest - m;
    constexpr int kFirst = rank > kLeft ? rank - kLeft : 0;
    constexpr int kLast = rank < n + m - 1 ? rank : n + m - 1;
    unsigned merged[n + m];
    if constexpr (n == 0) {
#pragma unroll
      for (int i = 0; i < m; ++i) merged[i] = more[i];
    } else {
      merge(v, more, merged);
    }
    Candidates<kLast - kFirst + 1, rank - kFirst, kLeft> next;
#pragma unroll
    for (int i = kFirst; i <= kLast; ++i) next.v[i - kFirst] = merged[i];
    return next;
  }
};

/// Rows of windows that a block does in two's, and the columns that it sorts.
constexpr int kNetworkThreads = 128, kRowPairs = 2, kSorted = 256;

template <int k>
constexpr int kNetworkColumns = kSorted - (k + 3) / 4 * 4;  // of results

template <typename T>
struct NetworkJob {
  Source<T> in;
  Plane<T> out;
  int x0, y0, x1, y1;  // the windows to do; with clip all lie in the image
};

template <typename T, int k>
__global__ void __launch_bounds__(kNetworkThreads)
    network_kernel(const __grid_constant__ NetworkJob<T> job) {
  constexpr int r = k / 2, kRank = k * k / 2;
  constexpr int kColumns = kRowPairs * kSorted, kPairs = kColumns / 2;
  __shared__ unsigned sorted[k][kColumns];
  __shared__ unsigned pairs[2 * k][kPairs];  // of columns 2 i + 1 and 2 i + 2
  const Plane<const T> &in = job.in.plane;
  const int x0 = job.x0 + blockIdx.x * kNetworkColumns<k>, y0 = job.y0 + blockIdx.y * 2 * kRowPairs;

#pragma unroll 1
  for (int c = threadIdx.x; c < kColumns; c += kNetworkThreads) {
    const int x = x0 - r + c % kSorted, y = y0 + c / kSorted * 2 - r;
    const int column = resolve(x, in.width, job.in.border);
    if (column < 0 && job.in.border == SwoFilterBorder::clip) continue;  // nobody needs it
    unsigned rows[k + 1];
    if (column >= 0 && y >= 0 && y + k < in.height) {
      const T *p = in.row(y) + column;
#pragma unroll
      for (int i = 0; i <= k; ++i)
        rows[i] = *reinterpret_cast<const T *>(reinterpret_cast<const unsigned char *>(p) +
                                               i * in.stride);
    } else {
#pragma unroll
      for (int i = 0; i <= k; ++i) {
        const int row = resolve(y + i, in.height, job.in.border);
        rows[i] = row < 0 || column < 0 ? job.in.outside : in.row(row)[column];
      }
    }
    unsigned v[k];
#pragma unroll
    for (int i = 0; i < k; ++i) v[i] = rows[i] | rows[i + 1] << 16;
    sort(v);
#pragma unroll
    for (int i = 0; i < k; ++i) sorted[i][c] = v[i];
  }
  __syncthreads();
  // The last pair of a row of columns would reach into the next.
#pragma unroll 1
  for (int p = threadIdx.x; p < kPairs; p += kNetworkThreads) {
    if (p % (kSorted / 2) == kSorted / 2 - 1) continue;
    unsigned a[k], b[k], merged[2 * k];
#pragma unroll
    for (int i = 0; i < k; ++i) {
      a[i] = sorted[i][2 * p + 1];
      b[i] = sorted[i][2 * p + 2];
    }
    merge(a, b, merged);
#pragma unroll
    for (int i = 0; i < 2 * k; ++i) pairs[i][p] = merged[i];
  }
  __syncthreads();

  // Four neighbouring windows of two rows: columns 0 to k - 1 up to 3 to k + 2 from c on.
  const int c = threadIdx.x % (kSorted / 4) * 4, row_pair = threadIdx.x / (kSorted / 4);
  const int x = x0 + c, y = y0 + 2 * row_pair;
  if (c >= kNetworkColumns<k> || x >= job.x1 || y >= job.y1) return;
  const auto load_pair = [&](int i, unsigned(&v)[2 * k]) {
#pragma unroll
    for (int j = 0; j < 2 * k; ++j) v[j] = pairs[j][row_pair * (kSorted / 2) + c / 2 + i];
  };
  // Columns 3 to k - 1 are in all four; then 1 and 2, or k and k + 1; then one more.
  unsigned result[4];
  const auto common = [&] {
    const Candidates<0, kRank, k * k> none{};
    unsigned v[2 * k];
    if constexpr (k == 3) {
      return none;
    } else {
      load_pair(1, v);
      const auto first = none.with(v);
      if constexpr (k == 5) {
        return first;
      } else {
        load_pair(2, v);
        const auto second = first.with(v);
        if constexpr (k == 7) {
          return second;
        } else {
          load_pair(3, v);
          return second.with(v);
        }
      }
    }
  }();
  const auto finish = [&](int pair, int column, int to) {
    unsigned v[2 * k];
    load_pair(pair, v);
    const auto half = common.with(v);
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      unsigned last[k];
#pragma unroll
      for (int i = 0; i < k; ++i) last[i] = sorted[i][row_pair * kSorted + c + column + side * k];
      result[to + side] = half.with(last).v[0];
    }
  };
  finish(0, 0, 0);
  finish(r, 2, 2);

#pragma unroll
  for (int row = 0; row < 2; ++row) {
    if (y + row >= job.y1) break;
    T *const to = job.out.row(y + row) + x;
    constexpr unsigned kLow = 0x5410, kHigh = 0x7632;
    const unsigned words[2] = {__byte_perm(result[0], result[1], row ? kHigh : kLow),
                               __byte_perm(result[2], result[3], row ? kHigh : kLow)};
    if (x + 4 <= job.x1 && reinterpret_cast<std::uintptr_t>(to) % (4 * sizeof(T)) == 0) {
      if constexpr (sizeof(T) == 1)
        *reinterpret_cast<unsigned *>(to) = __byte_perm(words[0], words[1], 0x6420);
      else
        *reinterpret_cast<uint2 *>(to) = uint2{words[0], words[1]};
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (x + i < job.x1) to[i] = static_cast<T>(words[i / 2] >> (i % 2 * 16));
    }
  }
}

}  // namespace cudascan::swo
