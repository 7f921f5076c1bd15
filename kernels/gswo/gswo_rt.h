// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runtime of generated filters. One header for NVRTC, nvcc, g++ and clang++; it includes none of
/// their headers.
///
/// Windows access images as `image[row][column]` with the indices of the user's source. The type of
/// `image` alone says what this reads: a frame with its borders, a tile in shared memory, a
/// texture, or a row on the CPU.
#pragma once
#include "gswo_sort.h"

// gswo/library.h defines these three if it is included first.
#ifndef GSWO_FN
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define GSWO_CUDA 1
#define GSWO_FN __device__ __forceinline__
#define GSWO_UNROLL _Pragma("unroll")
#else
#define GSWO_CUDA 0
#define GSWO_FN inline __attribute__((always_inline))
#ifdef __clang__
#define GSWO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GSWO_UNROLL _Pragma("GCC unroll 65")
#endif
#endif
#endif

#if GSWO_CUDA
#define GSWO_CONST __constant__
#define GSWO_DEVICE __device__ __attribute__((always_inline))
#define GSWO_UNROLL_INLINED GSWO_UNROLL
#define GSWO_ROLL _Pragma("unroll 1")
#else
#define GSWO_CONST
// Compilers do not inline functions that another library could replace.
#define GSWO_DEVICE __attribute__((always_inline, visibility("hidden")))
#ifdef __clang__
#define GSWO_UNROLL_INLINED GSWO_UNROLL
#define GSWO_VECTORIZE _Pragma("clang loop vectorize(assume_safety) interleave(disable)")
#else
// GCC would make 65 copies of loops with an unknown number of iterations.
#define GSWO_UNROLL_INLINED
#define GSWO_VECTORIZE _Pragma("GCC ivdep")
#endif
#endif
/// A window's question about an edge of the image, and the answer for windows inside.
#define GSWO_INNER(answer, question) (g_inner ? answer : (question))
/// Before loops that add the samples of a rectangle, number `box` of an image, to `total`, which is
/// 0: where gswo::Sums has this sum, in the same bits, it is taken instead.
#if GSWO_CUDA
#define GSWO_CPU_SUM(image, box, column, total)
#else
#define GSWO_CPU_SUM(image, box, column, total)                                 \
  if constexpr (requires { image.template sum<box, decltype(total)>(column); }) \
    total += image.template sum<box, decltype(total)>(column);                  \
  else
#endif
// In stand-alone programs the host calls the same functions, too.
#define GSWO_HOST_DEVICE __host__ __device__

/// Pixel types of the source and of the destination in memory.
#ifndef GSWO_SRC_T
#define GSWO_SRC_T unsigned char
#endif
#ifndef GSWO_DST_T
#define GSWO_DST_T GSWO_SRC_T
#endif
/// What is outside an image: 0 the nearest pixel, 1 mirror (c b | a b c), 2 reflect (b a | a b c),
/// 3 wrap, 4 GSWO_BORDER_VALUE.
#ifndef GSWO_BORDER
#define GSWO_BORDER 0
#endif
#ifndef GSWO_BORDER_VALUE
#define GSWO_BORDER_VALUE 0
#endif

/// 1: on the GPU, read images through their texture if they have one.
#ifndef GSWO_TEXTURE
#define GSWO_TEXTURE 0
#endif

