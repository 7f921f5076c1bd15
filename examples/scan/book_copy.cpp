// SPDX-License-Identifier: LGPL-2.1-or-later
#include "book_copy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "median.h"
#include "reduce.h"

namespace cudascan::scan {
namespace {

constexpr int kRows = 600, kFewestRows = 150;       ///< of the copy
constexpr int kEdge = 2;                            ///< cells of the blurred edge of a sheet
constexpr double kSheetHeight = 297;                ///< mm
constexpr double kNarrowest = 1.05, kWidest = 2.6;  ///< width / height
constexpr double kPaperShare = 0.43, kAsLight = 0.9, kLightest = 0.7;  ///< of the sheet
constexpr double kInk = 0.85;                                          ///< of the paper around

}  // namespace

int BookCopy::mm(double length) const {
  return std::max(1, static_cast<int>(std::lround(length * height() / kSheetHeight)));
}

int BookCopy::shift(double slope, int y) const {
  return static_cast<int>(std::lround(slope * (y + 0.5 - middle_row())));
}

/// @return whether it has the shape of two pages
bool BookCopy::find_sheet() {
  sheet_.measure(copy_);
  const Sheet &sheet = sheet_;
  paper_level_ = sheet.paper();
  std::vector<int> lefts, rights, tops, bottoms;
  for (int y = copy_.height / 4; y < copy_.height * 3 / 4; ++y) {
    lefts.push_back(sheet.left(y));
    rights.push_back(sheet.right(y));
  }
  left_ = median(lefts);
  right_ = median(rights);
  // In the column of a dark fold the sheet seems to have no top: hence medians.
  for (int x = left_ + (right_ - left_) / 5; x < right_ - (right_ - left_) / 5; ++x) {
    int top = 0, bottom = copy_.height;
    while (top < copy_.height / 2 && !sheet.has(x, top)) ++top;
    while (bottom > copy_.height / 2 && !sheet.has(x, bottom - 1)) --bottom;
    tops.push_back(top);
    bottoms.push_back(bottom);
  }
  if (tops.empty()) return false;
  top_ = median(tops);
  bottom_ = median(bottoms);
  return height() >= kFewestRows && width() >= kNarrowest * height() &&
         width() <= kWidest * height();
}

void BookCopy::find_ink() {
  const auto odd = [](int size) { return std::clamp(size | 1, 3, 1023); };
  paper_.measure(copy_, odd(mm(15)), 3);
  const auto levels = this->levels();
  const auto paper = paper_.levels().plane<const std::uint8_t>();
  ink_.assign(static_cast<std::size_t>(copy_.width) * copy_.height, 0);
  std::ptrdiff_t light = 0;
  const int aside = mm(15);
  for (int y = top_; y < bottom_; ++y) {
    for (int x = left_; x < right_; ++x) {
      // Edges of sheets are no ink.
      const int level = levels.row(y)[x];
      const int around = std::min({paper.row(y)[x], paper.row(y)[std::max(0, x - 2)],
                                   paper.row(y)[std::min(copy_.width - 1, x + 2)],
                                   paper.row(std::max(0, y - 2))[x],
                                   paper.row(std::min(copy_.height - 1, y + 2))[x]});
      const bool inside =
          x >= sheet_.left(y) + kEdge && x < sheet_.right(y) - kEdge && sheet_.has(x, y);
      const bool is_ink = inside && level < kInk * around;
      ink_[static_cast<std::size_t>(y) * copy_.width + x] = is_ink;
      const int far = paper.row(y)[std::min(copy_.width - 1, x + aside)];
      light += level >= kAsLight * around && around >= kLightest * paper_level_ &&
               std::abs(far - around) <= (1 - kAsLight) * around;
    }
  }
  paper_share_ = static_cast<double>(light) / (1. * (right_ - left_) * (bottom_ - top_));
}

/// Cells of ink in the columns along a slope.
void BookCopy::count_ink(double slope, int from, int to, std::vector<int> &counts,
                         Rows rows) const {
  counts.assign(copy_.width, 0);
  const int half = (top_ + bottom_) / 2;
  for (int y = rows == Rows::lower ? half : top_; y < (rows == Rows::upper ? half : bottom_); ++y) {
    const int aside = shift(slope, y);
    const std::uint8_t *row = ink(y);
    const int begin = std::max(from, -aside), end = std::min(to, copy_.width - aside);
    for (int x = begin; x < end; ++x) counts[x] += row[x + aside];
  }
}

std::string BookCopy::look(const Image &page) {
  by_ = std::clamp((page.height + kRows - 1) / kRows, 1, 64);
  left_ = right_ = 0;
  if (page.height / by_ < kFewestRows || page.width / by_ < kFewestRows)
    return "the image is too small to measure";
  reduce(page, by_, by_, copy_);
  if (!find_sheet()) return "it does not have the shape of two pages";
  find_ink();
  return paper_share_ < kPaperShare ? "most of it is no paper" : "";
}

}  // namespace cudascan::scan
