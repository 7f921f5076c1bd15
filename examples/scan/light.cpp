// SPDX-License-Identifier: LGPL-2.1-or-later
#include "light.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/swofilter.h"
#include "reduce.h"

namespace cudascan::scan {
namespace {

constexpr double kUsualDpi = 300;
constexpr int kReduction = 8;  // at 300 dots an inch
constexpr int kClosing = 31, kSmoothing = 15;
/// Gains have 10 digits after the binary point. Paper darker than an eighth of white is no paper.
constexpr int kGainBits = 10;
constexpr int kDarkestPaper = 32;

/// Gains of a row of blocks, one more at either end than there are blocks.
void gains_between(const std::uint8_t *above, const std::uint8_t *below, int share, int of,
                   int blocks, std::vector<int> &gains) {
  for (int i = 0; i < blocks; ++i) {
    const int paper = (above[i] * (of - share) + below[i] * share + of / 2) / of;
    gains[i + 1] = (255 << kGainBits) / std::max(paper, kDarkestPaper);
  }
  gains[0] = gains[1];
  gains[blocks + 1] = gains[blocks];
}

template <typename T>
void apply_gains(T *row, int width, int by, const std::vector<int> &gains) {
  constexpr int kWhite = std::numeric_limits<T>::max();
  const int last = static_cast<int>(gains.size()) - 2;
  // Between the centres of two blocks the gain is a straight line.
  for (int begin = -by / 2, block = 0; begin < width; begin += by, ++block) {
    const int left = gains[std::min(block, last)], right = gains[std::min(block + 1, last + 1)];
    const int from = std::max(begin, 0), to = std::min(begin + by, width);
    for (int x = from; x < to; ++x) {
      const int gain = left + (right - left) * (x - begin) / by;
      row[x] = static_cast<T>(
          std::min<std::int64_t>(kWhite, (std::int64_t{row[x]} * gain) >> kGainBits));
    }
  }
}

template <typename T>
void apply_paper(const Image &paper, int by, const Plane<T> &page) {
  const auto levels = paper.plane<const std::uint8_t>();
  std::vector<int> gains(paper.width + 2);
  for (int y = 0; y < page.height; ++y) {
    const int from_first = y - by / 2;
    const int above = std::clamp(from_first < 0 ? 0 : from_first / by, 0, paper.height - 1);
    const int below = std::min(from_first < 0 ? 0 : above + 1, paper.height - 1);
    gains_between(levels.row(above), levels.row(below), std::max(0, from_first) % by, by,
                  paper.width, gains);
    apply_gains(page.row(y), page.width, by, gains);
  }
}

}  // namespace

void EvenLight::apply(Image &page) {
  const double dpi = page.resolution.x > 0 ? page.resolution.x : kUsualDpi;
  const int by = std::clamp(static_cast<int>(std::lround(kReduction * dpi / kUsualDpi)), 1,
                            std::min({64, page.width, page.height}));
  reduce(page, by, by, reduced_);
  closed_.shape(reduced_.width, reduced_.height, 8);
  paper_.shape(reduced_.width, reduced_.height, 8);
  SwoFilterParams params;
  params.op = SwoFilterOperator::close;
  params.window = kClosing;
  run(cpu_, reduced_.plane<const std::uint8_t>(), closed_.plane<std::uint8_t>(), params);
  params.op = SwoFilterOperator::mean;
  params.window = kSmoothing;
  run(cpu_, closed_.plane<const std::uint8_t>(), paper_.plane<std::uint8_t>(), params);
  if (page.depth == 8)
    apply_paper(paper_, by, page.plane<std::uint8_t>());
  else
    apply_paper(paper_, by, page.plane<std::uint16_t>());
}

}  // namespace cudascan::scan
