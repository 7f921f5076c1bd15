// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The functions of the C and C++ library that users' filters may call, for compilers without other
/// headers: NVRTC, g++ and clang++. Each does the same operations in the same order on the GPU and
/// on the CPU, so both give the same bits. Where IEEE 754 defines the result (sqrt, floor, fmod
/// ...) the compiler's own function is used.
///
/// exp, log, pow, sin, cos, tan, atan and atan2 are computed in double: a reduction of the argument
/// as in Muller, "Elementary functions", 3rd edition, 2016, chapter 11, and a series that is cut
/// below 1e-14. Rounded to float, results are the nearest ones except for a few in a million. sin,
/// cos and tan support arguments up to a million.
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

namespace detail {

constexpr double kLn2 = 0.693147180559945309417232121458;
constexpr double kPi = 3.14159265358979323846264338328;

union Bits {
  double number;
  unsigned long long bits;
};

/// 2^k as a normal number: -1022 <= k <= 1023.
GSWO_FN double power_of_two(int k) {
  Bits b;
  b.bits = static_cast<unsigned long long>(k + 1023) << 52;
  return b.number;
}

GSWO_FN double exp(double x) {
  if (x != x) return x;
  if (x > 709.7) return power_of_two(1023) * 4;  // infinity
  if (x < -745.2) return 0;
  const double k = library::rint(x / kLn2);
  // ln 2 in two parts; the first has few bits, so that k times it is exact.
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double sum = 1 + r / 13;  // 1 + r (1 + r/2 (1 + r/3 (...)))
  for (int i = 12; i > 0; --i) sum = 1 + r / i * sum;
  const int half = static_cast<int>(k) / 2;
  return sum * power_of_two(half) * power_of_two(static_cast<int>(k) - half);
}

GSWO_FN double log(double x) {
  if (x != x || x < 0) return (x - x) / (x - x);
  if (x == 0) return -power_of_two(1023) * 4;
  if (x - x != 0) return x;
  int k = 0;
  if (x < power_of_two(-1022)) {
    x *= power_of_two(54);
    k = -54;
  }
  Bits b;
  b.number = x;
  k += static_cast<int>(b.bits >> 52) - 1023;
  b.bits = (b.bits & 0xfffffffffffffull) | 1023ull << 52;
  double m = b.number;  // in [1, 2), then [1/sqrt 2, sqrt 2)
  if (m > 1.4142135623730951) {
    m /= 2;
    ++k;
  }
  const double s = (m - 1) / (m + 1), z = s * s;  // log m = 2 artanh s
  double sum = 1.0 / 25;
  for (int i = 23; i > 0; i -= 2) sum = sum * z + 1.0 / i;
  return 2 * s * sum + k * kLn2;
}

GSWO_FN double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  const bool integer = library::floor(y) == y;
  const bool odd = integer && library::fmod(y, 2.0) != 0;
  if (x == 0) {
    const double limit = y > 0 ? 0 : power_of_two(1023) * 4;
    return odd ? (1 / x < 0 ? -limit : limit) : limit;
  }
  if (x < 0 && !integer) return (x - x) / (x - x);
  if (integer && -64 <= y && y <= 64) {  // the same without any error for small numbers
    double product = 1;
    for (int i = static_cast<int>(y < 0 ? -y : y); i > 0; --i) product *= x;
    return y < 0 ? 1 / product : product;
  }
  const double result = exp(y * log(x < 0 ? -x : x));
  return x < 0 && odd ? -result : result;
}

/// sin x, or cos x with quarter = 1.
GSWO_FN double sine(double x, int quarter) {
  if (x - x != 0) return (x - x) / (x - x);
  const double k = library::rint(x * (2 / kPi));
  // pi/2 in three parts; the first two have 33 bits.
  const double r = ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) -
                   k * 2.02226624879595063154e-21;
  const double z = r * r;
  const int turn = (static_cast<int>(library::fmod(k, 4.0)) + 4 + quarter) & 3;
  double sum = 1;
  if (turn & 1) {  // cosine
    for (int i = 16; i > 0; i -= 2) sum = 1 - z / (i * (i - 1)) * sum;
  } else {
    for (int i = 17; i > 1; i -= 2) sum = 1 - z / (i * (i - 1)) * sum;
    sum *= r;
  }
  return turn & 2 ? -sum : sum;
}

GSWO_FN double atan(double x) {
  if (x != x) return x;
  const double a = x < 0 ? -x : x;
  double t = a > 1 ? 1 / a : a;  // at most 1, then at most tan(pi/8)
  const bool upper = t > 0.41421356237309505;
  if (upper) t = (t - 1) / (t + 1);
  const double z = t * t;
  double sum = 1.0 / 41;
  for (int i = 39; i > 0; i -= 2) sum = 1.0 / i - z * sum;
  double angle = t * sum + (upper ? kPi / 4 : 0);
  if (a > 1) angle = kPi / 2 - angle;
  return x < 0 ? -angle : angle;
}

GSWO_FN double atan2(double y, double x) {
  if (x == 0 && y == 0) return 0;
  if (x == 0) return y < 0 ? -kPi / 2 : kPi / 2;
  const double angle = atan(y / x);
  if (x > 0) return angle;
  return y < 0 ? angle - kPi : angle + kPi;
}

GSWO_FN double hypot(double x, double y) {
  return library::sqrt(x * x + y * y);
}

}  // namespace detail

namespace library {

GSWO_UNARY(exp, static_cast<float>(detail::exp(x)), detail::exp(x))
GSWO_UNARY(exp2, static_cast<float>(detail::exp(x *detail::kLn2)), detail::exp(x *detail::kLn2))
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
