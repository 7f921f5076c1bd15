// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize.h"

#include <algorithm>
#include <initializer_list>

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/binarize/call.h"
#include "kernels/binarize/darkness.cuh"
#include "kernels/binarize/paint.cuh"
#include "kernels/binarize/planes.cuh"
#include "kernels/binarize/scale.cuh"
#include "kernels/binarize/things.cuh"
#include "kernels/histogram/roi.h"

namespace cudascan {
namespace {

using namespace binarize;

/// Hands out parts of scratch memory: first adds up what is needed, then gives addresses.
class Arena {
 public:
  explicit Arena(unsigned char *memory = nullptr) : memory_(memory) {}

  template <typename T>
  T *take(std::size_t n) {
    auto *const at = reinterpret_cast<T *>(memory_ + bytes_);
    bytes_ += (n * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  std::size_t bytes() const { return bytes_; }

  SmallPlane plane(int width, int height) {
    const int stride = (width + 63) / 64 * 64;
    return {take<std::uint16_t>(std::size_t(stride) * height), width, height,
            static_cast<std::ptrdiff_t>(stride * sizeof(std::uint16_t))};
  }
  template <typename T>
  Plane<T> padded_plane(int width, int height) {
    const int stride = (width + 2 * kPad + 127) / 128 * 128;
    return {take<T>(std::size_t(stride) * height) + kPad, width, height,
            static_cast<std::ptrdiff_t>(stride * sizeof(T)), kDarkest<T>};
  }
  DeviceBits bits(int width, int height) {
    const int stride = DeviceBits::stride_of(width);
    return {take<std::uint32_t>(std::size_t(stride) * height), width, height, stride};
  }
  DeviceComponents components(int width, int height) {
    const DeviceBits plane = bits(width, height);
    return {plane, {take<std::uint32_t>(DeviceComponents::nodes(width, height))}};
  }

 private:
  unsigned char *memory_;
  std::size_t bytes_ = 0;
};

/// All memory of a frame.
template <typename T>
struct Workspace {
  Numbers *numbers;
  std::uint32_t *counts;
  QuarterPlanes quarter;
  SmallPlane across[4];   ///< transposed, between the steps of closings
  SmallPlane between[2];  ///< the same, upright
  SmallPlane paper;
  SmallPlane means;
  Plane<T> darkness, least;
  DeviceComponents ink;
  DeviceBits cores;
  ThingPlanes things;

  Workspace(Arena &arena, int width, int height, BinarizeLevel level) {
    const int w4 = (width + 3) / 4, h4 = (height + 3) / 4;
    const auto small = [&] { return arena.plane(w4, h4); };
    numbers = arena.take<Numbers>(1);
    counts = arena.take<std::uint32_t>(kDarkest<T> + 1);
    quarter = {small(), small(), small()};
    for (SmallPlane &plane : across) plane = arena.plane(h4, w4);
    for (SmallPlane &plane : between) plane = small();
    paper = small();
    darkness = arena.padded_plane<T>(width, height);
    ink = {arena.bits(width, height), {}};
    cores = {};
    things = {};
    means = {};
    if (level == BinarizeLevel::fast) return;
    means = small();
    least = arena.padded_plane<T>(width, height);
    if (level == BinarizeLevel::sized) return;
    ink.forest.parents = arena.take<std::uint32_t>(DeviceComponents::nodes(width, height));
    cores = arena.bits(width, height);
    things.quarter = quarter.mean;
    for (SmallPlane *plane : {&things.wide_paper, &things.widest_paper, &things.dark, &things.thick,
                              &things.darkness, &things.step_high, &things.step_low})
      *plane = small();
    std::copy_n(across, 4, things.spare);
    things.thing = arena.components(w4, h4);
    things.opened = arena.components(w4, h4);
    for (DeviceBits *plane :
         {&things.thick_bits, &things.edge_bits, &things.soft_bits, &things.margin, &things.near})
      *plane = arena.bits(w4, h4);
    things.edge_counts = arena.take<std::uint32_t>(DeviceComponents::nodes(w4, h4));
    things.soft_counts = arena.take<std::uint32_t>(DeviceComponents::nodes(w4, h4));
  }
};

/// The memory and the settings of a frame.
template <typename T>
struct Frame {
  Cuda &cuda;
  const BinarizeParams &params;
  Workspace<T> space;
  Page page;
  Plane<const T> in;
  Rectangle roi;           // clipped
  Rectangle quarter_part;  // of it in the quarter

  /// A closing of a plane of the page as it is, or another plane if it is inverted.
  struct Closing {
    SmallPlane in, inverted_in, out;
    RowWindow window;
    PaperKind kind;
  };
  void close(std::initializer_list<Closing> closings, int most) {
    const auto step = [](const Closing &c, bool largest) {
      return RowWindow{c.window.size, c.window.fixed, largest};
    };
    WindowJobs jobs = window_jobs(true);
    for (const Closing &c : closings)
      jobs.add_raw(c.in, c.inverted_in, space.across[jobs.n], step(c, true));
    queue_windows(cuda, jobs, most, 1);
    jobs.n = 0;
    for (const Closing &c : closings)
      jobs.add(space.across[jobs.n], space.between[jobs.n], step(c, true), step(c, false),
               &space.numbers->paper[c.kind]);
    queue_windows(cuda, jobs, most, most);
    jobs = window_jobs(false);
    for (const Closing &c : closings)
      jobs.add_last(space.between[jobs.n], c.out, step(c, false), c.kind);
    queue_windows(cuda, jobs, most, 1);
  }

  /// The paper of the coarse round, and the details.
  void measure_quarter() {
    queue_quarter(cuda, in, space.quarter, page, quarter_part);
    close({{space.quarter.top,
            space.quarter.low,
            space.paper,
            {nullptr, kFirstClosing},
            kCoarsePaper}},
          kFirstClosing);
    queue_details(cuda, space.quarter, space.paper, page, quarter_part);
  }

  RoundPlanes<T> planes(Round round) const {
    return {in,   space.paper, space.darkness, round == kFine ? space.means : SmallPlane{},
            page, round};
  }
  /// Darkness and its levels.
  void measure_darkness(Round round) {
    queue_darkness(cuda, planes(round));
    count_on_device(cuda, Plane<const T>(space.darkness), {.roi = roi}, space.counts);
    queue_levels(cuda, page, round, space.counts, kDarkest<T>, params.level == BinarizeLevel::fast);
  }

  void measure_fine_paper() {
    close({{space.quarter.top,
            space.quarter.low,
            space.paper,
            {&space.numbers->sizes.closing},
            kFinePaper}},
          kMostClosing);
  }

  void find_fine_ink() {
    const RowWindow window{&space.numbers->sizes.neighbourhood, 1, true};
    WindowJobs jobs = window_jobs(true);
    jobs.add(space.means, space.across[0], window);
    queue_windows(cuda, jobs, StrokeSizes::kMostNeighbourhood, 1);
    jobs.n = 0;
    jobs.add(space.across[0], space.between[0], window);
    queue_windows(cuda, jobs, StrokeSizes::kMostNeighbourhood, 1);
    const FinePlanes<T> fine{space.least, space.between[0], space.ink.bits, space.cores};
    queue_least(cuda, planes(kFine), fine);
    queue_fine_ink(cuda, planes(kFine), fine);
  }

  void find_things() {
    ThingPlanes &things = space.things;
    const StrokeSizes &sizes = space.numbers->sizes;
    close({{things.quarter, things.quarter, things.wide_paper, {&sizes.wide_closing}, kWidePaper},
           {things.quarter,
            things.quarter,
            things.widest_paper,
            {&sizes.widest_closing},
            kWidestPaper}},
          StrokeSizes::kMostWidest);
    things.page = page;
    things.darkest = kDarkest<T>;
    queue_things(cuda, things);
  }

 private:
  WindowJobs window_jobs(bool transposed) const {
    WindowJobs jobs{};
    jobs.page = page;
    jobs.transposed = transposed;
    return jobs;
  }
};

/// Frames of a sample type go on from each other, whatever the output.
template <typename T>
BinarizeHistory *history_of(Cuda &cuda) {
  static const char key = 0;
  return static_cast<BinarizeHistory *>(cuda.history(&key, sizeof(BinarizeHistory)));
}

template <typename T, typename Out>
void run_any(Cuda &cuda, Plane<const T> in, Plane<Out> out, const BinarizeParams &params,
             BinarizeReport *report) {
  check_call(params, in, out);
  const bool whole = params.output == BinarizeOutput::binary || report;
  const BinarizeLevel level = params.level;
  Arena sizes;
  Workspace<T>(sizes, in.width, in.height, level);
  Arena arena(static_cast<unsigned char *>(cuda.scratch(sizes.bytes())));
  Workspace<T> space(arena, in.width, in.height, level);
  cuda.clear(space.numbers, sizeof(Numbers));
  const Rectangle roi = clip_to_plane(params.roi, in.width, in.height);
  const Rectangle part = quarter_of(roi, in.width, in.height);
  const Page page{space.numbers, history_of<T>(cuda),      params.invert,
                  in.maximum,    smoothing_weight(params), part.width * part.height};
  Frame<T> frame{cuda, params, space, page, in, roi, part};
  frame.measure_quarter();
  frame.measure_darkness(kCoarse);
  if (whole || level != BinarizeLevel::fast)
    queue_coarse_ink(cuda, frame.planes(kCoarse), space.ink.bits);
  if (level != BinarizeLevel::fast) {
    queue_count_runs(cuda, space.ink.bits, roi, &space.numbers->runs, &space.numbers->blank);
    queue_sizes(cuda, page);
    frame.measure_fine_paper();
    frame.measure_darkness(kFine);
    if (whole) frame.find_fine_ink();
  }
  if (level == BinarizeLevel::full && whole) {
    queue_reconstruct(cuda, page, space.ink, space.cores, space.darkness);
    frame.find_things();
  }
  const auto paint_job = [&]<typename To>(Plane<To> to) {
    return PaintJob<T, To>{in,
                           to,
                           space.ink.bits,
                           level == BinarizeLevel::full,
                           space.things.near,
                           space.things.margin,
                           space.things.widest_paper,
                           page,
                           report != nullptr};
  };
  if (params.output == BinarizeOutput::binary) {
    queue_paint(cuda, paint_job(out));
  } else if constexpr (sizeof(T) == sizeof(Out)) {
    if (report) queue_count_ink(cuda, paint_job(out));
    queue_show_darkness(cuda, space.darkness, out);
  }
  if (!report) return;
  auto *const host = static_cast<Numbers *>(cuda.report_memory(sizeof(Numbers)));
  cuda.fetch(host, space.numbers, sizeof(Numbers));
  cuda.on_complete([=, invert = params.invert] {
    const Round last = level == BinarizeLevel::fast || host->blank ? kCoarse : kFine;
    *report = make_report(
        {host->blank != 0, host->third_detail, host->detail_level, is_inverted(invert, *host),
         host->threshold[last], host->deviation[last], host->run, host->ink_darkness, host->ink},
        std::uint64_t{1} * in.width * in.height, kDarkest<T>);
  });
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const BinarizeParams &params, BinarizeReport *report) {
  run_any(cuda, in, out, params, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const BinarizeParams &params, BinarizeReport *report) {
  run_any(cuda, in, out, params, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const BinarizeParams &params, BinarizeReport *report) {
  run_any(cuda, in, out, params, report);
}

}  // namespace cudascan
