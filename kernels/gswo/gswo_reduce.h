// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reductions of stand-alone programs that gswo-cc writes: each thread has its own part of a
/// variable, a block combines the parts of its threads in a tree, and adds the result to that of
/// the other blocks by one atomic operation. Tables are counted by atomic operations, in shared
/// memory if they are small. Only the result is copied to the host.
///
/// Sums of whole numbers, bits, and extremes do not depend on the order, so the result is that of
/// the loop without pragmas.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "gswo_copy.h"
#include "gswo_rt.h"

namespace gswo {

/// The type in which atomic operations combine values of type T.
template <class T>
using Word = typename Choice<(sizeof(T) > 4),
                             typename Choice<((T)-1 < (T)1), long long, unsigned long long>::type,
                             typename Choice<((T)-1 < (T)1), int, unsigned>::type>::type;

/// Real numbers become whole ones of the same order.
template <class W>
GSWO_HOST_DEVICE inline W ordered(W bits) {
  return bits < 0 ? (W)(bits ^ std::numeric_limits<W>::max()) : bits;
}
template <class T>
GSWO_HOST_DEVICE inline Word<T> encoded(T value) {
  if constexpr (IsFloating<T>::value) {
    Word<T> bits;
    memcpy(&bits, &value, sizeof(T));
    return ordered(bits);
  } else {
    return (Word<T>)value;
  }
}
template <class T>
GSWO_HOST_DEVICE inline T decoded(Word<T> word) {
  if constexpr (IsFloating<T>::value) {
    const Word<T> bits = ordered(word);
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
  } else {
    return (T)word;
  }
}

/// CUDA has some atomic operations only for the unsigned type.
GSWO_FN unsigned *unsigned_of(int *word) {
  return (unsigned *)word;
}
GSWO_FN unsigned *unsigned_of(unsigned *word) {
  return word;
}
GSWO_FN unsigned long long *unsigned_of(long long *word) {
  return (unsigned long long *)word;
}
GSWO_FN unsigned long long *unsigned_of(unsigned long long *word) {
  return word;
}

// The operations: the value that a thread starts with, two values combined, and a value combined
// with one in memory.

struct Sum {
  template <class T>
  GSWO_HOST_DEVICE static T start() {
    return 0;
  }
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return (T)(a + b);
  }
  template <class W>
  GSWO_FN static void combine(W *word, W value) {
    atomicAdd(unsigned_of(word), value);
  }
};
struct BitAnd {
  template <class T>
  GSWO_HOST_DEVICE static T start() {
    return (T)-1;
  }
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return (T)(a & b);
  }
  template <class W>
  GSWO_FN static void combine(W *word, W value) {
    atomicAnd(unsigned_of(word), value);
  }
};
struct BitOr {
  template <class T>
  GSWO_HOST_DEVICE static T start() {
    return 0;
  }
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return (T)(a | b);
  }
  template <class W>
  GSWO_FN static void combine(W *word, W value) {
    atomicOr(unsigned_of(word), value);
  }
};
struct BitXor {
  template <class T>
  GSWO_HOST_DEVICE static T start() {
    return 0;
  }
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return (T)(a ^ b);
  }
  template <class W>
  GSWO_FN static void combine(W *word, W value) {
    atomicXor(unsigned_of(word), value);
  }
};
/// Windows set it to 0 or 1.
struct And : BitAnd {
  template <class T>
  GSWO_HOST_DEVICE static T start() {
    return 1;
  }
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return a && b;
  }
};
struct Or : BitOr {
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return a || b;
  }
};
struct Min {
  template <class T>
  GSWO_HOST_DEVICE static T start() {
    if constexpr (IsFloating<T>::value)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return b < a ? b : a;
  }
  template <class W>
  GSWO_FN static void combine(W *word, W value) {
    atomicMin(word, value);
  }
};
struct Max {
  template <class T>
  GSWO_HOST_DEVICE static T start() {
    if constexpr (IsFloating<T>::value)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class T>
  GSWO_HOST_DEVICE static T of(T a, T b) {
    return a < b ? b : a;
  }
  template <class W>
  GSWO_FN static void combine(W *word, W value) {
    atomicMax(word, value);
  }
};

GSWO_FN int thread_of_block() {
  return (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}

/// Combines the values of all threads of a block with the result of the others. All threads must
/// call it.
template <class Op, int threads, class T>
GSWO_FN void reduce(T value, Word<T> *result) {
  __shared__ Word<T> words[threads];
  const int k = thread_of_block();
  __syncthreads();  // an earlier call may still read
  words[k] = encoded(value);
  for (int n = threads; n > 1; n = (n + 1) / 2) {
    __syncthreads();
    if (k < n / 2) words[k] = Op::of(words[k], words[k + (n + 1) / 2]);
  }
  if (k == 0 && words[0] != encoded(Op::template start<T>())) Op::combine(result, words[0]);
}

/// The table that windows count in.
template <class T>
struct Cells {
  T *counts;
  struct Cell {
    T *count;
    GSWO_FN void operator+=(T value) const { Sum::combine(count, value); }
    GSWO_FN void operator-=(T value) const { Sum::combine(count, (T)(0 - value)); }
    GSWO_FN void operator++() const { *this += 1; }
    GSWO_FN void operator++(int) const { *this += 1; }
    GSWO_FN void operator--() const { *this -= 1; }
    GSWO_FN void operator--(int) const { *this -= 1; }
  };
  GSWO_FN Cell operator[](long long k) const { return Cell{counts + k}; }
};

/// Empties the table of a block.
template <int threads, class T>
GSWO_FN void clear(T *counts, int length) {
  for (int k = thread_of_block(); k < length; k += threads) counts[k] = 0;
  __syncthreads();
}
/// Adds the table of a block to that of the image.
template <int threads, class T>
GSWO_FN void add_counts(const T *counts, int length, T *result) {
  __syncthreads();
  for (int k = thread_of_block(); k < length; k += threads)
    if (counts[k]) Sum::combine(result + k, counts[k]);
}

/// Device memory for some results, which begin with given values.
template <class W>
class Results {
 public:
  Results(const char *name, const std::vector<W> &first)
      : memory_(Pool::get().take(bytes_of(first), name)) {
    Copier::get().upload(memory_.data, bytes_of(first), 1, bytes_of(first),
                         [&](int) { return (const char *)first.data(); });
  }
  ~Results() { Pool::get().give(memory_); }
  Results(const Results &) = delete;
  Results &operator=(const Results &) = delete;

  W *data() const { return (W *)memory_.data; }
  /// Waits for the kernel.
  void download(std::vector<W> &to) const {
    Copier::get().download(memory_.data, bytes_of(to), 1, bytes_of(to),
                           [&](int) { return (char *)to.data(); });
  }

 private:
  static std::size_t bytes_of(const std::vector<W> &words) { return words.size() * sizeof(W); }

  Block memory_;
};

/// A variable of the host that windows add to.
template <class Op, class T>
class Reduced {
 public:
  explicit Reduced(const char *name) : result_(name, {encoded(Op::template start<T>())}) {}
  Word<T> *result() const { return result_.data(); }
  /// The variable's new value.
  T with(T before) const {
    std::vector<Word<T>> word(1);
    result_.download(word);
    return Op::of(before, decoded<T>(word[0]));
  }

 private:
  Results<Word<T>> result_;
};

/// A table of the host that windows add to.
template <class T>
class ReducedTable {
 public:
  ReducedTable(const char *name, long long length)
      : length_((std::size_t)std::max(length, 1LL)), result_(name, std::vector<T>(length_)) {}
  T *result() const { return result_.data(); }
  void add_to(T *table) const {
    std::vector<T> counts(length_);
    result_.download(counts);
    for (std::size_t k = 0; k < length_; k++) table[k] += counts[k];
  }

 private:
  std::size_t length_;
  Results<T> result_;
};

}  // namespace gswo
