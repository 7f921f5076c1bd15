// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/autothreshold.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/autothreshold/baseline.h"
#include "kernels/autothreshold/decision.h"
#include "kernels/autothreshold/methods.h"
#include "kernels/planes.h"

namespace cudascan {
namespace {

using namespace autothreshold;

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

/// Groups the levels of a histogram into steps.
Histogram in_steps(const Histogram &counts) {
  const int levels = static_cast<int>(counts.size()), each = levels_per_step(levels);
  Histogram steps(steps_of(levels));
  for (int i = 0; i < levels; ++i) steps[i / each] += counts[i];
  return steps;
}

/// Finds the classes - 1 thresholds of a histogram, without a history.
std::array<int, kMaxClasses - 1> find_thresholds(const Histogram &counts,
                                                 const AutothresholdParams &p) {
  const int levels = static_cast<int>(counts.size());
  std::array<int, kMaxClasses - 1> found{};
  if (p.algorithm == AutothresholdAlgorithm::prahara) {
    Histogram all = counts;
    all.resize(256);  // the size that the small methods need
    found[0] = threshold::prahara_threshold(all.data(), p.method);
  } else if (!threshold::is_small(p.method, p.classes)) {
    HostTeam team(counts.data(), levels);
    found[0] = threshold::find(team, p.method);
  } else {
    const Histogram steps = in_steps(counts);
    HostTeam team(steps.data(), static_cast<int>(steps.size()));
    if (p.classes > 2)
      threshold::find_classes(team, p.classes, found.data());
    else
      found[0] = threshold::find_small(team, p.method);
    for (int i = 0; i < p.classes - 1; ++i) found[i] = last_level(found[i], levels);
  }
  return found;
}

/// Paints the rows [begin, end): values[i] where `i` of the kBounds ascending bounds are below the
/// sample. Bounds and values are local copies: a store of 8-bit samples may alias anything else,
/// which would prevent vectorisation.
template <int kBounds, typename In, typename Out>
void paint(Plane<const In> in, Plane<Out> out, std::array<In, 3> bounds, std::array<Out, 4> values,
           int begin, int end) {
  const In b0 = bounds[0], b1 = bounds[1], b2 = bounds[2];
  const Out v0 = values[0], v1 = values[1], v2 = values[2], v3 = values[3];
  for (int y = begin; y < end; ++y) {
    const In *__restrict from = in.row(y);
    Out *__restrict to = out.row(y);
    for (int x = 0, width = in.width; x < width; ++x) {
      const In p = from[x];
      Out value = p > b0 ? v1 : v0;
      if constexpr (kBounds > 1) value = p > b1 ? v2 : value;
      if constexpr (kBounds > 2) value = p > b2 ? v3 : value;
      to[x] = value;
    }
  }
}

template <typename In, typename Out>
void paint_classes(Cpu &cpu, Plane<const In> in, Plane<Out> out, const AutothresholdParams &p,
                   const int *thresholds) {
  const Levels levels = Levels::of(in.maximum);
  std::array<In, 3> bounds{};
  std::array<Out, 4> values{};
  for (int i = 0; i < p.classes; ++i)
    values[i] = static_cast<Out>(value_of_class(i, p.classes, p.invert, out.maximum));
  for (int i = 0; i < p.classes - 1; ++i) {
    const int last = last_sample_below(thresholds[i], levels);
    if (last < 0)  // the classes up to this one are empty
      std::fill_n(values.begin(), i + 1, values[i + 1]);
    else
      bounds[i] = static_cast<In>(std::min<int>(last, std::numeric_limits<In>::max()));
  }
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    const auto paint_band = p.classes == 2   ? paint<1, In, Out>
                            : p.classes == 3 ? paint<2, In, Out>
                                             : paint<3, In, Out>;
    paint_band(in, out, bounds, values, begin, end);
  });
}

/// The history of the executor; a different number of levels starts a new one.
ThresholdHistory &history_of(Cpu &cpu, int levels) {
  struct Kept {
    int levels;
    ThresholdHistory history;
  };
  static const char key = 0;
  auto &kept = *static_cast<Kept *>(cpu.history(&key, sizeof(Kept)));
  if (kept.levels != levels) kept = {levels, {}};
  return kept.history;
}

template <typename In, typename Out>
void run_on_cpu(Cpu &cpu, Plane<const In> in, Plane<Out> out, const AutothresholdParams &p,
                AutothresholdReport *report) {
  check_call(p, in, out);
  Histogram counts;
  count(cpu, in, {p.roi, p.ignore_black, p.ignore_white}, counts);
  const Settings settings = make_settings(p, static_cast<int>(counts.size()));
  std::array<int, kMaxClasses - 1> thresholds = find_thresholds(counts, p);
  if (p.classes == 2) {
    ThresholdHistory &history = history_of(cpu, settings.levels);
    thresholds[0] = step(history, thresholds[0], settings, history);
  } else {
    for (int &threshold : thresholds) threshold = with_offset(threshold, settings);
  }
  if (p.apply)
    paint_classes(cpu, in, out, p, thresholds.data());
  else if constexpr (sizeof(In) == sizeof(Out))
    copy(cpu, in, out);
  if (report) fill_report(std::move(counts), thresholds.data(), p.classes, *report);
}

