// SPDX-License-Identifier: LGPL-2.1-or-later
// The steps, written once for both backends.
#include <cstring>

#include "border.h"
#include "clock.h"
#include "coded.h"
#include "crop.h"
#include "dewarp.h"
#include "enlarge.h"
#include "in_pixels.h"
#include "ink.h"
#include "kernels/group4.h"
#include "kernels/linearopen.h"
#include "kernels/rotate.h"
#include "lanes.h"
#include "light.h"
#include "orientation.h"
#include "resolution.h"
#include "steps.h"
#include "straighten.h"

namespace cudascan::scan {
namespace {

class PageCleaner : public Cleaner {
 public:
  explicit PageCleaner(Gpus *gpus) : lanes_(gpus), large_(lanes_.on_gpu()) {}

  void clean(Image &page, const Steps &steps, Image &clean, Findings &found) override {
    const auto begin = Clock::now();
    group4_.clear();
    let_go();
    if (page.content == Content::unknown) {
      int device = kNowhere;
      lanes_.run(device, [&](auto &lane) { take_copies(lane.hold(page, found)); });
    }
    change_pixels(page, steps, found);
    clean.width = page.width;
    clean.height = page.height;
    clean.depth = 8;
    clean.resolution = page.resolution;
    found.cropped = steps.crop != Crop::no;
    const Findings before = found;
    const Content content = page.content;
    if (is_empty(page)) {
      finish_look(page, steps, begin, found);
    } else {
      int device = kNowhere;
      lanes_.run(device, [&](auto &lane) {
        // The attempt may not be the first one.
        const std::string decoder = found.decoder, not_on_gpu = found.not_on_gpu;
        found = before;
        found.decoder = decoder;
        found.not_on_gpu = not_on_gpu;
        page.content = content;
        work(lane, page, steps, begin, clean, found);
      });
      if (!is_empty(page)) found.device = device;
    }
    if (!is_empty(page) || (found.blank && steps.blank == Blank::drop)) return;
    found.not_turned = "the page is empty";
    clean.shape(page.width, page.height, 8);
    std::memset(clean.memory.data(), page.content == Content::white ? 255 : 0, clean.bytes());
  }

  void turn(const Image &plane, double angle, Image &to) override {
    to.shape(plane.width, plane.height, plane.depth);
    to.resolution = plane.resolution;
    int device = kNowhere;
    lanes_.run(device, [&](auto &lane) {
      if (plane.depth == 8)
        turn_levels<std::uint8_t>(lane, plane, angle, to);
      else
        turn_levels<std::uint16_t>(lane, plane, angle, to);
    });
  }

  const std::string &group4() const override { return group4_; }
  const Border &border() const override { return border_; }
  void flatten(Image &plane) override { dewarp_.apply(plane); }

 private:
  static bool is_empty(const Image &page) {
    return page.content == Content::white || page.content == Content::black;
  }

  /// The page has changed in host memory, or another one comes.
  void let_go() {
    lanes_.let_go();
    has_copies_ = false;
  }

  /// Makes small copies, unless that is done or the page is too small, and sets its content.
  void take_copies(Pixels &pixels) {
    const SkewScale scale(pixels.page().width, pixels.page().height);
    if (scale.enough && !has_copies_)
      pixels.look(scale.by * scale.squeeze, scale.by, copies_);
    else if (pixels.page().content == Content::unknown)
      pixels.find_content();
    has_copies_ = scale.enough;
  }

  /// The steps that need the page in host memory, and need not be repeated when a GPU fails.
  void change_pixels(Image &page, const Steps &steps, Findings &found) {
    settle_resolution(page, steps, found);
    if (!steps.upright && !steps.dewarp) return;
    need_pixels(page);
    if (steps.upright && !is_empty(page)) upright_.turn(page, found);
    if (steps.dewarp) flatten(page, found);
    if (found.orientation != 0 || found.dewarped) let_go();
  }

  template <typename Lane>
  void work(Lane &lane, Image &page, const Steps &steps, Clock::time_point begin, Image &clean,
            Findings &found) {
    Pixels &pixels = lane.hold(page, found);
    look(lane.lines(), pixels, steps, found);
    finish_look(page, steps, begin, found);
    const bool is_done = is_empty(page) || (found.blank && steps.blank == Blank::drop);
    if (!is_done) {
      const auto rest = Clock::now();
      // binarize compares each pixel with the paper around it. It needs the noise of the paper,
      // which even light cuts off at white.
      const bool needs_light = !std::holds_alternative<BinarizeParams>(steps.binarize);
      if (steps.even_light && needs_light && page.content == Content::gray) light_.apply(pixels);
      if (page.depth == 8)
        clean_levels<std::uint8_t>(lane, page, steps, clean, found);
      else
        clean_levels<std::uint16_t>(lane, page, steps, clean, found);
      found.clean_ms = ms_since(rest);
    }
    if (steps.keep_page) lane.bring_back(page);
  }

  static void finish_look(const Image &page, const Steps &steps, Clock::time_point begin,
                          Findings &found) {
    if (is_empty(page)) found.turned = false;
    if (found.box == Box{}) found.box = {0, 0, page.width, page.height};
    found.straighten_ms += ms_since(begin);
    if (page.content == Content::white) found.blank = steps.blank != Blank::keep;
  }