namespace gswo {

/// An image, passed by value. (oy, ox): the user's indices of its first row and column.
struct Plane {
  void *data;
  long long pitch;  ///< bytes from row to row
  int width, height, ox, oy;
  unsigned long long texture = 0;  ///< of the pixels, 0 = none
};

#ifdef GSWO_LEVEL_T
/// A pixel that does not use all bits: a level from 0 to GSWO_MAXIMUM in a GSWO_LEVEL_T, whose
/// lowest GSWO_SHIFT bits are 0.
struct Level {
  GSWO_LEVEL_T sample;
  GSWO_FN operator int() const { return sample >> GSWO_SHIFT; }
};
GSWO_FN int number(Level level) {
  return level;
}
#endif
/// The value of a pixel as a number.
template <class S>
GSWO_FN S number(S pixel) {
  return pixel;
}

#if GSWO_CUDA
/// The largest word of some alignment that can be loaded.
template <int alignment>
struct WordOf {
  using type = unsigned char;
};
template <>
struct WordOf<2> {
  using type = unsigned short;
};
template <>
struct WordOf<4> {
  using type = unsigned;
};
template <>
struct WordOf<8> {
  using type = uint2;
};
template <>
struct WordOf<16> {
  using type = uint4;
};

/// A pixel, or several, that no window of this kernel writes. Structures are loaded word by word:
/// these loads need not wait for earlier stores.
template <class S>
GSWO_FN S load(const S *pixel) {
  if constexpr (__is_class(S)) {
    using Word = typename WordOf<(int)alignof(S)>::type;
    constexpr int n = (int)(sizeof(S) / sizeof(Word));
    struct Words {
      Word at[n];
    } words;
    GSWO_UNROLL for (int k = 0; k < n; k++) words.at[k] = __ldg((const Word *)pixel + k);
    return __builtin_bit_cast(S, words);
  } else {
    return __ldg(pixel);
  }
}
#ifdef GSWO_LEVEL_T
GSWO_FN Level load(const Level *pixel) {
  return Level{__ldg(&pixel->sample)};
}
#endif
#else
template <class S>
GSWO_FN S load(const S *pixel) {
  return *pixel;
}
#endif

/// Whether indices from `first` to `last` are within the `size` indices from `origin` on.
GSWO_FN bool is_inside(int first, int last, int origin, int size) {
  return first >= origin && last < origin + size;
}
/// Whether rows [y, y + rows) and columns [x, x + columns), in the user's indices, are in an image.
GSWO_FN bool holds(const Plane &p, int y, int x, int rows, int columns) {
  return is_inside(y, y + rows - 1, p.oy, p.height) && is_inside(x, x + columns - 1, p.ox, p.width);
}

/// Reads pixels of frames through a texture.
template <class S>
struct Texels {
  static constexpr bool are_there = false;
};
#if GSWO_CUDA && GSWO_TEXTURE
#define GSWO_TEXELS(S, type)                                        \
  template <>                                                       \
  struct Texels<S> {                                                \
    static constexpr bool are_there = true;                         \
    GSWO_FN static S at(unsigned long long texture, int x, int y) { \
      return {tex2D<type>(texture, (float)x, (float)y)};            \
    }                                                               \
  };
GSWO_TEXELS(unsigned char, unsigned char)
GSWO_TEXELS(unsigned short, unsigned short)
#ifdef GSWO_LEVEL_T
GSWO_TEXELS(Level, GSWO_LEVEL_T)
#endif
#endif

/// The row or column of [0, n) to read for `i`; -1 for the border's value.
GSWO_FN int border_index(int i, int n) {
#if GSWO_BORDER == 0
  return i < 0 ? 0 : i >= n ? n - 1 : i;
#elif GSWO_BORDER == 1
  if (n == 1) return 0;
  const int period = 2 * (n - 1);
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - i;
#elif GSWO_BORDER == 2
  const int period = 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
#elif GSWO_BORDER == 3
  i %= n;
  return i < 0 ? i + n : i;
#else
  return i < 0 || i >= n ? -1 : i;
#endif
}

template <class A, class B>
struct IsSame {
  enum { value = 0 };
};
template <class A>
struct IsSame<A, A> {
  enum { value = 1 };
};
template <class T>
struct IsFloating {
  enum { value = 0 };
};
template <>
struct IsFloating<float> {
  enum { value = 1 };
};
template <>
struct IsFloating<double> {
  enum { value = 1 };
};

#ifdef GSWO_LEVEL_T
template <class S>
struct IsLevel {
  enum { value = 0 };
};
template <>
struct IsLevel<Level> {
  enum { value = 1 };
};
#endif

/// The range of an integer type.
template <class S>
struct Range {
  static constexpr bool is_signed = (S)-1 < (S)1;
  static constexpr int bits = 8 * (int)sizeof(S);
  static constexpr unsigned long long highest = ~0ULL >> (64 - bits + (is_signed ? 1 : 0));
  static constexpr long long lowest = is_signed ? -(long long)highest - 1 : 0;
};

/// The bits of a real number as a whole one.
template <class T>
struct BitsOf {
  using Whole = int;
  static constexpr Whole infinity = 0x7f800000;
};
template <>
struct BitsOf<double> {
  using Whole = long long;
  static constexpr Whole infinity = 0x7ffLL << 52;
};
template <class T>
union Real {
  T number;
  typename BitsOf<T>::Whole bits;
};

/// A real number between two others, which are whole; NaN becomes 0. If the lower one is 0, there
/// are no branches, not even after optimisations, so that compilers can do it for several pixels at
/// once: real numbers from 0 on are in the order of their bits.
template <class T>
GSWO_FN T clamped(T v, T low, T high) {
  if (low != 0) {
    const T number = v == v ? v : (T)0;
    const T above = number < low ? low : number;
    return above > high ? high : above;
  }
  Real<T> real, most;
  real.number = v;
  most.number = high;
  const typename BitsOf<T>::Whole bits = real.bits & -(real.bits <= BitsOf<T>::infinity);
  const typename BitsOf<T>::Whole above = bits < 0 ? 0 : bits;
  real.bits = above < most.bits ? above : most.bits;
  return real.number;
}

/// Converts a value of type T to a pixel of type S: rounded to the nearest, halves away from 0, and
/// clamped to the range of S; NaN becomes 0.
template <class S, class T>
GSWO_FN S stored(T v) {
  if constexpr (IsSame<S, T>::value) {
    return v;
  } else
#ifdef GSWO_LEVEL_T
      if constexpr (IsLevel<S>::value) {
    const GSWO_LEVEL_T level = stored<GSWO_LEVEL_T>(v);
    return Level{(GSWO_LEVEL_T)((level < GSWO_MAXIMUM ? level : GSWO_MAXIMUM) << GSWO_SHIFT)};
  } else
#endif
      if constexpr (IsFloating<S>::value) {
    return (S)v;
  } else if constexpr (IsFloating<T>::value) {
    if constexpr (sizeof(S) <= 2) {
      const T inside = clamped(v, (T)Range<S>::lowest, (T)Range<S>::highest);
      const int whole = (int)inside;
      const T rest = inside - (T)whole;
      return (S)(whole + (int)(rest >= (T)0.5) - (int)(rest <= (T)-0.5));
    } else {
      if (!(v == v)) return 0;
      // The first number above the range is a power of two, so it is exact.
      constexpr T end = (T)(Range<S>::highest / 2 + 1) * 2;
      if (v >= end) return (S)Range<S>::highest;
      if (v <= (T)Range<S>::lowest) return (S)Range<S>::lowest;
      const S whole = (S)v;
      const T rest = v - (T)whole;
      if (rest >= (T)0.5) return (S)(whole + 1);
      return rest <= (T)-0.5 ? (S)(whole - 1) : whole;
    }
  } else {
    if (Range<T>::is_signed && v < 0) {
      return (long long)v < Range<S>::lowest ? (S)Range<S>::lowest : (S)v;
    }
    return (unsigned long long)v > Range<S>::highest ? (S)Range<S>::highest : (S)v;
  }
}

/// The source: every index gives a pixel.
/// @tparam T  type of the user's code
/// @tparam S  type in memory
template <class T, class S>
struct In {
  const char *data;
  long long pitch;
  int width, height, ox, oy;
  unsigned long long texture;