template <typename E>
void check_enum(const char *name, E value, E last) {
  if (value < E{} || value > last) refuse(name, " = ", static_cast<int>(value), ": no such ", name);
}

}  // namespace

void validate(const AutothresholdParams &p) {
  using Method = AutothresholdMethod;
  check_enum("method", p.method, Method::mean);
  check_enum("algorithm", p.algorithm, AutothresholdAlgorithm::prahara);
  if (p.classes < 2 || p.classes > kMaxClasses)
    refuse("classes = ", p.classes, ": must be from 2 to ", kMaxClasses);
  if (p.offset < -65535 || p.offset > 65535)
    refuse("offset = ", p.offset, ": must be a number of levels from -65535 to 65535");
  if (!(p.smoothing >= 0 && p.smoothing <= 0.999))
    refuse("smoothing = ", p.smoothing, ": must be a number from 0 to 0.999");
  if (p.hysteresis < 0 || p.hysteresis > 65535)
    refuse("hysteresis = ", p.hysteresis, ": must be a number of levels from 0 to 65535");
  check_roi(p.roi, INT_MAX, INT_MAX);  // whatever the size of the plane
  const bool prahara = p.algorithm == AutothresholdAlgorithm::prahara;
  if (p.classes > 2) {
    const auto alone = [&](const char *name, auto value, const char *remedy) {
      refuse("classes = ", p.classes, " with ", name, " = ", value, ": ", remedy);
    };
    if (p.method != Method::otsu)
      refuse("classes = ", p.classes, ": only method = otsu supports more than 2");
    if (p.smoothing > 0)
      alone("smoothing", p.smoothing, "smoothing supports only 2 classes; set it to 0");
    if (p.hysteresis > 0)
      alone("hysteresis", p.hysteresis, "hysteresis supports only 2 classes; set it to 0");
    if (prahara)
      alone("algorithm", "prahara", "prahara supports only 2 classes; choose algorithm = auto");
  }
  if (prahara && p.method != Method::otsu && p.method != Method::isodata &&
      p.method != Method::mcet)
    refuse(
        "algorithm = prahara supports only the methods otsu, isodata and mcet; choose one of them "
        "or "
        "algorithm = auto");
}

std::vector<const char *> settings_in_use(const AutothresholdParams &p) {
  std::vector<const char *> names{"method"};
  if (p.method == AutothresholdMethod::otsu || p.classes > 2) names.push_back("classes");
  names.push_back("apply");
  if (p.apply) names.push_back("invert");
  names.push_back("offset");
  if (p.classes == 2) names.insert(names.end(), {"smoothing", "hysteresis"});
  names.insert(names.end(), {"ignore-black", "ignore-white", "roi"});
  return names;
}

namespace autothreshold {

void check_call(const AutothresholdParams &params, int width, int height, bool deep_in,
                bool same_format) {
  validate(params);
  check_roi(params.roi, width, height);
  if (deep_in && params.algorithm == AutothresholdAlgorithm::prahara)
    refuse(
        "algorithm = prahara supports only 8-bit samples; choose algorithm = auto for deeper ones");
  if (!params.apply && !same_format)
    refuse("apply = false: the output format must have the depth of the input format");
}

namespace {

/// The sums over one class of pixels.
struct Class {
  std::uint64_t count = 0, sum = 0;

  double mean() const { return count ? static_cast<double>(sum) / static_cast<double>(count) : 0; }
};

Class sum_up(const Histogram &counts, int first, int last) {
  Class c;
  for (int i = first; i <= last; ++i) {
    c.count += counts[i];
    c.sum += std::uint64_t{counts[i]} * i;
  }
  return c;
}

double separability(const Histogram &counts, const int *thresholds, int classes, double mean) {
  double all = 0, between = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double distance = static_cast<double>(i) - mean;
    all += distance * distance * counts[i];
  }
  if (all == 0) return 0;
  const int top = static_cast<int>(counts.size()) - 1;
  for (int i = 0, first = 0; i < classes; ++i) {
    const int last = i < classes - 1 ? std::max(thresholds[i], first - 1) : top;
    const Class c = sum_up(counts, first, last);
    if (c.count) between += (c.mean() - mean) * (c.mean() - mean) * static_cast<double>(c.count);
    first = last + 1;
  }
  return std::min(between / all, 1.0);
}

}  // namespace

void fill_report(Histogram counts, const int *thresholds, int classes,
                 AutothresholdReport &report) {
  const int top = static_cast<int>(counts.size()) - 1;
  report.threshold = thresholds[0];
  report.thresholds.assign(thresholds, thresholds + classes - 1);
  report.mean_below = sum_up(counts, 0, thresholds[0]).mean();
  report.mean_above = sum_up(counts, thresholds[0] + 1, top).mean();
  report.separability = separability(counts, thresholds, classes, sum_up(counts, 0, top).mean());
  report.histogram = std::move(counts);
}

}  // namespace autothreshold

void run(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const AutothresholdParams &params, AutothresholdReport *report) {
  run_on_cpu(cpu, in, out, params, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const AutothresholdParams &params, AutothresholdReport *report) {
  run_on_cpu(cpu, in, out, params, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const AutothresholdParams &params, AutothresholdReport *report) {
  run_on_cpu(cpu, in, out, params, report);
}

}  // namespace cudascan
