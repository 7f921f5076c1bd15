// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "image.h"

namespace cudascan::scan {

/// The means of blocks of `by_x` times `by_y` pixels, rounded down, in 8 bits. Incomplete blocks at
/// the right and the bottom are left out. Both factors are 1..64 and no larger than the image.
void reduce(const Image &from, int by_x, int by_y, Image &to);

}  // namespace cudascan::scan
