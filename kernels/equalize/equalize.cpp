// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/equalize.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "kernels/equalize/baseline.h"
#include "kernels/equalize/cpu.h"
#include "kernels/equalize/rows.h"
#include "kernels/histogram/roi.h"
#include "kernels/planes.h"

namespace cudascan {

void equalize::fill_report(const Histogram &histogram, EqualizeReport &report) {
  report.histogram = histogram;
  std::uint64_t pixels = 0, sum = 0;
  for (std::size_t level = 0; level < histogram.size(); ++level) {
    if (histogram[level] == 0) continue;
    if (pixels == 0) report.minimum = static_cast<int>(level);
    report.maximum = static_cast<int>(level);
    pixels += histogram[level];
    sum += histogram[level] * std::uint64_t{level};
  }
  report.mean = static_cast<double>(sum) / static_cast<double>(pixels);
}

namespace {

using namespace equalize;

const char history_key = 0;

/// The new value of each index by the formula.
std::vector<int> make_mapping(EqualizeFormula formula, const Range &range,
                              const Histogram &histogram) {
  std::vector<std::uint32_t> counts(range.count);
  for (int level = 0; level < range.levels.count; ++level)
    counts[range.index(level)] += histogram[level];
  Statistics statistics{0, 0};
  for (const std::uint32_t count : counts) {
    if (statistics.pixels == 0) statistics.lowest_pixels = count;
    statistics.pixels += count;
  }
  std::vector<int> mapping(range.count);
  std::uint32_t cdf = 0;
  for (int i = 0; i < range.count; ++i)
    mapping[i] = map(formula, range, statistics, i, cdf += counts[i]);
  return mapping;
}

/// Blends the mapping of the previous frames into this frame's mapping.
void smooth(Cpu &cpu, double smoothing, const Range &range, const Histogram &histogram,
            std::vector<int> &mapping) {
  auto &history =
      *static_cast<EqualizeHistory *>(cpu.history(&history_key, EqualizeHistory::bytes(range)));
  std::uint32_t *const counts = history.counts(), *const states = history.states(range);
  std::uint32_t pixels = 0;
  std::uint64_t differences = 0;
  for (int level = 0; level < range.levels.count; ++level) {
    pixels += histogram[level];
    differences += std::abs(std::int64_t{histogram[level]} - counts[level]);
    counts[level] = histogram[level];
  }
  const bool anew = scene_changes(pixels, history.pixels, differences);
  history.pixels = pixels;
  for (int i = 0; i < range.count; ++i) {
    states[i] =
        anew ? first_state(mapping[i]) : next_state(states[i], mapping[i], weight_of(smoothing));
    mapping[i] = mapped_by(states[i]);
  }
}

template <typename T>
void run_global(Cpu &cpu, Plane<const T> in, Plane<T> out, const EqualizeParams &p,
                const Histogram &histogram) {
  const Range range = Range::of(in.maximum, in.black, in.white);
  std::vector<int> mapping = make_mapping(p.formula, range, histogram);
  if (p.smoothing > 0) smooth(cpu, p.smoothing, range, histogram, mapping);
  const std::uint32_t amount = weight_of(p.amount);
  if (amount == 0) return copy(cpu, in, out);
  const Levels &levels = range.levels;
  std::vector<T> table(sizeof(T) == 1 ? 256 : levels.count);
  for (std::size_t entry = 0; entry < table.size(); ++entry) {
    const int i = range.index(sizeof(T) == 1 ? levels.level(entry) : static_cast<int>(entry));
    table[entry] = static_cast<T>(range.sample(blend(i, mapping[i], amount)));
  }
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      rows<T>().look_up(in.row(y), in.width, levels, table.data(), out.row(y));
  });
}

template <typename T>
void run_any(Cpu &cpu, Plane<const T> in, Plane<T> out, const EqualizeParams &p,
             EqualizeReport *report) {
  check_call(p, in, out);
  if constexpr (sizeof(T) == 1)
    if (p.algorithm != EqualizeAlgorithm::automatic) {
      if (report) fill_report(count_levels(cpu, in, {}), *report);
      return run_baseline(in, out, baseline_variant(p.algorithm));
    }
  const bool clahe = p.method == EqualizeMethod::clahe;
  if (!clahe && p.smoothing == 0) cpu.history(&history_key, EqualizeHistory::no_history_bytes);
  Histogram histogram;
  if (!clahe || report) histogram = count_levels(cpu, in, p.roi);
  if (report) fill_report(histogram, *report);
  if (!clahe)
    run_global(cpu, in, out, p, histogram);
  else if (weight_of(p.amount) == 0)
    copy(cpu, in, out);
  else
    run_clahe(cpu, in, out, p);
}

}  // namespace

namespace equalize {

void run_baseline(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                  const BaselineVariant &variant) {
  std::uint32_t cdf[256] = {};
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) ++cdf[in.row(y)[x]];
  for (int i = 1; i < 256; ++i) cdf[i] += cdf[i - 1];
  const float factor = baseline_factor(cdf[255]);
  std::uint8_t mapping[256];
  for (int i = 0; i < 256; ++i)
    mapping[i] = variant.float_factor ? baseline_map(cdf[i], factor) : naive_map(cdf[i], cdf[255]);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) out.row(y)[x] = mapping[in.row(y)[x]];
}

}  // namespace equalize

void run(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out, const EqualizeParams &p,
         EqualizeReport *report) {
  run_any(cpu, in, out, p, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out, const EqualizeParams &p,
         EqualizeReport *report) {
  run_any(cpu, in, out, p, report);
}

}  // namespace cudascan
