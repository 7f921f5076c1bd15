// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize.h"

#include <cstddef>

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/binarize/call.h"
#include "kernels/binarize/closing.cuh"
#include "kernels/binarize/darkness.cuh"
#include "kernels/binarize/paint.cuh"
#include "kernels/binarize/planes.cuh"
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
  /// With kPad samples around each row, and whole fours of rows.
  template <typename T>
  Plane<T> padded_plane(int width, int height) {
    const int stride = (width + 2 * kPad + 127) / 128 * 128;
    return {take<T>(std::size_t(stride) * ((height + 3) / 4 * 4)) + kPad, width, height,
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
  std::size_t cleared;  ///< bytes from the numbers on that are 0 at first
  Numbers *numbers;
  QuarterPlanes quarter;
  SmallPlane across[3];   ///< transposed, between the steps of closings: quarter, then sixteenths
  SmallPlane between[3];  ///< the same, upright
  SmallPlane paper, details;
  std::uint32_t *means;  ///< sixteenth, right after the numbers
  SmallPlane darkest;    ///< sixteenth: M
  SmallPlane cells, around;
  Plane<T> darkness, least;
  DeviceBits ink;
  DeviceComponents cores;
  ThingPlanes things;

  Workspace(Arena &arena, int width, int height, BinarizeLevel level) {
    const int w4 = (width + 3) / 4, h4 = (height + 3) / 4;
    const int w16 = (w4 + 3) / 4, h16 = (h4 + 3) / 4;
    const auto small = [&] { return arena.plane(w4, h4); };
    const auto smallest = [&] { return arena.plane(w16, h16); };
    numbers = arena.take<Numbers>(1);
    means = level == BinarizeLevel::fast ? nullptr : arena.take<std::uint32_t>(w16 * h16);
    cleared = arena.bytes();
    quarter = {small(), small(), small(), {}, {}};
    paper = small();
    details = small();
    darkness = arena.padded_plane<T>(width, height);
    ink = arena.bits(width, height);
    cores = {};
    things = {};
    darkest = cells = around = {};
    if (level == BinarizeLevel::fast) return;
    darkest = smallest();
    cells = small();
    around = small();
    least = arena.padded_plane<T>(width, height);
    across[0] = arena.plane(h4, w4);
    between[0] = small();
    if (level == BinarizeLevel::sized) return;
    quarter.sixteenth_high = smallest();
    quarter.sixteenth_low = smallest();
    for (int i : {1, 2}) {
      across[i] = arena.plane(h16, w16);
      between[i] = smallest();
    }
    cores = arena.components(width, height);
    things.quarter = quarter.mean;
    things.wide_paper = smallest();
    things.widest_paper = smallest();
    things.darkness = small();
    things.thing = arena.components(w4, h4);
    things.opened = arena.components(w4, h4);
    for (DeviceBits *plane :
         {&things.thick, &things.deep, &things.centre, &things.margin, &things.near})
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

  /// The quarter and the paper of the coarse round.
  void measure_quarter() {
    queue_quarter(cuda, in, space.quarter, page, quarter_part);
    queue_small_closing(cuda,
                        {space.quarter, space.paper, space.details, nullptr, kCoarsePaper, page});
  }

  RoundPlanes<T> planes(Round round) const {
    return {in,
            space.paper,
            space.details,
            space.darkness,
            space.means,
            space.cells,
            page,
            roi,
            quarter_part,
            round,
            params.level == BinarizeLevel::fast};
  }

  /// The papers of the second round, and those of wide things.
  void measure_fine_papers() {
    const StrokeSizes &sizes = space.numbers->sizes;
    const QuarterPlanes &quarter = space.quarter;
    queue_small_closing(cuda,
                        {quarter, space.paper, SmallPlane{}, &sizes.closing, kFinePaper, page});
    const bool full = params.level == BinarizeLevel::full;
    struct Closing {
      SmallPlane in, inverted_in, out;
      const int *size;
      PaperKind kind;
      int above;
    };
    const Closing closings[] = {
        {quarter.top, quarter.low, space.paper, &sizes.closing, kFinePaper, kMostSmallClosing},
        {quarter.sixteenth_high, quarter.sixteenth_low, space.things.wide_paper,
         &sizes.wide_closing, kWidePaper, 0},
        {quarter.sixteenth_high, quarter.sixteenth_low, space.things.widest_paper,
         &sizes.widest_closing, kWidestPaper, 0}};
    const int n = full ? 3 : 1, most = full ? StrokeSizes::kMostWidest : kMostClosing;
    WindowJobs jobs = window_jobs(true);
    for (int i = 0; i < n; ++i) {
      const Closing &c = closings[i];
      jobs.add_raw(c.in, c.inverted_in, space.across[i], RowWindow{c.size, true}, c.above);
    }
    queue_windows(cuda, jobs, most, 1);
    jobs.n = 0;
    for (int i = 0; i < n; ++i) {
      const Closing &c = closings[i];
      jobs.add(space.across[i], space.between[i], RowWindow{c.size, true}, RowWindow{c.size, false},
               &space.numbers->paper[c.kind], c.above);
    }
    queue_windows(cuda, jobs, most, most);
    jobs = window_jobs(false);
    for (int i = 0; i < n; ++i) {
      const Closing &c = closings[i];
      jobs.add(space.between[i], c.out, RowWindow{c.size, false}, {}, nullptr, c.above);
    }
    queue_windows(cuda, jobs, most, 1);
  }

  template <typename Out>
  void find_fine_ink(const InkTarget<Out> &target) {
    const FinePlanes<T> fine{space.least, space.darkest, space.around, space.cores.bits};
    queue_around(cuda, planes(kFine), fine);
    queue_fine_ink(cuda, planes(kFine), fine, target);
  }

  void find_things() {
    space.things.page = page;
    space.things.darkest = kDarkest<T>;
    queue_things(cuda, space.things);
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
  const bool binary = params.output == BinarizeOutput::binary, whole = binary || report;
  const BinarizeLevel level = params.level;
  const bool full = level == BinarizeLevel::full;
  Arena sizes;
  Workspace<T>(sizes, in.width, in.height, level);
  Arena arena(static_cast<unsigned char *>(cuda.scratch(sizes.bytes())));
  Workspace<T> space(arena, in.width, in.height, level);
  cuda.clear(space.numbers, space.cleared);
  const Rectangle roi = clip_to_plane(params.roi, in.width, in.height);
  const Rectangle part = quarter_of(roi, in.width, in.height);
  const Page page{space.numbers, history_of<T>(cuda),      params.invert,
                  in.maximum,    smoothing_weight(params), part.width * part.height};
  Frame<T> frame{cuda, params, space, page, in, roi, part};
  // The last decision on ink writes the result, except for level full.
  const InkTarget<Out> bits{space.ink, {}, false};
  const InkTarget<Out> last = binary && !full ? InkTarget<Out>{{}, out, report != nullptr} : bits;
  frame.measure_quarter();
  queue_darkness(cuda, frame.planes(kCoarse));
  if (level != BinarizeLevel::fast) {
    queue_coarse_ink(cuda, frame.planes(kCoarse), bits);
    runlengths::queue_count_runs(cuda, space.ink, roi, true, &space.numbers->runs,
                                 &space.numbers->blank);
    queue_sizes(cuda, page);
    frame.measure_fine_papers();
    queue_darkness(cuda, frame.planes(kFine));
    if (whole) frame.find_fine_ink(last);
  } else if (whole) {
    queue_coarse_ink(cuda, frame.planes(kCoarse), last);
  }
  if (full && whole) {
    queue_reconstruct(cuda, page, space.ink, space.cores, space.darkness);
    frame.find_things();
  }
  const auto paint_job = [&]<typename To>(Plane<To> to) {
    return PaintJob<T, To>{in,
                           to,
                           space.ink,
                           full,
                           space.things.near,
                           space.things.margin,
                           space.things.widest_paper,
                           page,
                           report != nullptr};
  };
  if (binary) {
    if (full) queue_paint(cuda, paint_job(out));
  } else if constexpr (sizeof(T) == sizeof(Out)) {
    if (report) queue_count_ink(cuda, paint_job(out));
    queue_show_darkness(cuda, space.darkness, out);
  }
  if (!report) return;
  auto *const host = static_cast<Numbers *>(cuda.report_memory(sizeof(Numbers)));
  cuda.fetch(host, space.numbers, offsetof(Numbers, paper));  // only what the report is made of
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