  /// Finds the resolution of the page and enlarges it if that is low.
  void settle_resolution(Image &page, const Steps &steps, Findings &found) {
    const auto need_levels = [&] {
      int device = kNowhere;
      lanes_.run(device, [&](auto &lane) {
        lane.hold(page, found);
        lane.bring_back(page);
      });
    };
    const bool is_certain = resolution_.settle(page, steps, need_levels, found);
    if (!steps.enlarge || !is_certain || page.content != Content::gray) return;
    const double factor = enlargement(page);
    if (factor == 1) return;
    need_pixels(page);
    let_go();
    enlarge(page, factor, large_);
    std::swap(page, large_);
    std::swap(page.colour, large_.colour);
    std::swap(page.coded, large_.coded);
    std::swap(page.file, large_.file);
    found.enlarged = factor;
  }

  void flatten(Image &page, Findings &found) {
    found.dewarped = !is_empty(page) && dewarp_.straighten(page);
    if (found.dewarped)
      found.bend = dewarp_.largest();
    else
      found.not_dewarped = is_empty(page) ? "the page is empty" : dewarp_.why_not();
  }

  /// What is measured on reduced copies of the page: its angle, its border, which is whitened, and
  /// whether it is blank.
  void look(LineMeter &lines, Pixels &pixels, const Steps &steps, Findings &found) {
    const Image &page = pixels.page();
    const SkewScale scale(page.width, page.height);
    const bool find_ink = steps.blank != Blank::keep || steps.crop == Crop::content;
    const bool find_border = steps.whiten_border || find_ink || steps.crop != Crop::no;
    if (steps.straighten || find_border) take_copies(pixels);
    measure_angle(page, scale, copies_.reduced, lines, steps, found);
    border_.forget();
    ink_.forget();
    sheet_ = {};
    const double border = scale.enough && find_border
                              ? border_.find(page, copies_, scale.by * scale.squeeze, scale.by)
                              : 0;
    if (border > 0 && steps.whiten_border) {
      found.border = border;
      border_.whiten(pixels);
      // A border without noise would hide that of the paper.
      const Box box = border_.inside(page, found.turned ? found.angle : 0);
      sheet_ = {box.left, box.top, box.right - box.left, box.bottom - box.top};
    }
    if (find_ink && !is_empty(page)) {
      ink_.find(pixels, border_);
      found.blank = steps.blank != Blank::keep && ink_.is_blank();
    }
    if (steps.crop != Crop::no)
      found.box = crop_box(page, found.turned ? found.angle : 0, steps, border_, ink_);
  }

  template <typename T, typename Lane>
  static void turn_levels(Lane &lane, const Image &plane, double angle, Image &to) {
    const Plane<const T> from = lane.template upload<T>(kPage, plane);
    const Plane<T> turned = lane.template target<T>(to);
    run(lane.exec(), from, turned, RotateParams{.angle = -angle});
    lane.end_work();
    lane.template fetch<T>(turned, to);
  }

  template <typename T, typename Lane>
  void clean_levels(Lane &lane, const Image &page, const Steps &steps, Image &clean,
                    Findings &found) {
    Plane<const T> at = lane.template held<T>(page);
    if (found.turned) {
      const Plane<T> turned = lane.template room<T>(kTurned, page.width, page.height);
      run(lane.exec(), at, turned, RotateParams{.angle = -found.angle});
      at = turned;
    }
    const Plane<std::uint8_t> result = lane.result(clean);
    const double dpi = std::min(page.resolution.x, page.resolution.y);
    const int shortest =
        steps.despeckle == Steps::kByResolution ? shortest_ink(dpi) : steps.despeckle;
    const bool despeckle = shortest > 1;
    const Plane<std::uint8_t> black =
        despeckle ? lane.template room<std::uint8_t>(kBlack, page.width, page.height) : result;
    AutothresholdReport report;
    binarize(lane.exec(), at, black, page.content, steps, dpi, report);
    if (despeckle) {
      // Ink stays if a segment fits into it in one of four directions. So thin strokes stay.
      LinearOpenParams params;
      params.operation = LinearOpenOperation::closing;
      params.length = shortest;
      params.directions = 4;
      run(lane.exec(), black, result, params);
    }
    if (steps.only_group4) {
      const std::vector<std::uint8_t> code = encode_group4(lane.exec(), result);
      group4_.assign(code.begin(), code.end());
    }
    lane.end_work();
    if (!steps.only_group4) lane.finish(clean);
    if (!report.thresholds.empty()) found.threshold = report.threshold;
  }

  template <typename T, typename Exec>
  void binarize(Exec &exec, Plane<const T> in, Plane<std::uint8_t> out, Content content,
                const Steps &steps, double dpi, AutothresholdReport &report) {
    if (content == Content::bilevel) {
      // Halfway between black and white: rotation has turned edges into grays.
      run(exec, in, out, AutothresholdParams{.method = AutothresholdMethod::isodata}, &report);
    } else if (const auto *binarize = std::get_if<BinarizeParams>(&steps.binarize)) {
      BinarizeParams params = *binarize;
      params.roi = sheet_;
      run(exec, in, out, params);
    } else if (const auto *nick = std::get_if<NickParams>(&steps.binarize)) {
      NickParams params = *nick;
      if (steps.scale_window) params.window = usual_window(dpi);
      run(exec, in, out, params);
    } else {
      run(exec, in, out, std::get<AutothresholdParams>(steps.binarize), &report);
    }
  }

  Lanes lanes_;
  std::string group4_;
  ResolutionFinder resolution_;
  Image large_;
  EvenLight light_;
  Copies copies_;
  bool has_copies_ = false;  ///< of the page
  Border border_;
  Rectangle sheet_;  ///< inside a border that was whitened; empty = the whole page
  Ink ink_;
  Upright upright_;
  Dewarp dewarp_;
};

}  // namespace

std::unique_ptr<Cleaner> make_cleaner(Gpus *gpus) {
  return std::make_unique<PageCleaner>(gpus);
}

}  // namespace cudascan::scan
