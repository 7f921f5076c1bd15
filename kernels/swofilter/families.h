// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds the family of an operator.
#pragma once
#include <type_traits>

#include "kernels/base/refuse.h"
#include "kernels/swofilter/binary/binary.h"
#include "kernels/swofilter/custom.h"
#include "kernels/swofilter/extrema/extrema.h"
#include "kernels/swofilter/geodesic/geodesic.h"
#include "kernels/swofilter/moments/moments.h"
#include "kernels/swofilter/naive/naive.h"
#include "kernels/swofilter/rank/rank.h"
#include "kernels/swofilter/recursive/recursive.h"

namespace cudascan::swo {

/// Checks everything and runs the operator.
template <typename Exec, typename T, typename Out>
void filter(Exec &exec, Plane<const T> in, Plane<Out> out, const SwoFilterParams &params,
            SwoFilterReport *report) {
  constexpr bool same_depth = sizeof(T) == sizeof(Out);
  check_planes(in, out);
  const FilterJob job =
      make_job(params, in.maximum, in.width, in.height, out.width, out.height, same_depth);
  if (report) *report = {};
  if (is_binary(job.op)) return binary(exec, in, out, job, report);
  if constexpr (same_depth) {
    if (params.algorithm == SwoFilterAlgorithm::naive && has_naive(job))
      return naive(exec, in, out, job);
    using Op = SwoFilterOperator;
    switch (job.op) {
      case Op::minimum:
      case Op::maximum:
      case Op::midpoint:
      case Op::erode:
      case Op::dilate:
      case Op::open:
      case Op::close:
      case Op::gradient:
      case Op::top_hat:
      case Op::black_hat:
        return extrema(exec, in, out, job);
      case Op::mean:
      case Op::standard_deviation:
        return moments(exec, in, out, job);
      case Op::median:
      case Op::rank:
      case Op::alpha_trimmed_mean:
      case Op::mode:
      case Op::directional_median:
        return rank(exec, in, out, job);
      case Op::recursive_erode:
      case Op::recursive_dilate:
        return recursive(exec, in, out, job);
      case Op::custom:
        if constexpr (std::is_same_v<Exec, Cuda>)
          if (exec.only_loads()) return;
        return custom(exec, in, out, job, params);
      default:
        return geodesic(exec, in, out, job, report);
    }
  }
}

}  // namespace cudascan::swo
