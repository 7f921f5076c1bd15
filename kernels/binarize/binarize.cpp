// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize.h"

#include <memory>

#include "kernels/binarize/call.h"
#include "kernels/binarize/extrema.h"
#include "kernels/binarize/ink.h"
#include "kernels/binarize/levels.h"
#include "kernels/binarize/wide.h"
#include "kernels/histogram/roi.h"

namespace cudascan {
namespace {

using namespace binarize;
using runlengths::BitPlane;

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

/// What an executor keeps for images of a sample type.
struct BinarizeMemory {
  QuarterMemory quarter;
  AlignedMemory darkness, ink, cores;
  WideMemory wide;
  Components components;
  std::vector<std::uint8_t> flags;
};

template <typename T>
BinarizeMemory &memory_of(Cpu &cpu) {
  static const char key = 0;
  auto &kept = cpu.kept(&key);
  if (!kept) kept = std::make_shared<BinarizeMemory>();
  return *static_cast<BinarizeMemory *>(kept.get());
}
template <typename T>
BinarizeHistory &history_of(Cpu &cpu) {
  static const char key = 0;
  return *static_cast<BinarizeHistory *>(cpu.history(&key, sizeof(BinarizeHistory)));
}

/// The binarization of one image.
template <typename T>
class Binarization {
 public:
  Binarization(Cpu &cpu, Plane<const T> in, const BinarizeParams &params)
      : cpu_(cpu),
        params_(params),
        part_(clip_to_plane(params.roi, in.width, in.height)),
        quarter_part_(quarter_of(part_, in.width, in.height)),
        memory_(memory_of<T>(cpu)),
        history_(history_of<T>(cpu)) {
    const int width = in.width, height = in.height;
    QuarterMemory &quarter = memory_.quarter;
    const auto plane = [&](AlignedMemory &memory) {
      return plane_in<T>(memory, (width + 3) / 4, (height + 3) / 4);
    };
    image_ = {in, plane(quarter.mean), plane(quarter.top), plane(quarter.low)};
    paper_ = {plane(quarter.paper), 0};
    means_ = {plane(quarter.means), plane(quarter.cells)};
    around_ = plane(quarter.around);
    darkest_ = plane_in<T>(quarter.darkest, (around_.width + 3) / 4, (around_.height + 3) / 4);
    darkness_ = plane_in<T>(memory_.darkness, width, height);
    ink_ = bits_in(memory_.ink, width, height);
  }

  /// @param needs_ink  otherwise only the darkness is wanted
  void operator()(bool needs_ink) {
    find_polarity();
    find_first_darkness();
    if (found_.blank) {
      history_.going[0] = history_.going[1] = 0;
      std::fill(ink_.row(0), ink_.row(ink_.height), 0);
      return;
    }
    const bool fast = params_.level == BinarizeLevel::fast;
    const bool goes_on = history_.going[1];
    history_.going[0] = 1;
    history_.going[1] = !fast;
    const InkLevels<T> plain{levels_, InkWeights::plain(), kFirstErosion, nullptr};
    if (needs_ink || !fast) find_ink<T>(cpu_, darkness_, plain, ink_, nullptr);
    if (fast) return;
    find_second_darkness(!goes_on);
    if (needs_ink) find_second_ink();
  }

  BinarizeFound found() const {
    BinarizeFound found = found_;
    found.threshold = levels_.threshold;
    found.deviation = levels_.deviation;
    return found;
  }
  Plane<const T> darkness() const { return darkness_; }
  const BitPlane &ink() const { return ink_; }

 private:
  void find_polarity() {
    image_.shrink(cpu_);
    const bool inverted = params_.invert == BinarizeInvert::automatic
                              ? image_.is_light_on_dark(cpu_, quarter_part_)
                              : params_.invert == BinarizeInvert::on;
    if (inverted) image_.invert(cpu_);
    if (history_.inverted != inverted) history_.going[0] = history_.going[1] = 0;
    history_.inverted = found_.inverted = inverted;
  }

  void find_first_darkness() {
    paper_.close(cpu_, image_.top, kFirstClosing);
    const PageDetails details =
        judge_details(count_details<T>(cpu_, image_, paper_, quarter_part_, memory_.quarter));
    found_.blank = details.blank;
    found_.third_detail = details.third;
    found_.detail_level = details.level;
    noise_ = details.noise;
    set_levels(darken<T>(cpu_, image_, paper_, part_, darkness_, nullptr));
    if (!found_.blank) smooth(0, !history_.going[0]);
  }

