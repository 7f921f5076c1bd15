// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/bench.h"

namespace cudascan::bench {

void paper_tables(const Options &, bool, Report &) {}

}  // namespace cudascan::bench
