// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "kernels/swofilter.h"
#include "luma.h"
#include "reduce.h"

namespace cudascan::scan {
namespace {

constexpr double kCellDpi = 75;
constexpr int kPaperCell = 8;              ///< cells on each side of one of the paper
constexpr double kPaper = 150, kText = 3;  ///< mm, of the closings
constexpr int kDarkestPaper = 32;
constexpr int kMask = 215, kSeed = 195, kBlack = 50;  ///< of 255, which is the paper
constexpr double kGap = 4;                            ///< mm
constexpr double kSmallest = 80, kNarrowest = 8;      ///< mm^2, mm
constexpr double kSeeds = 10, kMiddle = 60;           ///< mm^2
constexpr double kSeedShare = 0.03, kMiddleShare = 0.08, kBoxShare = 0.4;
constexpr int kSteep = 30;                 ///< of 255
constexpr double kSteepEdge = 0.8;         ///< mm
constexpr int kChroma = 40;                ///< of 255
constexpr int kSteepColour = 25;           ///< of 255
constexpr double kSteepColourEdge = 0.2;   ///< mm
constexpr double kSmallestColour = 3;      ///< mm^2
constexpr int kPaleChroma = 22;            ///< of 255, near to clear colour
constexpr double kReach = 3, kAround = 1;  ///< mm: how near that is, and what is kept around colour

int odd(double length) {
  return std::clamp(static_cast<int>(std::lround(length)) | 1, 3, 255);
}

void filter(Cpu &cpu, const Image &from, SwoFilterOperator op, int window, Image &to) {
  to.shape(from.width, from.height, 8);
  SwoFilterParams params;
  params.op = op;
  params.window = window;
  run(cpu, from.plane<const std::uint8_t>(), to.plane<std::uint8_t>(), params);
}

/// A group of pieces, or one.
struct Group {
  int left = 1 << 30, top = 1 << 30, right = 0, bottom = 0;
  int area = 0, seeds = 0, middle = 0, steep = 0;
  std::vector<int> cells;  ///< indices

  void add(const Group &other) {
    left = std::min(left, other.left);
    top = std::min(top, other.top);
    right = std::max(right, other.right);
    bottom = std::max(bottom, other.bottom);
    area += other.area;
    seeds += other.seeds;
    middle += other.middle;
    steep += other.steep;
    cells.insert(cells.end(), other.cells.begin(), other.cells.end());
  }
  bool is_near(const Group &other, int gap) const {
    return left < other.right + gap && other.left < right + gap && top < other.bottom + gap &&
           other.top < bottom + gap;
  }
};

/// The pieces of cells that are set, connected by sides and corners; clears the cells.
std::vector<Group> pieces_of(std::vector<std::uint8_t> &cells, int width) {
  std::vector<Group> pieces;
  const int height = static_cast<int>(cells.size()) / width;
  for (std::size_t first = 0; first < cells.size(); ++first) {
    if (!cells[first]) continue;
    Group piece;
    piece.cells.assign(1, static_cast<int>(first));
    cells[first] = 0;
    for (std::size_t i = 0; i < piece.cells.size(); ++i) {
      const int x = piece.cells[i] % width, y = piece.cells[i] / width;
      piece.left = std::min(piece.left, x);
      piece.right = std::max(piece.right, x + 1);
      piece.top = std::min(piece.top, y);
      piece.bottom = std::max(piece.bottom, y + 1);
      for (int row = std::max(0, y - 1); row <= std::min(height - 1, y + 1); ++row)
        for (int column = std::max(0, x - 1); column <= std::min(width - 1, x + 1); ++column) {
          const int next = row * width + column;
          if (!cells[next]) continue;
          cells[next] = 0;
          piece.cells.push_back(next);
        }
    }
    piece.area = static_cast<int>(piece.cells.size());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// Unites groups that are near to one another, until none are.
void unite(std::vector<Group> &groups, int gap) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = groups.size(); --j > i;)
        if (groups[i].is_near(groups[j], gap)) {
          groups[i].add(groups[j]);
          groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
          changed = true;
        }
  }
}

}  // namespace

