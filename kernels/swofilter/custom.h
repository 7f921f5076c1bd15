// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Users' filters among the sliding windows. The room usercode compiles and runs them; it is told
/// what a filter is made for, and given what built-in operators make of the frame.
#pragma once
#include <type_traits>

#include "kernels/swofilter/moments/sums.h"
#include "kernels/swofilter/window.h"
#include "kernels/usercode/run.h"

namespace cudascan::swo {

inline gswo::FilterTarget target_of(const FilterJob &job, int sample_bytes) {
  return {job.mask(), job.border, job.outside, job.maximum, job.shift, sample_bytes};
}

/// Planes by the built-in operators.
template <typename Exec, typename T>
class BuiltInPlanes final : public gswo::PlaneMaker<T> {
 public:
  /// @param params  have the window and the border
  BuiltInPlanes(Exec &exec, Plane<const T> in, const SwoFilterParams &params)
      : exec_(exec), in_(in) {
    params_.window = params.window;
    params_.window_width = params.window_width;
    params_.window_height = params.window_height;
    params_.shape = params.shape;
    params_.border = params.border;
    params_.border_value = params.border_value;
  }

  void make(gswo::WindowPlane which, Plane<T> out) const override {
    run(exec_, in_, out,
        with(which == gswo::kMinPlane   ? Op::minimum
             : which == gswo::kMaxPlane ? Op::maximum
                                        : Op::median));
  }
  void make(const gswo::RankPlane &rank, Plane<T> out) const override {
    SwoFilterParams p = with(Op::rank);
    p.percentile = static_cast<double>(rank.millionths) / 1e4;
    if (rank.fills_up) {
      p.border = SwoFilterBorder::constant;
      p.border_value = in_.maximum >> unused_low_bits(in_.maximum);
    }
    run(exec_, in_, out, p);
  }
  void make(Plane<std::uint32_t> sums, Plane<gswo::WindowSquares<T>> squares) const override {
    const FilterJob job =
        make_job(with(squares.data ? Op::standard_deviation : Op::mean), in_.maximum, in_.width,
                 in_.height, sums.width, sums.height, true);
    window_sums(exec_, in_, sums, squares, job);
  }

 private:
  using Op = SwoFilterOperator;

  SwoFilterParams with(Op op) const {
    SwoFilterParams p = params_;
    p.op = op;
    return p;
  }

  Exec &exec_;
  const Plane<const T> in_;
  SwoFilterParams params_;
};

/// @throws as gswo::run_filter()
template <typename Exec, typename T>
void custom(Exec &exec, Plane<const T> in, Plane<T> out, const FilterJob &job,
            const SwoFilterParams &p) {
  gswo::run_filter<T>(exec, in, out, target_of(job, sizeof(T)), p.custom,
                      BuiltInPlanes<Exec, T>(exec, in, p));
}

}  // namespace cudascan::swo
