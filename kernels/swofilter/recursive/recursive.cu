// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/extrema/extrema.h"
#include "kernels/swofilter/recursive/parts.h"
#include "kernels/swofilter/recursive/recursive.h"

namespace cudascan::swo {

template <typename T>
void recursive(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  const RecursiveTarget<T> target(out, job);
  const RecursiveForm form(job.mask(), job.border);
  if (form.exists) return recursive_bands(cuda, in, target, form);
  const RecursiveSteps steps(job.mask(), in.width);
  const bool has_rest = steps.rest.count() > 0;
  if (has_rest) extrema(cuda, in, out, steps.job_of_rest(job));
  if (has_rest && steps.follow_lines(in.width))
    return recursive_bands<T>(cuda, out, target,
                              RecursiveForm(steps.above.empty() ? -1 : steps.above[0].x));
  if (steps.above.empty() && steps.left.empty()) return;
  if (!recursive_row_by_row(cuda, target, steps, has_rest))
    recursive_wave(cuda, target, steps, has_rest);
}
template void recursive(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void recursive(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                        const FilterJob &);

}  // namespace cudascan::swo