bool KeptParts::has(int x, int y) const {
  if (cells.empty()) return false;
  return row(std::min(y / by, height - 1))[std::min(x / by, width - 1)] != 0;
}

/// The levels of the cells relative to the paper, and their luma.
void Pictures::divide_by_paper(const PageLevels &page) {
  cells_.samples = page.samples;
  for (int i = 0; i < page.samples; ++i) {
    Image &cells = cells_.planes[i];
    reduce(page.planes[i], parts_.by, parts_.by, cells);
    const int by = std::min({kPaperCell, cells.width, cells.height});
    reduce(cells, by, by, reduced_);
    paper_.measure(reduced_, odd(kPaper * mm_ / by), 5);
    const auto paper = paper_.levels().plane<const std::uint8_t>();
    const auto to = cells.plane<std::uint8_t>();
    for (int y = 0; y < to.height; ++y) {
      const std::uint8_t *levels = paper.row(std::min(y / by, paper.height - 1));
      for (int x = 0; x < to.width; ++x) {
        const int level = std::max<int>(levels[std::min(x / by, paper.width - 1)], kDarkestPaper);
        to.row(y)[x] = static_cast<std::uint8_t>(std::min(255, to.row(y)[x] * 255 / level));
      }
    }
  }
  const Image &first = cells_.planes[0];
  gray_.shape(first.width, first.height, 8);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(first.width) * page.samples);
  for (int y = 0; y < first.height; ++y) {
    interleave(cells_, y, row.data());
    luma_row(row.data(), page.samples, first.width, gray_.plane<std::uint8_t>().row(y));
  }
}

/// Sets cells around one that are 0.
void Pictures::set_around(std::vector<std::uint8_t> &cells, int cell, double mm,
                          std::uint8_t value) const {
  const int reach = std::max(1, static_cast<int>(std::lround(mm * mm_)));
  const int x = cell % parts_.width, y = cell / parts_.width;
  for (int row = std::max(0, y - reach); row <= std::min(parts_.height - 1, y + reach); ++row)
    for (int column = std::max(0, x - reach); column <= std::min(parts_.width - 1, x + reach);
         ++column) {
      std::uint8_t &at = cells[static_cast<std::size_t>(row) * parts_.width + column];
      if (at == 0) at = value;
    }
}

/// By how much levels differ 1 mm to the left and right, and above and below a cell.
template <typename Levels>
int Pictures::slope(const Levels &levels, int cell) const {
  const int x = cell % parts_.width, y = cell / parts_.width;
  const int reach = std::max(1, static_cast<int>(std::lround(mm_)));
  const int left = std::max(0, x - reach), right = std::min(parts_.width - 1, x + reach);
  const int above = std::max(0, y - reach), below = std::min(parts_.height - 1, y + reach);
  return std::abs(levels(left, y) - levels(right, y)) +
         std::abs(levels(x, above) - levels(x, below));
}

void Pictures::find_pictures() {
  filter(cpu_, gray_, SwoFilterOperator::close, odd(kText * mm_), closed_);
  const int width = parts_.width;
  std::vector<std::uint8_t> mask(parts_.cells.size());
  const auto level = [&](const Image &image, int cell) -> int {
    return image.plane<const std::uint8_t>().row(cell / width)[cell % width];
  };
  const auto levels = [&](int x, int y) -> int {
    return closed_.plane<const std::uint8_t>().row(y)[x];
  };
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask[i] = level(closed_, static_cast<int>(i)) < kMask;
  std::vector<Group> groups = pieces_of(mask, width);
  const double cell = 1 / (mm_ * mm_);  // mm^2
  // Crumbs are no part of pictures.
  std::erase_if(groups, [&](const Group &group) { return group.area * cell < kSmallest / 8; });
  for (Group &group : groups)
    for (const int at : group.cells) {
      group.seeds += level(closed_, at) < kSeed;
      const int own = level(gray_, at);
      group.middle += own >= kBlack && own < kMask;
      group.steep += slope(levels, at) > kSteep;
    }
  unite(groups, static_cast<int>(std::lround(kGap * mm_)));
  for (const Group &group : groups) {
    const int across = group.right - group.left, down = group.bottom - group.top;
    if (group.area * cell < kSmallest || std::min(across, down) < kNarrowest * mm_) continue;
    if (group.seeds * cell < kSeeds || group.seeds < kSeedShare * group.area) continue;
    if (group.middle * cell < kMiddle || group.middle < kMiddleShare * group.area) continue;
    if (group.steep * cell < kSteepEdge * 2 * (across + down) / mm_) continue;
    const int by = parts_.by;
    parts_.boxes.push_back({group.left * by, group.top * by, group.right * by, group.bottom * by});
    if (group.area >= kBoxShare * across * down)
      for (int y = group.top; y < group.bottom; ++y)
        std::fill_n(parts_.cells.begin() + std::ptrdiff_t{1} * y * width + group.left, across,
                    kPicture);
    else
      for (const int at : group.cells) parts_.cells[at] = kPicture;
  }
}

