// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians of square windows of 5 to 9, ranks of 3 to 9, and modes and trimmed means of 3 and 5, by
/// networks of minima and maxima, whose time does not depend on the image. Columns are sorted once
/// for all windows that contain them, and merged in pairs and larger groups as far as windows share
/// them (Adams, "Fast median filters using separable sorting networks", ACM Trans. Graphics 40(4),
/// 2021). Samples that can no longer become the median are dropped early. The networks are
/// Batcher's odd-even merges (Knuth, The Art of Computer Programming 3, 5.3.4), written as
/// recursive templates: the compiler removes what no result needs.
///
/// A register has two samples of 16 bits: one of a row and one of the row below.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/swofilter/rank/band.cuh"
#include "kernels/swofilter/rank/rank.h"
#include "kernels/windowsums/rounding.cuh"

namespace cudascan::swo {

/// Merges two ascending lists.
template <int m, int n>
__device__ __forceinline__ void merge(const unsigned (&a)[m], const unsigned (&b)[n],
                                      unsigned (&merged)[m + n]);

/// The members of a list at even or odd positions.
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

/// Ascending samples of a part of the window that may still be the result; those below and above
/// are dropped. With `rest` more samples to come, number i of n can become number `rank` of all
/// only if i <= rank <= i + rest.
/// @tparam rank  of the result, among these samples and those to come
/// @tparam rest  samples to come
template <int n, int rank, int rest>
struct Candidates {
  static_assert(rank < n + rest);
  unsigned v[n > 0 ? n : 1];

