// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sorts a few numbers with a sorting network: a fixed sequence of exchanges. They compile to
/// minima and maxima, and compilers remove those whose results are not used.
///
/// Runs of numbers are sorted, then merged, neighbours first, by Batcher's odd-even merge (Knuth,
/// The art of computer programming 3, section 5.3.4). If a run is a row of a window, a thread that
/// filters several pixels of a column sorts their common rows only once.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define GSWO_SORT_FN __device__ __forceinline__
#define GSWO_SORT_TABLE __constant__
#else
#define GSWO_SORT_FN inline __attribute__((always_inline))
#define GSWO_SORT_TABLE
#endif

namespace gswo {

/// The network for n numbers.
/// @tparam Runs  count: number of runs; length(i): length of run i
template <int n, class Runs>
struct Network {
  struct Wires {
    unsigned char at[n];
    int size;
  };
  unsigned char low[n * 16], high[n * 16];  // of the exchanges
  int size = 0;
  Wires order{};  // the wires in ascending order after all exchanges

  constexpr Network() : low{}, high{} {
    int first = 0;
    Wires runs[Runs::count]{};
    for (int i = 0; i < Runs::count; ++i) {
      const int length = Runs::length(i);
      if (first + length <= n) runs[i] = sort(first, length);
      first += length;
    }
    order = merge_all(runs, 0, Runs::count);
  }

 private:
  constexpr void exchange(int a, int b) {
    low[size] = static_cast<unsigned char>(a);
    high[size++] = static_cast<unsigned char>(b);
  }
  constexpr Wires sort(int first, int length) {
    if (length == 1) return {{static_cast<unsigned char>(first)}, 1};
    return merge(sort(first, length / 2), sort(first + length / 2, length - length / 2));
  }
  constexpr Wires merge_all(const Wires *runs, int first, int number) {
    if (number == 1) return runs[first];
    int lower = 1;
    while (lower * 2 < number) lower *= 2;  // aligned, so that other pixels use the same pairs
    return merge(merge_all(runs, first, lower), merge_all(runs, first + lower, number - lower));
  }
  static constexpr Wires every_other(const Wires &from, int first) {
    Wires to{};
    for (int i = first; i < from.size; i += 2) to.at[to.size++] = from.at[i];
    return to;
  }
  constexpr Wires merge(const Wires &a, const Wires &b) {
    if (a.size == 0) return b;
    if (b.size == 0) return a;
    if (a.size == 1 && b.size == 1) {
      exchange(a.at[0], b.at[0]);
      return {{a.at[0], b.at[0]}, 2};
    }
    const Wires odd = merge(every_other(a, 0), every_other(b, 0));
    const Wires even = merge(every_other(a, 1), every_other(b, 1));
    Wires all{};
    all.at[all.size++] = odd.at[0];
    for (int i = 0; i < even.size || i + 1 < odd.size; ++i) {
      if (i < even.size && i + 1 < odd.size) exchange(even.at[i], odd.at[i + 1]);
      if (i < even.size) all.at[all.size++] = even.at[i];
      if (i + 1 < odd.size) all.at[all.size++] = odd.at[i + 1];
    }
    return all;
  }
};

template <int n, class Runs>
GSWO_SORT_TABLE constexpr Network<n, Runs> kNetwork{};

/// Minimum and maximum of two numbers that are not NaN; one GPU instruction for floats.
template <class T>
GSWO_SORT_FN T smaller(T x, T y) {
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
  if constexpr (static_cast<T>(0.5) != 0) return ::fmin(x, y);
#endif
  return y < x ? y : x;
}
template <class T>
GSWO_SORT_FN T larger(T x, T y) {
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
  if constexpr (static_cast<T>(0.5) != 0) return ::fmax(x, y);
#endif
  return y < x ? x : y;
}

template <int low, int high, class T>
GSWO_SORT_FN void exchange(T *a) {
  const T x = a[low], y = a[high];
  a[low] = smaller(x, y);
  a[high] = larger(x, y);
}
/// Does the exchanges [begin, begin + size) of a network.
template <int n, class Runs, int begin, int size, class T>
GSWO_SORT_FN void exchange_all(T *a) {
  if constexpr (size == 1) {
    exchange<kNetwork<n, Runs>.low[begin], kNetwork<n, Runs>.high[begin]>(a);
  } else if constexpr (size > 1) {
    exchange_all<n, Runs, begin, size / 2>(a);
    exchange_all<n, Runs, begin + size / 2, size - size / 2>(a);
  }
}

/// Runs of the same length; the last one may be shorter.
template <int n, int run>
struct EqualRuns {
  static constexpr int count = (n + run - 1) / run;
  static constexpr int length(int i) { return i + 1 < count ? run : n - i * run; }
};

namespace detail {
// No loops: an array whose indices are all constants stays in registers.
template <int n, int i, class T>
GSWO_SORT_FN void copy(const T *from, T *to) {
  if constexpr (i < n) {
    to[i] = from[i];
    copy<n, i + 1>(from, to);
  }
}
template <int n, class Runs, int i, class T>
GSWO_SORT_FN void take_in_order(const T *from, T *to) {
  if constexpr (i < n) {
    to[i] = from[kNetwork<n, Runs>.order.at[i]];
    take_in_order<n, Runs, i + 1>(from, to);
  }
}
}  // namespace detail

/// Sorts a[0] to a[n - 1] in ascending order.
/// @tparam run  length of the runs that are sorted first: a row of a window, or a slice of a volume
template <int n, int run, class T>
GSWO_SORT_FN void sort_numbers(T *a) {
  using Runs = EqualRuns<n, run>;
  T wires[n];
  detail::copy<n, 0>(a, wires);
  exchange_all<n, Runs, 0, kNetwork<n, Runs>.size>(wires);
  detail::take_in_order<n, Runs, 0>(wires, a);
}

}  // namespace gswo
