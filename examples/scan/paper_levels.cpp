// SPDX-License-Identifier: LGPL-2.1-or-later
#include "paper_levels.h"

#include "kernels/swofilter.h"

namespace cudascan::scan {

void PaperLevels::measure(const Image &reduced, int closing, int smoothing) {
  closed_.shape(reduced.width, reduced.height, 8);
  levels_.shape(reduced.width, reduced.height, 8);
  SwoFilterParams params;
  params.op = SwoFilterOperator::close;
  params.window = closing;
  run(cpu_, reduced.plane<const std::uint8_t>(), closed_.plane<std::uint8_t>(), params);
  params.op = SwoFilterOperator::mean;
  params.window = smoothing;
  run(cpu_, closed_.plane<const std::uint8_t>(), levels_.plane<std::uint8_t>(), params);
}

}  // namespace cudascan::scan
