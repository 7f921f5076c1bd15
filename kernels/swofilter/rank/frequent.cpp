// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/frequent.h"

#include <algorithm>

namespace cudascan::swo {

FrequentWindow::FrequentWindow(const std::vector<Run> &runs, int rx, int ry)
    : rx_(rx), ry_(ry), runs_(static_cast<int>(runs.size())) {
  pitch_ = 2 * (rx + kFrequentWidth - 1) + 1;
  cells_.assign(pitch_ * (2 * (ry + kFrequentRows - 1) + 1), 0);
  for (const Run &run : runs) {
    const std::ptrdiff_t row = (run.y + ry + kFrequentRows - 1) * pitch_;
    std::fill_n(cells_.begin() + row + rx + kFrequentWidth - 1 - run.last, run.last - run.first + 1,
                std::uint8_t{1});
  }
  // Rows with several runs, or none, have no samples that are in all windows.
  constexpr int kFar = 1 << 20;
  std::vector<Reach> rows(2 * ry + 1, {kFar, -kFar, kFar, -kFar});
  for (const Run &run : runs) {
    Reach &row = rows[run.y + ry];
    const bool is_only = row.last < row.first;
    row = {std::min<int>(row.first, run.first), std::max<int>(row.last, run.last),
           is_only ? run.first : kFar, is_only ? run.last : -kFar};
  }
  for (int y = -ry; y < ry + kFrequentRows; ++y) {
    Reach all{kFar, -kFar, -kFar, kFar};
    for (int k = 0; k < kFrequentRows; ++k) {
      const bool is_outside = y - k < -ry || y - k > ry;
      const Reach row = is_outside ? Reach{kFar, -kFar, kFar, -kFar} : rows[y - k + ry];
      all = {std::min(all.first, row.first), std::max(all.last, row.last),
             std::max(all.first_of_all, row.first_of_all),
             std::min(all.last_of_all, row.last_of_all)};
    }
    all.last += kFrequentWidth - 1, all.first_of_all += kFrequentWidth - 1;
    reaches_.push_back(all);
  }
}

}  // namespace cudascan::swo
