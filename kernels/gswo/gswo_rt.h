// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What generated filters are made of. One header for NVRTC, nvcc, g++ and clang++; it includes nothing.
///
/// Windows see images as `image[row][column]` in the indices of the user's source. What is behind it, a
/// frame with its borders, a tile in shared memory, a texture or a row on the CPU, follows from the type
/// of `image` alone.
#pragma once

// gswo/library.h, where that is included first, has made these three.
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
#else
#define GSWO_CONST
#define GSWO_DEVICE __attribute__((always_inline))
#ifdef __clang__
#define GSWO_UNROLL_INLINED GSWO_UNROLL
#define GSWO_VECTORIZE _Pragma("clang loop vectorize(assume_safety) interleave(disable)")
#else
// GCC would make 65 copies of loops whose number of turns it does not know.
#define GSWO_UNROLL_INLINED
#define GSWO_VECTORIZE _Pragma("GCC ivdep")
#endif
#endif
// In stand-alone programs the host calls the same functions.
#define GSWO_HOST_DEVICE __host__ __device__

/// Pixels of the source and of the destination in memory.
#ifndef GSWO_SRC_T
#define GSWO_SRC_T unsigned char
#endif
#ifndef GSWO_DST_T
#define GSWO_DST_T GSWO_SRC_T
#endif
/// What lies outside of an image: 0 the nearest pixel, 1 mirror (c b | a b c), 2 reflect (b a | a b c),
/// 3 wrap, 4 GSWO_BORDER_VALUE.
#ifndef GSWO_BORDER
#define GSWO_BORDER 0
#endif
#ifndef GSWO_BORDER_VALUE
#define GSWO_BORDER_VALUE 0
#endif

/// 1: on the GPU, images that have a texture are read through it.
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
/// A pixel of which not all bits count: a level from 0 to GSWO_MAXIMUM in a GSWO_LEVEL_T, whose lowest
/// GSWO_SHIFT bits are 0.
struct Level {
  GSWO_LEVEL_T sample;
  GSWO_FN operator int() const { return sample >> GSWO_SHIFT; }
};
GSWO_FN int number(Level level) {
  return level;
}
#endif
/// The number that a pixel is.
template <class S>
GSWO_FN S number(S pixel) {
  return pixel;
}

#if GSWO_CUDA
template <class S>
GSWO_FN S load(const S *pixel) {
  return __ldg(pixel);
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

/// Pixels through a texture: those of frames.
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

/// The row or column of [0, n) that stands for `i`; -1 for the border's value.
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

/// The range of a type of whole numbers.
template <class S>
struct Range {
  static constexpr bool is_signed = (S)-1 < (S)1;
  static constexpr int bits = 8 * (int)sizeof(S);
  static constexpr unsigned long long highest = ~0ULL >> (64 - bits + (is_signed ? 1 : 0));
  static constexpr long long lowest = is_signed ? -(long long)highest - 1 : 0;
};

/// A value of type T as a pixel of type S: rounded to the nearest, halves away from 0, and cut off at the
/// ends of S; NaN becomes 0.
template <class S, class T>
GSWO_FN S stored(T v) {
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
      // Without branches, so that compilers can do it for several pixels at once.
      constexpr T low = (T)Range<S>::lowest, high = (T)Range<S>::highest;
      const T number = v == v ? v : (T)0;
      const T above = number < low ? low : number;
      const T inside = above > high ? high : above;
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

/// The source for windows that lie inside of it.
template <class T, class S>
struct Inner {
  const char *data;
  long long pitch;
  int ox, oy;

  GSWO_FN explicit Inner(const Plane &p)
      : data((const char *)p.data), pitch(p.pitch), ox(p.ox), oy(p.oy) {}

  struct Row {
    const S *pixels;
    int ox;
    GSWO_FN T operator[](int column) const { return (T)pixels[column - ox]; }
  };
  GSWO_FN Row operator[](int row) const { return Row{(const S *)(data + (row - oy) * pitch), ox}; }
};

/// The destination: a pixel is stored as by stored(), and nothing outside of the image.
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

/// The destination for windows that lie inside of it.
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

/// A tile of the source with its halo in shared memory. All threads of the block have to make it.
/// @tparam W,H          windows of the block
/// @tparam X0,X1,Y0,Y1  offsets that they read
template <class T, int W, int H, int X0, int X1, int Y0, int Y1>
struct Tile {
  enum { columns = W + X1 - X0, rows = H + Y1 - Y0, pitch = columns | 1 };
  T *pixels;
  int top, left;

  template <class Source>
  GSWO_FN Tile(T *memory, const Source &source, int y, int x)
      : pixels(memory), top(y + Y0), left(x + X0) {
    const int threads = blockDim.x * blockDim.y;
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < columns * rows; k += threads) {
      const int row = k / columns, column = k - row * columns;
      pixels[row * pitch + column] = source[top + row][left + column];
    }
    __syncthreads();
  }

  struct Row {
    const T *pixels;
    int left;
    GSWO_FN T operator[](int column) const { return pixels[column - left]; }
  };
  GSWO_FN Row operator[](int row) const { return Row{pixels + (row - top) * pitch, left}; }
};

#if !defined(__CUDACC_RTC__)

/// An image in a texture object, for copyByTexture in stand-alone programs.
struct Texture {
  cudaTextureObject_t object;
  int width, height, ox, oy;
};

/// The source through a texture. Borders are those of In: textures have only two of them by themselves.
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

/// A kernel that copies an image to another one, which may have other pixels.
#define GSWO_COPY_KERNEL(name, S, D)                                                 \
  extern "C" __global__ void name(gswo::Plane from, gswo::Plane to) {                \
    const int y = blockIdx.y * blockDim.y + threadIdx.y,                             \
              x = blockIdx.x * blockDim.x + threadIdx.x;                             \
    if (y < to.height && x < to.width)                                               \
      ((D *)((char *)to.data + y * to.pitch))[x] = gswo::stored<D>(                  \
          gswo::number(((const S *)((const char *)from.data + y * from.pitch))[x])); \
  }

#else

/// Cuts the columns [low, high) of a row down to those whose windows lie inside of an image.
/// @param y,x          the user's indices of the row and of its column 0
/// @param y0,y1,x0,x1  offsets that windows use
inline void limit(const Plane &p, int y, int x, int y0, int y1, int x0, int x1, int &low,
                  int &high) {
  const int row = y - p.oy, column = x - p.ox;
  if (row + y0 < 0 || row + y1 >= p.height) high = 0;
  if (low < -(column + x0)) low = -(column + x0);
  if (high > p.width - column - x1) high = p.width - column - x1;
}

/// Cuts them down to the turns of the user's loop and to [0, columns).
inline void limit_turns(long long turns, int columns, int &low, int &high) {
  if (high > turns) high = (int)turns;
  if (high > columns) high = columns;
  if (high < 0) high = 0;
  if (low > high) low = high;
}

#define GSWO_COPY_KERNEL(name, S, D)                                                   \
  extern "C" void name(void **arguments, int first, int last, int columns) {           \
    const gswo::Plane &from = *(const gswo::Plane *)arguments[0];                      \
    const gswo::Plane &to = *(const gswo::Plane *)arguments[1];                        \
    for (int y = first; y < last; y++)                                                 \
      for (int x = 0; x < columns; x++)                                                \
        ((D *)((char *)to.data + y * to.pitch))[x] = gswo::stored<D>(                  \
            gswo::number(((const S *)((const char *)from.data + y * from.pitch))[x])); \
  }

#endif

}  // namespace gswo
