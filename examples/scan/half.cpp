// SPDX-License-Identifier: LGPL-2.1-or-later
#include "half.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace cudascan::scan {
namespace {

constexpr int kParts = 12, kSteps = 64;                  ///< from top to bottom; of distance
constexpr double kReach = 20, kDeepest = 4;              ///< mm
constexpr double kLeastReach = 0.03, kMostReach = 0.08;  ///< of the width of the image
constexpr double kBlack = 0.4, kStillDark = 0.75, kAlike = 0.25, kNoShadow = 0.97;
constexpr int kBits = 10;  ///< of gains after the point

/// The level that a share of the counted pixels reach.
int level_of(const std::array<int, 256> &counts, double share) {
  int all = 0, level = 255;
  for (const int count : counts) all += count;
  for (int above = counts[255]; level > 0 && above < share * all; above += counts[level]) --level;
  return level;
}

/// The shadow of a fold on one page.
template <typename T>
class Shadow {
 public:
  /// @param edge   x of the first pixel on the page in each row, as seen from the gutter
  /// @param sign   1 if the page is to the right of it
  Shadow(const Plane<T> &page, const std::vector<int> &edges, int sign, int reach, int deepest)
      : page_(page), edges_(edges), sign_(sign), reach_(reach), deepest_(deepest) {
    find_sheet();
    measure();
    complete();
    find_shares();
  }

  void remove() const {
    std::vector<int> gains(kSteps), fills(kSteps);
    for (int y = 0; y < page_.height; ++y) {
      if (y < top_ || y >= bottom_) {
        fill_row(y, static_cast<T>(far_[y]));
        continue;
      }
      const double at = std::clamp((y + 0.5) * kParts / page_.height - 0.5, 0., kParts - 1.);
      const int before = std::min(static_cast<int>(at), kParts - 2);
      const double after = at - before;
      const auto between = [&](const auto &values) {
        return values[before] * (1 - after) + values[before + 1] * after;
      };
      const double paper = between(papers_);
      for (int step = 0; step < kSteps; ++step) {
        const double share =
            shares_[before][step] * (1 - after) + shares_[before + 1][step] * after;
        gains[step] = share < kBlack      ? 0
                      : share > kNoShadow ? 1 << kBits
                                          : static_cast<int>((1 << kBits) / share);
      }
      lighten_row(y, gains, static_cast<int>(paper * kScale));
    }
  }

 private:
  static constexpr int kShift = 8 * (sizeof(T) - 1), kScale = sizeof(T) == 1 ? 1 : 257;

  int step_of(int distance) const { return distance * kSteps / reach_; }

  /// The rows between those of the dark surround above and below the sheet.
  void find_sheet() {
    constexpr int kSamples = 16;
    for (int y = 0; y < page_.height; ++y) {
      long sum = 0;
      int count = 0;
      for (int i = 0; i < kSamples; ++i) {
        const int x = edges_[y] + sign_ * (reach_ / 2 + i * reach_ / 2 / kSamples);
        if (x < 0 || x >= page_.width) continue;
        sum += page_.row(y)[x];
        ++count;
      }
      far_.push_back(static_cast<int>(sum / std::max(1, count)));
    }
    std::vector<int> sorted = far_;
    const auto light = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 3 / 4);
    std::nth_element(sorted.begin(), light, sorted.end());
    while (top_ < page_.height && 2 * far_[top_] < *light) ++top_;
    while (bottom_ > top_ && 2 * far_[bottom_ - 1] < *light) --bottom_;
  }

  void measure() {
    std::vector<std::array<int, 256>> counts(kSteps);
    for (int part = 0; part < kParts; ++part) {
      for (auto &one : counts) one.fill(0);
      const int end = std::min(bottom_, (part + 1) * page_.height / kParts);
      for (int y = std::max(top_, part * page_.height / kParts); y < end; ++y) {
        const T *row = page_.row(y);
        for (int i = 0, x = edges_[y]; i < reach_ && x >= 0 && x < page_.width; ++i, x += sign_)
          ++counts[step_of(i)][row[x] >> kShift];
      }
      int paper = 0;
      if (part * page_.height / kParts >= bottom_ || end <= top_) {
        papers_[part] = 0;
        continue;
      }
      for (int step = 0; step < kSteps; ++step) {
        levels_[part][step] = level_of(counts[step], 0.3);
        if (step >= kSteps / 2) paper = std::max(paper, levels_[part][step]);
      }
      papers_[part] = paper;
    }
  }

  /// Parts outside the sheet are like the next ones inside.
  void complete() {
    const auto copy = [&](int to, int from) {
      if (papers_[to] > 0) return;
      papers_[to] = papers_[from];
      levels_[to] = levels_[from];
    };
    for (int part = 1; part < kParts; ++part) copy(part, part - 1);
    for (int part = kParts - 2; part >= 0; --part) copy(part, part + 1);
  }

