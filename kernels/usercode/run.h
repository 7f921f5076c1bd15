// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs users' filters. Their code is compiled when it is first needed.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/usercode/filter_unit.h"

namespace cudascan::gswo {

/// Whether run_filter() could start its work at once. If code must be compiled first, this starts
/// compiling it in another thread.
/// @throws like run_filter() before code runs
bool prepare_filter(Cpu &, const FilterTarget &, const UserFilterParams &);
bool prepare_filter(Cuda &, const FilterTarget &, const UserFilterParams &);

/// Type of a sum of squares in its plane: a whole number below 2^53.
template <typename T>
using WindowSquares = std::conditional_t<sizeof(T) == 1, std::uint32_t, double>;

/// Makes planes from the input: queues that on the filter's executor.
template <typename T>
class PlaneMaker {
 public:
  PlaneMaker() = default;
  PlaneMaker(const PlaneMaker &) = delete;
  PlaneMaker &operator=(const PlaneMaker &) = delete;
  virtual ~PlaneMaker() = default;

  /// @param which  minima, maxima or medians
  virtual void make(WindowPlane which, Plane<T> out) const = 0;
  virtual void make(const RankPlane &, Plane<T> out) const = 0;
  /// Sums of levels and of their squares.
  /// @param squares  without data if they are not needed
  virtual void make(Plane<std::uint32_t> sums, Plane<WindowSquares<T>> squares) const = 0;
};

/// @param maker  makes the planes that the filter needs
/// @throws BadSetting with the compiler's messages, in terms of the user's file
/// @throws Error without a compiler for the backend
template <typename T>
void run_filter(Cpu &, Plane<const T> in, Plane<T> out, const FilterTarget &,
                const UserFilterParams &, const PlaneMaker<T> &maker);
template <typename T>
void run_filter(Cuda &, Plane<const T> in, Plane<T> out, const FilterTarget &,
                const UserFilterParams &, const PlaneMaker<T> &maker);

}  // namespace cudascan::gswo
