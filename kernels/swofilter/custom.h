// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Users' filters among the sliding windows. The room usercode compiles and runs them; it is told
/// what a filter is made for, and given what built-in operators make of the frame.
#pragma once
#include "kernels/swofilter/window.h"
#include "kernels/usercode/run.h"

namespace cudascan::swo {

inline gswo::FilterTarget target_of(const FilterJob &job, int sample_bytes) {
  return {job.mask(), job.border, job.outside, job.maximum, job.shift, sample_bytes};
}

/// @throws as gswo::run_filter()
template <typename Exec, typename T>
void custom(Exec &exec, Plane<const T> in, Plane<T> out, const FilterJob &job,
            const SwoFilterParams &p) {
  const auto make_plane = [&](gswo::WindowPlane which, Plane<T> to) {
    using Op = SwoFilterOperator;
    SwoFilterParams built_in;
    built_in.op = which == gswo::kMinPlane   ? Op::minimum
                  : which == gswo::kMaxPlane ? Op::maximum
                                             : Op::median;
    built_in.window = p.window;
    built_in.window_width = p.window_width;
    built_in.window_height = p.window_height;
    built_in.shape = p.shape;
    built_in.border = p.border;
    built_in.border_value = p.border_value;
    run(exec, in, to, built_in);
  };
  gswo::run_filter<T>(exec, in, out, target_of(job, sizeof(T)), p.custom, make_plane);
}

}  // namespace cudascan::swo