  /// Adds more samples.
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

/// The same list of the lane `distance` below.
template <int n>
__device__ __forceinline__ void from_below(const unsigned (&v)[n], int distance,
                                           unsigned (&of_other)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) of_other[i] = __shfl_up_sync(0xffffffff, v[i], distance);
}

/// The medians of four adjacent windows: of columns 0 to k - 1, up to 3 to k + 2. A lane has sorted
/// the last four of these columns; the columns before are the last ones of the lanes below.
/// @param v  columns k - 1 to k + 2; k is 5, 7 or 9
template <int k>
__device__ __forceinline__ void four_medians(const unsigned (&v)[4][k], unsigned (&result)[4]) {
  // Of this lane: columns k and k + 1; k - 2 and k - 1.
  unsigned last_pair[2 * k], next_pair[2 * k], before[k];
  merge(v[1], v[2], last_pair);
  from_below(v[3], 1, before);
  merge(before, v[0], next_pair);
  // Columns 3 to k - 1 are in all windows; then 1 and 2, or k and k + 1; then one more.
  const auto halves = [&](const auto &common, const unsigned(&first_pair)[2 * k],
                          const unsigned(&column_0)[k], const unsigned(&column_2)[k]) {
    const auto left = common.with(first_pair);
    result[0] = left.with(column_0).v[0];
    result[1] = left.with(v[1]).v[0];
    const auto right = common.with(last_pair);
    result[2] = right.with(column_2).v[0];
    result[3] = right.with(v[3]).v[0];
  };
  const Candidates<0, k * k / 2, k * k> none{};
  unsigned column_0[k], column_2[k];
  unsigned first_pair[2 * k];
  if constexpr (k == 5) {
    from_below(last_pair, 1, first_pair);
    from_below(v[0], 1, column_0);
    from_below(v[2], 1, column_2);
    halves(none.with(next_pair), first_pair, column_0, column_2);
  } else {
    unsigned pair[2 * k];
    from_below(last_pair, 1, pair);
    const auto inner = none.with(next_pair).with(pair);
    if constexpr (k == 7) {
      from_below(next_pair, 1, first_pair);
      from_below(v[2], 2, column_0);
      from_below(v[0], 1, column_2);
      halves(inner, first_pair, column_0, column_2);
    } else {
      from_below(next_pair, 1, pair);
      from_below(last_pair, 2, first_pair);
      from_below(v[0], 2, column_0);
      from_below(v[2], 2, column_2);
      halves(inner.with(pair), first_pair, column_0, column_2);
    }
  }
}

/// Calls visit(w, sorted) for the samples of each of the four windows, sorted.
/// @param v  as above; k is 3, 5, 7 or 9
template <int k, typename Visit>
__device__ __forceinline__ void four_sorted(const unsigned (&v)[4][k], const Visit &visit) {
  // Of this lane: columns k and k + 1; k - 2 and k - 1.
  unsigned last_pair[2 * k], next_pair[2 * k], column_0[k], column_2[k];
  merge(v[1], v[2], last_pair);
  from_below(v[3], 1, column_0);
  merge(column_0, v[0], next_pair);
  from_below(v[k % 4 == 1 ? 0 : 2], (k + 2) / 4, column_0);
  if constexpr (k > 3) from_below(v[k % 4 == 1 ? 2 : 0], k / 4, column_2);
  // Two windows share all columns but one of each.
  const auto finish = [&](const auto &half, int w, const unsigned(&first)[k],
                          const unsigned(&second)[k]) {
    unsigned sorted[k * k];
    merge(half, first, sorted);
    visit(w, sorted);
    merge(half, second, sorted);
    visit(w + 1, sorted);
  };
  const auto halves = [&](const auto &common, const unsigned(&first_pair)[2 * k]) {
    unsigned half[k * (k - 1)];
    merge(common, first_pair, half);
    finish(half, 0, column_0, v[1]);
    merge(common, last_pair, half);
    finish(half, 2, column_2, v[3]);
  };
  if constexpr (k == 3) {
    finish(next_pair, 0, column_0, v[1]);
    finish(last_pair, 2, v[0], v[3]);
  } else {
    unsigned pair[2 * k], first_pair[2 * k];
    from_below(last_pair, 1, pair);
    if constexpr (k == 5) {
      halves(next_pair, pair);
    } else {
      unsigned four[4 * k];
      merge(next_pair, pair, four);
      from_below(next_pair, 1, pair);
      if constexpr (k == 7) {
        halves(four, pair);
      } else {
        unsigned six[6 * k];
        merge(four, pair, six);
        from_below(last_pair, 2, first_pair);
        halves(six, first_pair);
      }
    }
  }
}

/// The samples of column i in two rows. 8-bit samples are in the upper halves; the bits below only
/// decide between equal samples.
template <typename T, int n>
__device__ __forceinline__ unsigned two_rows(const unsigned (&upper)[n], const unsigned (&lower)[n],
                                             int i) {
  if constexpr (sizeof(T) == 1) {
    constexpr unsigned kSelectors[] = {0x4400, 0x5410, 0x6521, 0x7632};
    return __byte_perm(upper[0], lower[0], kSelectors[i]);
  } else {
    return __byte_perm(upper[i / 2], lower[i / 2], i % 2 ? 0x7632 : 0x5410);
  }
}

/// The result to compute from sorted samples.
enum class Taken { median, rank, trimmed_mean, mode };

/// The result of samples first to last - 1 of a sorted list, for the upper or the lower of two
/// rows. A rank is the first of them.
/// @tparam whole  the range is the whole list (for the mode) and the same for all lanes
template <typename T, Taken taken, bool whole, int n>
__device__ __forceinline__ unsigned statistic(const unsigned (&sorted)[n], int row, int first,
                                              int last, int shift) {
  const auto sample = [&](int i) {
    const unsigned v = row ? sorted[i] >> 16 : sorted[i] & 0xffff;
    return sizeof(T) == 1 ? v >> 8 : v;
  };
  if constexpr (taken == Taken::rank) {
    unsigned v = 0;
#pragma unroll
    for (int i = 0; i < n; ++i)
      if (i == first) v = sample(i);
    return v;
  } else if constexpr (taken == Taken::mode) {
    unsigned best = 0, run = 0, before = ~0u;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (!whole && (i < first || i >= last)) continue;
      const unsigned v = sample(i);
      run = v == before ? run + 1 : 1;
      before = v;
      // The most frequent one; of several, the lowest.
      best = max(best, run << 16 | (0xffff - v));
    }
    return 0xffff - (best & 0xffff);
  } else {
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < n; ++i)
      if (i >= first && i < last) sum += sample(i) >> shift;
    return windowsums::rounded_mean(sum, last - first) << shift;
  }
}

/// The same for both rows, for windows inside the image.
/// @param t  samples to leave out at each end, or the rank
template <typename T, Taken taken, int n>
__device__ __forceinline__ unsigned both_rows(const unsigned (&sorted)[n], int t, int shift) {
  if constexpr (taken == Taken::rank) {
    unsigned v = 0;
#pragma unroll
    for (int i = 0; i < n; ++i)
      if (i == t) v = sorted[i];
    return v;
  } else if constexpr (taken == Taken::trimmed_mean && sizeof(T) == 1) {
    unsigned sums = 0;
#pragma unroll
    for (int i = 0; i < n; ++i)
      if (i >= t && i < n - t) sums += sorted[i] >> 8 & 0x00ff00ff;
    return windowsums::rounded_mean(sums & 0xffff, n - 2 * t) << 8 |
           windowsums::rounded_mean(sums >> 16, n - 2 * t) << 24;
  } else {
    constexpr int kBits = sizeof(T) == 1 ? 8 : 0;  // below the samples
    return statistic<T, taken, true>(sorted, 0, t, n - t, shift) << kBits |
           statistic<T, taken, true>(sorted, 1, t, n - t, shift) << (16 + kBits);
  }
}