  GSWO_FN explicit In(const Plane &p)
      : data((const char *)p.data),
        pitch(p.pitch),
        width(p.width),
        height(p.height),
        ox(p.ox),
        oy(p.oy),
        texture(p.texture) {}

  struct Row {
    const S *pixels;
    int width, ox;
    unsigned long long texture;
    int y;
    GSWO_FN T operator[](int column) const {
      const int x = border_index(column - ox, width);
#if GSWO_BORDER == 4
      if (!pixels || x < 0) return (T)(GSWO_BORDER_VALUE);
#endif
      if constexpr (Texels<S>::are_there)
        if (texture) return (T)Texels<S>::at(texture, x, y);
      return (T)load(pixels + x);
    }
  };
  GSWO_FN Row operator[](int row) const {
    const int y = border_index(row - oy, height);
    return Row{y < 0 ? nullptr : (const S *)(data + y * pitch), width, ox, texture, y};
  }
};

/// The source for windows inside the image.
template <class T, class S>
struct Inner {
  const char *data;
  long long pitch;
  int ox, oy;
  unsigned long long texture;

  GSWO_FN explicit Inner(const Plane &p)
      : data((const char *)p.data), pitch(p.pitch), ox(p.ox), oy(p.oy), texture(p.texture) {}

  struct Row {
    const S *pixels;
    int ox;
    unsigned long long texture;
    int y;
    GSWO_FN T operator[](int column) const {
      if constexpr (Texels<S>::are_there)
        if (texture) return (T)Texels<S>::at(texture, column - ox, y);
      return (T)load(pixels + (column - ox));
    }
  };
  GSWO_FN Row operator[](int row) const {
    return Row{(const S *)(data + (row - oy) * pitch), ox, texture, row - oy};
  }
};

/// The destination: converts pixels by stored() and stores only pixels inside the image.
template <class T, class S>
struct Out {
  char *data;
  long long pitch;
  int width, height, ox, oy;

