// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lines.h"

#include <algorithm>
#include <cstdlib>

#include "clones.h"

namespace cudascan::scan {
namespace {

CUDASCAN_CLONES int largest_size(const std::int16_t *numbers, int count) {
  int largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max<int>(largest, std::abs(numbers[i]));
  return largest;
}

/// The strength without the two strongest lines.
double without_strongest(std::vector<std::int16_t> sums, int around) {
  constexpr int kStrongest = 2;
  const int rows = static_cast<int>(sums.size());
  for (int i = 0; i < kStrongest; ++i) {
    const int most = largest_size(sums.data(), rows);
    const auto strongest =
        std::find_if(sums.begin(), sums.end(), [=](int sum) { return std::abs(sum) == most; });
    const int y = static_cast<int>(strongest - sums.begin());
    std::fill(sums.begin() + std::max(0, y - around), sums.begin() + std::min(rows, y + around + 1),
              std::int16_t{0});
  }
  return sum_of_squares(sums.data(), rows);
}

}  // namespace

void CpuLineMeter::take(const ByColumns &page, int squeeze, double steepest) {
  profiles_.emplace(page, squeeze, steepest);
}

std::vector<HalfStrengths> CpuLineMeter::halves(const std::vector<double> &angles, int around) {
  std::vector<HalfStrengths> strengths;
  for (const double angle : angles) {
    profiles_->sum(angle, 2);
    const int rows = profiles_->rows(), upper = rows / 2;
    HalfStrengths one{};
    one.left = sum_of_squares(profiles_->strip(0).data(), rows);
    one.right = sum_of_squares(profiles_->strip(1).data(), rows);
    profiles_->pair_up();
    const auto &sums = profiles_->strip(0);
    one.top = sum_of_squares(sums.data(), upper);
    one.bottom = sum_of_squares(sums.data() + upper, rows - upper);
    one.most = without_strongest(sums, around);
    strengths.push_back(one);
  }
  return strengths;
}

std::vector<PartStrengths> CpuLineMeter::parts(const std::vector<double> &angles) {
  std::vector<PartStrengths> strengths;
  for (const double angle : angles) {
    PartStrengths levels{};
    profiles_->sum(angle, 1 << (levels.size() - 1));
    for (std::size_t level = 0; level < levels.size(); ++level) {
      if (level > 0) profiles_->pair_up();
      for (int strip = 0; strip < profiles_->strips(); ++strip)
        levels[level] += sum_of_squares(profiles_->strip(strip).data(), profiles_->rows());
    }
    strengths.push_back(levels);
  }
  return strengths;
}

}  // namespace cudascan::scan