  /// The light of each part at each distance, relative to its paper, that grows with the distance.
  void find_shares() {
    std::array<double, kSteps> usual{};
    for (int step = 0; step < kSteps; ++step) {
      std::array<double, kParts> shares;
      for (int part = 0; part < kParts; ++part)
        shares[part] = std::min(1., levels_[part][step] / std::max(1., papers_[part]));
      std::nth_element(shares.begin(), shares.begin() + kParts / 2, shares.end());
      usual[step] = shares[kParts / 2];
    }
    grow(usual);
    darkest_ = usual[0];
    for (int part = 0; part < kParts; ++part) {
      for (int step = 0; step < kSteps; ++step)
        shares_[part][step] = std::min(1., levels_[part][step] / std::max(1., papers_[part]));
      grow(shares_[part]);
      for (int step = 0; step < kSteps; ++step)
        if (std::fabs(shares_[part][step] - usual[step]) > kAlike)
          shares_[part][step] = usual[step];
    }
  }

  static void grow(std::array<double, kSteps> &shares) {
    const auto near = shares.begin() + kSteps / 5;
    std::fill(shares.begin(), std::min_element(shares.begin(), near),
              *std::min_element(shares.begin(), near));
    for (int step = 1; step < kSteps; ++step)
      shares[step] = std::max(shares[step], shares[step - 1]);
  }

  /// Fills what is beyond the gutter.
  void fill_row(int y, T level) const {
    T *row = page_.row(y);
    for (int x = edges_[y] - sign_; x >= 0 && x < page_.width; x -= sign_) row[x] = level;
  }

  void lighten_row(int y, const std::vector<int> &gains, int paper) const {
    constexpr std::int64_t kWhite = sizeof(T) == 1 ? 255 : 65535;
    T *row = page_.row(y);
    bool at_cut = darkest_ < kNoShadow - 0.1;
    fill_row(y, static_cast<T>(paper));
    for (int i = 0, x = edges_[y]; i < reach_ && x >= 0 && x < page_.width; ++i, x += sign_) {
      const int gain = gains[step_of(i)];
      std::int64_t level = gain == 0 ? paper : (std::int64_t{row[x]} * gain) >> kBits;
      at_cut = at_cut && i < deepest_ && (gain == 0 || level < kStillDark * paper);
      if (at_cut) level = paper;
      row[x] = static_cast<T>(std::min(level, kWhite));
    }
  }

  const Plane<T> page_;
  const std::vector<int> &edges_;
  const int sign_, reach_, deepest_;
  int top_ = 0, bottom_ = page_.height;
  std::vector<int> far_;  ///< means of the rows at some distance
  std::array<std::array<int, kSteps>, kParts> levels_{};
  std::array<std::array<double, kSteps>, kParts> shares_{};
  std::array<double, kParts> papers_{};
  double darkest_ = 1;
};

template <typename T>
void cut(const Plane<const T> &from, const std::vector<int> &edges, int begin, bool left, double mm,
         const Plane<T> &to) {
  for (int y = 0; y < to.height; ++y)
    std::memcpy(to.row(y), from.row(y) + begin, sizeof(T) * to.width);
  const int reach =
      std::clamp(static_cast<int>(kReach * mm), static_cast<int>(kLeastReach * from.width) + 1,
                 static_cast<int>(kMostReach * from.width) + 1);
  std::vector<int> inside(edges);
  for (int &edge : inside) edge = left ? edge - 1 : edge - begin;
  const int deepest = static_cast<int>(reach * kDeepest / kReach);
  Shadow<T>(to, inside, left ? -1 : 1, reach, deepest).remove();
}

}  // namespace

void cut_half(const Image &image, const Gutter &gutter, Part part, Image &half) {
  std::vector<int> edges;  // the first column to the right of the gutter
  for (int y = 0; y < image.height; ++y)
    edges.push_back(std::clamp(static_cast<int>(std::lround(gutter.at(y + 0.5, image.height))), 1,
                               image.width - 1));
  const auto [least, most] = std::minmax_element(edges.begin(), edges.end());
  const bool left = part == Part::left;
  const int begin = left ? 0 : *least;
  half.shape(left ? *most : image.width - begin, image.height, image.depth);
  half.resolution = image.resolution;
  const double mm = image.resolution.x / kMmPerInch;
  if (image.depth == 8)
    cut<std::uint8_t>(image.plane<const std::uint8_t>(), edges, begin, left, mm,
                      half.plane<std::uint8_t>());
  else
    cut<std::uint16_t>(image.plane<const std::uint16_t>(), edges, begin, left, mm,
                       half.plane<std::uint16_t>());
  find_content(half);
}

}  // namespace cudascan::scan