  GSWO_FN explicit Out(const Plane &p)
      : data((char *)p.data),
        pitch(p.pitch),
        width(p.width),
        height(p.height),
        ox(p.ox),
        oy(p.oy) {}

  struct Pixel {
    S *pixel;
    GSWO_FN void operator=(T v) const {
      if (pixel) *pixel = stored<S, T>(v);
    }
  };
  struct Row {
    S *pixels;
    int width, ox;
    GSWO_FN Pixel operator[](int column) const {
      const int x = column - ox;
      return Pixel{pixels && x >= 0 && x < width ? pixels + x : nullptr};
    }
  };
  GSWO_FN Row operator[](int row) const {
    const int y = row - oy;
    return Row{y >= 0 && y < height ? (S *)(data + y * pitch) : nullptr, width, ox};
  }
};

/// The destination for windows inside the image.
template <class T, class S>
struct InnerOut {
  char *data;
  long long pitch;
  int ox, oy;

  GSWO_FN explicit InnerOut(const Plane &p)
      : data((char *)p.data), pitch(p.pitch), ox(p.ox), oy(p.oy) {}

  struct Pixel {
    S *pixel;
    GSWO_FN void operator=(T v) const { *pixel = stored<S, T>(v); }
  };
  struct Row {
    S *pixels;
    int ox;
    GSWO_FN Pixel operator[](int column) const { return Pixel{pixels + (column - ox)}; }
  };
  GSWO_FN Row operator[](int row) const { return Row{(S *)(data + (row - oy) * pitch), ox}; }
};

#if GSWO_CUDA

/// Tells the compiler that indices i + first to i + last are in [origin, origin + size), so that it
/// removes a window's checks for edges that it does not reach. It splits the range in halves,
/// because compilers limit the depth.
template <int first, int last>
GSWO_FN void assume_inside(int i, int origin, int size) {
  if constexpr (first < last) {
    constexpr int middle = first + (last - first) / 2;
    assume_inside<first, middle>(i, origin, size);
    assume_inside<middle + 1, last>(i, origin, size);
  } else {
    __builtin_assume(i + first >= origin);
    __builtin_assume(i + first < origin + size);
  }
}

/// A vector of pixels that is moved at once.
GSWO_FN constexpr int alignment_of(int bytes, int element) {
  return bytes & (bytes - 1) ? element : bytes < 16 ? bytes : 16;
}
template <class S, int n>
struct alignas(alignment_of(n *(int)sizeof(S), (int)alignof(S))) Vector {
  S at[n];
};
/// Whether such vectors can be moved from and to an address.
template <class V>
GSWO_FN bool is_aligned(unsigned long long address) {
  return address % alignof(V) == 0;
}

template <class S>
struct IsWhole {
  static constexpr bool value = !IsFloating<S>::value && !__is_class(S);
};
template <bool first, class A, class B>
struct Choice {
  using type = A;
};
template <class A, class B>
struct Choice<false, A, B> {
  using type = B;
};

/// A tile of the source with its halo in shared memory. All threads of the block must construct it.
/// @tparam W,H          windows of the block
/// @tparam X0,X1,Y0,Y1  offsets that they read
/// @tparam threads      of the block
template <class T, class S, int W, int H, int X0, int X1, int Y0, int Y1, int threads>
struct Tile {
  static constexpr int size = (int)sizeof(S);
  static constexpr int vector = size < 2 ? 8 : size > 16 || size &(size - 1) ? 1 : 16 / size;
  static constexpr int columns = (W + X1 - X0 + 2 * (vector - 1)) / vector * vector;
  static constexpr int rows = H + Y1 - Y0;
  /// Integers keep their type in memory. Converting them to real numbers is slow, so it is done
  /// only once.
  using Pixel =
      typename Choice<IsWhole<T>::value && IsWhole<S>::value && sizeof(S) <= sizeof(T), S, T>::type;
  struct Memory {
    Vector<Pixel, vector> pixels[rows * columns / vector];
  };
  const Pixel *pixels;
  int top, left;

