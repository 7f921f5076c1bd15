// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/naive/naive.h"

#include <algorithm>

#include "kernels/swofilter/naive/window.h"

namespace cudascan::swo {

bool has_naive(const FilterJob &job) {
  return with_naive(job.op, [](auto) {}) && job.mask().width <= kNaiveSide &&
         job.mask().height <= kNaiveSide;
}

template <typename T>
NaiveJob<T> make_naive(Plane<const T> in, Plane<T> out, const FilterJob &job) {
  using Op = SwoFilterOperator;
  const std::vector<Run> runs = job.mask().runs();
  NaiveJob<T> naive{.in = in,
                    .out = out,
                    .border = job.border,
                    .outside = static_cast<T>(job.outside >> job.shift),
                    .maximum = static_cast<T>(job.maximum >> job.shift),
                    .shift = job.shift,
                    .percentile = job.op == Op::median ? 500'000 : job.percentile,
                    .alpha = job.alpha,
                    .keeps = job.op != Op::erode && job.op != Op::dilate && job.op != Op::gradient,
                    .width = job.mask().width,
                    .height = job.mask().height,
                    .run_count = static_cast<int>(runs.size()),
                    .runs = {}};
  std::copy(runs.begin(), runs.end(), naive.runs);
  return naive;
}

template <typename T>
void naive(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  const NaiveJob<T> naive = make_naive(in, out, job);
  with_naive(job.op, [&](auto op) {
    cpu.for_bands(in.height, 1, [&](int begin, int end) {
      for (int y = begin; y < end; ++y)
        for (int x = 0; x < in.width; ++x) {
          const unsigned level = NaiveWindow<T>(naive, x, y).template result<op()>();
          out.row(y)[x] = static_cast<T>(level << naive.shift);
        }
    });
  });
}

using std::uint16_t, std::uint8_t;
template NaiveJob<uint8_t> make_naive(Plane<const uint8_t>, Plane<uint8_t>, const FilterJob &);
template NaiveJob<uint16_t> make_naive(Plane<const uint16_t>, Plane<uint16_t>, const FilterJob &);
template void naive(Cpu &, Plane<const uint8_t>, Plane<uint8_t>, const FilterJob &);
template void naive(Cpu &, Plane<const uint16_t>, Plane<uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
