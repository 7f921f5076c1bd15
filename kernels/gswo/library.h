// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The functions of the C and C++ library that users' filters may call, for compilers without other
/// headers: NVRTC, g++ and clang++. Each does the same operations in the same order on the GPU and
/// on the CPU, so both give the same bits. Where IEEE 754 defines the result (sqrt, floor, fmod
/// ...) the compiler's own function is used.
///
/// exp, log, pow, sin, cos, tan, atan and atan2 are those of gswo/elementary.h. Rounded to float,
/// results are the nearest ones except for a few in a million. sin, cos and tan support arguments
/// up to a million.
#pragma once

#ifdef __CUDACC__
#define GSWO_CUDA 1
#define GSWO_FN __device__ __forceinline__
#else
#define GSWO_CUDA 0
#define GSWO_FN inline __attribute__((always_inline))
#endif

/// Put before loops that should be fully unrolled.
#ifdef __clang__
#define GSWO_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__NVCC__) || defined(__CUDACC_RTC__)
#define GSWO_UNROLL _Pragma("unroll")
#else
#define GSWO_UNROLL _Pragma("GCC unroll 128")
#endif

namespace gswo {

/// The type of a value in arithmetic: int for char, float for a window.
template <typename T>
using Number = decltype(+*static_cast<T *>(nullptr));
template <typename A, typename B>
using Common = decltype(true ? +*static_cast<A *>(nullptr) : +*static_cast<B *>(nullptr));

template <typename T>
concept Integer = requires(T a) {
  a % 1;
};

namespace library {

using uint8_t = unsigned char;
using int8_t = signed char;
using uint16_t = unsigned short;
using int16_t = short;
using uint32_t = unsigned;
using int32_t = int;
using uint64_t = unsigned long long;
using int64_t = long long;
using size_t = decltype(sizeof(0));

template <typename A, typename B>
GSWO_FN Common<const A, const B> min(const A &a, const B &b) {
  const Common<const A, const B> x = a, y = b;
  return y < x ? y : x;
}
template <typename A, typename B>
GSWO_FN Common<const A, const B> max(const A &a, const B &b) {
  const Common<const A, const B> x = a, y = b;
  return x < y ? y : x;
}
template <typename A, typename L, typename H>
GSWO_FN auto clamp(const A &a, const L &low, const H &high) {
  return library::min(library::max(a, low), high);
}
template <typename T>
GSWO_FN Number<const T> abs(const T &a) {
  const Number<const T> x = a;
  if constexpr (Integer<Number<const T>>)
    return x < 0 ? -x : x;
  else
    return x < 0 ? -x : x + 0;  // of -0, too
}
template <typename T>
GSWO_FN void swap(T &a, T &b) {
  T c = a;
  a = b;
  b = c;
}

/// Sorts the elements [begin, end) in ascending order by a fixed sequence of exchanges, which
/// compile to minima and maxima.
template <typename T>
GSWO_FN void sort(T *begin, T *end) {
  const int n = static_cast<int>(end - begin);
  GSWO_UNROLL for (int i = 0; i < n; ++i) GSWO_UNROLL for (int k = i + 1; k < n; ++k) {
    const T a = begin[i], b = begin[k];
    begin[i] = b < a ? b : a;
    begin[k] = b < a ? a : b;
  }
}
template <typename T>
GSWO_FN void nth_element(T *begin, T *, T *end) {
  library::sort(begin, end);
}

/// Declares a function for float and double; integers are converted to double.
#define GSWO_UNARY(name, of_float, of_double)     \
  GSWO_FN float name(float x) {                   \
    return of_float;                              \
  }                                               \
  GSWO_FN double name(double x) {                 \
    return of_double;                             \
  }                                               \
  template <Integer T>                            \
  GSWO_FN auto name(T a) {                        \
    return library::name(static_cast<double>(a)); \
  }                                               \
  GSWO_FN float name##f(float x) {                \
    return library::name(x);                      \
  }

#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#define GSWO_OF(name) ::name
#else
#define GSWO_OF(name) __builtin_##name
#endif
GSWO_UNARY(sqrt, GSWO_OF(sqrtf)(x), GSWO_OF(sqrt)(x))
GSWO_UNARY(floor, GSWO_OF(floorf)(x), GSWO_OF(floor)(x))
GSWO_UNARY(ceil, GSWO_OF(ceilf)(x), GSWO_OF(ceil)(x))
GSWO_UNARY(trunc, GSWO_OF(truncf)(x), GSWO_OF(trunc)(x))
GSWO_UNARY(rint, GSWO_OF(rintf)(x), GSWO_OF(rint)(x))
GSWO_UNARY(nearbyint, GSWO_OF(rintf)(x), GSWO_OF(rint)(x))
GSWO_UNARY(fabs, GSWO_OF(fabsf)(x), GSWO_OF(fabs)(x))
/// Halves away from zero.
GSWO_UNARY(round, GSWO_OF(roundf)(x), GSWO_OF(round)(x))
GSWO_FN float fmod(float x, float y) {
  return GSWO_OF(fmodf)(x, y);
}
GSWO_FN double fmod(double x, double y) {
  return GSWO_OF(fmod)(x, y);
}
GSWO_FN float fmodf(float x, float y) {
  return GSWO_OF(fmodf)(x, y);
}
#undef GSWO_OF

template <typename T>
GSWO_FN bool isnan(T x) {
  return x != x;
}
template <typename T>
GSWO_FN bool isfinite(T x) {
  return x - x == 0;
}
/// As min and max, but if one argument is NaN, the other is the result.
template <typename A, typename B>
GSWO_FN auto fmin(const A &a, const B &b) {
  const Common<const A, const B> x = a, y = b;
  return y < x || x != x ? y : x;
}
template <typename A, typename B>
GSWO_FN auto fmax(const A &a, const B &b) {
  const Common<const A, const B> x = a, y = b;
  return x < y || x != x ? y : x;
}
GSWO_FN float fminf(float a, float b) {
  return library::fmin(a, b);
}
GSWO_FN float fmaxf(float a, float b) {
  return library::fmax(a, b);
}

}  // namespace library
}  // namespace gswo