  GSWO_FN Tile(Memory &memory, const Plane &plane, int y, int x)
      : pixels(memory.pixels[0].at), top(y + Y0), left(x + X0) {
    // The tile begins at the start of a vector.
    left -= (left - plane.ox) & (vector - 1);
    const int first_row = top - plane.oy, first_column = left - plane.ox;
    using From = Vector<S, vector>;
    const char *from =
        (const char *)plane.data + first_row * plane.pitch + first_column * (int)sizeof(S);
    if (holds(plane, top, left, rows, columns) &&
        is_aligned<From>((unsigned long long)from | plane.pitch)) {
      GSWO_UNROLL for (int first = 0; first < all; first += threads) {
        const int k = first + thread();
        if (first + threads > all && k >= all) break;
        const int row = k / (columns / vector), column = k % (columns / vector);
        const From read = ((const From *)(from + row * (int)plane.pitch))[column];
        GSWO_UNROLL for (int i = 0; i < vector; i++) memory.pixels[k].at[i] = (Pixel)(T)read.at[i];
      }
    } else {
      const In<T, S> source(plane);
      for (int k = thread(); k < all * vector; k += threads)
        memory.pixels[k / vector].at[k % vector] =
            (Pixel)source[top + k / columns][left + k % columns];
    }
    __syncthreads();
  }

  struct Row {
    const Pixel *pixels;
    int left;
    GSWO_FN T operator[](int column) const { return (T)pixels[column - left]; }
  };
  GSWO_FN Row operator[](int row) const { return Row{pixels + (row - top) * columns, left}; }

 private:
  static constexpr int all = rows * columns / vector;
  static GSWO_FN int thread() { return threadIdx.y * blockDim.x + threadIdx.x; }
};

/// The destination of a thread's pixels: stores each row as one vector, row by row.
template <class T, class S, int n>
struct Strips {
  char *to;
  long long pitch;
  bool aligned;
  Vector<S, n> pixels;

  /// @param y,x  the user's indices of the first pixel
  GSWO_FN Strips(const Plane &plane, int y, int x)
      : to((char *)plane.data + (y - plane.oy) * plane.pitch + (x - plane.ox) * (int)sizeof(S)),
        pitch(plane.pitch),
        aligned(is_aligned<Vector<S, n>>((unsigned long long)to | plane.pitch)) {}

