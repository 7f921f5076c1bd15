// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/nick/baseline.h"

#include <algorithm>

namespace cudascan::nick {

void run_published_serial(Plane<const std::uint8_t> in, Plane<std::uint8_t> out, int window,
                          float k) {
  for (int i = 0; i < in.height; ++i)
    for (int j = 0; j < in.width; ++j) {
      const int begin_row = std::max(0, i - window / 2), begin_column = std::max(0, j - window / 2);
      const int end_row = std::min(in.height - 1, i + window / 2);
      const int end_column = std::min(in.width - 1, j + window / 2);
      const int n = (end_row - begin_row + 1) * (end_column - begin_column + 1);
      int sum = 0, square_sum = 0;
      for (int y = begin_row; y <= end_row; ++y)
        for (int x = begin_column; x <= end_column; ++x) {
          const int pixel = in.row(y)[x];
          sum += pixel;
          square_sum += pixel * pixel;
        }
      out.row(i)[j] = published_white(in.row(i)[j], sum, square_sum, n, k) ? 255 : 0;
    }
}

}  // namespace cudascan::nick
