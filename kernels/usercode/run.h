// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs users' filters. Their code is compiled when it is first needed.
#pragma once
#include <functional>

#include "kernels/usercode/filter_unit.h"

namespace cudascan::gswo {

/// Whether run_filter() could start its work at once. If code must be compiled first, this starts
/// compiling it in another thread.
/// @throws like run_filter() before code runs
bool prepare_filter(Cpu &, const FilterTarget &, const UserFilterParams &);
bool prepare_filter(Cuda &, const FilterTarget &, const UserFilterParams &);

/// Makes a plane from the input: queues it on the filter's executor.
template <typename T>
using MakePlane = std::function<void(WindowPlane which, Plane<T> out)>;

/// @param make_plane  called for the planes that the filter needs
/// @throws BadSetting with the compiler's messages, in terms of the user's file
/// @throws Error without a compiler for the backend
template <typename T>
void run_filter(Cpu &, Plane<const T> in, Plane<T> out, const FilterTarget &,
                const UserFilterParams &, const MakePlane<T> &make_plane);
template <typename T>
void run_filter(Cuda &, Plane<const T> in, Plane<T> out, const FilterTarget &,
                const UserFilterParams &, const MakePlane<T> &make_plane);

}  // namespace cudascan::gswo
