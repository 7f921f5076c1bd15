// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Divisions of integers in users' code with a defined result for all numbers, the same on the GPU
/// and on the CPU. These could otherwise end the program:
///
///     a / 0 = 0      lowest / -1 = lowest
///     a % 0 = 0      lowest % -1 = 0
///
/// The compiler gets `a / !gswo_by / b` for `a / b`, `a / !gswo_by % b` for `a % b`, and `a /=
/// gswo_by /= b` for `a /= b` (see kernels/usercode/divisions.h), so precedence and associativity
/// stay the same. In #if, an undefined name is 0, so the value is the same. Division of real
/// numbers and operators of classes are unchanged. Bit-fields do not support /= and %=.
///
/// Include it after gswo/library.h.
#pragma once

namespace gswo {

enum By { gswo_by };
struct Divide {};
GSWO_FN constexpr Divide operator!(By) {
  return {};
}

/// One side of a division: a value, or a reference to an object of a class.
template <typename T>
struct SideOfDivision {
  T value;
};

namespace detail {

template <typename T>
struct Bare {
  using type = T;
};
template <typename T>
struct Bare<T &> {
  using type = T;
};
template <typename T>
struct Bare<T &&> {
  using type = T;
};
template <typename T>
concept Object = __is_class(T) || __is_union(T);

template <typename T>
concept Whole = Integer<T> && sizeof(T) <= sizeof(long long) && requires(T a) {
  static_cast<bool>(a);  // rejects vectors
};
/// Types that become numbers in arithmetic.
template <typename T>
concept WholeNumber = requires {
  requires Whole<Number<const T>>;
};

// Calls by name find only operators of classes.
template <typename A, typename B>
concept HasQuotient = requires(A &a, const B &b) {
  a.operator/(b);
}
|| requires(A &a, const B &b) {
  operator/(a, b);
};
template <typename A, typename B>
concept HasRemainder = requires(A &a, const B &b) {
  a.operator%(b);
}
|| requires(A &a, const B &b) {
  operator%(a, b);
};

/// The divisor of `a` to use instead of `b`: 1 if there would be no result.
template <typename T>
GSWO_FN constexpr T divisor(T a, T b) {
  if constexpr (static_cast<T>(-1) < static_cast<T>(1)) {
    constexpr T lowest = -static_cast<T>(~0ull >> (65 - 8 * sizeof(T))) - 1;
    return b == 0 || (b == -1 && a == lowest) ? 1 : b;
  } else {
    return b == 0 ? 1 : b;
  }
}
template <typename T>
GSWO_FN constexpr T quotient(T a, T b) {
  const T result = a / divisor(a, b);
  return b == 0 ? 0 : result;
}
template <typename T>
GSWO_FN constexpr T remainder(T a, T b) {
  return a % divisor(a, b);
}

}  // namespace detail

// Numbers are passed by value: a bit-field has no reference, and for nvcc host constants have none
// on the device.
template <typename A>
requires(!detail::Object<A>) GSWO_FN constexpr SideOfDivision<A> operator/(A a, Divide) {
  return {a};
}
template <typename A>
requires detail::Object<typename detail::Bare<A>::type> GSWO_FN constexpr SideOfDivision<A &&>
operator/(A &&a, Divide) {
  return {static_cast<A &&>(a)};
}

template <typename A, typename B>
requires requires(SideOfDivision<A> a, B b) {
  a.value / b;
}
GSWO_FN constexpr decltype(auto) operator/(SideOfDivision<A> a, B b) {
  using Left = typename detail::Bare<A>::type;
  if constexpr (detail::WholeNumber<Left> && detail::WholeNumber<B> &&
                !detail::HasQuotient<Left, B>)
    return detail::quotient<decltype(+a.value / +b)>(+a.value, +b);
  else
    return static_cast<A &&>(a.value) / b;
}
template <typename A, typename B>
requires requires(SideOfDivision<A> a, B b) {
  a.value % b;
}
GSWO_FN constexpr decltype(auto) operator%(SideOfDivision<A> a, B b) {
  using Left = typename detail::Bare<A>::type;
  if constexpr (detail::WholeNumber<Left> && detail::WholeNumber<B> &&
                !detail::HasRemainder<Left, B>)
    return detail::remainder<decltype(+a.value % +b)>(+a.value, +b);
  else
    return static_cast<A &&>(a.value) % b;
}

template <typename B>
GSWO_FN constexpr SideOfDivision<B> operator/=(By, B b) {
  return {b};
}
template <typename B>
GSWO_FN constexpr SideOfDivision<B> operator%=(By, B b) {
  return {b};
}
template <typename A, typename B>
requires requires(A &a, SideOfDivision<B> b) {
  a /= b.value;
}
GSWO_FN constexpr decltype(auto) operator/=(A &a, SideOfDivision<B> b) {
  if constexpr (detail::Object<A>)
    return a /= b.value;
  else
    return (a = static_cast<A>(a / Divide() / b.value));
}
template <typename A, typename B>
requires requires(A &a, SideOfDivision<B> b) {
  a %= b.value;
}
GSWO_FN constexpr decltype(auto) operator%=(A &a, SideOfDivision<B> b) {
  if constexpr (detail::Object<A>)
    return a %= b.value;
  else
    return (a = static_cast<A>(a / Divide() % b.value));
}

}  // namespace gswo

using gswo::gswo_by;