#include "gswo/elementary.h"

namespace gswo {
namespace library {

GSWO_UNARY(exp, detail::exp_float(x), detail::exp(x))
GSWO_UNARY(exp2, detail::exp_float(x *detail::kLn2), detail::exp(x *detail::kLn2))
GSWO_UNARY(log, static_cast<float>(detail::log(x)), detail::log(x))
GSWO_UNARY(log2, static_cast<float>(detail::log(x) / detail::kLn2), detail::log(x) / detail::kLn2)
GSWO_UNARY(log10, static_cast<float>(detail::log(x) / 2.302585092994045684),
           detail::log(x) / 2.302585092994045684)
GSWO_UNARY(sin, static_cast<float>(detail::sine(x, 0)), detail::sine(x, 0))
GSWO_UNARY(cos, static_cast<float>(detail::sine(x, 1)), detail::sine(x, 1))
GSWO_UNARY(tan, static_cast<float>(detail::sine(x, 0) / detail::sine(x, 1)),
           detail::sine(x, 0) / detail::sine(x, 1))
GSWO_UNARY(atan, static_cast<float>(detail::atan(x)), detail::atan(x))
#undef GSWO_UNARY

/// Declares a function of two numbers: for float if both are float, else for double.
#define GSWO_BINARY(name, function)                                                 \
  template <typename A, typename B>                                                 \
  GSWO_FN auto name(const A &a, const B &b) {                                       \
    const Number<const A> x = a;                                                    \
    const Number<const B> y = b;                                                    \
    const double result = function(static_cast<double>(x), static_cast<double>(y)); \
    if constexpr (sizeof(x) + sizeof(y) > 8)                                        \
      return result;                                                                \
    else                                                                            \
      return static_cast<float>(result);                                            \
  }                                                                                 \
  GSWO_FN float name##f(float a, float b) {                                         \
    return library::name(a, b);                                                     \
  }

GSWO_BINARY(pow, detail::pow)
GSWO_BINARY(atan2, detail::atan2)
GSWO_BINARY(hypot, detail::hypot)
#undef GSWO_BINARY

}  // namespace library
}  // namespace gswo

/// Makes the functions visible in a namespace, where they take precedence over the compiler's.
#define GSWO_USE_LIBRARY                                                                          \
  using gswo::library::uint8_t, gswo::library::int8_t, gswo::library::uint16_t,                   \
      gswo::library::int16_t, gswo::library::uint32_t, gswo::library::int32_t,                    \
      gswo::library::uint64_t, gswo::library::int64_t, gswo::library::size_t, gswo::library::min, \
      gswo::library::max, gswo::library::clamp, gswo::library::abs, gswo::library::swap,          \
      gswo::library::sort, gswo::library::nth_element, gswo::library::sqrt, gswo::library::sqrtf, \
      gswo::library::floor, gswo::library::floorf, gswo::library::ceil, gswo::library::ceilf,     \
      gswo::library::trunc, gswo::library::truncf, gswo::library::rint, gswo::library::rintf,     \
      gswo::library::nearbyint, gswo::library::nearbyintf, gswo::library::fabs,                   \
      gswo::library::fabsf, gswo::library::round, gswo::library::roundf, gswo::library::fmod,     \
      gswo::library::fmodf, gswo::library::isnan, gswo::library::isfinite, gswo::library::fmin,   \
      gswo::library::fminf, gswo::library::fmax, gswo::library::fmaxf, gswo::library::exp,        \
      gswo::library::expf, gswo::library::exp2, gswo::library::exp2f, gswo::library::log,         \
      gswo::library::logf, gswo::library::log2, gswo::library::log2f, gswo::library::log10,       \
      gswo::library::log10f, gswo::library::sin, gswo::library::sinf, gswo::library::cos,         \
      gswo::library::cosf, gswo::library::tan, gswo::library::tanf, gswo::library::atan,          \
      gswo::library::atanf, gswo::library::atan2, gswo::library::atan2f, gswo::library::pow,      \
      gswo::library::powf, gswo::library::hypot, gswo::library::hypotf;