  /// The destination of window number k of the row.
  struct View {
    S *pixel;
    struct Pixel {
      S *pixel;
      GSWO_FN void operator=(T v) const { *pixel = stored<S, T>(v); }
    };
    struct Row {
      S *pixel;
      GSWO_FN Pixel operator[](int) const { return Pixel{pixel}; }
    };
    GSWO_FN Row operator[](int) const { return Row{pixel}; }
  };
  GSWO_FN View operator()(int k) { return View{pixels.at + k}; }

  /// Stores the row; the next one is below it.
  GSWO_FN void store() {
    if (aligned)
      *(Vector<S, n> *)to = pixels;
    else
      GSWO_UNROLL for (int k = 0; k < n; k++)((S *)to)[k] = pixels.at[k];
    to += pitch;
  }
};

/// The chunks of a block that are not inside, in shared memory.
/// @tparam threads  of the block
template <int threads>
struct Rest {
  int count;
  unsigned short chunks[threads];

  static GSWO_FN int thread() { return threadIdx.y * blockDim.x + threadIdx.x; }
  /// Collects the chunk of each thread for which `is_rest` is true.
  GSWO_FN void collect(bool is_rest) {
    if (thread() == 0) count = 0;
    __syncthreads();
    if (is_rest) chunks[atomicAdd(&count, 1)] = thread();
    __syncthreads();
  }
};

/// The first of a block's windows in a row, chosen so that windows from a multiple of `unit` on are
/// stored from a multiple of it on.
/// @param first  the first one of the loop
/// @param ox     column 0 of the destination, as an index of the loop
GSWO_FN int first_column(int first, int ox, int width, int unit) {
  return first - ((first - ox) & (unit - 1)) + (int)blockIdx.x * width;
}
/// The first of its rows. The last rows go first, because they need borders and take longer.
GSWO_FN int first_row(int first, int height) {
  return first + (int)(blockIdx.y ? blockIdx.y - 1 : gridDim.y - 1) * height;
}

#if !defined(__CUDACC_RTC__)

/// An image in a texture object, for copyByTexture in stand-alone programs.
struct Texture {
  cudaTextureObject_t object;
  int width, height, ox, oy;
};

/// The source through a texture. Borders are those of In, because textures support only two of
/// them.
template <class T>
struct Tex {
  Texture t;
  GSWO_FN explicit Tex(const Texture &texture) : t(texture) {}

  struct Row {
    Texture t;
    int y;
    GSWO_FN T operator[](int column) const {
      const int x = border_index(column - t.ox, t.width);
#if GSWO_BORDER == 4
      if (x < 0 || y < 0) return (T)(GSWO_BORDER_VALUE);
#endif
      return tex2D<T>(t.object, (float)x + 0.5f, (float)y + 0.5f);
    }
  };
  GSWO_FN Row operator[](int row) const {
    return Row{t, border_index(row - t.oy, t.height)};
  }
};

#endif

/// A kernel that copies an image to another one, which may have a different pixel type.
#define GSWO_COPY_KERNEL(name, S, D) GSWO_COPY_EDGES(name, S, D, to.height, 0, 0, 0)

/// The same for the pixels at the edges, where no window of a filter writes: so many rows above and
/// below, and columns to the left and to the right.
#define GSWO_COPY_EDGES(name, S, D, above, below, left, right)                                   \
  extern "C" __global__ void name(gswo::Plane from, gswo::Plane to) {                            \
    const int y = blockIdx.y * blockDim.y + threadIdx.y,                                         \
              x = blockIdx.x * blockDim.x + threadIdx.x;                                         \
    const bool inner = y >= above && y < to.height - below && x >= left && x < to.width - right; \
    if (y < to.height && x < to.width && !inner)                                                 \
      ((D *)((char *)to.data + y * to.pitch))[x] = gswo::stored<D>(                              \
          gswo::number(((const S *)((const char *)from.data + y * from.pitch))[x]));             \
  }

#endif

}  // namespace gswo

#if !GSWO_CUDA
#include "gswo_cpu.h"
#endif
