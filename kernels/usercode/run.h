// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs users' filters: their code is compiled when it is first needed.
#pragma once
#include <functional>

#include "kernels/usercode/filter_unit.h"

namespace cudascan::gswo {

/// Whether run_filter() could begin its work at once. If it would have to wait for code to be
/// compiled, that begins now, in another thread.
/// @throws as run_filter(), before code is run
bool prepare_filter(Cpu &, const FilterTarget &, const UserFilterParams &);
bool prepare_filter(Cuda &, const FilterTarget &, const UserFilterParams &);

/// Makes a plane of what is filtered: queues it for the executor on which the filter runs.
template <typename T>
using MakePlane = std::function<void(WindowPlane which, Plane<T> out)>;

/// @param make_plane  is called for the planes that the filter needs
/// @throws BadSetting with the compiler's messages, in terms of the user's file
/// @throws Error without a compiler for the backend
template <typename T>
void run_filter(Cpu &, Plane<const T> in, Plane<T> out, const FilterTarget &,
                const UserFilterParams &, const MakePlane<T> &make_plane);
template <typename T>
void run_filter(Cuda &, Plane<const T> in, Plane<T> out, const FilterTarget &,
                const UserFilterParams &, const MakePlane<T> &make_plane);

}  // namespace cudascan::gswo