/// Of n sorted samples, those in front of the range that statistic() takes.
template <Taken taken, typename T>
__device__ int left_out(int n, const NetworkJob<T> &job) {
  return taken == Taken::rank           ? rank_of(n, job.percentile)
         : taken == Taken::trimmed_mean ? trimmed(n, job.alpha)
                                        : 0;
}

/// The same for any windows: those at (x, y) and below.
template <typename T, Taken taken, int k>
__device__ __forceinline__ unsigned clipped_rows(const NetworkJob<T> &job, int x, int y,
                                                 const unsigned (&sorted)[k * k]) {
  constexpr int r = k / 2, kBits = sizeof(T) == 1 ? 8 : 0;
  const bool clip = job.in.border == SwoFilterBorder::clip;
  const int width = job.out.width, height = job.out.height;
  unsigned result = 0;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int columns = min(x + r, width - 1) - max(x - r, 0) + 1,
              rows = min(y + row + r, height - 1) - max(y + row - r, 0) + 1;
    const int count = clip ? max(columns, 1) * max(rows, 1) : k * k;
    // Samples outside the image are split between lowest and highest, one more highest if odd.
    const int before = left_out<taken>(count, job), first = (k * k - count) / 2 + before;
    result |= statistic<T, taken, false>(sorted, row, first, first + count - 2 * before, job.shift)
              << (16 * row + kBits);
  }
  return result;
}

/// Lanes without results, because they lack columns to their left; and result columns of a warp.
template <int k>
constexpr int kLanesBelow = (k + 2) / 4;
template <int k>
constexpr int kNetworkColumns = 4 * (32 - kLanesBelow<k>);

template <typename T, int k, Taken taken>
__global__ void __launch_bounds__(32 * kNetworkWarps)
    network_kernel(const __grid_constant__ NetworkJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int x = blockIdx.x * kNetworkColumns<k> + (lane - kLanesBelow<k>)*4;
  const int begin = (network_row_of_blocks() * kNetworkWarps + warp) * kNetworkRows;
  const int end = min(begin + kNetworkRows, job.out.height);
  if (begin >= end) return;
  const bool writes = lane >= kLanesBelow<k> && x < job.out.width;
  Writer<T> writer(job.out, x, begin, end - begin);
  Band<T, k> band(job, x);
  __shared__ __align__(16) typename Band<T, k>::Stage stages[kNetworkWarps];
  band.read(begin - k / 2, stages[warp]);
#pragma unroll 1
  for (int y = begin; y < end; y += 2, band.step()) {
    unsigned v[4][k], result[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int i = 0; i < k; ++i) v[j][i] = two_rows<T>(band.word[i], band.word[i + 1], j);
      sort(v[j]);
    }
    if constexpr (taken == Taken::median) {
      four_medians(v, result);
    } else {
      constexpr int r = k / 2;
      const bool inside = job.in.border != SwoFilterBorder::clip ||
                          (job.in.holds(x, y, r, r) && job.in.holds(x + 3, y + 1, r, r));
      const int t = left_out<taken>(k * k, job);
      four_sorted<k>(v, [&](int w, const unsigned(&sorted)[k * k]) {
        result[w] = inside ? both_rows<T, taken>(sorted, t, job.shift)
                           : clipped_rows<T, taken, k>(job, x + w, y, sorted);
      });
    }
    if (!writes) continue;
    unsigned upper[Band<T, k>::kWords], lower[Band<T, k>::kWords];
    if constexpr (sizeof(T) == 1) {
      const unsigned a = __byte_perm(result[0], result[1], 0x7351),
                     b = __byte_perm(result[2], result[3], 0x7351);
      upper[0] = __byte_perm(a, b, 0x5410);
      lower[0] = __byte_perm(a, b, 0x7632);
    } else {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        upper[j] = __byte_perm(result[2 * j], result[2 * j + 1], 0x5410);
        lower[j] = __byte_perm(result[2 * j], result[2 * j + 1], 0x7632);
      }
    }
    writer.next_row(upper);
    writer.next_row(lower);
  }
}

}  // namespace cudascan::swo
