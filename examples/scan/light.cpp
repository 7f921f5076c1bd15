// SPDX-License-Identifier: LGPL-2.1-or-later
#include "light.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "clones.h"

namespace cudascan::scan {
namespace {

constexpr int kReduction = 8;  // at 300 dpi
constexpr int kClosing = 31, kSmoothing = 15;
/// Gains have 10 binary digits after the point, shares have 8. Blocks darker than an eighth of
/// white are not paper.
constexpr int kGainBits = 10, kShareBits = 8;
constexpr int kDarkestPaper = 32;

/// Where a pixel lies between the centres of two blocks.
struct Between {
  Between(int at, int by, int blocks) {
    const int from_first = std::max(0, at - by / 2);
    before = std::min(from_first / by, blocks - 1);
    after = std::min(before + 1, blocks - 1);
    share = ((from_first % by) << kShareBits) / by;
  }
  int before, after;  ///< blocks
  int share;          ///< of the one after
};

std::uint32_t mix(std::uint32_t before, std::uint32_t after, std::uint32_t share) {
  return (before * ((1U << kShareBits) - share) + after * share) >> kShareBits;
}

/// Spreads the gains of a row of blocks over the columns of the page.
class Columns {
 public:
  Columns(int width, int by, int blocks) : gains_(blocks) {
    for (int x = 0; x < width; ++x) columns_.emplace_back(x, by, blocks);
  }
  void spread(const std::uint8_t *paper, std::vector<std::uint32_t> &gains) {
    for (std::size_t i = 0; i < gains_.size(); ++i) gains_[i] = gain_of(paper[i]);
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      const Between &at = columns_[x];
      gains[x] = mix(gains_[at.before], gains_[at.after], at.share);
    }
  }

 private:
  std::vector<Between> columns_;
  std::vector<std::uint32_t> gains_;
};

template <typename T>
[[gnu::always_inline]] inline void apply_gains(const std::uint32_t *above,
                                               const std::uint32_t *below, std::uint32_t share,
                                               int width, T *row) {
  constexpr std::uint32_t kWhite = std::numeric_limits<T>::max();
  for (int x = 0; x < width; ++x) {
    const std::uint32_t level = (row[x] * mix(above[x], below[x], share)) >> kGainBits;
    row[x] = static_cast<T>(level < kWhite ? level : kWhite);
  }
}
CUDASCAN_CLONES void apply_row(const std::uint32_t *above, const std::uint32_t *below,
                               std::uint32_t share, int width, std::uint8_t *row) {
  apply_gains(above, below, share, width, row);
}
CUDASCAN_CLONES void apply_row(const std::uint32_t *above, const std::uint32_t *below,
                               std::uint32_t share, int width, std::uint16_t *row) {
  apply_gains(above, below, share, width, row);
}

template <typename T>
void apply_paper(const Image &paper, int by, const Plane<T> &page) {
  const auto levels = paper.plane<const std::uint8_t>();
  std::vector<std::uint32_t> above(page.width), below(page.width);
  Columns columns(page.width, by, paper.width);
  int in_above = -1, in_below = -1;
  const auto hold = [&](int block, std::vector<std::uint32_t> &gains, int &held) {
    if (held != block) columns.spread(levels.row(block), gains);
    held = block;
  };
  for (int y = 0; y < page.height; ++y) {
    const Between at(y, by, paper.height);
    if (in_below == at.before) {
      std::swap(above, below);
      std::swap(in_above, in_below);
    }
    hold(at.before, above, in_above);
    hold(at.after, below, in_below);
    apply_row(above.data(), below.data(), at.share, page.width, page.row(y));
  }
}

}  // namespace

std::uint16_t gain_of(std::uint8_t paper) {
  return static_cast<std::uint16_t>((255U << kGainBits) /
                                    std::max<std::uint32_t>(paper, kDarkestPaper));
}

void divide_by_paper(Image &page, const Image &paper, int by) {
  if (page.depth == 8)
    apply_paper(paper, by, page.plane<std::uint8_t>());
  else
    apply_paper(paper, by, page.plane<std::uint16_t>());
}

void EvenLight::apply(Pixels &pixels) {
  apply(pixels, [](Image &) { return true; });
}

bool EvenLight::apply(Pixels &pixels, const std::function<bool(Image &reduced)> &mend) {
  const Image &page = pixels.page();
  const double dpi = page.resolution.x > 0 ? page.resolution.x : kUsualDpi;
  const int by = std::clamp(static_cast<int>(std::lround(kReduction * dpi / kUsualDpi)), 1,
                            std::min({64, page.width, page.height}));
  pixels.reduce(by, by, reduced_);
  if (!mend(reduced_)) return false;
  paper_.measure(reduced_, kClosing, kSmoothing);
  pixels.divide(paper_.levels(), by);
  return true;
}

}  // namespace cudascan::scan