void Pictures::find_colour() {
  coloured_.assign(parts_.cells.size(), 0);
  chroma_.assign(parts_.cells.size(), 0);
  if (cells_.samples != 3) return;
  for (Image &plane : cells_.planes) {
    filter(cpu_, plane, SwoFilterOperator::mean, 3, space_);
    std::swap(plane, space_);
  }
  for (std::size_t i = 0; i < coloured_.size(); ++i) {
    const int x = static_cast<int>(i) % parts_.width, y = static_cast<int>(i) / parts_.width;
    const auto [least, most] =
        std::minmax({cells_.planes[0].plane<const std::uint8_t>().row(y)[x],
                     cells_.planes[1].plane<const std::uint8_t>().row(y)[x],
                     cells_.planes[2].plane<const std::uint8_t>().row(y)[x]});
    chroma_[i] = static_cast<std::uint8_t>(most - least);
    coloured_[i] = chroma_[i] > kChroma;
  }
  const auto chroma = [&](int x, int y) -> int { return chroma_[y * parts_.width + x]; };
  std::ptrdiff_t area = 0;
  std::vector<std::uint8_t> near(coloured_.size(), 0);
  for (const Group &piece : pieces_of(coloured_, parts_.width)) {
    if (piece.area / (mm_ * mm_) < kSmallestColour) continue;
    const auto steep = std::count_if(piece.cells.begin(), piece.cells.end(),
                                     [&](int at) { return slope(chroma, at) > kSteepColour; });
    const int around_box = 2 * (piece.right - piece.left + piece.bottom - piece.top);
    if (static_cast<double>(steep) < kSteepColourEdge * mm_ * around_box) continue;
    area += piece.area;
    const bool inside = std::all_of(piece.cells.begin(), piece.cells.end(),
                                    [&](int at) { return parts_.cells[at] == kPicture; });
    if (inside) continue;
    parts_.has_ink = true;
    for (const int at : piece.cells) set_around(near, at, kReach, 1);
  }
  // Paler parts of the same writing, too.
  for (std::size_t i = 0; parts_.has_ink && i < near.size(); ++i)
    if (near[i] && chroma_[i] > kPaleChroma)
      set_around(parts_.cells, static_cast<int>(i), kAround, kInk);
  parts_.colour = static_cast<double>(area) / static_cast<double>(parts_.cells.size());
}

const KeptParts &Pictures::find(const PageLevels &page) {
  const Resolution &resolution = page.planes[0].resolution;
  const double dpi = resolution.x > 0 ? resolution.x : kUsualDpi;
  const int least = std::min(page.width(), page.height());
  parts_ = {};
  parts_.by = std::clamp(static_cast<int>(std::lround(dpi / kCellDpi)), 1, std::min(64, least));
  mm_ = dpi / parts_.by / kMmPerInch;
  parts_.width = page.width() / parts_.by;
  parts_.height = page.height() / parts_.by;
  parts_.cells.assign(static_cast<std::size_t>(parts_.width) * parts_.height, 0);
  if (std::min(parts_.width, parts_.height) < kNarrowest * mm_) return parts_;
  divide_by_paper(page);
  find_pictures();
  parts_.pictures =
      static_cast<double>(std::accumulate(parts_.cells.begin(), parts_.cells.end(), 0L)) /
      static_cast<double>(parts_.cells.size());
  find_colour();
  return parts_;
}

}  // namespace cudascan::scan