  /// @param first  nothing is known of frames before
  void find_second_darkness(bool first) {
    RunLengths runs;
    runlengths::count_runs(cpu_, ink_, part_, true, runs);
    found_.run = history_.run.smooth(find_median_run(runs), first, smoothing_weight(params_));
    sizes_ = StrokeSizes::of(found_.run);
    paper_.close(cpu_, image_.top, sizes_.closing);
    set_levels(darken<T>(cpu_, image_, paper_, part_, darkness_, &means_));
    smooth(1, first);
  }

  void find_second_ink() {
    pool_quarter<T>(cpu_, means_.largest, darkest_);
    square_extrema<T>(cpu_, true, sizes_.neighbourhood, darkest_, darkest_);
    box_means<T>(cpu_, means_.cells, sizes_.mean, around_);
    const InkSurroundings<T> around{darkest_, means_.cells, around_};
    const InkLevels<T> levels{levels_, InkWeights::of(found_.run), sizes_.erosion, &around};
    const bool full = params_.level == BinarizeLevel::full;
    const BitPlane cores = bits_in(memory_.cores, full ? ink_.width : 1, full ? ink_.height : 1);
    find_ink<T>(cpu_, darkness_, levels, ink_, full ? &cores : nullptr);
    if (!full) return;
    keep_with_seeds(cpu_, cores, ink_, memory_.components, memory_.flags);
    const int ink_darkness = median_darkness<T>(cpu_, darkness_, ink_);
    if (ink_darkness < 0) return;
    found_.ink_darkness = ink_darkness;
    const auto things = find_wide_things<T>(cpu_, image_.mean, sizes_, ink_darkness, memory_.wide);
    paint_wide_things(cpu_, image_, things, ink_darkness, ink_);
  }

  /// @param counts  the histogram of darkness
  void set_levels(const std::vector<std::uint32_t> &counts) {
    const DarknessLevels levels = find_levels(counts, noise_);
    levels_ = {levels.threshold, levels.deviation, levels.clear};
  }
  void smooth(int round, bool first) {
    const int weight = smoothing_weight(params_);
    levels_.threshold = history_.threshold[round].smooth(levels_.threshold, first, weight);
    levels_.deviation = history_.deviation[round].smooth(levels_.deviation, first, weight);
  }

  Cpu &cpu_;
  const BinarizeParams &params_;
  const Rectangle part_, quarter_part_;
  BinarizeMemory &memory_;
  BinarizeHistory &history_;
  PageImage<T> image_;
  Paper<T> paper_;
  Plane<T> darkness_, darkest_, around_;
  DarknessMeans<T> means_;
  BitPlane ink_;
  StrokeSizes sizes_{};
  int noise_ = 0;
  RoundLevels levels_{};  ///< of the last round
  BinarizeFound found_{};
};

template <typename T>
void write_darkness(Cpu &cpu, Plane<const T> darkness, Plane<T> out) {
  const std::uint32_t maximum = out.maximum;
  cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const T *const from = darkness.row(y);
      T *const to = out.row(y);
      for (int x = 0; x < out.width; ++x)
        to[x] = static_cast<T>(shown_darkness(from[x], kDarkest<T>, maximum));
    }
  });
}

template <typename In, typename Out>
void run_on_cpu(Cpu &cpu, Plane<const In> in, Plane<Out> out, const BinarizeParams &params,
                BinarizeReport *report) {
  check_call(params, in, out);
  const bool binary = params.output == BinarizeOutput::binary;
  Binarization<In> page(cpu, in, params);
  page(binary || report);
  if (binary)
    cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y)
        paint_ink<Out>()(page.ink().row(y), out.width, out.maximum, out.row(y));
    });
  else if constexpr (sizeof(In) == sizeof(Out))
    write_darkness(cpu, page.darkness(), out);
  if (!report) return;
  BinarizeFound found = page.found();
  found.ink = count_ink(cpu, page.ink());
  *report = make_report(found, std::uint64_t(out.width) * out.height, kDarkest<In>);
}

}  // namespace

void run(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const BinarizeParams &params, BinarizeReport *report) {
  run_on_cpu(cpu, in, out, params, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const BinarizeParams &params, BinarizeReport *report) {
  run_on_cpu(cpu, in, out, params, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const BinarizeParams &params, BinarizeReport *report) {
  run_on_cpu(cpu, in, out, params, report);
}

}  // namespace cudascan
