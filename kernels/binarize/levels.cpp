// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/levels.h"

#include <algorithm>

namespace cudascan::binarize {

PageDetails judge_details(const std::vector<std::uint32_t> &counts) {
  std::uint64_t all = 0;
  for (const std::uint32_t count : counts) all += count;
  int quartile = 0;
  for (std::uint64_t so_far = 0; so_far += counts[quartile], 4 * so_far < all;) ++quartile;
  int third = kDarkestDetail;
  for (std::uint64_t from = counts[third]; third > 0 && from < kLeastDetails;)
    from += counts[--third];
  const int level = detail_level(quartile);
  return {third <= level, third, level, noise_of(quartile)};
}

DarknessLevels find_levels(const std::vector<std::uint32_t> &counts, int noise) {
  const int levels = static_cast<int>(counts.size());
  std::vector<LevelSums> up_to(levels);
  LevelSums all{};
  for (int i = 0; i < levels; ++i) {
    const std::uint64_t count = counts[i], level = i;
    all.count += count;
    all.sum += count * level;
    all.squares += count * level * level;
    up_to[i] = all;
  }
  std::vector<double> separations(levels);
  std::transform(up_to.begin(), up_to.end(), separations.begin(),
                 [&](const LevelSums &below) { return separation_at(below, all); });
  const double least = flat_maximum(*std::max_element(separations.begin(), separations.end()));
  int first = 0, last = levels - 1;
  while (separations[first] < least) ++first;
  while (separations[last] < least) --last;
  const int t = (first + last) / 2;
  return levels_at(t, up_to[t], all, levels, noise);
}

int find_median_run(const RunLengths &counts) {
  const auto in_bin = [&](int length) {
    return std::uint64_t{counts.rows[length]} + counts.columns[length];
  };
  constexpr int kShortest = 2;
  std::uint64_t runs = 0, before = 0;
  for (int i = kShortest; i < kRunBins - 1; ++i) runs += in_bin(i);
  int length = kShortest;
  for (; runs > 0 && 2 * (before + in_bin(length)) < runs; ++length) before += in_bin(length);
  return median_run(runs, length, before, in_bin(length));
}

}  // namespace cudascan::binarize
